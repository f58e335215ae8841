#include "ppan/table/recipient_measure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr double kSpikeShare = 0.05;
constexpr int kBins = 10;
constexpr std::size_t kMostPairs = 5000;  // of columns whose association is compared: all pairs of up to 100

// A hash of everything that is written of each row, column after column: the rows themselves of a wide table
// would take as much memory as the table. Two of a million rows meet by chance once in 40 million tables.
std::vector<std::uint64_t> row_keys(const EncodedRows& rows, const std::vector<std::int32_t>& columns,
                                    const Encoding& encoding) {
  std::vector<std::uint64_t> key(static_cast<std::size_t>(rows.rows), 0);
  for (const std::int32_t column : columns) {
    const EncodedColumn& from = rows.columns[rows.position_of(column)];
    const ColumnEncoding& how = encoding.columns[static_cast<std::size_t>(column)];
    for (std::size_t row = 0; row < key.size(); ++row) {
      double value = static_cast<double>(from.code[row]);
      if (how.numeric()) value = from.code[row] == 0 ? how.decode(from.value[row]) : std::nan("");
      std::uint64_t hash = key[row];
      hash ^= std::bit_cast<std::uint64_t>(value) + 0x9E3779B97F4A7C15ULL + (hash << 6U) + (hash >> 2U);
      hash *= 0xFF51AFD7ED558CCDULL;
      key[row] = hash ^ (hash >> 33U);
    }
  }
  return key;
}

// Pairs of columns: all, or of a wide table as many, drawn once and for all.
std::vector<std::pair<std::size_t, std::size_t>> column_pairs(std::size_t columns) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  if (columns * (columns - std::min<std::size_t>(columns, 1)) / 2 <= kMostPairs) {
    for (std::size_t a = 0; a < columns; ++a) {
      for (std::size_t b = 0; b < a; ++b) out.emplace_back(a, b);
    }
    return out;
  }
  SeededRandom random(1);
  while (out.size() < kMostPairs) {
    const auto a = static_cast<std::size_t>(random.index(static_cast<Index>(columns)));
    const auto b = static_cast<std::size_t>(random.index(static_cast<Index>(columns)));
    if (a != b) out.emplace_back(std::max(a, b), std::min(a, b));
  }
  return out;
}

std::vector<double> present(const EncodedRows& rows, std::int32_t column, const ColumnEncoding& how) {
  const EncodedColumn& from = rows.columns[rows.position_of(column)];
  std::vector<double> out;
  for (std::size_t r = 0; r < from.code.size(); ++r) {
    if (from.code[r] == 0) out.push_back(how.decode(from.value[r]));
  }
  return out;
}

double cramer(const Symbols& a, std::int32_t a_levels, const Symbols& b, std::int32_t b_levels) {
  Matrix<double> joint = Matrix<double>::Zero(a_levels, b_levels);
  for (std::size_t r = 0; r < a.size(); ++r) joint(a[r], b[r]) += 1;
  const Vector<double> of_a = joint.rowwise().sum();
  const Vector<double> of_b = joint.colwise().sum().transpose();
  const auto rows = static_cast<double>(a.size());
  double chi = 0;
  for (Index i = 0; i < joint.rows(); ++i) {
    for (Index j = 0; j < joint.cols(); ++j) {
      const double expected = of_a[i] * of_b[j] / rows;
      if (expected > 0) chi += (joint(i, j) - expected) * (joint(i, j) - expected) / expected;
    }
  }
  const auto used = std::min((of_a.array() > 0).count(), (of_b.array() > 0).count());
  return used > 1 ? std::sqrt(chi / rows / static_cast<double>(used - 1)) : 0;
}

}  // namespace

RecipientMeasure::RecipientMeasure(const EncodedRows& train, const EncodedRows& rows,
                                   std::vector<std::int32_t> columns, const Encoding& encoding)
    : encoding_(std::make_shared<const Encoding>(encoding)), columns_(std::move(columns)) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const ColumnEncoding& how = encoding.columns[static_cast<std::size_t>(columns_[c])];
    std::vector<double>& edges = edge_.emplace_back();
    if (!how.numeric()) continue;
    std::vector<double> values = present(rows, columns_[c], how);
    std::sort(values.begin(), values.end());
    for (int b = 1; b < kBins && !values.empty(); ++b)
      edges.push_back(values[static_cast<std::size_t>(b) * (values.size() - 1) / kBins]);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::map<double, std::int64_t> count;
    for (const double x : values) ++count[x];
    for (const auto& [value, each] : count) {
      const double share = static_cast<double>(each) / static_cast<double>(rows.rows);
      if (share >= kSpikeShare) spikes_.push_back({c, value, share});
    }
  }
  for (const std::uint64_t key : row_keys(train, columns_, encoding)) known_.insert(key);
  before_ = associations(rows);
  copied_original_ = share_known(rows);
}

Symbols RecipientMeasure::coded(const EncodedRows& rows, std::size_t column) const {
  const EncodedColumn& from = rows.columns[rows.position_of(columns_[column])];
  const ColumnEncoding& how = encoding_->columns[static_cast<std::size_t>(columns_[column])];
  if (!how.numeric()) return from.code;
  const std::vector<double>& edges = edge_[column];
  Symbols out(from.code.size());
  for (std::size_t r = 0; r < out.size(); ++r) {
    const auto at = std::lower_bound(edges.begin(), edges.end(), how.decode(from.value[r])) - edges.begin();
    out[r] =
        static_cast<std::int32_t>(from.code[r] == 0 ? at : static_cast<std::ptrdiff_t>(edges.size()) + 1);
  }
  return out;
}

std::vector<double> RecipientMeasure::associations(const EncodedRows& rows) const {
  std::vector<Symbols> code;
  std::vector<std::int32_t> levels;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const ColumnEncoding& how = encoding_->columns[static_cast<std::size_t>(columns_[c])];
    code.push_back(coded(rows, c));
    levels.push_back(how.numeric() ? static_cast<std::int32_t>(edge_[c].size()) + 2 : how.width());
  }
  std::vector<double> out;
  for (const auto& [a, b] : column_pairs(code.size()))
    out.push_back(cramer(code[a], levels[a], code[b], levels[b]));
  return out;
}

double RecipientMeasure::share_known(const EncodedRows& rows) const {
  std::int64_t found = 0;
  for (const std::uint64_t key : row_keys(rows, columns_, *encoding_)) found += known_.contains(key) ? 1 : 0;
  return static_cast<double>(found) / static_cast<double>(std::max<std::int64_t>(1, rows.rows));
}

RecipientView RecipientMeasure::measure(const EncodedRows& released) const {
  RecipientView out;
  const std::vector<double> after = associations(released);
  for (std::size_t i = 0; i < after.size(); ++i)
    out.associations += std::abs(after[i] - before_[i]) / static_cast<double>(after.size());
  for (const Spike& spike : spikes_) {
    const std::int32_t column = columns_[spike.column];
    const auto values = present(released, column, encoding_->columns[static_cast<std::size_t>(column)]);
    const auto at = static_cast<double>(std::count(values.begin(), values.end(), spike.value));
    out.spikes = std::max(out.spikes, std::abs(at / static_cast<double>(released.rows) - spike.share));
  }
  out.copied = share_known(released);
  out.copied_original = copied_original_;
  return out;
}

}  // namespace ppan
