#include "ppan/game/mixture_mechanism.h"

#include "ppan/game/input.h"
#include "ppan/game/softmax.h"
#include "ppan/game/softplus.h"

namespace ppan {
namespace {

// Outputs of one component: its mean, then its scale.
Index component_width(const MechanismOptions& options) {
  const Index d = options.released;
  return d + (options.full_components ? d * (d + 1) / 2 : d);
}

}  // namespace

template <typename Scalar>
MixtureMechanism<Scalar>::MixtureMechanism(const MechanismOptions& options, const Attribute<Scalar>& observed)
    : Mechanism<Scalar>(options, NoiseKind::kNormal, options.components * options.released) {
  this->options_.draws = 1;  // one draw per component is the form of this mechanism
  network_ = Mlp<Scalar>({.inputs = observed.width(),
                          .hidden = options.hidden,
                          .outputs = options.components * (component_width(options) + 1),
                          .activation = options.activation,
                          .skip = options.skip});
  this->parameters_.setZero(network_.parameter_count());
}

template <typename Scalar>
Index MixtureMechanism<Scalar>::mean_column(Index component, Index row) const {
  return component * component_width(this->options_) + row;
}

template <typename Scalar>
Index MixtureMechanism<Scalar>::scale_column(Index component, Index row, Index column) const {
  const Index first = mean_column(component, this->options_.released);
  return this->options_.full_components ? first + row * (row + 1) / 2 + column : first + row;
}

template <typename Scalar>
void MixtureMechanism<Scalar>::initialise(RandomSource& random) {
  network_.initialise(random, this->parameters_.data());
}

template <typename Scalar>
void MixtureMechanism<Scalar>::draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise,
                                    Draws<Scalar>& draws) {
  const Index n = observed.rows();
  const Index d = this->options_.released;
  const Index m = this->options_.components;
  if (observed.finite()) {
    input_.resize(n, observed.levels);
    write_input(observed, 1, 0, input_);
  }
  output_ =
      network_.forward(this->parameters_.data(), observed.finite() ? input_ : observed.value, workspace_);
  draws.records = n;
  draws.per_record = m;
  draws.weights_learned = true;
  logits_ = output_.rightCols(m);
  softmax_rows(logits_, draws.weight);
  draws.released.resize(n * m, d);
  for (Index l = 0; l < m; ++l) {
    for (Index r = 0; r < d; ++r) {
      auto diagonal = output_.col(scale_column(l, r, r)).array();
      softplus(diagonal);
      auto z = draws.released.col(r).segment(l * n, n).array();
      z = output_.col(mean_column(l, r)).array();
      for (Index c = first_column(r); c <= r; ++c) {
        z += output_.col(scale_column(l, r, c)).array() * noise.col(l * d + c).array();
      }
    }
  }
}

template <typename Scalar>
void MixtureMechanism<Scalar>::backward(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise,
                                        const Draws<Scalar>& draws, const DrawsGradient<Scalar>& gradient,
                                        Vector<Scalar>& parameter_gradient) {
  const Index n = observed.rows();
  const Index d = this->options_.released;
  const Index m = this->options_.components;
  d_output_.setZero(n, output_.cols());
  softmax_rows_backward(draws.weight, gradient.weight, d_logits_);
  d_output_.rightCols(m) = d_logits_;
  const auto add = [&](const Matrix<Scalar>& d_released) {
    for (Index l = 0; l < m; ++l) {
      for (Index r = 0; r < d; ++r) {
        const auto dz = d_released.col(r).segment(l * n, n).array();
        d_output_.col(mean_column(l, r)).array() += dz;
        for (Index c = first_column(r); c < r; ++c) {
          d_output_.col(scale_column(l, r, c)).array() += dz * noise.col(l * d + c).array();
        }
        const Index diagonal = scale_column(l, r, r);
        d_output_.col(diagonal).array() +=
            dz * noise.col(l * d + r).array() * softplus_slope(output_.col(diagonal).array());
      }
    }
  };
  if (gradient.has_released) add(gradient.released);
  if (gradient.has_seen) add(gradient.seen);
  parameter_gradient.resize(this->parameters_.size());
  network_.backward(this->parameters_.data(), observed.finite() ? input_ : observed.value, d_output_,
                    workspace_, parameter_gradient.data(), nullptr);
}

template <typename Scalar>
std::unique_ptr<Mechanism<Scalar>> MixtureMechanism<Scalar>::clone(Index /*draws*/) const {
  return std::unique_ptr<MixtureMechanism>(new MixtureMechanism(*this));
}

template class MixtureMechanism<float>;
template class MixtureMechanism<double>;

}  // namespace ppan
