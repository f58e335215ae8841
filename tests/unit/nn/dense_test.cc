#include "ppan/nn/dense.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

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

template <typename Scalar>
void expect_forward(Shape s, bool with_bias, bool relu) {
  SeededRandom random(1);
  const auto a = random_matrix<Scalar>(random, s.rows, s.inputs);
  const auto w = random_matrix<Scalar>(random, s.inputs, s.outputs);
  const auto b = random_matrix<Scalar>(random, s.outputs, 1);
  Guarded<Scalar> z(s.rows * s.outputs);
  dense_forward<Scalar>(s.rows, s.inputs, s.outputs, a.data(), w.data(), with_bias ? b.data() : nullptr, relu,
                        z.data());
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

template <typename Scalar>
void expect_backward_input(Shape s) {
  SeededRandom random(2);
  const auto dz = random_matrix<Scalar>(random, s.rows, s.outputs);
  const auto w = random_matrix<Scalar>(random, s.inputs, s.outputs);
  Guarded<Scalar> da(s.rows * s.inputs);
  dense_backward_input<Scalar>(s.rows, s.inputs, s.outputs, dz.data(), w.data(), da.data());
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

template <typename Scalar>
void expect_backward_weights(Shape s, bool with_bias) {
  SeededRandom random(3);
  const auto a = random_matrix<Scalar>(random, s.rows, s.inputs);
  const auto dz = random_matrix<Scalar>(random, s.rows, s.outputs);
  Guarded<Scalar> dw(s.inputs * s.outputs);
  Guarded<Scalar> db(s.outputs);
  dense_backward_weights<Scalar>(s.rows, s.inputs, s.outputs, a.data(), dz.data(), dw.data(),
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

template <typename Scalar>
void expect_all_products(Shape s) {
  SCOPED_TRACE(describe(s));
  for (const bool bias : {false, true}) {
    for (const bool relu : {false, true}) expect_forward<Scalar>(s, bias, relu);
    expect_backward_weights<Scalar>(s, bias);
  }
  expect_backward_input<Scalar>(s);
}

template <typename Scalar>
class Dense : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Dense, Scalars);

// Rows on both sides of one and of two packs of 4, 8 and 16 lanes; every tile width of inputs and outputs.
TYPED_TEST(Dense, OwnKernelsMatchPlainLoops) {
  for (const Index rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 65, 200}) {
    for (const Index inputs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20}) {
      for (const Index outputs : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 20}) {
        ASSERT_FALSE(uses_blas(rows, inputs, outputs));
        expect_all_products<TypeParam>({rows, inputs, outputs});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(Dense, BlasMatchesPlainLoops) {
  for (const Shape s : {Shape{16, 64, 64}, Shape{33, 512, 8}, Shape{17, 16, 256}, Shape{100, 101, 67}}) {
    ASSERT_TRUE(uses_blas(s.rows, s.inputs, s.outputs)) << describe(s);
    expect_all_products<TypeParam>(s);
  }
}

TYPED_TEST(Dense, WideLayersWithFewRowsStayInOwnKernels) {
  for (const Shape s : {Shape{15, 64, 64}, Shape{1, 300, 70}, Shape{40, 900, 7}, Shape{40, 15, 300}}) {
    ASSERT_FALSE(uses_blas(s.rows, s.inputs, s.outputs)) << describe(s);
    expect_all_products<TypeParam>(s);
  }
}

// The same layer, once for 60 records at a time (BLAS) and once for 15 (own kernels).
TYPED_TEST(Dense, BlasAndOwnKernelsAgree) {
  using Scalar = TypeParam;
  constexpr Index kRows = 60;
  constexpr Index kPart = 15;
  constexpr Index kInputs = 70;
  constexpr Index kOutputs = 66;
  ASSERT_TRUE(uses_blas(kRows, kInputs, kOutputs));
  ASSERT_FALSE(uses_blas(kPart, kInputs, kOutputs));
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

// A processor that OpenBLAS does not know by its model would be given kernels for SSE3.
TEST(Blas, UsesTheProcessor) {
#if defined(__x86_64__)
  if (std::getenv("OPENBLAS_CORETYPE")) GTEST_SKIP() << "the kernels were chosen by hand";
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "no AVX2";
  EXPECT_THAT(blas_description(), ::testing::Not(::testing::HasSubstr("Prescott")));
#endif
}

TEST(Blas, IsOpenBlasAndNamesItself) {
  EXPECT_THAT(blas_description(), ::testing::HasSubstr("OpenBLAS"));
}

}  // namespace
}  // namespace ppan
