#pragma once

#include "ppan/audit/attacker.h"
#include "ppan/nn/mlp.h"

namespace ppan {

struct NetworkAttackerOptions {
  std::vector<Index> hidden;  ///< Empty: logistic regression.
  double rate = 0.003;        ///< Adam's, at the start.
  double decay = 1;           ///< Share of the parameters taken off at each step, times the rate.
};

/// Softmax network trained by Adam on the log loss; the parameters that did best on the selection rows are
/// kept.
class NetworkAttacker final : public Attacker {
 public:
  NetworkAttacker(const AttackTask& task, NetworkAttackerOptions options)
      : Attacker(task), options_(std::move(options)) {}
  void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) override;
  Matrix<float> log_probability(const AttackRows& rows) override;

 private:
  NetworkAttackerOptions options_;
  Mlp<float> network_;
  Vector<float> parameters_;
};

/// A network that outputs mean and log variance of the normal score of a continuous attribute (the value put
/// through its own empirical distribution and back through the normal distribution, which leaves information
/// unchanged); the probability of a bin is the normal probability between its edges.
class DensityAttacker final : public Attacker {
 public:
  explicit DensityAttacker(const AttackTask& task) : Attacker(task) {}
  void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) override;
  Matrix<float> log_probability(const AttackRows& rows) override;

  /// Mean and log variance of the normal score, rows x 2.
  Matrix<float> predict(const AttackRows& rows);

 private:
  Mlp<float> network_;
  Vector<float> parameters_;
};

}  // namespace ppan
