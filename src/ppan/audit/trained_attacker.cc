#include "ppan/audit/trained_attacker.h"

#include <fmt/format.h>

#include "ppan/core/error.h"
#include "ppan/core/random.h"

namespace ppan {

std::string Learner::name() const {
  return fmt::format("{}{}", to_string(kind), from == LearnFrom::kHeldOut ? " (held-out rows only)" : "");
}

TrainedAttacker train_attacker(const AttackData& data, const Learner& learner, const AttackRows& train,
                               std::string_view stream) {
  const AttackTask& task = data.task();
  const AttackRows& selection = data.selection();
  TrainedAttacker t;
  t.learner = learner;
  try {
    t.attacker = make_attacker(learner.kind, task);
    SeededRandom random = SeededRandom(data.options().seed)
                              .fork(stream, static_cast<std::uint64_t>(learner.kind) +
                                                100 * static_cast<std::uint64_t>(learner.from));
    t.attacker->fit(train, selection, random);
    t.on_selection = t.attacker->log_probability(selection);
    t.on_test = t.attacker->log_probability(data.test());
  } catch (const Error& error) {
    t.failure = error.what();
    return t;
  }
  t.calibration = calibrate(t.on_selection, selection.x, task.prior);
  t.calibration.apply(task.prior, t.on_selection);
  t.calibration.apply(task.prior, t.on_test);
  t.selection_score = mean_score(t.on_selection, selection.x);
  return t;
}

std::size_t strongest(const std::vector<TrainedAttacker>& trained) {
  std::size_t single = 0;
  for (std::size_t a = 0; a < trained.size(); ++a) {
    if (trained[a].learner.kind == AttackerKind::kPrior) single = a;
  }
  for (std::size_t a = 0; a < trained.size(); ++a) {
    if (trained[a].selection_score > trained[single].selection_score) single = a;
  }
  return single;
}

Vector<double> scores_of(const Matrix<float>& log_probability, const Symbols& x) {
  Vector<double> out(log_probability.rows());
  for (Index i = 0; i < out.size(); ++i) {
    out[i] = static_cast<double>(log_probability(i, x[static_cast<std::size_t>(i)]));
  }
  return out;
}

}  // namespace ppan
