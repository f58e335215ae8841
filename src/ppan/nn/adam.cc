#include "ppan/nn/adam.h"

#include <cmath>
#include <numbers>

namespace ppan {

double RateSchedule::at(double progress) const {
  if (progress <= decay_from) return rate;
  const double along = (progress - decay_from) / (1 - decay_from);
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, along)));
  return rate * (final_fraction + (1 - final_fraction) * cosine);
}

Problems RateSchedule::check() const {
  ProblemList list;
  list.require_positive("rate", rate);
  list.require_between("decay_from", decay_from, 0, 1);
  list.require_between("final_fraction", final_fraction, 0, 1);
  return list.take();
}

Problems AdamOptions::check() const {
  ProblemList list;
  list.require(beta1 >= 0 && beta1 < 1, "beta1", "must be at least 0 and less than 1");
  list.require(beta2 >= 0 && beta2 < 1, "beta2", "must be at least 0 and less than 1");
  list.require_positive("epsilon", epsilon);
  return list.take();
}

template <typename Scalar>
void Adam<Scalar>::step(double rate, const Vector<Scalar>& gradient, Vector<Scalar>& parameters) {
  if (state_.m.size() != parameters.size()) {
    state_.m.setZero(parameters.size());
    state_.v.setZero(parameters.size());
  }
  state_.beta1_power *= options_.beta1;
  state_.beta2_power *= options_.beta2;
  const auto scale = static_cast<Scalar>(rate * std::sqrt(1 - state_.beta2_power) / (1 - state_.beta1_power));
  const auto b1 = static_cast<Scalar>(options_.beta1);
  const auto b2 = static_cast<Scalar>(options_.beta2);
  const auto c1 = static_cast<Scalar>(1 - options_.beta1);
  const auto c2 = static_cast<Scalar>(1 - options_.beta2);
  const auto epsilon = static_cast<Scalar>(options_.epsilon);
  const Scalar* g = gradient.data();
  Scalar* __restrict m = state_.m.data();
  Scalar* __restrict v = state_.v.data();
  Scalar* __restrict p = parameters.data();
  const Index count = parameters.size();
  for (Index i = 0; i < count; ++i) {
    const Scalar gi = g[i];
    m[i] = b1 * m[i] + c1 * gi;
    v[i] = b2 * v[i] + c2 * gi * gi;
    p[i] -= scale * m[i] / (std::sqrt(v[i]) + epsilon);
  }
}

template class Adam<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class Adam<double>;
#endif

}  // namespace ppan
