#include "ppan/nn/activation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/gradient_check.h"
#include "support/random_values.h"

namespace ppan {
namespace {

constexpr Activation kAll[] = {Activation::kIdentity, Activation::kRelu, Activation::kTanh,
                               Activation::kSigmoid};

double by_hand(Activation activation, double x) {
  switch (activation) {
    case Activation::kIdentity:
      return x;
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
  }
  return 0;
}

template <typename Scalar>
void expect_values(double tolerance) {
  for (const Activation activation : kAll) {
    Matrix<Scalar> values(3, 5);
    values << -40, -3, -0.5, 0, 0.0009765625, 0.25, 0.5, 1, 2, 3, 5, 8, 20, 40, 80;
    const Matrix<Scalar> before = values;
    activate(activation, values);
    for (Index i = 0; i < values.size(); ++i) {
      const double want = by_hand(activation, static_cast<double>(before(i)));
      EXPECT_NEAR(static_cast<double>(values(i)), want, tolerance * std::max(1.0, std::abs(want)))
          << to_string(activation) << " of " << before(i);
    }
  }
}

TEST(Activation, ValuesInBothPrecisions) {
  expect_values<float>(1e-6);
  expect_values<double>(1e-12);
}

TEST(Activation, SaturatesWithoutOverflow) {
  for (const double x : {-1e4, 1e4}) {
    Matrix<float> values = Matrix<float>::Constant(2, 9, static_cast<float>(x));
    activate(Activation::kSigmoid, values);
    EXPECT_TRUE(values.allFinite());
    EXPECT_NEAR(values(0), x < 0 ? 0 : 1, 1e-6);
    values.setConstant(static_cast<float>(x));
    activate(Activation::kTanh, values);
    EXPECT_NEAR(values(0), x < 0 ? -1 : 1, 1e-6);
  }
}

TEST(Activation, BackwardMatchesDifferences) {
  SeededRandom random(1);
  const Matrix<double> at = testing::random_matrix(random, 7, 3);
  const Matrix<double> direction = testing::random_matrix(random, 7, 3);
  for (const Activation activation : kAll) {
    SCOPED_TRACE(to_string(activation));
    const auto f = [&](const Vector<double>& p) {
      Matrix<double> values = testing::unflatten(p, 7, 3);
      activate(activation, values);
      return values.cwiseProduct(direction).sum();
    };
    Matrix<double> values = at;
    activate(activation, values);
    Matrix<double> gradient = direction;
    activate_backward(activation, values, gradient);
    testing::expect_gradient_matches(f, testing::flatten(gradient), testing::flatten(at));
  }
}

TEST(Activation, NamesAreThoseOfTheFormulas) {
  EXPECT_EQ(to_string(Activation::kIdentity), "identity");
  EXPECT_EQ(to_string(Activation::kRelu), "relu");
  EXPECT_EQ(to_string(Activation::kTanh), "tanh");
  EXPECT_EQ(to_string(Activation::kSigmoid), "sigmoid");
}

}  // namespace
}  // namespace ppan
