#include "ppan/audit/informative_relations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "ppan/audit/additive_fit.h"
#include "ppan/audit/linear_residuals.h"
#include "ppan/audit/period_scan.h"
#include "ppan/core/parallel.h"

namespace ppan {
namespace {

constexpr double kMostWork = 4e8;  // relations times rows times what a row costs
constexpr double kRowWork = 20;    // beside one for each level
constexpr Index kMostRows = 8000;
constexpr Index kLeastRows = 1000;       // fewer show little in so many relations
constexpr std::size_t kBinRows = 1000;   // that quantiles are read off
constexpr std::size_t kLeastValues = 5;  // of a number: pairs of fewer are counted as they are (key_tuples.h)
constexpr std::size_t kMostRelations = 6;
constexpr std::size_t kMostAgain = 60;  // candidates that are held against a better model
constexpr double kClear =
    1.5;  // deviations above the greatest that chance gives among all that are looked at
constexpr Index kRowsPerColumnCell = 10;
constexpr Index kRowsPerCell = 5;
constexpr std::array kModuli{3.0, 4.0, 6.0, 7.0, 8.0, 9.0, 11.0, 12.0, 13.0, 24.0, 60.0};
constexpr std::array kPairModuli{7.0, 10.0};
constexpr std::array kTogetherModuli{3.0, 4.0, 5.0};
constexpr std::size_t kOfOne = kModuli.size() + 2;
constexpr std::size_t kOfTwo = 16 + kTogetherModuli.size();
constexpr std::size_t kOfThree = 5;
constexpr std::size_t kMostGroups = 6;  // columns of names that numbers are ranked within
constexpr Index kSlopePairs = 2000;
constexpr double kSameSlope = 1e-3;      // of it
constexpr std::size_t kLeastAgreed = 8;  // pairs of rows

struct Shape {
  double middle = 0;
  double deviation = 1;
  std::size_t values = 0;
};

Shape shape_of(const Matrix<double>& number, Index column, std::span<const std::int32_t> rows) {
  std::vector<double> sorted;
  for (const std::int32_t row : rows) {
    if (!std::isnan(number(row, column))) sorted.push_back(number(row, column));
  }
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end());
  Shape out;
  out.middle = sorted[sorted.size() / 2];
  // Of the middle half, which far values do not move.
  const double spread = sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
  out.deviation = spread > 0 ? spread : 1;
  out.values = static_cast<std::size_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
  return out;
}

// A slope that many pairs of rows agree on, as they do where some rows lie on one line.
std::optional<double> common_slope(const Matrix<double>& number, Index a, Index b,
                                   std::span<const std::int32_t> rows) {
  std::vector<double> slope;
  const auto count = rows.size();
  for (std::size_t step = 1; step <= 4 && slope.size() < static_cast<std::size_t>(kSlopePairs); ++step) {
    for (std::size_t i = 0; i + step < count && slope.size() < static_cast<std::size_t>(kSlopePairs); ++i) {
      const double across = number(rows[i + step], a) - number(rows[i], a);
      const double up = number(rows[i + step], b) - number(rows[i], b);
      if (across != 0 && up != 0 && !std::isnan(across) && !std::isnan(up)) slope.push_back(up / across);
    }
  }
  std::sort(slope.begin(), slope.end());
  std::size_t most = kLeastAgreed - 1;
  std::optional<double> best;
  for (std::size_t first = 0, last = 0; first < slope.size(); ++first) {
    last = std::max(last, first);
    while (last < slope.size() && slope[last] - slope[first] <= kSameSlope * std::abs(slope[first])) ++last;
    if (last - first <= most) continue;
    most = last - first;
    best = slope[first + most / 2];
  }
  return best;
}

class Search {
 public:
  Search(const RelationInput& input, const Symbols& x, std::span<const std::int32_t> rows,
         std::int32_t levels, int threads)
      : input_(input),
        rows_(rows.first(std::min(rows.size(), static_cast<std::size_t>(kMostRows)))),
        levels_(levels),
        threads_(threads) {
    for (Index c = 0; c < input.rows.number.cols(); ++c) {
      shape_.push_back(shape_of(input.rows.number, c, rows_));
      if (input.number[static_cast<std::size_t>(c)].place) {
        place_ = c;
      } else if (shape_.back().values >= kLeastValues) {
        columns_.push_back(c);
      }
    }
    for (std::size_t k = 0; k < input.key_source.size(); ++k) {
      if (input.key_source[k].aspect != "value" || is_number(input.key_source[k].column)) continue;
      if (input.key_values[k] >= 2) names_.push_back(static_cast<Index>(k));
    }
    bound_work();
    for (const std::int32_t row : rows_) x_.push_back(x[static_cast<std::size_t>(row)]);
  }

