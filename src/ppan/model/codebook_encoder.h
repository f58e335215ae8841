#pragma once

// P(c|w) over K codewords:
//
//     logit_c(w) = -beta * sum_f s_f (f(w) - m_cf)^2 + network(w)_c
//
// f are features of the observed columns, m_c the centre of codeword c and s_f >= 0 the weight of a feature
// in the distance (0: the network alone sees it). Parameters are one flat vector: log beta, then the
// network's. Centres are running means, not parameters.

#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/random.h"
#include "ppan/nn/mlp.h"

namespace ppan {

template <typename Scalar>
struct CodebookCentres {
  Matrix<Scalar> centre{};  ///< Codewords x features.
  Vector<Scalar> weight{};  ///< s, one for each feature.
};

template <typename Scalar>
class CodebookEncoder {
 public:
  CodebookEncoder() = default;
  CodebookEncoder(Index features, std::vector<Index> hidden, Index codewords);

  [[nodiscard]] Index codewords() const { return network_.shape().outputs; }
  [[nodiscard]] Index parameter_count() const { return network_.parameter_count() + 1; }
  /// The network begins near 0, so that the first assignment is by distance alone.
  void initialise(double beta, RandomSource& random, Vector<Scalar>& parameters) const;

  /// P(c|w), rows x codewords. Held until the next call.
  const Matrix<Scalar>& forward(const Vector<Scalar>& parameters, const CodebookCentres<Scalar>& centres,
                                const Matrix<Scalar>& features);
  /// Squared distances of the rows of the last forward() from the centres, rows x codewords.
  void distances(const CodebookCentres<Scalar>& centres, const Matrix<Scalar>& features,
                 Matrix<Scalar>& out) const;
  /// Gradient of mean_i sum_c P(c|w_i) cost(i, c), the costs held fixed. After forward() with the same
  /// arguments.
  void backward(const Vector<Scalar>& parameters, const Matrix<Scalar>& features, const Matrix<Scalar>& cost,
                Vector<Scalar>& gradient);

 private:
  Mlp<Scalar> network_;
  MlpWorkspace<Scalar> workspace_;
  Matrix<Scalar> relative_;  // distance up to a constant of the row
  Matrix<Scalar> probability_;
  Matrix<Scalar> delta_;
};

}  // namespace ppan
