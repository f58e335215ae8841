#include "ppan/audit/attacker.h"

#include "ppan/audit/additive_attacker.h"
#include "ppan/audit/discriminant_attacker.h"
#include "ppan/audit/forest_attacker.h"
#include "ppan/audit/key_attacker.h"
#include "ppan/audit/lookup_attacker.h"
#include "ppan/audit/neighbour_attacker.h"
#include "ppan/audit/network_attacker.h"
#include "ppan/audit/regression_attacker.h"
#include "ppan/audit/tree_attacker.h"

namespace ppan {
namespace {

class PriorAttacker final : public Attacker {
 public:
  explicit PriorAttacker(const AttackTask& task) : Attacker(task) {}
  void fit(const AttackRows& /*train*/, const AttackRows& /*selection*/, RandomSource& /*random*/) override {}
  Matrix<float> log_probability(const AttackRows& rows) override { return prior_rows(rows.rows()); }
};

}  // namespace

std::string_view to_string(AttackerKind kind) {
  switch (kind) {
    case AttackerKind::kPrior:
      return "prior only";
    case AttackerKind::kLookup:
      return "lookup";
    case AttackerKind::kLogistic:
      return "logistic regression";
    case AttackerKind::kSmallMlp:
      return "small network";
    case AttackerKind::kLargeMlp:
      return "large network";
    case AttackerKind::kTrees:
      return "boosted trees";
    case AttackerKind::kNeighbours:
      return "nearest neighbours";
    case AttackerKind::kDensity:
      return "density network";
    case AttackerKind::kAdditive:
      return "additive model";
    case AttackerKind::kRegression:
      return "regression";
    case AttackerKind::kForest:
      return "random forest";
    case AttackerKind::kExtraTrees:
      return "extremely randomised trees";
    case AttackerKind::kDiscriminant:
      return "linear discriminant";
    case AttackerKind::kKeys:
      return "digits and values";
  }
  return "?";
}

Problems AttackEffort::check() const {
  ProblemList list;
  list.require_at_least("epochs", epochs, 1);
  list.require_at_least("patience", patience, 1);
  list.require_at_least("trees", trees, 1);
  list.require_between("tree_bins", tree_bins, 2, 65'536);
  list.require_at_least("neighbours", static_cast<double>(neighbours), 1);
  return list.take();
}

Matrix<float> Attacker::prior_rows(Index rows) const {
  Matrix<float> out(rows, task_.levels);
  for (Index l = 0; l < task_.levels; ++l)
    out.col(l).setConstant(static_cast<float>(std::log(task_.prior[l])));
  return out;
}

std::unique_ptr<Attacker> make_attacker(AttackerKind kind, const AttackTask& task) {
  switch (kind) {
    case AttackerKind::kPrior:
      return std::make_unique<PriorAttacker>(task);
    case AttackerKind::kLookup:
      return std::make_unique<LookupAttacker>(task);
    case AttackerKind::kLogistic:
      return std::make_unique<NetworkAttacker>(
          task, NetworkAttackerOptions{.hidden = {}, .rate = 0.01, .decay = 0.01});
    case AttackerKind::kSmallMlp:
      return std::make_unique<NetworkAttacker>(task, NetworkAttackerOptions{.hidden = {64}, .rate = 0.003});
    case AttackerKind::kLargeMlp:
      return std::make_unique<NetworkAttacker>(task,
                                               NetworkAttackerOptions{.hidden = {256, 256}, .rate = 0.001});
    case AttackerKind::kTrees:
      return std::make_unique<TreeAttacker>(task);
    case AttackerKind::kNeighbours:
      return std::make_unique<NeighbourAttacker>(task);
    case AttackerKind::kDensity:
      return std::make_unique<DensityAttacker>(task);
    case AttackerKind::kAdditive:
      return std::make_unique<AdditiveAttacker>(task);
    case AttackerKind::kRegression:
      return std::make_unique<RegressionAttacker>(task);
    case AttackerKind::kForest:
      return std::make_unique<ForestAttacker>(task, ForestKind::kRandom);
    case AttackerKind::kExtraTrees:
      return std::make_unique<ForestAttacker>(task, ForestKind::kExtraTrees);
    case AttackerKind::kDiscriminant:
      return std::make_unique<DiscriminantAttacker>(task);
    case AttackerKind::kKeys:
      return std::make_unique<KeyAttacker>(task);
  }
  throw Error(ErrorCode::kInternal, "unknown attacker");
}

double mean_score(const Matrix<float>& log_probability, const Symbols& x) {
  double sum = 0;
  for (Index i = 0; i < log_probability.rows(); ++i) {
    sum += static_cast<double>(log_probability(i, x[static_cast<std::size_t>(i)]));
  }
  return log_probability.rows() == 0 ? 0 : sum / static_cast<double>(log_probability.rows());
}

}  // namespace ppan
