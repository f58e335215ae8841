#include "ppan/game/finite_mechanism.h"

#include "ppan/game/input.h"
#include "ppan/game/softmax.h"

namespace ppan {

template <typename Scalar>
FiniteMechanism<Scalar>::FiniteMechanism(const MechanismOptions& options, const Attribute<Scalar>& observed)
    : Mechanism<Scalar>(options, NoiseKind::kGumbel,
                        options.kind == MechanismKind::kGumbel ? options.released : 0),
      table_(observed.finite() && options.hidden.empty()) {
  network_ = Mlp<Scalar>({.inputs = observed.width(),
                          .hidden = options.hidden,
                          .outputs = options.released,
                          .activation = options.activation,
                          .bias = !table_});
  this->parameters_.setZero(network_.parameter_count());
}

template <typename Scalar>
void FiniteMechanism<Scalar>::initialise(RandomSource& random) {
  network_.initialise(random, this->parameters_.data());
}

template <typename Scalar>
const Matrix<Scalar>& FiniteMechanism<Scalar>::logits_of(const Attribute<Scalar>& observed) {
  if (table_) {
    const Index rows = observed.rows();
    const Index alphabet = observed.levels;
    logits_.resize(rows, this->options_.released);
    for (Index k = 0; k < logits_.cols(); ++k) {
      const Scalar* column = this->parameters_.data() + k * alphabet;
      Scalar* out = logits_.data() + k * rows;
      for (Index i = 0; i < rows; ++i) out[i] = column[observed.code[static_cast<std::size_t>(i)]];
    }
    return logits_;
  }
  if (!observed.finite()) return network_.forward(this->parameters_.data(), observed.value, workspace_);
  input_.resize(observed.rows(), observed.levels);
  write_input(observed, 1, 0, input_);
  return network_.forward(this->parameters_.data(), input_, workspace_);
}

template <typename Scalar>
void FiniteMechanism<Scalar>::draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise,
                                   Draws<Scalar>& draws) {
  const Matrix<Scalar>& logits = logits_of(observed);
  const Index symbols = this->options_.released;
  if (this->options_.kind == MechanismKind::kGumbel) {
    const Index times = this->options_.draws;
    draws.set_equal_weights(observed.rows(), times);
    draws.released.resize(times * observed.rows(), symbols);
    for (Index t = 0; t < times; ++t) {
      draws.released.middleRows(t * observed.rows(), observed.rows()) =
          (logits + noise.middleRows(t * observed.rows(), observed.rows())) /
          static_cast<Scalar>(this->options_.temperature);
    }
    softmax_rows(draws.released, draws.released);
    return;
  }
  draws.records = observed.rows();
  draws.per_record = symbols;
  draws.shared = true;
  draws.weights_learned = true;
  if (draws.released.rows() != symbols) draws.released.setIdentity(symbols, symbols);
  softmax_rows(logits, draws.weight);
}

template <typename Scalar>
void FiniteMechanism<Scalar>::backward(const Attribute<Scalar>& observed, const Matrix<Scalar>& /*noise*/,
                                       const Draws<Scalar>& draws, const DrawsGradient<Scalar>& gradient,
                                       Vector<Scalar>& parameter_gradient) {
  parameter_gradient.resize(this->parameters_.size());
  if (this->options_.kind == MechanismKind::kGumbel) {
    // Both channels lead to the same soft symbol.
    d_draws_.setZero(draws.released.rows(), draws.released.cols());
    if (gradient.has_released) d_draws_ += gradient.released;
    if (gradient.has_seen) d_draws_ += gradient.seen;
    softmax_rows_backward(draws.released, d_draws_, d_soft_);
    d_logits_.setZero(observed.rows(), draws.released.cols());
    for (Index t = 0; t < draws.per_record; ++t) {
      d_logits_ += d_soft_.middleRows(t * observed.rows(), observed.rows());
    }
    d_logits_ /= static_cast<Scalar>(this->options_.temperature);
  } else {
    softmax_rows_backward(draws.weight, gradient.weight, d_logits_);
  }
  if (table_) {
    const Index alphabet = observed.levels;
    parameter_gradient.setZero();
    for (Index k = 0; k < d_logits_.cols(); ++k) {
      Scalar* column = parameter_gradient.data() + k * alphabet;
      const Scalar* from = d_logits_.data() + k * observed.rows();
      for (Index i = 0; i < observed.rows(); ++i)
        column[observed.code[static_cast<std::size_t>(i)]] += from[i];
    }
    return;
  }
  network_.backward(this->parameters_.data(), observed.finite() ? input_ : observed.value, d_logits_,
                    workspace_, parameter_gradient.data(), nullptr);
}

template <typename Scalar>
std::unique_ptr<Mechanism<Scalar>> FiniteMechanism<Scalar>::clone(Index draws) const {
  auto copy = std::unique_ptr<FiniteMechanism>(new FiniteMechanism(*this));
  copy->options_.draws = draws;
  return copy;
}

template class FiniteMechanism<float>;
template class FiniteMechanism<double>;

}  // namespace ppan
