// finish_codebook(): which codewords stay, and what the decoder knows about each.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ppan/table/codebook_training.h"

namespace ppan {
namespace {

constexpr Index kChunk = 2048;
constexpr float kLeastShare = 1e-4F;         // of a row in a codeword, that is worth counting
constexpr float kLeastPair = 1;              // rows of a codeword that have a pair, to be remembered
constexpr double kMostPairCells = 1 << 25U;  // codewords x pairs that are counted for one column
constexpr Index kTreeRows = 50'000;
constexpr float kCountStep = 0.25F;  // counts are coarsened to it

// Leaves out codewords: rows of the centres, outputs of the network's last layer.
void keep_codewords(const std::vector<Index>& kept, Index last_inputs, Vector<float>& parameters,
                    CodebookCentres<float>& centres) {
  const Index before = centres.centre.rows();
  const auto after = static_cast<Index>(kept.size());
  const Index head = parameters.size() - (last_inputs + 1) * before;
  Vector<float> out(head + (last_inputs + 1) * after);
  out.head(head) = parameters.head(head);
  Matrix<float> centre(after, centres.centre.cols());
  for (Index i = 0; i < after; ++i) {
    const Index from = kept[static_cast<std::size_t>(i)];
    out.segment(head + i * last_inputs, last_inputs) =
        parameters.segment(head + from * last_inputs, last_inputs);
    out[head + after * last_inputs + i] = parameters[head + before * last_inputs + from];
    centre.row(i) = centres.centre.row(from);
  }
  parameters = std::move(out);
  centres.centre = std::move(centre);
}

// Plug-in information of two columns of levels, corrected for its bias.
double pair_information(const Symbols& a, std::int32_t a_levels, const Symbols& b, std::int32_t b_levels,
                        std::size_t rows) {
  Matrix<double> joint = Matrix<double>::Zero(a_levels, b_levels);
  for (std::size_t r = 0; r < rows; ++r) joint(a[r], b[r]) += 1;
  const Vector<double> p = joint.rowwise().sum();
  const Vector<double> q = joint.colwise().sum().transpose();
  const auto n = static_cast<double>(rows);
  double sum = 0;
  Index cells = 0;
  for (Index i = 0; i < joint.rows(); ++i) {
    for (Index j = 0; j < joint.cols(); ++j) {
      if (joint(i, j) <= 0) continue;
      ++cells;
      sum += joint(i, j) / n * std::log(joint(i, j) * n / (p[i] * q[j]));
    }
  }
  const Index used = (p.array() > 0).count() + (q.array() > 0).count() - 1;
  return sum - static_cast<double>(cells - used) / (2 * n);
}

// C. Chow, C. Liu, 1968: the tree whose edges tell most about each other, grown from the first column.
void join_tree(const std::vector<Symbols>& level, Codebook& book) {
  const std::size_t columns = level.size();
  const std::size_t rows = std::min<std::size_t>(level.front().size(), kTreeRows);
  std::vector<double> best(columns, -std::numeric_limits<double>::infinity());
  std::vector<bool> in_tree(columns, false);
  std::size_t next = 0;
  for (std::size_t done = 0; done < columns; ++done) {
    in_tree[next] = true;
    book.order.push_back(static_cast<std::int32_t>(next));
    const std::size_t last = next;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < columns; ++c) {
      if (in_tree[c]) continue;
      const double told = pair_information(level[last], book.columns[last].levels.levels(), level[c],
                                           book.columns[c].levels.levels(), rows);
      if (told > best[c]) {
        best[c] = told;
        book.columns[c].parent = static_cast<std::int32_t>(last);
      }
      if (best[c] > most) {
        most = best[c];
        next = c;
      }
    }
  }
}

float coarse(float count) {
  return std::round(count / kCountStep) * kCountStep;
}

// Counts of one column: within codewords, of pairs, and of pairs within codewords.
class Counter {
 public:
  Counter(const Codebook& book, std::size_t column, const std::vector<Symbols>& level)
      : own_(level[column]), levels_(book.columns[column].levels.levels()) {
    const std::int32_t parent = book.columns[column].parent;
    in_code_.setZero(book.codewords(), levels_);
    if (parent < 0) return;
    parent_ = &level[static_cast<std::size_t>(parent)];
    above_ = book.columns[static_cast<std::size_t>(parent)].levels.levels();
    pair_.setZero(above_, levels_);
    for (std::size_t r = 0; r < own_.size(); ++r) pair_((*parent_)[r], own_[r]) += 1;
    const double cells =
        static_cast<double>(book.codewords()) * static_cast<double>(above_) * static_cast<double>(levels_);
    if (cells <= kMostPairCells) inside_.setZero(static_cast<Index>(above_) * levels_, book.codewords());
  }

