#include "ppan/audit/additive_attacker.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace ppan {
namespace {

constexpr std::array kDecays{0.1, 1.0, 5.0};
constexpr Index kManyRows = 10'000;       // need little decay
constexpr Index kMostCells = 16'000'000;  // rows times steps

}  // namespace

AttackRows AdditiveAttacker::steps_of(const AttackRows& rows) const {
  AttackRows out;
  out.data = steps_.apply(rows.data);
  out.x = rows.x;
  return out;
}

void AdditiveAttacker::fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) {
  chosen_.reset();
  if (task_.values.empty()) return;
  const Index most = kMostCells / std::max<Index>(1, train.rows() + selection.rows());
  steps_ = LevelIndicators(train.data, task_.values, most);
  const AttackRows learned = steps_of(train);
  const AttackRows scored = steps_of(selection);
  double best = -std::numeric_limits<double>::infinity();
  for (const double decay : kDecays) {
    if (chosen_ && train.rows() > kManyRows) break;
    auto tried = std::make_unique<NetworkAttacker>(
        task_, NetworkAttackerOptions{.hidden = {}, .rate = 0.01, .decay = decay});
    tried->fit(learned, scored, random);
    const double score = mean_score(tried->log_probability(scored), scored.x);
    if (score <= best) continue;
    best = score;
    chosen_ = std::move(tried);
  }
}

Matrix<float> AdditiveAttacker::log_probability(const AttackRows& rows) {
  return chosen_ ? chosen_->log_probability(steps_of(rows)) : prior_rows(rows.rows());
}

}  // namespace ppan
