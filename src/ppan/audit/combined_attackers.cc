#include "ppan/audit/combined_attackers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ppan/audit/attacker_pool.h"

namespace ppan {
namespace {

double log_add(double a, double b) {
  const double most = std::max(a, b);
  return std::isinf(most) ? most : most + std::log1p(std::exp(-std::abs(a - b)));
}

// Weights of a mixture of the attackers that make the selection rows likeliest: expectation maximisation,
// which climbs a concave function.
std::vector<double> mixture_weights(const std::vector<Vector<double>>& score) {
  constexpr int kSteps = 100;
  std::vector<double> weight(score.size(), 1 / static_cast<double>(score.size()));
  const Index rows = score.front().size();
  std::vector<double> part(score.size());
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> next(score.size(), 0);
    for (Index i = 0; i < rows; ++i) {
      double total = 0;
      for (std::size_t a = 0; a < score.size(); ++a) total += part[a] = weight[a] * std::exp(score[a][i]);
      for (std::size_t a = 0; a < score.size(); ++a) next[a] += part[a] / total;
    }
    for (std::size_t a = 0; a < score.size(); ++a) weight[a] = next[a] / static_cast<double>(rows);
  }
  return weight;
}

}  // namespace

CombinedAttacker mixture_of(const AttackData& data, const std::vector<TrainedAttacker>& trained) {
  std::vector<Vector<double>> score;
  for (const TrainedAttacker& t : trained) score.push_back(scores_of(t.on_selection, data.selection().x));
  const std::vector<double> weight = mixture_weights(score);
  CombinedAttacker out;
  out.on_test = Matrix<float>::Constant(data.test().rows(), data.target().levels,
                                        -std::numeric_limits<float>::infinity());
  for (Index i = 0; i < score.front().size(); ++i) {
    double sum = 0;
    for (std::size_t a = 0; a < trained.size(); ++a) sum += weight[a] * std::exp(score[a][i]);
    out.selection_score += std::log(sum) / static_cast<double>(score.front().size());
  }
  std::vector<std::pair<double, std::string>> parts;
  for (std::size_t a = 0; a < trained.size(); ++a) {
    if (weight[a] < 1e-6) continue;
    const double log_weight = std::log(weight[a]);
    for (Index k = 0; k < out.on_test.size(); ++k) {
      out.on_test.data()[k] =
          static_cast<float>(log_add(static_cast<double>(out.on_test.data()[k]),
                                     log_weight + static_cast<double>(trained[a].on_test.data()[k])));
    }
    if (weight[a] >= 0.05) parts.emplace_back(weight[a], trained[a].learner.name());
  }
  std::sort(parts.rbegin(), parts.rend());
  for (std::size_t p = 0; p < parts.size(); ++p)
    out.parts += fmt::format("{}{} {:.0f} %", p == 0 ? "" : ", ", parts[p].second, 100 * parts[p].first);
  return out;
}

CombinedAttacker pool_of(const AttackData& data, const std::vector<TrainedAttacker>& trained,
                         std::size_t single) {
  const Vector<double>& prior = data.task().prior;
  const Symbols& x = data.selection().x;
  std::vector<const Matrix<float>*> on_selection;
  std::vector<const Matrix<float>*> on_test;
  for (const TrainedAttacker& t : trained) {
    on_selection.push_back(&t.on_selection);
    on_test.push_back(&t.on_test);
  }
  // Whoever knows nothing has no evidence to begin with.
  if (trained[single].learner.kind == AttackerKind::kPrior) return {};
  const AttackerPool pooled = pool_attackers(on_selection, x, prior, single);
  if (pooled.part.empty()) return {};
  CombinedAttacker out{pooled.apply(on_test, prior), pooled.score, {}};
  // A wrong certainty of several attackers at once must not hide what was found elsewhere.
  Matrix<float> again = pooled.apply(on_selection, prior);
  const Calibration calibration = calibrate(again, x, prior);
  calibration.apply(prior, again);
  calibration.apply(prior, out.on_test);
  out.selection_score = mean_score(again, x);
  for (const AttackerPool::Part& part : pooled.part)
    out.parts += fmt::format("{}{:.2f} {}", out.parts.empty() ? "" : " + ", part.weight,
                             trained[part.attacker].learner.name());
  return out;
}

}  // namespace ppan