  void add(std::size_t row, Index codeword, float weight) {
    in_code_(codeword, own_[row]) += weight;
    if (inside_.size() > 0)
      inside_(static_cast<Index>((*parent_)[row]) * levels_ + own_[row], codeword) += weight;
  }

  void finish(double least_rows, DecoderColumn& out) {
    // A codeword of some people has some level, however thin they are spread.
    out.in_code = in_code_.unaryExpr(&coarse);
    for (Index c = 0; c < in_code_.rows(); ++c) {
      if (out.in_code.row(c).sum() <= 0) out.in_code.row(c) = in_code_.row(c);
    }
    out.pair = pair_.unaryExpr([&](float n) { return n >= static_cast<float>(least_rows) ? n : 0.0F; });
    std::vector<std::array<float, 4>> kept;
    for (Index c = 0; c < inside_.cols(); ++c) {
      for (Index at = 0; at < inside_.rows(); ++at) {
        if (inside_(at, c) < kLeastPair || out.pair(at / levels_, at % levels_) <= 0) continue;
        kept.push_back({static_cast<float>(c), static_cast<float>(at / levels_),
                        static_cast<float>(at % levels_), coarse(inside_(at, c))});
      }
    }
    out.pair_in_code.resize(static_cast<Index>(kept.size()), 4);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      for (std::size_t k = 0; k < 4; ++k)
        out.pair_in_code(static_cast<Index>(i), static_cast<Index>(k)) = kept[i][k];
    }
  }

 private:
  const Symbols& own_;
  const Symbols* parent_ = nullptr;
  Index levels_;
  std::int32_t above_ = 0;
  Matrix<float> in_code_;
  Matrix<float> pair_;
  Matrix<float> inside_;  // pairs x codewords
};

// P(c|w) of all rows, chunk by chunk.
template <typename Use>
void for_each_chunk(const Codebook& book, const CodebookRows& rows, Use use) {
  CodebookEncoder<float> encoder(rows.features.cols(), book.hidden, book.codewords());
  for (Index first = 0; first < rows.rows(); first += kChunk) {
    const Index count = std::min(kChunk, rows.rows() - first);
    const Matrix<float> features = rows.features.middleRows(first, count);
    use(first, encoder.forward(book.parameters, book.centres, features));
  }
}

}  // namespace

Codebook finish_codebook(const TrainedCodebook& trained, const EncodedRows& train, const CodebookRows& rows,
                         const CodebookShape& shape, const Encoding& encoding,
                         const CodebookOptions& options) {
  Codebook book;
  book.hidden = options.hidden;
  book.observed = shape.observed;
  book.parameters = trained.parameters;
  book.centres = trained.centres;
  book.least_rows = static_cast<double>(options.least_rows);

  Vector<double> people = Vector<double>::Zero(book.codewords());
  for_each_chunk(book, rows, [&](Index, const Matrix<float>& probability) {
    people += probability.colwise().sum().cast<double>().transpose();
  });
  // Leaving one out only adds to the others, so that one look is enough.
  std::vector<Index> kept;
  for (Index c = 0; c < people.size(); ++c) {
    if (people[c] >= book.least_rows) kept.push_back(c);
  }
  if (kept.empty()) {
    Index most = 0;
    people.maxCoeff(&most);
    kept.push_back(most);
  }
  const Index last = options.hidden.empty() ? rows.features.cols() : options.hidden.back();
  keep_codewords(kept, last, book.parameters, book.centres);

  std::vector<Symbols> level;
  for (const ColumnLevels& levels : shape.released) {
    DecoderColumn column;
    column.levels = levels;
    book.columns.push_back(std::move(column));
    level.push_back(levels_of(train, levels, encoding));
  }
  join_tree(level, book);
  std::vector<Counter> counters;
  for (std::size_t c = 0; c < book.columns.size(); ++c) counters.emplace_back(book, c, level);
  for_each_chunk(book, rows, [&](Index first, const Matrix<float>& probability) {
    for (Index c = 0; c < probability.cols(); ++c) {
      for (Index i = 0; i < probability.rows(); ++i) {
        if (probability(i, c) < kLeastShare) continue;
        for (Counter& counter : counters)
          counter.add(static_cast<std::size_t>(first + i), c, probability(i, c));
      }
    }
  });
  for (std::size_t c = 0; c < book.columns.size(); ++c) counters[c].finish(book.least_rows, book.columns[c]);
  return book;
}

}  // namespace ppan
