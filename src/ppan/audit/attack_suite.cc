#include "ppan/audit/attack_suite.h"

#include <fmt/format.h>

#include <algorithm>

#include "ppan/audit/attack_data.h"
#include "ppan/audit/combined_attackers.h"
#include "ppan/audit/leak_sources.h"
#include "ppan/audit/learning_curve.h"
#include "ppan/audit/trained_attacker.h"
#include "ppan/core/error.h"
#include "ppan/core/parallel.h"

namespace ppan {
namespace {

constexpr Index kLeastLearned = 2000;  // rows, however wide the table is

std::vector<Learner> learners_for(const AttackData& data) {
  std::vector<AttackerKind> kinds = data.options().attackers;
  const bool continuous = data.target().continuous;
  if (kinds.empty()) {
    // Most expensive first, so that the threads end together.
    kinds = {AttackerKind::kLargeMlp,     AttackerKind::kTrees,      AttackerKind::kForest,
             AttackerKind::kNeighbours,   AttackerKind::kExtraTrees, AttackerKind::kSmallMlp,
             AttackerKind::kAdditive,     AttackerKind::kKeys,       AttackerKind::kLogistic,
             AttackerKind::kDiscriminant, AttackerKind::kLookup,     AttackerKind::kPrior};
    if (continuous) kinds.insert(kinds.begin() + 2, {AttackerKind::kDensity, AttackerKind::kRegression});
  }
  if (!continuous) {
    std::erase(kinds, AttackerKind::kDensity);
    std::erase(kinds, AttackerKind::kRegression);
  }
  if (data.task().key_values.empty()) std::erase(kinds, AttackerKind::kKeys);
  std::vector<Learner> learners;
  for (const AttackerKind kind : kinds) {
    learners.push_back({kind, LearnFrom::kAll});
    const bool cheap = kind == AttackerKind::kTrees || kind == AttackerKind::kLogistic ||
                       kind == AttackerKind::kForest || kind == AttackerKind::kKeys ||
                       kind == AttackerKind::kDiscriminant || kind == AttackerKind::kAdditive ||
                       kind == AttackerKind::kRegression;
    if (data.has_trained_rows() && cheap && data.options().held_out_learners)
      learners.push_back({kind, LearnFrom::kHeldOut});
  }
  return learners;
}

std::vector<TrainedAttacker> train_all(const AttackData& data, std::vector<std::string>& failures) {
  const std::vector<Learner> learners = learners_for(data);
  const AttackRows all = data.training(LearnFrom::kAll, 1);
  const AttackRows held_out = data.has_trained_rows() ? data.training(LearnFrom::kHeldOut, 1) : AttackRows{};
  std::vector<TrainedAttacker> trained(learners.size());
  parallel_for(
      static_cast<std::int64_t>(learners.size()), thread_count(data.options().threads), [&](std::int64_t a) {
        const Learner& learner = learners[static_cast<std::size_t>(a)];
        trained[static_cast<std::size_t>(a)] =
            train_attacker(data, learner, learner.from == LearnFrom::kAll ? all : held_out, "attacker");
      });
  for (const TrainedAttacker& t : trained) {
    if (!t.failure.empty()) failures.push_back(fmt::format("{}: {}", t.learner.name(), t.failure));
  }
  std::erase_if(trained, [](const TrainedAttacker& t) { return !t.failure.empty(); });
  if (trained.empty())
    throw Error(ErrorCode::kInternal, fmt::format("no attacker could be trained: {}", failures.front()));
  return trained;
}

// The strongest of single attackers, mixture and pool; `result` has the scores of the single ones.
void take_winner(const AttackData& data, const std::vector<TrainedAttacker>& trained, std::size_t single,
                 const Vector<double>& base, SuiteResult& result) {
  const AttackRows& test = data.test();
  const AttackRows& selection = data.selection();
  const double selection_entropy = empirical_entropy(selection.x, data.target().levels);
  result.winner = trained[single].learner.name();
  result.log_probability = trained[single].on_test;
  std::size_t chosen = single;
  double most = trained[single].selection_score;
  const auto compete = [&](const char* name, CombinedAttacker combined, double margin) {
    if (combined.on_test.rows() == 0) return;
    const Estimate leakage =
        lower_bound(scores_of(combined.on_test, test.x) - base, result.entropy,
                    fmt::format("held-out log loss, {} of attackers", name), data.test_unit());
    result.attackers.push_back(
        {name, selection_entropy + combined.selection_score, leakage, /*combined=*/true});
    if (combined.selection_score <= most + margin) return;
    most = combined.selection_score;
    chosen = result.attackers.size() - 1;
    result.winner = fmt::format("{} ({})", name, combined.parts);
    result.log_probability = std::move(combined.on_test);
  };
  if (trained.size() > 1) {
    // The mixture has as many parameters as parts; it must beat the best of them by more than they can buy.
    const double margin =
        static_cast<double>(trained.size() - 1) / (2 * static_cast<double>(selection.rows()));
    compete("mixture", mixture_of(data, trained), margin);
    compete("pool", pool_of(data, trained, single), 0);
  }
  result.attackers[chosen].chosen = true;
  result.score = scores_of(result.log_probability, test.x);
  result.gain = result.score - base;
}

SuiteResult run(const AttackData& data) {
  SuiteResult result;
  std::vector<TrainedAttacker> trained = train_all(data, result.failures);
  const AttackRows& test = data.test();
  result.prior = data.task().prior;
  const Vector<double> base = log_share(test.x, data.target().levels);
  result.entropy = -base.mean();
  const double selection_entropy = empirical_entropy(data.selection().x, data.target().levels);
  const std::size_t single = strongest(trained);
  for (const TrainedAttacker& t : trained) {
    result.attackers.push_back(
        {t.learner.name(), selection_entropy + t.selection_score,
         lower_bound(scores_of(t.on_test, test.x) - base, result.entropy,
                     fmt::format("held-out log loss, {}", t.learner.name()), data.test_unit())});
  }
  take_winner(data, trained, single, base, result);
  std::stable_sort(result.attackers.begin(), result.attackers.end(),
                   [](const AttackerScore& a, const AttackerScore& b) { return a.selection > b.selection; });
  result.learned_rows = static_cast<Index>(data.rows_of(trained[single].learner.from).size());
  if (data.options().learning_curve) add_learning_curve(data, trained[single], base, result);
  if (data.options().sources) result.sources = find_sources(data, trained, base);
  return result;
}

}  // namespace

Problems SuiteOptions::check() const {
  ProblemList list;
  list.add("effort", effort.check());
  list.require_at_least("most_training_rows", static_cast<double>(most_training_rows), 1);
  list.require_at_least("most_releases", static_cast<double>(most_releases), 1);
  list.require_at_least("most_cells", static_cast<double>(most_cells), 1);
  list.require_at_least("threads", threads, 0);
  return list.take();
}

Index room_for_rows(const SuiteOptions& options, Index features) {
  return std::max(kLeastLearned, options.most_cells / std::max<Index>(1, features));
}

SuiteResult attack(const SuiteInput& input, const AttackTarget& target, const AttackSplit& split,
                   const SuiteOptions& options) {
  require_none(options.check(), "these options of the attack suite cannot be used:");
  return run(AttackData(input, target, split, options));
}

std::vector<AttackerKind> quick_attackers(bool continuous) {
  std::vector<AttackerKind> kinds{
      AttackerKind::kTrees,    AttackerKind::kForest,   AttackerKind::kSmallMlp,
      AttackerKind::kKeys,     AttackerKind::kLogistic, AttackerKind::kDiscriminant,
      AttackerKind::kAdditive, AttackerKind::kLookup,   AttackerKind::kPrior};
  if (continuous) kinds.insert(kinds.begin(), {AttackerKind::kDensity, AttackerKind::kRegression});
  return kinds;
}

}  // namespace ppan
