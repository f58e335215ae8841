#include "ppan/game/finite_mechanism.h"

#include <algorithm>

#include "ppan/game/input.h"
#include "ppan/game/look_up.h"
#include "ppan/game/softmax.h"

namespace ppan {
namespace {

// out(i, :) = table(code_i, :)
template <typename Scalar>
void look_up_rows(const Scalar* table, Index levels, const Symbols& code, Matrix<Scalar>& out) {
  for (Index k = 0; k < out.cols(); ++k) {
    look_up(table + k * levels, 1, code.data(), out.rows(), out.data() + k * out.rows());
  }
}

// table(code_i, :) = sum of from(i, :)
template <typename Scalar>
void add_up_rows(const Matrix<Scalar>& from, const Symbols& code, Index levels, Scalar* table) {
  std::fill_n(table, levels * from.cols(), Scalar(0));
  add_up(from, code.data(), 1, levels, table);
}

}  // namespace

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
    logits_.resize(observed.rows(), this->options_.released);
    look_up_rows(this->parameters_.data(), observed.levels, observed.code, logits_);
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
  const Index symbols = this->options_.released;
  if (this->options_.kind == MechanismKind::kGumbel) {
    const Matrix<Scalar>& logits = logits_of(observed);
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
  if (!by_level(observed)) {
    softmax_rows(logits_of(observed), draws.weight);
    return;
  }
  logits_ = Eigen::Map<const Matrix<Scalar>>(this->parameters_.data(), observed.levels, symbols);
  softmax_rows(logits_, level_probability_);
  draws.weight.resize(observed.rows(), symbols);
  look_up_rows(level_probability_.data(), observed.levels, observed.code, draws.weight);
}

template <typename Scalar>
bool FiniteMechanism<Scalar>::by_level(const Attribute<Scalar>& observed) const {
  return table_ && observed.levels <= observed.rows();
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
  } else if (by_level(observed)) {
    // The same sum, taken before the softmax instead of behind it: both are linear in the gradient.
    d_draws_.resize(observed.levels, draws.per_record);
    add_up_rows(gradient.weight, observed.code, observed.levels, d_draws_.data());
    softmax_rows_backward(level_probability_, d_draws_, d_logits_);
    parameter_gradient = d_logits_.reshaped();
    return;
  } else {
    softmax_rows_backward(draws.weight, gradient.weight, d_logits_);
  }
  if (table_) {
    add_up_rows(d_logits_, observed.code, observed.levels, parameter_gradient.data());
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
