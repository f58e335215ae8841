#include "ppan/nn/mlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "support/gradient_check.h"
#include "support/random_values.h"

namespace ppan {
namespace {

using ::testing::ElementsAre;
using testing::flatten;
using ::testing::HasSubstr;
using testing::random_matrix;
using testing::random_vector;
using testing::unflatten;

TEST(Mlp, ForwardByHand) {
  // 2 inputs, 2 ReLU units, 1 output; parameters layer by layer, W column by column, then b.
  const Mlp<double> net({.inputs = 2, .hidden = {2}, .outputs = 1});
  ASSERT_EQ(net.parameter_count(), 2 * 2 + 2 + 2 * 1 + 1);
  Vector<double> p(9);
  p << 1, -2, 0.5, 3, /* b1 */ 0.25, -1, /* W2 */ 2, -4, /* b2 */ 0.125;
  Matrix<double> input(2, 2);
  input << 1, 0.5, -1, 2;
  // Record 0: h = (1 - 1 + 0.25, 0.5 + 1.5 - 1) = (0.25, 1);  out = 0.5 - 4 + 0.125.
  // Record 1: h = (-1 - 4 + 0.25 -> 0, -0.5 + 6 - 1) = (0, 4.5);  out = -18 + 0.125.
  MlpWorkspace<double> workspace;
  const Matrix<double>& out = net.forward(p.data(), input, workspace);
  ASSERT_EQ(out.rows(), 2);
  ASSERT_EQ(out.cols(), 1);
  EXPECT_DOUBLE_EQ(out(0, 0), -3.375);
  EXPECT_DOUBLE_EQ(out(1, 0), -17.875);
}

TEST(Mlp, WithoutBiasAndHiddenLayersIsAMatrix) {
  const Mlp<double> net({.inputs = 3, .outputs = 2, .bias = false});
  ASSERT_EQ(net.parameter_count(), 6);
  Vector<double> p(6);
  p << 1, 2, 3, 4, 5, 6;
  MlpWorkspace<double> workspace;
  Matrix<double> input(1, 3);
  input << 1, 10, 100;
  const Matrix<double>& out = net.forward(p.data(), input, workspace);
  EXPECT_DOUBLE_EQ(out(0, 0), 321);
  EXPECT_DOUBLE_EQ(out(0, 1), 654);
}

TEST(Mlp, DirectPathIsAddedToTheLastLayer) {
  const Mlp<double> net({.inputs = 2, .hidden = {3}, .outputs = 2, .skip = true});
  const Mlp<double> layers({.inputs = 2, .hidden = {3}, .outputs = 2});
  const Mlp<double> direct({.inputs = 2, .outputs = 2, .bias = false});
  ASSERT_EQ(net.parameter_count(), layers.parameter_count() + direct.parameter_count());
  SeededRandom random(15);
  const Vector<double> p = random_vector(random, net.parameter_count());
  const Matrix<double> input = random_matrix(random, 9, 2);
  MlpWorkspace<double> a;
  MlpWorkspace<double> b;
  MlpWorkspace<double> c;
  const Matrix<double> sum =
      layers.forward(p.data(), input, b) + direct.forward(p.data() + layers.parameter_count(), input, c);
  EXPECT_LT((net.forward(p.data(), input, a) - sum).cwiseAbs().maxCoeff(), 1e-14);
  // It starts linear: the layers add nothing yet.
  Vector<double> start(net.parameter_count());
  net.initialise(random, start.data());
  EXPECT_EQ(net.forward(start.data(), input, a),
            direct.forward(start.data() + layers.parameter_count(), input, c));
  EXPECT_GT(start.tail(4).cwiseAbs().maxCoeff(), 0);
}

using Case = std::tuple<Activation, bool, bool, std::vector<Index>>;
class MlpGradient : public ::testing::TestWithParam<Case> {};

TEST_P(MlpGradient, MatchesDifferences) {
  const auto& [activation, bias, skip, hidden] = GetParam();
  const Mlp<double> net(
      {.inputs = 3, .hidden = hidden, .outputs = 2, .activation = activation, .bias = bias, .skip = skip});
  SeededRandom random(11);
  // All parameters random, biases too: a ReLU unit that is exactly 0 would sit on its kink.
  const Vector<double> parameters = 0.7 * random_vector(random, net.parameter_count());
  const Matrix<double> input = random_matrix(random, 6, 3);
  const Matrix<double> direction = random_matrix(random, 6, 2);
  const auto value = [&](const Vector<double>& p, const Matrix<double>& x) {
    MlpWorkspace<double> workspace;
    return net.forward(p.data(), x, workspace).cwiseProduct(direction).sum();
  };

  MlpWorkspace<double> workspace;
  net.forward(parameters.data(), input, workspace);
  Vector<double> d_parameters(net.parameter_count());
  Matrix<double> d_input;
  net.backward(parameters.data(), input, direction, workspace, d_parameters.data(), &d_input);
  testing::expect_gradient_matches([&](const Vector<double>& p) { return value(p, input); }, d_parameters,
                                   parameters);
  testing::expect_gradient_matches(
      [&](const Vector<double>& x) { return value(parameters, unflatten(x, 6, 3)); }, flatten(d_input),
      flatten(input));

  // Either half can be left out and the other stays what it was.
  Vector<double> alone(net.parameter_count());
  net.backward(parameters.data(), input, direction, workspace, alone.data(), nullptr);
  EXPECT_EQ(alone, d_parameters);
  Matrix<double> input_alone;
  net.backward(parameters.data(), input, direction, workspace, nullptr, &input_alone);
  EXPECT_EQ(input_alone, d_input);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MlpGradient,
                         ::testing::Combine(::testing::Values(Activation::kIdentity, Activation::kRelu,
                                                              Activation::kTanh, Activation::kSigmoid),
                                            ::testing::Bool(), ::testing::Bool(),
                                            ::testing::Values(std::vector<Index>{}, std::vector<Index>{5},
                                                              std::vector<Index>{4, 3},
                                                              std::vector<Index>{3, 5, 4})));

// A network wide enough for BLAS, checked along random directions instead of parameter by parameter.
TEST(Mlp, WideGradientMatchesDifferencesAlongDirections) {
  const Mlp<double> net({.inputs = 70, .hidden = {80, 64}, .outputs = 70, .activation = Activation::kTanh});
  SeededRandom random(12);
  const Vector<double> parameters = 0.1 * random_vector(random, net.parameter_count());
  const Matrix<double> input = random_matrix(random, 20, 70);
  const Matrix<double> direction = random_matrix(random, 20, 70);
  MlpWorkspace<double> workspace;
  net.forward(parameters.data(), input, workspace);
  Vector<double> gradient(net.parameter_count());
  net.backward(parameters.data(), input, direction, workspace, gradient.data(), nullptr);
  for (int repeat = 0; repeat < 5; ++repeat) {
    const Vector<double> along = random_vector(random, net.parameter_count()).normalized();
    const auto at = [&](double t) {
      const Vector<double> p = parameters + t * along;
      return net.forward(p.data(), input, workspace).cwiseProduct(direction).sum();
    };
    const double numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
    EXPECT_NEAR(gradient.dot(along), numeric, 1e-6 * std::max(1.0, std::abs(numeric)));
  }
}

TEST(Mlp, WorkspaceServesAnyNumberOfRows) {
  const Mlp<double> net({.inputs = 2, .hidden = {3}, .outputs = 1});
  SeededRandom random(13);
  const Vector<double> p = random_vector(random, net.parameter_count());
  const Matrix<double> input = random_matrix(random, 20, 2);
  MlpWorkspace<double> workspace;
  const Matrix<double> all = net.forward(p.data(), input, workspace);
  const Matrix<double> head = input.topRows(3);
  const Matrix<double> few = net.forward(p.data(), head, workspace);
  EXPECT_LT((few - all.topRows(3)).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Mlp, InitialWeightsFillTheirRangeAndBiasesAreZero) {
  const Mlp<float> net({.inputs = 40, .hidden = {50}, .outputs = 10});
  Vector<float> p = Vector<float>::Constant(net.parameter_count(), 99.0F);
  SeededRandom random(14);
  net.initialise(random, p.data());
  const auto first = p.head(40 * 50);
  const float limit = std::sqrt(6.0F / 90.0F);
  EXPECT_LE(first.cwiseAbs().maxCoeff(), limit);
  // 2,000 uniform numbers: none in the last hundredth of the range has probability 0.99^2000 = 2e-9.
  EXPECT_GT(first.cwiseAbs().maxCoeff(), 0.99F * limit);
  // Standard deviation of the mean is limit / sqrt(3 * 2000); 6 of them are exceeded with probability 2e-9.
  EXPECT_LT(std::abs(first.mean()), 6 * limit / std::sqrt(6000.0F));
  EXPECT_EQ(p.segment(40 * 50, 50).cwiseAbs().maxCoeff(), 0.0F);
  EXPECT_EQ(p.tail(10).cwiseAbs().maxCoeff(), 0.0F);
}

TEST(Mlp, EveryProblemOfAShapeIsListed) {
  const MlpShape shape{.inputs = 0, .hidden = {3, 0, -1}, .outputs = 0};
  std::vector<std::string> fields;
  for (const Problem& problem : shape.check()) fields.push_back(problem.field);
  EXPECT_THAT(fields, ElementsAre("inputs", "outputs", "hidden", "hidden"));
  try {
    const Mlp<float> net(shape);
    FAIL() << "built";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("inputs: 0 is not allowed; it must be at least 1"));
    EXPECT_THAT(error.what(), HasSubstr("hidden: -1 is not allowed"));
  }
}

// The checker of every gradient in this project must itself see a gradient that is off by one part in 10^5.
TEST(GradientCheck, SeesASmallError) {
  const auto f = [](const Vector<double>& p) { return p.squaredNorm(); };
  const Vector<double> point = Vector<double>::Constant(1, 0.5);
  const Vector<double> right = 2 * point;
  testing::expect_gradient_matches(f, right, point);
  static Vector<double> wrong;
  wrong = right * (1 + 1e-5);
  static Vector<double> at;
  at = point;
  EXPECT_NONFATAL_FAILURE(
      testing::expect_gradient_matches([](const Vector<double>& p) { return p.squaredNorm(); }, wrong, at),
      "component 0");
}

}  // namespace
}  // namespace ppan
