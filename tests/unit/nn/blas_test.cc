#include "ppan/nn/blas.h"

#include <cblas.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <optional>

namespace ppan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Blas, IsOpenBlasAndNamesItself) {
  EXPECT_THAT(blas_description(), HasSubstr("OpenBLAS"));
}

// A processor that OpenBLAS does not know by its model would be given kernels for SSE3.
TEST(Runtime, UsesTheProcessorAndLeavesTheEnvironment) {
#if defined(__x86_64__)
  if (std::getenv("OPENBLAS_CORETYPE")) GTEST_SKIP() << "the kernels were chosen by hand";
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "no AVX2";
  const Runtime runtime;
  EXPECT_THAT(blas_description(), Not(HasSubstr("Prescott")));
  EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE"), nullptr);
#endif
}

class ThreeThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = openblas_get_num_threads();
    openblas_set_num_threads(3);
  }
  void TearDown() override { openblas_set_num_threads(before_); }

 private:
  int before_ = 1;
};

TEST_F(ThreeThreads, AreThereAgainAfterTheGuard) {
  {
    const BlasThreads one(1);
    EXPECT_EQ(blas_threads(), 1);
  }
  EXPECT_EQ(blas_threads(), 3);
}

TEST_F(ThreeThreads, AreThereAgainAfterTheLastOfSeveralGuards) {
  std::optional<BlasThreads> first(std::in_place, 1);
  std::optional<BlasThreads> second(std::in_place, 1);
  first.reset();  // not in the order of a stack: two calls of the library may end in any order
  EXPECT_EQ(blas_threads(), 1);
  second.reset();
  EXPECT_EQ(blas_threads(), 3);
}

TEST_F(ThreeThreads, AreThereAgainAfterAGuardUnderARuntimeThatEndedThem) {
  const Runtime runtime;
  { const BlasThreads one(1); }
  EXPECT_EQ(blas_threads(), 3);
  const float a[4] = {1, 2, 3, 4};
  float c[4] = {};
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1.0F, a, 2, a, 2, 0.0F, c, 2);
  EXPECT_EQ(c[0], 7.0F);
  EXPECT_EQ(c[3], 22.0F);
}

}  // namespace
}  // namespace ppan
