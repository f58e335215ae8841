#include "ppan/nn/record_layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ppan/nn/cell_draw.h"
#include "ppan/nn/panel_product.h"
#include "ppan/nn/record_tile.h"
#include "support/random_values.h"

namespace ppan {
namespace {

using testing::random_matrix;

// What a sum of so many terms may differ by from the exact one (Higham 2002, sec. 3.1).
double rounding(Index terms, double sum_of_magnitudes) {
  return static_cast<double>(terms + 2) * std::numeric_limits<float>::epsilon() * sum_of_magnitudes + 1e-300;
}

// Records one after the other, of which a third of the numbers are 0.
TEST(RecordProduct, MatchesTheSum) {
  SeededRandom random(12);
  for (const Index records : {1, 5, 6, 25}) {
    for (const Index inputs : {16, 64, 80, 144}) {
      for (const Index outputs : {16, 48, 64, 112}) {
        const Matrix<float> w = random_matrix(random, outputs, inputs).cast<float>();
        const Matrix<float> start = random_matrix(random, outputs, records).cast<float>();
        Matrix<float> x = random_matrix(random, inputs, records).cast<float>();
        for (Index i = 0; i < x.size(); i += 3) x.data()[i] = 0;
        const Matrix<double> expected = start.cast<double>() + w.cast<double>() * x.cast<double>();
        const Matrix<double> magnitude =
            start.cast<double>().cwiseAbs() + w.cast<double>().cwiseAbs() * x.cast<double>().cwiseAbs();
        for (const bool relu : {false, true}) {
          for (const auto product : {add_record_product, add_sparse_product}) {
            // Behind the last one is another, which stays as it is.
            Matrix<float> z = Matrix<float>::Constant(outputs, records + 1, -12345);
            z.leftCols(records) = start;
            product(records, inputs, outputs, x.data(), w.data(), relu, z.data());
            EXPECT_EQ(z.rightCols(1), (Matrix<float>::Constant(outputs, 1, -12345)));
            for (Index i = 0; i < start.size(); ++i) {
              const double exact = relu ? std::max(0.0, expected.data()[i]) : expected.data()[i];
              ASSERT_NEAR(z.data()[i], exact, rounding(inputs + 1, magnitude.data()[i]))
                  << records << " x " << inputs << " x " << outputs;
            }
          }
        }
      }
    }
  }
}

TEST(FirstRecordLayer, IsTheProductWithAllFeatures) {
  constexpr Index kFeatures = 6;
  constexpr Index kOnes = 3;
  SeededRandom random(13);
  for (const Index records : {1, 4, 11}) {
    for (const Index outputs : {16, 80, 112}) {
      const Matrix<float> of_features = random_matrix(random, outputs, kFeatures).cast<float>();
      const Matrix<float> of_numbers = random_matrix(random, outputs, 2).cast<float>();
      const Matrix<float> of_noise = random_matrix(random, outputs, 5).cast<float>();
      const Vector<float> bias = testing::random_vector(random, outputs).cast<float>();
      const Matrix<float> numbers = random_matrix(random, 2, records).cast<float>();
      const Matrix<float> noise = random_matrix(random, 5, records).cast<float>();
      std::vector<std::int32_t> ones;
      Matrix<double> features = Matrix<double>::Zero(kFeatures, records);
      for (Index r = 0; r < records; ++r) {
        for (Index k = 0; k < kOnes; ++k) {
          ones.push_back(static_cast<std::int32_t>(random.index(kFeatures)));
          features(ones.back(), r) += 1;
        }
      }
      Matrix<double> exact = of_features.cast<double>() * features +
                             of_numbers.cast<double>() * numbers.cast<double>() +
                             of_noise.cast<double>() * noise.cast<double>();
      exact.colwise() += bias.cast<double>();
      const FirstLayer layer{outputs,           kOnes,          2, 5, bias.data(), of_features.data(),
                             of_numbers.data(), of_noise.data()};
      for (const bool relu : {false, true}) {
        Matrix<float> z = Matrix<float>::Constant(outputs, records + 1, -12345);
        first_record_layer(layer, records, {ones.data(), numbers.data(), noise.data()}, relu, z.data());
        EXPECT_EQ(z.rightCols(1), (Matrix<float>::Constant(outputs, 1, -12345)));
        const Matrix<double> expected = relu ? Matrix<double>(exact.cwiseMax(0)) : exact;
        EXPECT_LT((z.leftCols(records).cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-5);
      }
    }
  }
}

// Both ways to draw: as the processor has it, and with the registers that this file is compiled for.
using DrawCells = void (*)(const CellDraw&, Index, const CellRecord*, const float*, std::int32_t*);
constexpr DrawCells kDraws[] = {draw_record_cells, tile::draw_record_cells};

// Every cell is drawn for the part of [0, 1) that it has in the exact softmax, but for rounding.
TEST(DrawRecordCells, CutsTheUnitIntervalAsTheSoftmaxDoes) {
  constexpr Index kInputs = 32;
  constexpr Index kSteps = 4000;
  SeededRandom random(14);
  for (const Index cells : {3, 16, 40, 150}) {
    const Index all = (cells + kRecordOutputs - 1) / kRecordOutputs * kRecordOutputs;
    Matrix<float> weight = Matrix<float>::Zero(all, kInputs);
    weight.topRows(cells) = random_matrix(random, cells, kInputs).cast<float>();
    Matrix<float> table = Matrix<float>::Constant(all, 2, -std::numeric_limits<float>::infinity());
    table.topRows(cells) = random_matrix(random, cells, 2).cast<float>();
    table(1, 1) = -std::numeric_limits<float>::infinity();  // the own cell
    Matrix<float> model = Matrix<float>::Zero(all, 3);
    model.topRows(cells) = random_matrix(random, cells, 3).cast<float>();
    model(cells - 1, 2) = -std::numeric_limits<float>::infinity();
    Matrix<float> x = random_matrix(random, kInputs, 4).cast<float>().cwiseMax(0);
    Vector<double> logit = (weight.cast<double>() * x.col(3).cast<double>() + table.col(1).cast<double>() +
                            model.col(2).cast<double>())
                               .head(cells);
    Vector<double> chance = (logit.array() - logit.maxCoeff()).exp();
    chance /= chance.sum();
    std::vector<CellRecord> record;
    for (Index s = 0; s < kSteps; ++s)
      record.push_back({3, 1, 2, static_cast<float>(s) / static_cast<float>(kSteps)});
    for (const DrawCells draw : kDraws) {
      std::vector<std::int32_t> drawn(record.size());
      draw({kInputs, all, weight.data(), table.data(), model.data()}, kSteps, record.data(), x.data(),
           drawn.data());
      Vector<double> seen = Vector<double>::Zero(cells);
      for (const std::int32_t cell : drawn) {
        ASSERT_LT(cell, cells);
        seen[cell] += 1.0 / kSteps;
      }
      EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end()));
      EXPECT_EQ(seen[1], 0);
      EXPECT_EQ(seen[cells - 1], 0);
      EXPECT_LT((seen - chance).cwiseAbs().maxCoeff(), 2.0 / kSteps);
    }
  }
}

// Weights as a forged model may have them.
TEST(DrawRecordCells, StaysInRangeWhateverTheNumbersAre) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Matrix<float> table = Matrix<float>::Constant(32, 1, -kInfinity);
  table.topRows(18).setZero();
  for (const float weight : {kInfinity, -kInfinity, 3e38F, -3e38F, std::numeric_limits<float>::quiet_NaN()}) {
    const Matrix<float> w = Matrix<float>::Constant(32, 16, weight);
    for (const float from : {-1.0F, 1.0F, 2.0F}) {
      const Vector<float> x = Vector<float>::Constant(16, from);
      const Vector<float> model = Vector<float>::Zero(32);
      for (const DrawCells draw : kDraws) {
        const CellRecord record{.left = 0.999F};
        std::int32_t cell = -1;
        draw({16, 32, w.data(), table.data(), model.data()}, 1, &record, x.data(), &cell);
        EXPECT_GE(cell, 0);
        EXPECT_LT(cell, 18);
      }
    }
  }
}

