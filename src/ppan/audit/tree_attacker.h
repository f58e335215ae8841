#pragma once

#include "ppan/audit/attacker.h"

namespace ppan {

/// Gradient-boosted trees by XGBoost (T. Chen, C. Guestrin, "XGBoost: a scalable tree boosting system", KDD
/// 2016), histogram method, one thread, stopped when the selection rows gain no more; deep and shallow trees
/// are tried and the selection rows choose. Boosting starts from the prior.
class TreeAttacker final : public Attacker {
 public:
  explicit TreeAttacker(const AttackTask& task);
  ~TreeAttacker() override;
  void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) override;
  Matrix<float> log_probability(const AttackRows& rows) override;

 private:
  struct Booster;
  std::unique_ptr<Booster> booster_;
  int rounds_ = 0;  // that are used
};

/// Boosted regression trees: predictions of `y` for the rows of `test`, trained on `train` and stopped on
/// `selection`.
struct TreeRegression {
  Vector<float> selection;
  Vector<float> test;
};
TreeRegression regress_with_trees(const Matrix<float>& train, const Vector<float>& y_train,
                                  const Matrix<float>& selection, const Vector<float>& y_selection,
                                  const Matrix<float>& test, int trees, std::uint64_t seed);

}  // namespace ppan
