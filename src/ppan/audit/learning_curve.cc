#include "ppan/audit/learning_curve.h"

#include <algorithm>
#include <array>

#include "ppan/core/parallel.h"

namespace ppan {
namespace {

// Doubling the rows "clearly" helps when it adds this much, in nats or as a share of what was found.
constexpr double kRiseNats = 0.005;
constexpr double kRiseShare = 0.05;
constexpr double kNearEverything = 0.95;  // of the entropy: nothing left to rise to

// The same test rows under both, so the difference is far less noisy than either.
bool rises(const Vector<double>& full, const Vector<double>& half, double entropy, const Units& unit) {
  const Rate rise = mean_rate(full - half, unit);
  const Rate found = mean_rate(full, unit);
  return rise.interval95.low > 0 && found.interval95.low > 0 &&
         rise.value > std::max(kRiseNats, kRiseShare * found.value) &&
         found.value < kNearEverything * entropy;
}

}  // namespace

void add_learning_curve(const AttackData& data, const TrainedAttacker& best, const Vector<double>& base,
                        SuiteResult& result) {
  const Symbols& x = data.test().x;
  const Units& unit = data.test_unit();
  constexpr std::array<std::size_t, 3> kParts{8, 4, 2};
  const Vector<double> full = scores_of(best.on_test, x) - base;
  const auto rows = data.rows_of(best.learner.from).size();
  if (best.learner.kind != AttackerKind::kPrior) {
    std::array<TrainedAttacker, kParts.size()> part;
    parallel_for(static_cast<std::int64_t>(kParts.size()), thread_count(data.options().threads),
                 [&](std::int64_t p) {
                   const std::size_t at = kParts.size() - 1 - static_cast<std::size_t>(p);
                   part[at] = train_attacker(data, best.learner, data.training(best.learner.from, kParts[at]),
                                             "learning-curve");
                 });
    std::vector<Index> learned;
    std::vector<Vector<double>> gain;
    for (std::size_t p = 0; p < kParts.size(); ++p) {
      if (!part[p].failure.empty()) continue;
      learned.push_back(static_cast<Index>(rows / kParts[p]));
      gain.push_back(scores_of(part[p].on_test, x) - base);
      result.learning.push_back({learned.back(), mean_rate(gain.back(), unit)});
    }
    learned.push_back(static_cast<Index>(rows));
    gain.push_back(full);
    if (gain.size() > 1) result.still_rising = rises(full, gain[gain.size() - 2], result.entropy, unit);
    // What several attackers find beyond the strongest of them they are taken to find with any number of
    // rows.
    for (Vector<double>& g : gain) g += result.gain - full;
    result.forecast = forecast_learning(learned, gain, result.entropy, unit);
  }
  result.learning.push_back({static_cast<Index>(rows), mean_rate(full, unit)});
}

}  // namespace ppan
