#pragma once

// The adversary's belief Q(x|z), with the chain rule over several sensitive attributes:
//     Q(x|z) = Q_1(x_1|z) Q_2(x_2|z, x_1) ...
// so that no joint dependence is missed. Each link is a network of its own with a head that fits its
// attribute: finite, a softmax over the levels; real, a Gaussian whose network outputs means and then
// logarithms of variances; diagonal, or with full covariance by the same chain rule over its components,
//     x_d | z, x_1 .. x_{d-1} ~ N(m_d(z) + sum_{j<d} c_dj(z) x_j, v_d(z)).
// E log Q(X|Z) + h(X) is a lower bound on I(X;Z), equal at Q = P(x|z).

#include <vector>

#include "ppan/core/problem.h"
#include "ppan/core/random.h"
#include "ppan/core/records.h"
#include "ppan/game/draws.h"
#include "ppan/nn/mlp.h"

namespace ppan {

struct PosteriorOptions {
  std::vector<Index>
      hidden;  ///< Hidden layers of each link; empty: linear (for finite Z: an |X| x |Z| matrix).
  Activation activation = Activation::kRelu;
  bool bias = true;
  bool skip = false;  ///< With a direct linear path from input to output.
  /// Each number seen is first standardised to mean 0 and variance 1 by running averages (observe()).
  /// Information does not depend on scale, but what a network with given weights can detect does: without
  /// this a mechanism may hide what it leaks in variations too small for its adversary.
  bool standardise = false;
  /// Real attributes of several components: with the c_dj above as further outputs. A diagonal posterior does
  /// not see what components reveal jointly, so a mechanism could leak there without a penalty.
  bool full_covariance = false;
  [[nodiscard]] Problems check() const;
};

template <typename Scalar>
class Posterior {
 public:
  /// For attributes that look like `attributes` (alphabet sizes and dimensions are used, not the values),
  /// seen through `seen_width` numbers.
  Posterior(const PosteriorOptions& options, Index seen_width,
            const std::vector<Attribute<Scalar>>& attributes);

  [[nodiscard]] const Vector<Scalar>& parameters() const { return parameters_; }
  [[nodiscard]] Vector<Scalar>& parameters() { return parameters_; }
  void initialise(RandomSource& random);

  /// Takes `seen` into the running averages, if standardising. They follow the weights in parameters(), with
  /// gradient 0, so that a copy of the parameters is a copy of the posterior.
  void observe(const Matrix<Scalar>& seen);
  /// Whether the running averages have started; to be set with parameters() when a training is resumed.
  [[nodiscard]] bool averages_started() const { return observed_; }
  void set_averages_started(bool started) { observed_ = started; }

  /// score(i, k) = log Q(x_i | draw k of record i). `seen` are rows as in Draws (K of them if `shared`). The
  /// result stays valid until the next call.
  const Matrix<Scalar>& score(const Matrix<Scalar>& seen, bool shared, Index per_record,
                              const std::vector<Attribute<Scalar>>& attributes);

  /// Gradient of sum_ik d_score(i, k) score(i, k) after score() with the same arguments: with respect to
  /// parameters() and to `seen`; either may be null and is then not computed. `d_seen` is meaningless for
  /// shared draws (an alphabet does not move) and must be null.
  void backward(const Matrix<Scalar>& seen, bool shared, Index per_record,
                const std::vector<Attribute<Scalar>>& attributes, const Matrix<Scalar>& d_score,
                Vector<Scalar>* parameter_gradient, Matrix<Scalar>* d_seen);

 private:
  struct Link {
    Mlp<Scalar> network;
    Index offset = 0;         // of its parameters
    std::int32_t levels = 0;  // 0: real
    Index dimensions = 0;
    bool full = false;       // real: with couplings of the components
    bool by_symbol = false;  // evaluated once per symbol of a shared alphabet
    MlpWorkspace<Scalar> workspace;
    Matrix<Scalar> input;     // unless it is `seen` itself
    Matrix<Scalar> log_prob;  // finite: log softmax of the output
    Matrix<Scalar> d_output;
    Matrix<Scalar> d_input;
    Vector<Scalar> rest;  // full: a component minus its prediction from those before it
    // Index of the coupling of component d with j < d among the outputs.
    [[nodiscard]] Index coupling(Index d, Index j) const { return 2 * dimensions + d * (d - 1) / 2 + j; }
  };
  // Component d of x for draw k, minus the part that the components before it explain.
  static const Scalar* component(Link& link, const Attribute<Scalar>& x, Index k, Index d);
  [[nodiscard]] const Matrix<Scalar>& input_of(std::size_t link, const Matrix<Scalar>& seen) const;
  // `seen` as the networks take it.
  const Matrix<Scalar>& standardised(const Matrix<Scalar>& seen);
  void write_link_input(std::size_t link, const Matrix<Scalar>& seen, bool shared, Index per_record,
                        const std::vector<Attribute<Scalar>>& attributes);
  void add_score(Link& link, const Attribute<Scalar>& x, Index per_record);
  void fill_output_gradient(Link& link, const Attribute<Scalar>& x, Index per_record,
                            const Matrix<Scalar>& d_score);
  static void fill_real_gradient(Link& link, const Attribute<Scalar>& x, Index per_record,
                                 const Matrix<Scalar>& d_score);

  Index seen_width_;
  bool standardise_;
  Index weights_ = 0;        // parameters() without the running averages
  bool observed_ = false;    // whether the averages have started
  Matrix<Scalar> standard_;  // `seen`, standardised
  std::vector<Link> links_;
  Vector<Scalar> parameters_;
  Matrix<Scalar> score_;
};

}  // namespace ppan
