#include "ppan/game/cell_network.h"

#include <gtest/gtest.h>

#include "support/gradient_check.h"
#include "support/random_values.h"

namespace ppan {
namespace {

struct Case {
  CellNetwork<double> network;
  Vector<double> parameters;
  CellRows rows;
  Matrix<double> numbers;
  Matrix<double> weight;  // of the outputs in the loss
};

Case make_case(std::vector<Index> hidden) {
  SeededRandom random(4);
  Case out;
  out.network =
      CellNetwork<double>({.cells = {3, 2, 4}, .numbers = 2, .hidden = std::move(hidden), .outputs = 3});
  out.network.initialise(random, out.parameters);
  out.parameters += 0.4 * testing::random_vector(random, out.parameters.size());
  out.rows.resize(3, 6);
  for (Index i = 0; i < 6; ++i) {
    out.rows(0, i) = static_cast<std::int32_t>(random.index(3));
    out.rows(1, i) = static_cast<std::int32_t>(random.index(2));
    out.rows(2, i) = static_cast<std::int32_t>(random.index(4));
  }
  out.numbers = testing::random_matrix(random, 2, 6);
  out.weight = testing::random_matrix(random, 6, 3);
  return out;
}

TEST(CellNetwork, ParameterGradientMatches) {
  for (const std::vector<Index>& hidden : {std::vector<Index>{5}, std::vector<Index>{5, 4}}) {
    Case c = make_case(hidden);
    const auto loss = [&](const Vector<double>& p) {
      return c.network.forward(p, c.rows, c.numbers).cwiseProduct(c.weight).sum();
    };
    loss(c.parameters);
    Vector<double> gradient;
    c.network.backward(c.parameters, c.rows, c.numbers, c.weight, &gradient, nullptr, nullptr);
    testing::expect_gradient_matches(loss, gradient, c.parameters);
  }
}

TEST(CellNetwork, NumberGradientMatches) {
  Case c = make_case({5, 4});
  Matrix<double> d_numbers;
  c.network.forward(c.parameters, c.rows, c.numbers);
  c.network.backward(c.parameters, c.rows, c.numbers, c.weight, nullptr, nullptr, &d_numbers);
  const auto loss = [&](const Vector<double>& flat) {
    const Matrix<double> numbers = testing::unflatten(flat, 2, 6);
    return c.network.forward(c.parameters, c.rows, numbers).cwiseProduct(c.weight).sum();
  };
  testing::expect_gradient_matches(loss, testing::flatten(d_numbers), testing::flatten(c.numbers));
}

// An indicator cannot be moved by a little, but a number that goes through the same weights can: a network
// whose number 0 has the weights of a cell sees that cell's indicator move with it.
TEST(CellNetwork, CellGradientIsThatOfItsIndicator) {
  Case c = make_case({5, 4});
  const Index width = 5 + 3;
  const Index cell = c.network.first(2) + 1;
  c.parameters.segment(width * c.network.cells(), width) = c.parameters.segment(width * cell, width);
  Matrix<double> d_cells;
  Matrix<double> d_numbers;
  c.network.forward(c.parameters, c.rows, c.numbers);
  c.network.backward(c.parameters, c.rows, c.numbers, c.weight, nullptr, &d_cells, &d_numbers);
  ASSERT_EQ(d_cells.rows(), 9);
  EXPECT_TRUE(d_cells.row(cell).isApprox(d_numbers.row(0), 1e-12));
  EXPECT_FALSE(d_cells.row(cell - 1).isApprox(d_numbers.row(0), 1e-3));
}

}  // namespace
}  // namespace ppan
