#pragma once

// Those who look at the rows that heads draw: each a network over cells (game/cell_network.h) that gives
// probabilities of coded attributes. The adversary guesses what is hidden, the teacher the tasks, the
// discriminator whether a row was released.

#include <cstdint>
#include <span>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/random.h"
#include "ppan/game/cell_network.h"
#include "ppan/nn/adam.h"

namespace ppan {

/// Gradients in the indicators of the cells (cells x rows) and in the numbers (numbers x rows).
template <typename Scalar>
struct CellGradient {
  Matrix<Scalar> cells{};
  Matrix<Scalar> numbers{};
};

template <typename Scalar>
class CellPlayer {
 public:
  CellPlayer() = default;
  /// `levels` of the attributes that it gives probabilities of; `shape.outputs` follows from them.
  CellPlayer(CellNetworkShape shape, std::vector<std::int32_t> levels);

  [[nodiscard]] Vector<Scalar>& parameters() { return parameters_; }
  [[nodiscard]] const CellNetwork<Scalar>& network() const { return network_; }
  void initialise(RandomSource& random) { network_.initialise(random, parameters_); }

  /// Mean over the rows of sum_k log q_k(x_k), `code` one list for each attribute.
  double score(const CellRows& rows, const Matrix<Scalar>& numbers, const std::vector<Symbols>& code);
  /// Probabilities of all levels, rows x levels of all attributes.
  const Matrix<Scalar>& probabilities(const CellRows& rows, const Matrix<Scalar>& numbers);
  /// Mean over the rows of sum_k sum_x p_k(x) log q_k(x), `p` as probabilities() gives them.
  double cross_score(const CellRows& rows, const Matrix<Scalar>& numbers, const Matrix<Scalar>& p);
  /// After one of the scores with the same arguments: gradient of its mean, times the number of rows, in what
  /// was seen.
  void seen_gradient(const CellRows& rows, const Matrix<Scalar>& numbers, CellGradient<Scalar>& out);
  /// And in the parameters, of the mean.
  void parameter_gradient(const CellRows& rows, const Matrix<Scalar>& numbers, Vector<Scalar>& gradient);
  /// A step up on the last score; parameters first shrink by rate * decay.
  void step(const CellRows& rows, const Matrix<Scalar>& numbers, double rate, double decay);

 private:
  void fill_log_probabilities(const Matrix<Scalar>& output);

  CellNetwork<Scalar> network_;
  std::vector<std::int32_t> levels_;
  Vector<Scalar> parameters_;
  Adam<Scalar> adam_;
  Matrix<Scalar> log_;       // rows x levels
  Matrix<Scalar> share_;     // probabilities
  Matrix<Scalar> d_output_;  // of the sum of the scores
  Matrix<Scalar> d_mean_;
  Vector<Scalar> gradient_;
};

}  // namespace ppan
