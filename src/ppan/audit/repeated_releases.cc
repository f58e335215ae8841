#include "ppan/audit/repeated_releases.h"

#include <fmt/format.h>

#include <numeric>

#include "ppan/audit/audit_suites.h"
#include "ppan/audit/trace_screen.h"

namespace ppan {
namespace {

constexpr std::size_t kMostRepeatedColumns = 64;  // of which single releases are attacked

// Several releases of each row as one table, and the mean of each number over them. Of a wide table single
// releases of the columns `single` alone: of the others the mean.
AuditTable several_releases(const AuditInput& input, int releases, const std::vector<std::size_t>& single) {
  AuditTable all;
  std::vector<bool> whole(input.released.columns.size(), false);
  for (const std::size_t c : single) whole[c] = true;
  std::vector<Vector<double>> sum;
  for (int r = 0; r < releases; ++r) {
    AuditTable again = r == 0 ? input.released : input.draw_again(r);
    for (std::size_t c = 0; c < again.columns.size(); ++c) {
      AuditColumn& column = again.columns[c];
      if (r == 0) {
        sum.push_back(column.number);
      } else if (column.numeric() && sum[c].size() > 0) {
        sum[c] += column.number;
      }
      // What is no number has no mean.
      if (!whole[c] && column.numeric()) continue;
      if (r > 0) column.name = fmt::format("{} (release {})", column.name, r + 1);
      all.columns.push_back(std::move(column));
    }
  }
  for (std::size_t c = 0; c < sum.size(); ++c) {
    if (sum[c].size() == 0) continue;
    const Vector<double> average = sum[c] / releases;
    all.columns.push_back(column_of_numbers(input.released.columns[c].name + " (mean of releases)", average));
  }
  return all;
}

}  // namespace

std::vector<RepeatedRelease> repeated_releases(const AuditInput& input, const AttackTarget& target,
                                               const AttackSplit& split, const AuditOptions& options,
                                               std::vector<std::string>& notes) {
  std::vector<RepeatedRelease> out;
  const std::size_t columns = input.released.columns.size();
  std::vector<std::size_t> single(columns);
  std::iota(single.begin(), single.end(), std::size_t{0});
  if (columns > kMostRepeatedColumns && !options.repeats.empty()) {
    single = informative_columns(input.released, {&target, 1}, split, kMostRepeatedColumns, options.threads);
    notes.push_back(fmt::format(
        "{} columns are too many to attack each of several releases: of all numbers their mean over the "
        "releases was attacked, and the single releases of the {} columns that tell most",
        columns, single.size()));
  }
  for (const int releases : options.repeats) {
    const AuditTable all = several_releases(input, releases, single);
    const FeatureMap map = screened_map(all, {&target, 1}, split, options.features, options.threads);
    const SuiteResult result =
        attack(suite_input(map, all), target, split, side_suite(options, target.continuous));
    out.push_back({releases, lower_bound(result.gain, result.entropy,
                                         fmt::format("held-out log loss, {} releases of each row", releases),
                                         split.test_unit)});
  }
  return out;
}

}  // namespace ppan
