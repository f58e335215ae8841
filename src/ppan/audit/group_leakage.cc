#include "ppan/audit/group_leakage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace ppan {
namespace {

struct Group {
  std::string column;
  std::string level;
  bool from_release = false;
  std::vector<Index> rows;  // of the test rows
};

void add_column_groups(const AuditColumn& column, bool from_release, const AttackSplit& split,
                       const AuditOptions& options, std::vector<Group>& groups) {
  std::map<std::string, std::vector<Index>> members;
  for (std::size_t t = 0; t < split.test.size(); ++t) {
    const auto row = static_cast<std::size_t>(split.test[t]);
    std::string level = "(missing)";
    if (!column.missing[row]) {
      level = column.has_text() ? column.level[static_cast<std::size_t>(column.code[row])]
                                : fmt::format("{}", column.number[split.test[t]]);
    }
    members[level].push_back(static_cast<Index>(t));
    if (static_cast<std::int32_t>(members.size()) > kMostGroupLevels) return;
  }
  if (members.size() < 2) return;
  for (auto& [level, rows] : members) {
    if (static_cast<Index>(rows.size()) >= options.least_group_rows) {
      groups.push_back({column.name, level, from_release, std::move(rows)});
    }
  }
}

// The rows about which the attacker claims to have learned most, judged by its belief and not by the truth.
void add_exposed_groups(const SuiteResult& result, const AuditOptions& options, std::vector<Group>& groups) {
  const Index rows = result.log_probability.rows();
  std::vector<std::pair<double, Index>> claim;
  for (Index i = 0; i < rows; ++i) {
    double divergence = 0;
    for (Index l = 0; l < result.log_probability.cols(); ++l) {
      const auto log_q = static_cast<double>(result.log_probability(i, l));
      divergence += std::exp(log_q) * (log_q - std::log(result.prior[l]));
    }
    claim.emplace_back(-divergence, i);
  }
  std::sort(claim.begin(), claim.end());
  for (const auto& [share, name] : {std::pair{0.01, "1 % of rows"}, std::pair{0.1, "10 % of rows"}}) {
    const auto count = static_cast<Index>(share * static_cast<double>(rows));
    if (count < options.least_group_rows) continue;
    Group group{"most exposed", name, true, {}};
    for (Index k = 0; k < count; ++k) group.rows.push_back(claim[static_cast<std::size_t>(k)].second);
    groups.push_back(std::move(group));
  }
}

}  // namespace

std::vector<GroupLeakage> group_leakage(const AuditInput& input, const AttackTarget& target,
                                        const AttackSplit& split, const SuiteResult& result,
                                        const AuditOptions& options) {
  std::vector<Group> groups;
  add_exposed_groups(result, options, groups);
  const Symbols x = codes_at(target, split.test);
  for (std::int32_t l = 0; l < target.levels; ++l) {
    Group group{target.name, target.level[static_cast<std::size_t>(l)], false, {}};
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == l) group.rows.push_back(static_cast<Index>(i));
    }
    if (static_cast<Index>(group.rows.size()) >= options.least_group_rows) groups.push_back(std::move(group));
  }
  for (const AuditColumn& column : input.groups) add_column_groups(column, false, split, options, groups);
  for (const AuditColumn& column : input.released.columns) {
    // Its levels are groups already, and would stand there twice.
    if (column.name != target.name) add_column_groups(column, true, split, options, groups);
  }

  // Groups that the release tells apart: against the prior, a bound. Others (the levels of the attribute
  // itself, say): against the attacker's own mean belief, so that one who leans to a level without knowing
  // anything scores 0.
  const Vector<double> belief =
      result.log_probability.array().cast<double>().exp().colwise().mean().transpose();
  Vector<double> to_prior = result.score;
  Vector<double> to_belief = result.score;
  for (Index i = 0; i < to_prior.size(); ++i) {
    to_prior[i] -= std::log(result.prior[x[static_cast<std::size_t>(i)]]);
    to_belief[i] -= std::log(belief[x[static_cast<std::size_t>(i)]]);
  }
  const double multiple = normal_multiple(static_cast<Index>(groups.size()));
  std::vector<GroupLeakage> out;
  for (const Group& group : groups) {
    Vector<double> gain(static_cast<Index>(group.rows.size()));
    const Vector<double>& from = group.from_release ? to_prior : to_belief;
    for (std::size_t k = 0; k < group.rows.size(); ++k) gain[static_cast<Index>(k)] = from[group.rows[k]];
    Units unit;
    if (!split.test_unit.empty()) {
      for (const Index row : group.rows) unit.push_back(split.test_unit[static_cast<std::size_t>(row)]);
    }
    const Rate mean = mean_rate(gain, unit);
    const double half = (mean.interval95.high - mean.value) / normal_multiple() * multiple;
    out.push_back({group.column, group.level, gain.size(),
                   Estimate{.nats = mean.value,
                            .interval95 = Interval{mean.value - half, mean.value + half},
                            .bound = group.from_release ? Bound::kLower : Bound::kEstimate,
                            .method = "held-out log loss within the group",
                            .samples = gain.size()}});
  }
  std::stable_sort(out.begin(), out.end(), [](const GroupLeakage& a, const GroupLeakage& b) {
    return a.leakage.interval95->low > b.leakage.interval95->low;
  });
  return out;
}

}  // namespace ppan