  std::vector<Relation> run() {
    std::vector<Relation> out;
    if (rows_.size() < static_cast<std::size_t>(kLeastRows) / 4 || levels_ < 2) return out;
    AdditiveFit fit(x_, levels_);
    explain_columns(fit);
    gather(fit);
    if (candidates_.empty()) return out;
    const double chance = std::sqrt(2 * std::log(static_cast<double>(candidates_.size()) + 1)) + kClear;
    test(fit, candidates_.size());
    while (out.size() < kMostRelations && !candidates_.empty() && candidates_.front().clear > chance) {
      out.push_back(std::move(candidates_.front()));
      candidates_.erase(candidates_.begin());
      if (candidates_.size() > kMostAgain) candidates_.resize(kMostAgain);
      fit.add(codes(out.back()), out.back().bins());
      fit.sweep();
      test(fit, candidates_.size());
    }
    return out;
  }

 private:
  [[nodiscard]] bool is_number(const std::string& column) const {
    return std::any_of(input_.number.begin(), input_.number.end(),
                       [&](const NumberColumn& n) { return n.name == column; });
  }

  // Fewer rows, then no relations of three, then fewer columns.
  void bound_work() {
    const auto rows_for = [&](std::size_t relations) {
      return kMostWork / (static_cast<double>(std::max<std::size_t>(1, relations)) * (kRowWork + levels_));
    };
    const auto twos = [](std::size_t n) { return n * (n - 1) / 2 * kOfTwo + n * (kOfOne + kMostGroups); };
    const std::size_t n = columns_.size();
    if (n > 2) {
      const std::size_t all = twos(n) + n * (n - 1) * (n - 2) / 6 * kOfThree;
      threes_ = rows_for(all) >= static_cast<double>(std::min<std::size_t>(rows_.size(), 2 * kLeastRows));
      if (threes_) {
        rows_ = rows_.first(std::min(rows_.size(), static_cast<std::size_t>(rows_for(all))));
        return;
      }
    }
    while (columns_.size() > 2 && rows_for(twos(columns_.size())) < static_cast<double>(kLeastRows))
      columns_.pop_back();
    if (columns_.empty()) return;
    rows_ = rows_.first(std::min(rows_.size(), static_cast<std::size_t>(rows_for(twos(columns_.size())))));
  }

  // Single columns are what relations are to tell something beyond.
  void explain_columns(AdditiveFit& fit) const {
    const auto bins = static_cast<std::size_t>(
        std::clamp<Index>(static_cast<Index>(rows_.size()) / (kRowsPerColumnCell * levels_), 3, 16));
    for (Index c = 0; c < input_.rows.number.cols(); ++c) {
      Relation column;
      std::vector<double> value;
      for (const std::int32_t row : rows_) value.push_back(input_.rows.number(row, c));
      column.learn_bins(value, bins);
      Symbols code;
      for (const double v : value) code.push_back(column.bin(v));
      fit.add(std::move(code), column.bins());
    }
    // Names, digits, days: whatever a column is counted by, if there are rows enough for its values.
    for (std::size_t k = 0; k < input_.key_source.size(); ++k) {
      const Index values = input_.key_values[k];
      const bool rare = kRowsPerCell * values * levels_ > static_cast<Index>(rows_.size());
      if (input_.key_source[k].aspect == "position" || rare) continue;
      Symbols code;
      for (const std::int32_t row : rows_)
        code.push_back(1 + std::max(-1, input_.rows.keys(row, static_cast<Index>(k))));
      fit.add(std::move(code), static_cast<std::int32_t>(values) + 1);
    }
    fit.sweep();
  }

