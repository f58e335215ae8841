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

/// Boosted regression trees, stopped when the selection rows gain no more.
class RegressionTrees {
 public:
  RegressionTrees();
  ~RegressionTrees();
  RegressionTrees(RegressionTrees&&) noexcept;
  RegressionTrees& operator=(RegressionTrees&&) noexcept;

  void fit(const Matrix<float>& train, const Vector<float>& y_train, const Matrix<float>& selection,
           const Vector<float>& y_selection, int trees, std::uint64_t seed);
  [[nodiscard]] Vector<float> predict(const Matrix<float>& rows) const;

 private:
  struct Booster;
  std::unique_ptr<Booster> booster_;
  int rounds_ = 0;  // that are used
};

}  // namespace ppan
