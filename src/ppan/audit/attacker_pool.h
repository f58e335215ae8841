#pragma once

// Several attackers as one, by what each has found out:
//
//     log Q(x|z) = log P(x) + sum_a w_a (log Q_a(x|z) - log P(x)) + const(z),   w_a >= 0.
//
// Attackers that look at different things (digits, values, parts of a text) each hold a part of the evidence,
// and evidence adds up in logarithms: their mixture, an average of probabilities, would only find the mean of
// what they find.

#include <string>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/records.h"

namespace ppan {

struct AttackerPool {
  struct Part {
    std::size_t attacker = 0;
    double weight = 0;
  };
  std::vector<Part> part;  ///< Empty: no two attackers together do better than one.
  double score = 0;        ///< mean_i log Q(x_i|z_i) on the rows it was fitted on, nats.

  /// log Q(x|z), of what the attackers say about some rows.
  [[nodiscard]] Matrix<float> apply(const std::vector<const Matrix<float>*>& log_probability,
                                    const Vector<double>& prior) const;
};

/// Weights that make the rows likeliest. Attackers join one by one, beginning with `first`, as long as that
/// makes the rows likelier by more than a weight and the choice of an attacker buy by chance.
AttackerPool pool_attackers(const std::vector<const Matrix<float>*>& log_probability, const Symbols& x,
                            const Vector<double>& prior, std::size_t first);

}  // namespace ppan
