// The short cuts for finite alphabets give what the plain computation gives.

#include "ppan/game/look_up.h"

#include <gtest/gtest.h>

#include "ppan/game/finite_mechanism.h"
#include "ppan/game/posterior.h"
#include "support/random_values.h"

namespace ppan {
namespace {

using testing::random_finite;
using testing::random_matrix;

template <typename Scalar>
class LookUp : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LookUp, Scalars);

// Every count round the register widths, so that each split between gathered and single elements occurs.
TYPED_TEST(LookUp, IsTheTableAtEveryCode) {
  SeededRandom random(1);
  for (const std::int32_t step : {1, 3}) {
    const Matrix<TypeParam> table = random_matrix(random, 10 * step, 1).template cast<TypeParam>();
    for (Index count = 0; count < 40; ++count) {
      const Symbols code = random_finite(random, count, 10).code;
      Vector<TypeParam> out = Vector<TypeParam>::Constant(count + 1, TypeParam(-7));
      look_up(table.data(), step, code.data(), count, out.data());
      for (Index i = 0; i < count; ++i) EXPECT_EQ(out[i], table(step * code[static_cast<std::size_t>(i)], 0));
      EXPECT_EQ(out[count], TypeParam(-7)) << "wrote behind the end";
    }
  }
}

TYPED_TEST(LookUp, AddsEveryRecordToItsLevel) {
  SeededRandom random(2);
  const Index records = 50;
  const Symbols code = random_finite(random, records, 4).code;
  const Matrix<TypeParam> from = random_matrix(random, records, 3).template cast<TypeParam>();
  Matrix<TypeParam> want = Matrix<TypeParam>::Zero(4, 3);
  for (Index i = 0; i < records; ++i) want.row(code[static_cast<std::size_t>(i)]) += from.row(i);
  Matrix<TypeParam> by_level = Matrix<TypeParam>::Zero(4, 3);
  add_up(from, code.data(), 1, 4, by_level.data());
  Matrix<TypeParam> transposed = Matrix<TypeParam>::Zero(3, 4);
  add_up(from, code.data(), 3, 1, transposed.data());
  EXPECT_TRUE(by_level.isApprox(want));
  EXPECT_TRUE(transposed.transpose().isApprox(want));
}

// A batch with fewer records than levels computes a softmax for each record, a larger one for each level.
TEST(FiniteMechanism, LargeAndSmallBatchesAgree) {
  constexpr std::int32_t kLevels = 6;
  constexpr Index kSymbols = 4;
  SeededRandom random(3);
  Attribute<double> all = random_finite(random, 4 * (kLevels - 1), kLevels);
  FiniteMechanism<double> mechanism({.kind = MechanismKind::kFinite, .released = kSymbols}, all);
  mechanism.initialise(random);
  const Matrix<double> d_weight = random_matrix(random, all.rows(), kSymbols);

  const Matrix<double> no_noise;
  Draws<double> draws;
  DrawsGradient<double> gradient;
  gradient.weight = d_weight;
  Vector<double> whole;
  mechanism.draw(all, no_noise, draws);
  const Matrix<double> weight = draws.weight;
  mechanism.backward(all, no_noise, draws, gradient, whole);

  Vector<double> sum = Vector<double>::Zero(whole.size());
  for (Index first = 0; first < all.rows(); first += kLevels - 1) {
    Attribute<double> part{.levels = kLevels};
    part.code.assign(all.code.begin() + first, all.code.begin() + first + kLevels - 1);
    mechanism.draw(part, no_noise, draws);
    EXPECT_TRUE(draws.weight.isApprox(weight.middleRows(first, kLevels - 1), 1e-14));
    gradient.weight = d_weight.middleRows(first, kLevels - 1);
    Vector<double> g;
    mechanism.backward(part, no_noise, draws, gradient, g);
    sum += g;
  }
  EXPECT_TRUE(sum.isApprox(whole, 1e-13));
}

// Without bias the weights are read as a table; with a bias of zero they go through the network.
TEST(Posterior, TableIsTheNetworkWithoutBias) {
  constexpr Index kSymbols = 5;
  SeededRandom random(4);
  const std::vector<Attribute<double>> x{random_finite(random, 12, 3)};
  const Matrix<double> symbols = Matrix<double>::Identity(kSymbols, kSymbols);
  Posterior<double> table({.bias = false}, kSymbols, x);
  Posterior<double> network({.bias = true}, kSymbols, x);
  table.initialise(random);
  network.parameters().setZero();
  network.parameters().head(table.parameters().size()) = table.parameters();

  const Matrix<double> score = table.score(symbols, true, kSymbols, x);
  EXPECT_TRUE(score.isApprox(network.score(symbols, true, kSymbols, x), 1e-14));
  const Matrix<double> d_score = random_matrix(random, 12, kSymbols);
  Vector<double> g;
  Vector<double> wide;
  table.backward(symbols, true, kSymbols, x, d_score, &g, nullptr);
  network.backward(symbols, true, kSymbols, x, d_score, &wide, nullptr);
  EXPECT_TRUE(g.isApprox(wide.head(g.size()), 1e-13));
}

}  // namespace
}  // namespace ppan