TEST(DrawKnownCells, LeavesTheOwnOneOut) {
  Vector<float> sums = Vector<float>::Zero(32);
  sums.tail(30).setConstant(0.25F);  // cell 2
  sums.tail(29).setConstant(0.75F);  // cell 3
  sums.tail(12).setConstant(1);      // cell 20
  const std::vector<CellRecord> record{{0, 3, 0, 0},    {0, 3, 0, 0.2499F}, {0, 3, 0, 0.25F},
                                       {0, 3, 0, 0.5F}, {0, 20, 0, 0.3F},   {0, 20, 0, 0.75F},
                                       {0, 2, 0, 0},    {0, 2, 0, 0.49F},   {0, 2, 0, 0.51F},
                                       {0, 0, 0, 0.1F}, {0, 31, 0, 0.99F}};
  const std::vector<std::int32_t> expected{2, 2, 20, 20, 3, 3, 3, 3, 20, 2, 20};
  for (const auto draw : {static_cast<decltype(&draw_known_cells)>(draw_known_cells),
                          static_cast<decltype(&draw_known_cells)>(tile::draw_known_cells)}) {
    std::vector<std::int32_t> drawn(record.size());
    draw(32, sums.data(), 11, record.data(), drawn.data());
    EXPECT_EQ(drawn, expected);
  }
}

TEST(OpenGates, IsTheLogisticFunctionUpToItsEnds) {
  Vector<float> gate(32);
  for (Index i = 0; i < 32; ++i) gate[i] = 0.5F * static_cast<float>(i - 16);
  gate.tail(4) << -150, -100, 100, 150;
  for (const auto open : {static_cast<decltype(&open_gates)>(open_gates),
                          static_cast<decltype(&open_gates)>(tile::open_gates)}) {
    Vector<float> chance = gate;
    open({.most = 6, .never = -100, .always = 100}, 32, chance.data());
    for (Index i = 0; i < 28; ++i)
      EXPECT_NEAR(chance[i], 1 / (1 + std::exp(-std::clamp(static_cast<double>(gate[i]), -6.0, 6.0))), 1e-7);
    EXPECT_EQ(chance[28], 0);
    EXPECT_EQ(chance[29], 0);
    EXPECT_EQ(chance[30], 1);
    EXPECT_EQ(chance[31], 1);
  }
}

}  // namespace
}  // namespace ppan
