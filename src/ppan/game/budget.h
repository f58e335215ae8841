#pragma once

// How distortion enters the mechanism's loss, given d_ik, the distortion of each draw of each record of a
// batch, and d_i = sum_k weight_ik d_ik, that of the record.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"

namespace ppan {

enum class BudgetForm {
  kWeighted,  ///< lambda * mean d
  kRecord,    ///< lambda * mean_i sum_k weight_ik max(0, d_ik - delta)^2, as printed: a hinge for every draw
  kRecordMean,  ///< lambda * mean_i max(0, d_i - delta)^2: a hinge for the expected distortion of each record
  kExpected,    ///< lambda * max(0, mean d - delta)^2
  kDual,        ///< augmented Lagrangian: meets delta instead of hovering above it
};

std::string_view to_string(BudgetForm form);
std::vector<std::string> budget_form_names();   ///< weighted, record, record-mean, expected, dual
BudgetForm budget_form(std::string_view name);  ///< Throws Error(kUsage) with the nearest names.

struct BudgetOptions {
  BudgetForm form = BudgetForm::kExpected;
  double limit = 0;         ///< delta, in the units of the distortion; at least 0. Unused by kWeighted.
  double weight = 1;        ///< lambda; greater than 0. In kDual the strength rho of the quadratic term.
  double dual_rate = 0.01;  ///< kDual: eta, step of the multiplier per mechanism update; greater than 0.
  /// kDual: share of the steps so far that a running mean of the distortion remembers, 0 to 1. At 0 the force
  /// comes from the distortion of the current batch. Where the price of distortion is low, the hinge turns
  /// the noise of the batch into force, so that a loose budget is not spent.
  double memory = 0;
  /// kDual with memory: distance from delta that counts as 1, in the units of the distortion; greater than 0.
  /// Of the order of delta, so that a tight budget is held as closely, relatively, as a loose one.
  double unit = 1;
  /// kDual: eta falls with the mechanism's learning rate. Otherwise the multiplier oscillates ever more
  /// widely around a mechanism that follows ever more slowly.
  bool settle = false;
  /// kDual: price of distortion even below delta, nats per unit; at least 0. A mechanism with nothing left to
  /// hide then returns the remainder of its budget.
  double idle_price = 0;
  [[nodiscard]] Problems check() const;
};

/// kDual, with the multiplier m held during a step (Bertsekas 1982, ch. 2):
///     penalty = (max(0, m + rho (mean d - delta))^2 - m^2) / (2 rho) + idle_price mean d,
///     then m <- max(0, m + eta (mean d - delta)).
/// With memory, the force comes from a running mean r of the previous batches, so that the noise of the
/// current batch is neither rectified by the hinge nor correlated with its gradient:
///     penalty = max(0, m + rho e) (mean d - delta) + idle_price mean d,
///     e = min(1, (r - delta) / unit), 0 in the first step,
///     then r <- r + (mean d - r) / max(1, memory t) at step t, and m <- max(0, m + eta e).
/// The cap keeps m from winding up on the distortion of a random start.
template <typename Scalar>
class Budget {
 public:
  explicit Budget(BudgetOptions options);

  [[nodiscard]] const BudgetOptions& options() const { return options_; }
  [[nodiscard]] double multiplier() const { return multiplier_; }
  /// The multiplier from which dual ascent continues; at least 0.
  void set_multiplier(double multiplier) { multiplier_ = multiplier; }

  /// True for a penalty on each draw, which is not a function of the d_i: use cost() instead of evaluate().
  [[nodiscard]] bool by_draw() const { return options_.form == BudgetForm::kRecord; }
  /// What one draw (or an unchanged record) of distortion `d` costs, and the slope of that in d. The penalty
  /// is the mean over the records of the expected cost.
  void cost(const Matrix<Scalar>& d, Matrix<Scalar>& value, Matrix<Scalar>& slope) const;
  [[nodiscard]] Scalar cost(Scalar d) const;

  /// The penalty; slope(i) becomes its derivative in d_i. Not for a penalty by_draw().
  double evaluate(const Vector<Scalar>& d, Vector<Scalar>& slope) const;
  /// True for a penalty that depends on the mean distortion only: evaluate_mean() computes it.
  [[nodiscard]] bool by_mean() const { return !by_draw() && options_.form != BudgetForm::kRecordMean; }
  /// The penalty of a mean distortion; `slope` becomes its derivative in it.
  double evaluate_mean(double mean, double& slope) const;
  /// After each mechanism step, with the mean distortion that step saw. `share` is the mechanism's learning
  /// rate divided by its maximum; used if the options say `settle`.
  void update(double mean_distortion, double share = 1);

  /// The running mean of a budget with memory, and over how many steps it ran.
  struct Running {
    double mean = 0;
    std::int64_t steps = 0;
  };
  [[nodiscard]] Running running() const { return running_; }
  void set_running(Running running) { running_ = running; }

 private:
  [[nodiscard]] double error() const;  // e above

  BudgetOptions options_;
  double multiplier_ = 0;
  Running running_;
};

}  // namespace ppan
