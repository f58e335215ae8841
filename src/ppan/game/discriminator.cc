#include "ppan/game/discriminator.h"

namespace ppan {
namespace {

// log sigmoid(l) = -log(1 + e^-l), stable for every l.
template <typename Derived>
auto log_sigmoid(const Eigen::ArrayBase<Derived>& l) {
  using Scalar = typename Derived::Scalar;
  return l.min(Scalar(0)) - (-l.abs()).exp().log1p();
}

}  // namespace

Problems DiscriminatorOptions::check() const {
  ProblemList list;
  list.require_at_least("weight", weight, 0);
  for (const Index units : hidden) list.require_at_least("hidden", static_cast<double>(units), 1);
  return list.take();
}

template <typename Scalar>
Discriminator<Scalar>::Discriminator(const DiscriminatorOptions& options, Index width)
    : weight_(options.weight),
      network_({.inputs = width, .hidden = options.hidden, .outputs = 1, .activation = options.activation}) {
  require_none(options.check(), "a discriminator with these options cannot be built:");
  parameters_.setZero(network_.parameter_count());
}

template <typename Scalar>
void Discriminator<Scalar>::initialise(RandomSource& random) {
  network_.initialise(random, parameters_.data());
}

template <typename Scalar>
double Discriminator<Scalar>::evaluate(const Draws<Scalar>& draws, const Matrix<Scalar>& useful,
                                       Vector<Scalar>& parameter_gradient) {
  const auto gamma = static_cast<Scalar>(weight_);
  const auto n = static_cast<Scalar>(useful.rows());
  parameter_gradient.resize(parameters_.size());
  useful_gradient_.resize(parameters_.size());

  // mean log(1 - D(y)) = mean log sigmoid(-l), derivative -sigmoid(l).
  const Matrix<Scalar>& on_useful = network_.forward(parameters_.data(), useful, useful_workspace_);
  double value = static_cast<double>(gamma * log_sigmoid(-on_useful.array()).sum() / n);
  d_useful_logit_ = (on_useful.array().logistic() * (-gamma / n)).matrix();
  network_.backward(parameters_.data(), useful, d_useful_logit_, useful_workspace_, useful_gradient_.data(),
                    nullptr);

  // mean log D(z), derivative 1 - sigmoid(l) = sigmoid(-l).
  const Matrix<Scalar>& on_release = network_.forward(parameters_.data(), draws.released, workspace_);
  const Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>> weight(draws.weight.data(),
                                                                         draws.weight.size());
  value += static_cast<double>(gamma * (weight * log_sigmoid(on_release.col(0).array())).sum() / n);
  d_logit_.resize(on_release.rows(), 1);
  d_logit_.col(0).array() = weight * (-on_release.col(0).array()).logistic() * (gamma / n);
  network_.backward(parameters_.data(), draws.released, d_logit_, workspace_, parameter_gradient.data(),
                    nullptr);
  parameter_gradient += useful_gradient_;
  return value;
}

template <typename Scalar>
double Discriminator<Scalar>::evaluate_release(const Draws<Scalar>& draws, DrawsGradient<Scalar>& gradient) {
  const auto gamma = static_cast<Scalar>(weight_);
  const auto n = static_cast<Scalar>(draws.records);
  const Matrix<Scalar>& on_release = network_.forward(parameters_.data(), draws.released, workspace_);
  const Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>> weight(draws.weight.data(),
                                                                         draws.weight.size());
  log_release_.resize(draws.records, draws.per_record);
  Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>> log_release(log_release_.data(), log_release_.size());
  log_release = log_sigmoid(on_release.col(0).array());
  const auto value = static_cast<double>(gamma * (weight * log_release).sum() / n);
  d_logit_.resize(on_release.rows(), 1);
  d_logit_.col(0).array() = weight * (-on_release.col(0).array()).logistic() * (gamma / n);
  network_.backward(parameters_.data(), draws.released, d_logit_, workspace_, nullptr, &d_released_);
  gradient.add_released(d_released_);
  return value;
}

template <typename Scalar>
void Discriminator<Scalar>::add_weight_gradient(DrawsGradient<Scalar>& gradient) const {
  gradient.weight += log_release_ * (static_cast<Scalar>(weight_) / static_cast<Scalar>(log_release_.rows()));
}

template class Discriminator<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class Discriminator<double>;
#endif

}  // namespace ppan
