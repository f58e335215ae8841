#include "ppan/audit/trace_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ppan/core/parallel.h"

namespace ppan {
namespace {

// Rows that columns are compared on. A leak of 0.002 nats stands some 10 deviations out on so many, and an
// audit of a table of this size does not see less than ten times that.
constexpr std::size_t kMostScreenRows = 4000;

enum class Looked { kTraces, kValues };

// The most that one feature, or one key, of this column tells about one of the targets.
double tells(const AuditColumn& column, std::span<const AttackTarget> targets,
             const std::vector<Symbols>& truth, Looked looked) {
  const AuditTable alone{{column}};
  const FeatureMap map(alone, {.row_position = false, .trace_columns = looked == Looked::kTraces ? 1 : 0});
  const AttackFeatures features = map.apply(alone);
  std::vector<std::int32_t> rows(static_cast<std::size_t>(column.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  double most = 0;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const std::int32_t levels = targets[t].levels;
    for (Index f = 0; f < features.data.cols(); ++f) {
      const bool value = map.source()[static_cast<std::size_t>(f)].aspect == "value";
      if (value == (looked == Looked::kValues))
        most = std::max(most, class_deviations(features.data.col(f), truth[t], rows, levels));
    }
    for (Index k = 0; looked == Looked::kTraces && k < features.keys.cols(); ++k) {
      most =
          std::max(most, key_deviations(features.keys.col(k), map.key_values()[static_cast<std::size_t>(k)],
                                        truth[t], rows, levels));
    }
  }
  return most;
}

// Positions of the `count` columns that tell most, in the table's order.
std::vector<std::size_t> best_columns(const AuditTable& released, std::span<const AttackTarget> targets,
                                      const AttackSplit& split, std::size_t count, Looked looked,
                                      int threads) {
  std::vector<std::int32_t> rows = split.train;
  rows.insert(rows.end(), split.trained.begin(), split.trained.end());
  rows.resize(std::min(rows.size(), kMostScreenRows));
  std::vector<Symbols> truth;
  for (const AttackTarget& target : targets) truth.push_back(codes_at(target, rows));
  std::vector<std::pair<double, std::size_t>> order(released.columns.size());
  parallel_for(static_cast<std::int64_t>(order.size()), thread_count(threads), [&](std::int64_t at) {
    const auto c = static_cast<std::size_t>(at);
    order[c] = {-tells(take_rows(released.columns[c], rows), targets, truth, looked), c};
  });
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) best.push_back(order[i].second);
  std::sort(best.begin(), best.end());
  return best;
}

}  // namespace

double class_deviations(const Eigen::Ref<const Vector<float>>& feature, const Symbols& x,
                        std::span<const std::int32_t> rows, std::int32_t levels) {
  std::vector<double> sum(static_cast<std::size_t>(levels), 0);
  std::vector<double> count(static_cast<std::size_t>(levels), 0);
  double total = 0;
  double square = 0;
  for (const std::int32_t row : rows) {
    const auto value = static_cast<double>(feature[row]);
    const auto l = static_cast<std::size_t>(x[static_cast<std::size_t>(row)]);
    sum[l] += value;
    count[l] += 1;
    total += value;
    square += value * value;
  }
  const auto n = static_cast<double>(rows.size());
  const double variance = square / n - (total / n) * (total / n);
  if (!(variance > 0) || levels < 2) return 0;
  double between = -total * total / n;
  for (std::size_t l = 0; l < sum.size(); ++l) between += count[l] > 0 ? sum[l] * sum[l] / count[l] : 0;
  const double share = std::min(between / (n * variance), 1 - 1e-12);
  const double degrees = levels - 1;
  return (n * share / (1 - share) - degrees) / std::sqrt(2 * degrees);
}

double key_deviations(const Eigen::Ref<const Eigen::Matrix<std::int32_t, Eigen::Dynamic, 1>>& key,
                      std::int32_t values, const Symbols& x, std::span<const std::int32_t> rows,
                      std::int32_t levels) {
  const auto width = static_cast<std::size_t>(levels);
  std::vector<double> count(static_cast<std::size_t>(values) * width, 0);
  std::vector<double> level(width, 0);
  double n = 0;
  for (const std::int32_t row : rows) {
    if (key[row] < 0) continue;
    const auto l = static_cast<std::size_t>(x[static_cast<std::size_t>(row)]);
    count[static_cast<std::size_t>(key[row]) * width + l] += 1;
    level[l] += 1;
    n += 1;
  }
  double chi_squared = 0;
  double seen = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(values); ++k) {
    const double own = std::accumulate(count.begin() + static_cast<std::ptrdiff_t>(k * width),
                                       count.begin() + static_cast<std::ptrdiff_t>((k + 1) * width), 0.0);
    if (own == 0) continue;
    seen += 1;
    for (std::size_t l = 0; l < width; ++l) {
      const double expected = own * level[l] / n;
      if (expected > 0)
        chi_squared += (count[k * width + l] - expected) * (count[k * width + l] - expected) / expected;
    }
  }
  const auto present =
      static_cast<double>(std::count_if(level.begin(), level.end(), [](double c) { return c > 0; }));
  const double degrees = (seen - 1) * (present - 1);
  return degrees > 0 ? (chi_squared - degrees) / std::sqrt(2 * degrees) : 0;
}

std::vector<bool> traced_columns(const AuditTable& released, std::span<const AttackTarget> targets,
                                 const AttackSplit& split, const FeatureOptions& options, int threads) {
  const bool all = released.columns.size() <= static_cast<std::size_t>(options.trace_columns);
  std::vector<bool> out(released.columns.size(), all);
  if (all || options.screened_columns == 0) return out;
  const auto most = static_cast<std::size_t>(options.screened_columns);
  for (const std::size_t c : best_columns(released, targets, split, most, Looked::kTraces, threads))
    out[c] = true;
  return out;
}

FeatureMap screened_map(const AuditTable& released, std::span<const AttackTarget> targets,
                        const AttackSplit& split, const FeatureOptions& options, int threads) {
  return {released, options, 0, traced_columns(released, targets, split, options, threads)};
}

std::vector<std::size_t> informative_columns(const AuditTable& released,
                                             std::span<const AttackTarget> targets, const AttackSplit& split,
                                             std::size_t count, int threads) {
  return best_columns(released, targets, split, count, Looked::kValues, threads);
}

std::string left_out_note(const std::vector<bool>& traced) {
  const auto given = std::count(traced.begin(), traced.end(), true);
  if (given == static_cast<std::ptrdiff_t>(traced.size())) return {};
  return fmt::format(
      "{} columns are too many to attack by digits, repeats and format at once: each column's were looked at "
      "by "
      "themselves, and attackers were given those of the {} that told most, beside the values of all",
      traced.size(), given);
}

}  // namespace ppan