  void add(RelationKind kind, std::vector<Index> part, double parameter = 0) {
    Relation relation{.kind = kind, .part = std::move(part), .parameter = parameter};
    const bool written = kind == RelationKind::kRemainder || kind == RelationKind::kDigitSum ||
                         kind == RelationKind::kSumRemainder || kind == RelationKind::kDifferenceRemainder ||
                         kind == RelationKind::kProductRemainder || kind == RelationKind::kDivides ||
                         kind == RelationKind::kSumOfThreeRemainder ||
                         kind == RelationKind::kPairOfRemainders;
    for (const Index p : relation.part) {
      const auto at = static_cast<std::size_t>(p);
      if (written && input_.number[at].unit <= 0) return;
      relation.middle.push_back(shape_[at].middle);
      relation.scale.push_back(written ? input_.number[at].unit : shape_[at].deviation);
      relation.column += (relation.column.empty() ? "" : " and ") + input_.number[at].name;
      relation.place = relation.place || input_.number[at].place;
    }
    candidates_.push_back(std::move(relation));
  }

  void gather(const AdditiveFit& fit) {
    std::vector<Index> singles = columns_;
    if (place_) singles.push_back(*place_);
    for (const Index a : singles) {
      for (const double m : kModuli) {
        if (m < static_cast<double>(shape_[static_cast<std::size_t>(a)].values))
          add(RelationKind::kRemainder, {a}, m);
      }
      add(RelationKind::kDigitSum, {a});
      add_groups(a);
    }
    const auto scan = static_cast<double>(std::max<std::size_t>(1, singles.size()));
    for (const Index a : singles) {
      std::vector<double> value;
      for (const std::int32_t row : rows_) value.push_back(input_.rows.number(row, a));
      const double unit = input_.number[static_cast<std::size_t>(a)].unit;
      if (const auto period = informative_period(value, fit, unit, kMostWork / scan))
        add(RelationKind::kPeriod, {a}, *period);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      for (std::size_t j = i + 1; j < columns_.size(); ++j) {
        add_two(columns_[i], columns_[j]);
        for (std::size_t k = j + 1; threes_ && k < columns_.size(); ++k)
          add_three(columns_[i], columns_[j], columns_[k]);
      }
    }
    for (Relation& relation :
         linear_residuals(input_.rows.number, columns_, input_.number, rows_, x_, levels_))
      candidates_.push_back(std::move(relation));
    for (std::size_t i = 0; i < names_.size(); ++i) {
      for (std::size_t j = i + 1; j < names_.size(); ++j) add_pair_count(names_[i], names_[j]);
    }
  }

  void add_two(Index a, Index b) {
    using enum RelationKind;
    for (const RelationKind kind : {kOrder, kDifference, kSum, kRatio, kProduct, kScaledDifference,
                                    kScaledSum, kDistance, kScaledDistance, kDivides})
      add(kind, {a, b});
    add(kProductRemainder, {a, b}, 10);
    for (const double m : kPairModuli) {
      add(kSumRemainder, {a, b}, m);
      add(kDifferenceRemainder, {a, b}, m);
    }
    for (const double m : kTogetherModuli) add(kPairOfRemainders, {a, b}, m);
    if (const auto slope = common_slope(input_.rows.number, a, b, rows_)) add(kLine, {a, b}, *slope);
  }

  void add_three(Index a, Index b, Index c) {
    using enum RelationKind;
    add(kSumOfThree, {a, b, c});
    add(kThirdOfTwo, {a, b, c});
    add(kThirdOfTwo, {a, c, b});
    add(kThirdOfTwo, {b, c, a});
    add(kSumOfThreeRemainder, {a, b, c}, 10);
  }

