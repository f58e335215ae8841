#include "ppan/nn/dense.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "ppan/nn/panel_product.h"
#include "support/random_values.h"

namespace ppan {
namespace {

using testing::random_matrix;

// What a product may differ by from the exact sum: rounding of each term and each addition (Higham 2002,
// sec. 3.1).
template <typename Scalar>
double rounding(Index terms, double sum_of_magnitudes) {
  return static_cast<double>(terms + 2) * std::numeric_limits<Scalar>::epsilon() * sum_of_magnitudes + 1e-300;
}

// A buffer with a guard on both sides, to see writes outside of the result.
template <typename Scalar>
class Guarded {
 public:
  explicit Guarded(Index size) : size_(size), all_(static_cast<std::size_t>(size + 2 * kGuard), kMark) {}
  Scalar* data() { return all_.data() + kGuard; }
  [[nodiscard]] Scalar operator[](Index i) const { return all_[static_cast<std::size_t>(kGuard + i)]; }
  [[nodiscard]] bool intact() const {
    for (Index i = 0; i < kGuard; ++i) {
      if ((*this)[i - kGuard] != kMark || (*this)[size_ + i] != kMark) return false;
    }
    return true;
  }

 private:
  static constexpr Index kGuard = 33;
  static constexpr Scalar kMark = Scalar(-12345);
  Index size_;
  std::vector<Scalar> all_;
};

struct Shape {
  Index rows;
  Index inputs;
  Index outputs;
};

std::string describe(Shape s) {
  return std::to_string(s.rows) + " x " + std::to_string(s.inputs) + " x " + std::to_string(s.outputs);
}

// The products as a layer makes them, whatever kernel that takes, and those by panels, wherever they would be
// used.
struct AsDecided {
  template <typename Scalar>
  static void forward(Shape s, const Scalar* a, const Scalar* w, const Scalar* b, bool relu, Scalar* z) {
    dense_forward(s.rows, s.inputs, s.outputs, a, w, b, relu, z);
  }
  template <typename Scalar>
  static void backward_input(Shape s, const Scalar* dz, const Scalar* w, Scalar* da) {
    dense_backward_input(s.rows, s.inputs, s.outputs, dz, w, da);
  }
  template <typename Scalar>
  static void backward_weights(Shape s, const Scalar* a, const Scalar* dz, Scalar* dw, Scalar* db) {
    dense_backward_weights(s.rows, s.inputs, s.outputs, a, dz, dw, db);
  }
};
struct ByPanels {
  template <typename Scalar>
  static void forward(Shape s, const Scalar* a, const Scalar* w, const Scalar* b, bool relu, Scalar* z) {
    panel_forward(s.rows, s.inputs, s.outputs, a, w, b, relu, z);
  }
  template <typename Scalar>
  static void backward_input(Shape s, const Scalar* dz, const Scalar* w, Scalar* da) {
    panel_backward_input(s.rows, s.inputs, s.outputs, dz, w, da);
  }
  template <typename Scalar>
  static void backward_weights(Shape s, const Scalar* a, const Scalar* dz, Scalar* dw, Scalar* /*db*/) {
    panel_backward_weights(s.rows, s.inputs, s.outputs, a, dz, dw);
  }
};

template <typename Scalar, typename Products>
void expect_forward(Shape s, bool with_bias, bool relu) {
  SeededRandom random(1);
  const auto a = random_matrix<Scalar>(random, s.rows, s.inputs);
  const auto w = random_matrix<Scalar>(random, s.inputs, s.outputs);
  const auto b = random_matrix<Scalar>(random, s.outputs, 1);
  Guarded<Scalar> z(s.rows * s.outputs);
  Products::template forward<Scalar>(s, a.data(), w.data(), with_bias ? b.data() : nullptr, relu, z.data());
  ASSERT_TRUE(z.intact());
  for (Index j = 0; j < s.outputs; ++j) {
    for (Index r = 0; r < s.rows; ++r) {
      double sum = with_bias ? static_cast<double>(b(j)) : 0;
      double magnitude = std::abs(sum);
      for (Index i = 0; i < s.inputs; ++i) {
        const double term = static_cast<double>(a(r, i)) * static_cast<double>(w(i, j));
        sum += term;
        magnitude += std::abs(term);
      }
      if (relu) sum = std::max(sum, 0.0);
      ASSERT_NEAR(static_cast<double>(z[j * s.rows + r]), sum, rounding<Scalar>(s.inputs, magnitude))
          << "row " << r << ", output " << j;
    }
  }
}

template <typename Scalar, typename Products>
void expect_backward_input(Shape s) {
  SeededRandom random(2);
  const auto dz = random_matrix<Scalar>(random, s.rows, s.outputs);
  const auto w = random_matrix<Scalar>(random, s.inputs, s.outputs);
  Guarded<Scalar> da(s.rows * s.inputs);
  Products::template backward_input<Scalar>(s, dz.data(), w.data(), da.data());
  ASSERT_TRUE(da.intact());
  for (Index i = 0; i < s.inputs; ++i) {
    for (Index r = 0; r < s.rows; ++r) {
      double sum = 0;
      double magnitude = 0;
      for (Index j = 0; j < s.outputs; ++j) {
        const double term = static_cast<double>(dz(r, j)) * static_cast<double>(w(i, j));
        sum += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(static_cast<double>(da[i * s.rows + r]), sum, rounding<Scalar>(s.outputs, magnitude))
          << "row " << r << ", input " << i;
    }
  }
}

template <typename Scalar, typename Products>
void expect_backward_weights(Shape s, bool with_bias) {
  SeededRandom random(3);
  const auto a = random_matrix<Scalar>(random, s.rows, s.inputs);
  const auto dz = random_matrix<Scalar>(random, s.rows, s.outputs);
  Guarded<Scalar> dw(s.inputs * s.outputs);
  Guarded<Scalar> db(s.outputs);
  Products::template backward_weights<Scalar>(s, a.data(), dz.data(), dw.data(),
                                              with_bias ? db.data() : nullptr);
  ASSERT_TRUE(dw.intact());
  ASSERT_TRUE(db.intact());
  for (Index j = 0; j < s.outputs; ++j) {
    for (Index i = -1; i < s.inputs; ++i) {  // -1: the bias, whose input is 1
      double sum = 0;
      double magnitude = 0;
      for (Index r = 0; r < s.rows; ++r) {
        const double input = i < 0 ? 1.0 : static_cast<double>(a(r, i));
        const double term = input * static_cast<double>(dz(r, j));
        sum += term;
        magnitude += std::abs(term);
      }
      if (i >= 0) {
        ASSERT_NEAR(static_cast<double>(dw[j * s.inputs + i]), sum, rounding<Scalar>(s.rows, magnitude))
            << "input " << i << ", output " << j;
      } else if (with_bias) {
        ASSERT_NEAR(static_cast<double>(db[j]), sum, rounding<Scalar>(s.rows, magnitude)) << "bias " << j;
      }
    }
  }
}

template <typename Scalar, typename Products = AsDecided>
void expect_all_products(Shape s) {
  SCOPED_TRACE(describe(s));
  constexpr bool kHasBias = std::is_same_v<Products, AsDecided>;
  for (const bool bias : {false, true}) {
    for (const bool relu : {false, true}) expect_forward<Scalar, Products>(s, bias, relu);
    expect_backward_weights<Scalar, Products>(s, bias && kHasBias);
  }
  expect_backward_input<Scalar, Products>(s);
}

template <typename Scalar>
class Dense : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Dense, Scalars);

// Rows on both sides of one and of two packs of 4, 8 and 16 lanes; every tile width of inputs and outputs.
TYPED_TEST(Dense, NarrowLayersMatchPlainLoops) {
  for (const Index rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 65, 200}) {
    for (const Index inputs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20}) {
      for (const Index outputs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 20}) {
        ASSERT_EQ(dense_kernel(rows, inputs, outputs), DenseKernel::kNarrow);
        expect_all_products<TypeParam>({rows, inputs, outputs});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Too few inputs for a strip of panels, or too many rows.
TYPED_TEST(Dense, BlasMatchesPlainLoops) {
  for (const Shape s : {Shape{17, 16, 256}, Shape{33, 31, 133}, Shape{513, 64, 64}, Shape{600, 512, 8}}) {
    ASSERT_EQ(dense_kernel(s.rows, s.inputs, s.outputs), DenseKernel::kBlas) << describe(s);
    expect_all_products<TypeParam>(s);
    if (this->HasFatalFailure()) return;
  }
}

// Whether the processor runs what panel_product.cc is compiled for.
bool panels_run() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return true;
#endif
}

// By the processor that runs, not by the one that the rest of the library was compiled for.
TEST(DenseKernel, PanelsAreChosenByTheProcessor) {
#if defined(__x86_64__)
  EXPECT_EQ(dense_kernel(100, 1000, 1000), panels_run() ? DenseKernel::kPanels : DenseKernel::kBlas);
#else
  EXPECT_EQ(dense_kernel(100, 1000, 1000), DenseKernel::kBlas);
#endif
}

// Rows, inputs and outputs on both sides of each tile and of each pack of 4, 8 and 16 lanes.
template <typename Scalar>
void expect_panels_of(const std::vector<Index>& rows, const std::vector<Index>& inputs,
                      const std::vector<Index>& outputs) {
  for (const Index r : rows) {
    for (const Index i : inputs) {
      for (const Index o : outputs) {
        expect_all_products<Scalar, ByPanels>({r, i, o});
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(Dense, PanelsMatchPlainLoops) {
  if (!panels_run()) GTEST_SKIP() << "no AVX-512";
  expect_panels_of<TypeParam>({16, 19, 33}, {32, 33, 49}, {8, 11, 15});
}

TYPED_TEST(Dense, PanelsOfManyShapesMatchPlainLoops) {
  if (!panels_run()) GTEST_SKIP() << "no AVX-512";
  expect_panels_of<TypeParam>({16, 17, 18, 19, 31, 33, 48, 50, 65, 100}, {32, 33, 40, 49, 64, 81},
                              {8, 9, 10, 11, 15, 23});
  for (const Shape s : {Shape{100, 784, 67}, Shape{100, 101, 256}, Shape{512, 64, 64}}) {
    expect_all_products<TypeParam, ByPanels>(s);
    expect_all_products<TypeParam>(s);
    if (this->HasFatalFailure()) return;
  }
}

// Memory for panels is kept from one layer to the next: what a larger one left there is not read.
TYPED_TEST(Dense, PanelsForgetTheLayerBefore) {
  if (!panels_run()) GTEST_SKIP() << "no AVX-512";
  using Scalar = TypeParam;
  const Shape small{20, 33, 9};
  const Shape large{100, 90, 70};
  const Matrix<Scalar> nan = Matrix<Scalar>::Constant(100, 90, std::numeric_limits<Scalar>::quiet_NaN());
  Matrix<Scalar> out(100, 90);
  ByPanels::forward<Scalar>(large, nan.data(), nan.data(), nullptr, false, out.data());
  expect_all_products<Scalar, ByPanels>(small);
  ByPanels::backward_weights<Scalar>(large, nan.data(), nan.data(), out.data(), nullptr);
  expect_all_products<Scalar, ByPanels>(small);
}

TYPED_TEST(Dense, WideLayersWithFewRowsCountAsNarrow) {
  for (const Shape s : {Shape{15, 64, 64}, Shape{1, 300, 70}, Shape{40, 900, 7}, Shape{40, 15, 300}}) {
    ASSERT_EQ(dense_kernel(s.rows, s.inputs, s.outputs), DenseKernel::kNarrow) << describe(s);
    expect_all_products<TypeParam>(s);
  }
}

// The same layer, once for 60 records at a time and once for 15.
TYPED_TEST(Dense, KernelsOfWideAndNarrowLayersAgree) {
  using Scalar = TypeParam;
  constexpr Index kRows = 60;
  constexpr Index kPart = 15;
  constexpr Index kInputs = 70;
  constexpr Index kOutputs = 66;
  ASSERT_NE(dense_kernel(kRows, kInputs, kOutputs), DenseKernel::kNarrow);
  ASSERT_EQ(dense_kernel(kPart, kInputs, kOutputs), DenseKernel::kNarrow);
  SeededRandom random(4);
  const auto a = random_matrix<Scalar>(random, kRows, kInputs);
  const auto w = random_matrix<Scalar>(random, kInputs, kOutputs);
  const auto b = random_matrix<Scalar>(random, kOutputs, 1);
  const auto dz = random_matrix<Scalar>(random, kRows, kOutputs);
  Matrix<Scalar> z(kRows, kOutputs);
  Matrix<Scalar> da(kRows, kInputs);
  Matrix<Scalar> dw(kInputs, kOutputs);
  Matrix<Scalar> db(kOutputs, 1);
  dense_forward<Scalar>(kRows, kInputs, kOutputs, a.data(), w.data(), b.data(), true, z.data());
  dense_backward_input<Scalar>(kRows, kInputs, kOutputs, dz.data(), w.data(), da.data());
  dense_backward_weights<Scalar>(kRows, kInputs, kOutputs, a.data(), dz.data(), dw.data(), db.data());
  Matrix<Scalar> dw_sum = Matrix<Scalar>::Zero(kInputs, kOutputs);
  Matrix<Scalar> db_sum = Matrix<Scalar>::Zero(kOutputs, 1);
  const Scalar tolerance = Scalar(200) * std::numeric_limits<Scalar>::epsilon();
  for (Index first = 0; first < kRows; first += kPart) {
    const Matrix<Scalar> a_part = a.middleRows(first, kPart);
    const Matrix<Scalar> dz_part = dz.middleRows(first, kPart);
    Matrix<Scalar> z_part(kPart, kOutputs);
    Matrix<Scalar> da_part(kPart, kInputs);
    Matrix<Scalar> dw_part(kInputs, kOutputs);
    Matrix<Scalar> db_part(kOutputs, 1);
    dense_forward<Scalar>(kPart, kInputs, kOutputs, a_part.data(), w.data(), b.data(), true, z_part.data());
    dense_backward_input<Scalar>(kPart, kInputs, kOutputs, dz_part.data(), w.data(), da_part.data());
    dense_backward_weights<Scalar>(kPart, kInputs, kOutputs, a_part.data(), dz_part.data(), dw_part.data(),
                                   db_part.data());
    EXPECT_LT((z_part - z.middleRows(first, kPart)).cwiseAbs().maxCoeff(), tolerance);
    EXPECT_LT((da_part - da.middleRows(first, kPart)).cwiseAbs().maxCoeff(), tolerance);
    dw_sum += dw_part;
    db_sum += db_part;
  }
  EXPECT_LT((dw_sum - dw).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_LT((db_sum - db).cwiseAbs().maxCoeff(), tolerance);
}

// What the overlapping last block writes again must be what was there: a record's result may not depend on
// the number of records beside it.
TYPED_TEST(Dense, ARecordDoesNotFeelItsNeighbours) {
  using Scalar = TypeParam;
  SeededRandom random(5);
  const auto a = random_matrix<Scalar>(random, 37, 5);
  const auto w = random_matrix<Scalar>(random, 5, 3);
  Matrix<Scalar> all(37, 3);
  dense_forward<Scalar>(37, 5, 3, a.data(), w.data(), nullptr, false, all.data());
  const Matrix<Scalar> head = a.topRows(33);
  Matrix<Scalar> part(33, 3);
  dense_forward<Scalar>(33, 5, 3, head.data(), w.data(), nullptr, false, part.data());
  EXPECT_EQ((all.topRows(33) - part).cwiseAbs().maxCoeff(), Scalar(0));
}

}  // namespace
}  // namespace ppan
