#include "ppan/image/conv_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/gradient_check.h"
#include "support/random_values.h"

namespace ppan {
namespace {

using testing::expect_gradient_matches;
using testing::random_matrix;

// The convolution written down as its definition says.
Matrix<double> plain_convolution(const Matrix<double>& pixels, Index height, Index width,
                                 const ConvLayerShape& shape, const double* kernel, const double* bias) {
  const Index out_height = (height - 1) / shape.stride + 1;
  const Index out_width = (width - 1) / shape.stride + 1;
  const Index k = shape.kernel;
  Matrix<double> out(pixels.rows(), shape.channels * out_height * out_width);
  for (Index i = 0; i < pixels.rows(); ++i) {
    for (Index c = 0; c < shape.channels; ++c) {
      for (Index oy = 0; oy < out_height; ++oy) {
        for (Index ox = 0; ox < out_width; ++ox) {
          double sum = bias[c];
          for (Index dy = 0; dy < k; ++dy) {
            for (Index dx = 0; dx < k; ++dx) {
              const Index y = oy * shape.stride + dy - k / 2;
              const Index x = ox * shape.stride + dx - k / 2;
              if (y < 0 || y >= height || x < 0 || x >= width) continue;
              sum += kernel[c * k * k + dy * k + dx] * pixels(i, y * width + x);
            }
          }
          out(i, (c * out_height + oy) * out_width + ox) = std::max(0.0, sum);
        }
      }
    }
  }
  return out;
}

TEST(ConvNetwork, OneLayerIsAConvolution) {
  const ConvShape shape{.height = 7, .width = 6, .layers = {{3, 2, 2}}, .hidden = {}, .outputs = 3};
  const ConvNetwork<double> network(shape);
  SeededRandom random(1);
  Vector<double> parameters(network.parameter_count());
  network.initialise(random, parameters.data());
  parameters.segment(18, 2) << 0.3, -0.2;  // biases of the two kernels
  const auto pixels = random_matrix<double>(random, 5, 42);
  ConvWorkspace<double> workspace;
  network.forward(parameters.data(), pixels, workspace);
  const Matrix<double> expected =
      plain_convolution(pixels, 7, 6, shape.layers[0], parameters.data(), parameters.data() + 18);
  EXPECT_TRUE(workspace.flat.isApprox(expected, 1e-12));
}

TEST(ConvNetwork, GradientMatchesCentralDifferences) {
  const ConvNetwork<double> network(
      {.height = 6, .width = 5, .layers = {{3, 2, 2}, {3, 1, 3}}, .hidden = {4}, .outputs = 3});
  SeededRandom random(2);
  Vector<double> parameters(network.parameter_count());
  network.initialise(random, parameters.data());
  // Biases off 0, so that no unit stands on its ReLU's kink because all of its patch is padding.
  parameters += 0.05 * testing::random_matrix<double>(random, parameters.size(), 1).col(0);
  const auto pixels = random_matrix<double>(random, 4, 30);
  const auto weight = random_matrix<double>(random, 4, 3);
  ConvWorkspace<double> workspace;
  network.forward(parameters.data(), pixels, workspace);
  Vector<double> gradient(parameters.size());
  network.backward(parameters.data(), weight, workspace, gradient.data());
  expect_gradient_matches(
      [&](const Vector<double>& p) {
        ConvWorkspace<double> other;
        return network.forward(p.data(), pixels, other).cwiseProduct(weight).sum();
      },
      gradient, parameters);
}

TEST(ConvNetwork, RefusesShapesThatCannotBe) {
  const auto problems =
      ConvShape{.height = 0, .layers = {{.kernel = 4, .stride = 0, .channels = 0}}, .outputs = 0}.check();
  EXPECT_EQ(problems.size(), 5U);
  EXPECT_THROW(ConvNetwork<float>({.layers = {}}), Error);
}

}  // namespace
}  // namespace ppan
