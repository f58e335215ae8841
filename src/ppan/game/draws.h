#pragma once

// The common interface of the game. For each record of a batch a mechanism gives K weighted draws, and every
// expectation over its randomness is a weighted sum over them:
//     finite alphabet   K = |Z|: all symbols, weighted with their probabilities (no sampling)
//     mixture           one draw per component, weighted with the probability of the component
//     all others        K independent draws, each of weight 1/K
// Draw k of record i is row k * records + i, so a records x K matrix of scores, read column by column, is in
// the order of the rows.

#include "ppan/core/matrix.h"

namespace ppan {

template <typename Scalar>
struct Draws {
  Index records = 0;
  Index per_record = 1;  ///< K.
  bool shared = false;   ///< Every record has the same K draws (the alphabet): K rows, not K * records.
  bool weights_learned = false;  ///< The weights depend on parameters; otherwise they are 1/K.
  bool has_logit = false;        ///< released = sigmoid(logit).
  bool has_code = false;         ///< The adversary sees `code`, of which `released` is a function.
  /// 1 minus the sum of the weights of a record is the probability that it is released unchanged. The
  /// adversary is then taken to know everything: that part scores log Q = 0.
  bool rest_unchanged = false;

  Matrix<Scalar> released;  ///< z. A symbol of a finite alphabet is one-hot.
  Matrix<Scalar> logit;
  Matrix<Scalar> code;
  Matrix<Scalar> weight;  ///< records x K; rows sum to 1, or with rest_unchanged to less.

  [[nodiscard]] const Matrix<Scalar>& seen() const { return has_code ? code : released; }

  /// Sets the weights of K equally likely draws.
  void set_equal_weights(Index records_now, Index per_record_now) {
    records = records_now;
    per_record = per_record_now;
    weight.resize(records, per_record);
    weight.setConstant(Scalar(1) / static_cast<Scalar>(per_record));
  }
};

/// Gradient of a loss with respect to Draws. A matrix counts only if its flag is set.
template <typename Scalar>
struct DrawsGradient {
  bool has_released = false;
  bool has_logit = false;
  bool has_seen = false;

  Matrix<Scalar> released;  ///< Through what is released (distortion, discriminator).
  Matrix<Scalar> logit;     ///< Through the logit of what is released (pixel cross-entropy).
  Matrix<Scalar> seen;      ///< Through what the adversary sees.
  Matrix<Scalar> weight;    ///< records x K.

  void clear() { has_released = has_logit = has_seen = false; }

  /// released <- released + addition, or <- addition if nothing was set before.
  void add_released(const Matrix<Scalar>& addition) {
    if (has_released) {
      released += addition;
    } else {
      released = addition;
      has_released = true;
    }
  }
};

}  // namespace ppan
