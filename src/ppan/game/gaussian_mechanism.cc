#include "ppan/game/gaussian_mechanism.h"

#include "ppan/game/input.h"
#include "ppan/game/softplus.h"

namespace ppan {

template <typename Scalar>
GaussianMechanism<Scalar>::GaussianMechanism(const MechanismOptions& options,
                                             const Attribute<Scalar>& observed)
    : Mechanism<Scalar>(options, NoiseKind::kNormal, options.released) {
  const Index d = options.released;
  network_ = Mlp<Scalar>({.inputs = observed.width(),
                          .hidden = options.hidden,
                          .outputs = d + (options.full_scale ? d * (d + 1) / 2 : d),
                          .activation = options.activation,
                          .skip = options.skip});
  this->parameters_.setZero(network_.parameter_count());
}

template <typename Scalar>
Index GaussianMechanism<Scalar>::scale_column(Index row, Index column) const {
  const Index d = this->options_.released;
  return this->options_.full_scale ? d + row * (row + 1) / 2 + column : d + row;
}

template <typename Scalar>
void GaussianMechanism<Scalar>::initialise(RandomSource& random) {
  network_.initialise(random, this->parameters_.data());
}

template <typename Scalar>
void GaussianMechanism<Scalar>::draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise,
                                     Draws<Scalar>& draws) {
  const Index n = observed.rows();
  const Index d = this->options_.released;
  if (observed.finite()) {
    input_.resize(n, observed.levels);
    write_input(observed, 1, 0, input_);
  }
  output_ =
      network_.forward(this->parameters_.data(), observed.finite() ? input_ : observed.value, workspace_);
  for (Index r = 0; r < d; ++r) {
    auto diagonal = output_.col(scale_column(r, r)).array();
    softplus(diagonal);
  }
  draws.set_equal_weights(n, this->options_.draws);
  draws.released.resize(n * draws.per_record, d);
  for (Index t = 0; t < draws.per_record; ++t) {
    for (Index r = 0; r < d; ++r) {
      auto z = draws.released.col(r).segment(t * n, n).array();
      z = output_.col(r).array();
      for (Index c = this->options_.full_scale ? 0 : r; c <= r; ++c) {
        z += output_.col(scale_column(r, c)).array() * noise.col(c).segment(t * n, n).array();
      }
    }
  }
}

template <typename Scalar>
void GaussianMechanism<Scalar>::backward(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise,
                                         const Draws<Scalar>& draws, const DrawsGradient<Scalar>& gradient,
                                         Vector<Scalar>& parameter_gradient) {
  const Index n = observed.rows();
  const Index d = this->options_.released;
  d_output_.setZero(n, output_.cols());
  const auto add = [&](const Matrix<Scalar>& d_released) {
    for (Index t = 0; t < draws.per_record; ++t) {
      for (Index r = 0; r < d; ++r) {
        const auto dz = d_released.col(r).segment(t * n, n).array();
        d_output_.col(r).array() += dz;
        for (Index c = this->options_.full_scale ? 0 : r; c <= r; ++c) {
          d_output_.col(scale_column(r, c)).array() += dz * noise.col(c).segment(t * n, n).array();
        }
      }
    }
  };
  if (gradient.has_released) add(gradient.released);
  if (gradient.has_seen) add(gradient.seen);
  for (Index r = 0; r < d; ++r) {
    d_output_.col(scale_column(r, r)).array() *= softplus_slope(output_.col(scale_column(r, r)).array());
  }
  parameter_gradient.resize(this->parameters_.size());
  network_.backward(this->parameters_.data(), observed.finite() ? input_ : observed.value, d_output_,
                    workspace_, parameter_gradient.data(), nullptr);
}

template <typename Scalar>
std::unique_ptr<Mechanism<Scalar>> GaussianMechanism<Scalar>::clone(Index draws) const {
  auto copy = std::unique_ptr<GaussianMechanism>(new GaussianMechanism(*this));
  copy->options_.draws = draws;
  return copy;
}

template class GaussianMechanism<float>;
template class GaussianMechanism<double>;

}  // namespace ppan