  // The place of a number within the rows that have the same name beside it.
  void add_groups(Index a) {
    std::size_t taken = 0;
    for (const Index k : names_) {
      const auto values = static_cast<std::size_t>(input_.key_values[static_cast<std::size_t>(k)]);
      const Index all = input_.rows.number.rows();
      if (values * 10 > static_cast<std::size_t>(all) || taken++ >= kMostGroups) continue;
      auto group = std::make_shared<std::vector<std::vector<double>>>(values);
      for (Index i = 0; i < all; ++i) {
        if (input_.rows.keys(i, k) >= 0 && !std::isnan(input_.rows.number(i, a)))
          (*group)[static_cast<std::size_t>(input_.rows.keys(i, k))].push_back(input_.rows.number(i, a));
      }
      for (auto& own : *group) std::sort(own.begin(), own.end());
      add(RelationKind::kWithinGroup, {a});
      candidates_.back().key = {k};
      candidates_.back().group = std::move(group);
      candidates_.back().column += " and " + input_.key_source[static_cast<std::size_t>(k)].column;
    }
  }

  void add_pair_count(Index a, Index b) {
    const auto at = [&](Index k) { return input_.key_values[static_cast<std::size_t>(k)]; };
    if (std::min(at(a), at(b)) < static_cast<std::int32_t>(kLeastValues)) return;
    auto pair = std::make_shared<std::unordered_map<std::int64_t, std::int32_t>>();
    for (Index i = 0; i < input_.rows.keys.rows(); ++i)
      ++(*pair)[(std::int64_t{input_.rows.keys(i, a)} << 32U) + input_.rows.keys(i, b)];
    Relation relation{.kind = RelationKind::kPairCount, .key = {a, b}};
    relation.column = input_.key_source[static_cast<std::size_t>(a)].column + " and " +
                      input_.key_source[static_cast<std::size_t>(b)].column;
    relation.pair = std::move(pair);
    candidates_.push_back(std::move(relation));
  }

  // Of the rows that are looked at; learns the bins if there are none yet.
  Symbols codes(Relation& relation) const {
    std::vector<double> value;
    value.reserve(rows_.size());
    for (const std::int32_t row : rows_) value.push_back(relation.value(input_.rows, row));
    if (relation.sorted.empty()) {
      const auto bins = static_cast<std::size_t>(
          std::clamp<Index>(static_cast<Index>(rows_.size()) / (kRowsPerCell * levels_), 4, 32));
      const auto end = static_cast<std::ptrdiff_t>(std::min(value.size(), kBinRows));
      relation.learn_bins({value.begin(), value.begin() + end}, bins);
    }
    Symbols code;
    code.reserve(value.size());
    for (const double v : value) code.push_back(relation.bin(v));
    return code;
  }

  void test(const AdditiveFit& fit, std::size_t count) {
    constexpr std::size_t kBlock = 16;
    const auto blocks = static_cast<std::int64_t>((count + kBlock - 1) / kBlock);
    parallel_for(blocks, thread_count(threads_), [&](std::int64_t block) {
      const auto first = static_cast<std::size_t>(block) * kBlock;
      for (std::size_t c = first; c < std::min(first + kBlock, count); ++c) {
        const Symbols code = codes(candidates_[c]);
        candidates_[c].clear = fit.beyond(code, candidates_[c].bins());
      }
    });
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Relation& a, const Relation& b) { return a.clear > b.clear; });
  }

  const RelationInput& input_;
  std::span<const std::int32_t> rows_;
  std::int32_t levels_;
  int threads_;
  Symbols x_;
  std::vector<Shape> shape_;
  std::vector<Index> columns_;  // of numbers
  std::optional<Index> place_;  // the number of the row
  std::vector<Index> names_;    // keys
  bool threes_ = false;
  std::vector<Relation> candidates_;
};

}  // namespace

std::vector<Relation> informative_relations(const RelationInput& input, const Symbols& x,
                                            std::span<const std::int32_t> rows, std::int32_t levels,
                                            int threads) {
  return Search(input, x, rows, levels, threads).run();
}

}  // namespace ppan
