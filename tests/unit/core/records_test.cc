#include "ppan/core/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace ppan {
namespace {

using ::testing::ElementsAre;

// Four records: W real (two dimensions), X finite of three levels and real, Y finite of two levels.
template <typename Scalar>
Records<Scalar> sample_records() {
  Records<Scalar> records;
  records.observed.value.resize(4, 2);
  records.observed.value << 1, 10, 2, 20, 3, 30, 4, 40;
  records.sensitive.resize(2);
  records.sensitive[0] = {.code = {0, 1, 2, 1}, .levels = 3, .value = {}};
  records.sensitive[1].value.resize(4, 1);
  records.sensitive[1].value << -1, -2, -3, -4;
  records.useful = {.code = {1, 0, 1, 1}, .levels = 2, .value = {}};
  return records;
}

TEST(Attribute, KnowsItsRowsAndWidth) {
  const auto records = sample_records<double>();
  EXPECT_FALSE(records.observed.finite());
  EXPECT_EQ(records.observed.rows(), 4);
  EXPECT_EQ(records.observed.width(), 2);
  EXPECT_TRUE(records.useful.finite());
  EXPECT_EQ(records.useful.rows(), 4);
  EXPECT_EQ(records.useful.width(), 2);
  EXPECT_EQ(records.sensitive[0].width(), 3);
  EXPECT_EQ(records.rows(), 4);
}

template <typename Scalar>
class Gather : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gather, Scalars);

TYPED_TEST(Gather, TakesTheNamedRowsInTheirOrderWithRepeats) {
  const auto records = sample_records<TypeParam>();
  const std::array<std::int32_t, 3> rows{3, 0, 3};
  Records<TypeParam> batch;
  gather(records, rows.data(), 3, batch);
  Matrix<TypeParam> observed(3, 2);
  observed << 4, 40, 1, 10, 4, 40;
  EXPECT_EQ(batch.observed.value, observed);
  EXPECT_THAT(batch.sensitive[0].code, ElementsAre(1, 0, 1));
  EXPECT_EQ(batch.sensitive[0].levels, 3);
  EXPECT_EQ(batch.sensitive[1].value(0, 0), -4);
  EXPECT_EQ(batch.sensitive[1].value(1, 0), -1);
  EXPECT_THAT(batch.useful.code, ElementsAre(1, 1, 1));
  EXPECT_EQ(batch.rows(), 3);
  EXPECT_EQ(batch.second.rows(), 0);
  auto with_second = records;
  with_second.second = {.code = {0, 1, 0, 1}, .levels = 2, .value = {}};
  gather(with_second, rows.data(), 3, batch);
  EXPECT_THAT(batch.second.code, ElementsAre(1, 0, 1));
  EXPECT_THAT(cast<double>(with_second).second.code, ElementsAre(0, 1, 0, 1));
}

TYPED_TEST(Gather, ASecondBatchOfTheSameSizeReusesItsStorage) {
  const auto records = sample_records<TypeParam>();
  const std::array<std::int32_t, 2> first{0, 1};
  const std::array<std::int32_t, 2> second{2, 3};
  Records<TypeParam> batch;
  gather(records, first.data(), 2, batch);
  const auto* storage = batch.observed.value.data();
  const auto* codes = batch.useful.code.data();
  gather(records, second.data(), 2, batch);
  EXPECT_EQ(batch.observed.value.data(), storage);
  EXPECT_EQ(batch.useful.code.data(), codes);
  EXPECT_EQ(batch.observed.value(1, 1), 40);
}

TYPED_TEST(Gather, NoRowsGiveAnEmptyBatchOfTheSameShape) {
  Records<TypeParam> batch;
  gather(sample_records<TypeParam>(), nullptr, 0, batch);
  EXPECT_EQ(batch.rows(), 0);
  EXPECT_EQ(batch.observed.width(), 2);
  EXPECT_EQ(batch.useful.rows(), 0);
}

TEST(Cast, KeepsCodesLevelsAndValues) {
  const auto records = cast<float>(sample_records<double>());
  EXPECT_EQ(records.observed.value(2, 1), 30.0F);
  EXPECT_THAT(records.sensitive[0].code, ElementsAre(0, 1, 2, 1));
  EXPECT_EQ(records.sensitive[0].levels, 3);
  EXPECT_EQ(records.sensitive.size(), 2U);
  EXPECT_EQ(records.useful.levels, 2);
}

}  // namespace
}  // namespace ppan
