#include "ppan/audit/joint_attack.h"

#include <algorithm>

namespace ppan {
namespace {

constexpr std::int64_t kRowsPerCell = 10;  // of a joint alphabet whose shares are to be relied on

// The release left out: what add_known() adds is all there is.
SuiteInput nothing_released(Index rows) {
  SuiteInput input;
  input.released.data.resize(rows, 0);
  input.released.cell.assign(static_cast<std::size_t>(rows), 0);
  input.released.cells = 1;
  return input;
}

Symbols test_codes(const AttackTarget& target, const AttackSplit& split) {
  Symbols code;
  for (const std::int32_t row : split.test) code.push_back(target.code[static_cast<std::size_t>(row)]);
  return code;
}

}  // namespace

JointAttack joint_attack(SuiteInput input, const std::vector<AttackTarget>& targets, const SuiteResult& first,
                         const AttackSplit& split,
                         const std::function<SuiteOptions(const AttackTarget&)>& options) {
  std::int32_t levels = targets.front().levels;
  Symbols code = test_codes(targets.front(), split);
  for (std::size_t a = 1; a < targets.size(); ++a)
    code = joint_code(code, test_codes(targets[a], split), targets[a].levels, levels);
  const bool small = kRowsPerCell * levels <= static_cast<std::int64_t>(split.test.size());

  JointAttack out;
  out.still_rising = first.still_rising;
  double ends = 0;  // of the links, each without what earlier attributes say of it
  double entropies = 0;
  bool forecast = false;
  const auto add_end = [&](const SuiteResult& link) {
    forecast = forecast || link.forecast.has_value();
    ends += link.forecast ? forecast_end(*link.forecast, link.still_rising)
                          : std::max(0.0, mean_rate(link.gain, split.test_unit).interval95.high);
    entropies += link.entropy;
  };
  add_end(first);
  Vector<double> score = first.score;
  Vector<double> base =
      small ? log_share(code, levels) : log_share(test_codes(targets.front(), split), targets.front().levels);
  SuiteInput without = nothing_released(input.released.data.rows());
  for (std::size_t a = 1; a < targets.size(); ++a) {
    SuiteOptions effort = options(targets[a]);
    add_known(input, targets[a - 1]);
    const SuiteResult link = attack(input, targets[a], split, effort);
    score += link.score;
    add_end(link);
    out.still_rising = out.still_rising || link.still_rising;
    if (small) continue;
    effort.learning_curve = false;
    effort.sources = false;
    add_known(without, targets[a - 1]);
    base += attack(without, targets[a], split, effort).score;
  }
  out.entropy = -base.mean();
  // What the attributes say of each other is no leakage.
  if (forecast) out.forecast_end = std::max(0.0, ends - (entropies - out.entropy));
  if (small) {
    out.leakage = lower_bound(score - base, out.entropy, "held-out log loss, chain rule", split.test_unit);
    return out;
  }
  const Rate rate = mean_rate(score - base, split.test_unit);
  out.leakage = {
      .nats = std::max(0.0, rate.value),
      .interval95 = Interval{std::max(0.0, rate.interval95.low), std::max(0.0, rate.interval95.high)},
      .bound = Bound::kEstimate,
      .method = "held-out log loss with and without the release, chain rule",
      .samples = static_cast<std::int64_t>(split.test.size())};
  return out;
}

}  // namespace ppan
