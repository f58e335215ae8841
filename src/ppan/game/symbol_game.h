#pragma once

// The game where W, X, Y and Z are all finite and both players are tables of logits. Loss and gradients are
// those of FiniteMechanism, Posterior and Distortion together, except that sums over the records of a symbol
// are taken first. With
//     J(x,z) = sum_i 1(x_i = x) P(z|w_i)
//     M(w,z) = sum_i 1(w_i = w) d(y_i,z)
//     A(w,z) = sum_i 1(w_i = w) u(Q(x_i|z))
// a batch of n records gives
//     mean u = sum_xz J u(Q) / n,   mean d = sum_wz M P / n,   d loss / d P(z|w) = (A + slope M) / n.
// So only these sums are computed for each record and symbol, one row of a record at a time
// (docs/decisions/0005-discrete-step.md).

#include "ppan/core/records.h"

namespace ppan {

/// Rows of z as long as a whole number of vector registers, so that loops over them have no remainder.
template <typename Scalar>
struct PaddedRows {
  Index rows = 0;
  Index stride = 0;
  Vector<Scalar> data;

  void resize(Index row_count, Index width);
  [[nodiscard]] Scalar* row(Index r) { return data.data() + r * stride; }
  [[nodiscard]] const Scalar* row(Index r) const { return data.data() + r * stride; }
};

template <typename Scalar>
class SymbolGame {
 public:
  /// `distortion`: d(y,z), a row per y and a column per symbol of z. At least one symbol of each.
  SymbolGame(Index observed, Index sensitive, const Matrix<Scalar>& distortion);

  /// Sets the batch and the mechanism's table of logits, |W| x |Z| column by column.
  void draw(const Records<Scalar>& batch, const Vector<Scalar>& mechanism);
  [[nodiscard]] double mean_distortion() const;

  /// The adversary's table of logits, |Z| x |X| column by column, for the current draws. `power` is the order
  /// in the players' loss: u(q) = (q^power - 1) / power, log q at 0.
  void believe(const Vector<Scalar>& adversary, double power);
  /// Mean u(Q(x|z)) of order `power`, which may differ from the order in the loss. After believe().
  [[nodiscard]] double mean_utility(double power) const;
  /// Minus the gradient of the mean u of the loss, in the adversary's logits. After believe(), whose results
  /// it overwrites.
  void adversary_descent(Vector<Scalar>& gradient);
  /// Gradient of `felt` mean u + `slope` mean d in the mechanism's logits. After believe().
  void mechanism_gradient(const Records<Scalar>& batch, double felt, double slope, Vector<Scalar>& gradient);

 private:
  Index observed_, sensitive_, released_;
  double records_ = 0;
  double power_ = 0;
  PaddedRows<Scalar> distortion_;   // a row per y
  PaddedRows<Scalar> by_symbol_;    // P(z|w), a row per z: what a softmax over z is taken on
  PaddedRows<Scalar> released_by_;  // P(z|w), a row per w
  PaddedRows<Scalar> joint_;        // J, a row per x
  PaddedRows<Scalar> price_;        // M, a row per w
  PaddedRows<Scalar> belief_;       // Q(x|z), a row per x
  PaddedRows<Scalar> log_belief_;
  PaddedRows<Scalar> utility_;  // u of the loss, a row per x; empty at power 0
  PaddedRows<Scalar> slope_;    // du / dlog Q
  PaddedRows<Scalar> gain_;     // A, a row per w; then the gradient in P(z|w)
  PaddedRows<Scalar> d_logit_;  // a row per z
};

}  // namespace ppan
