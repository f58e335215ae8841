#include "ppan/core/error.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "ppan/core/estimate.h"

namespace ppan {
namespace {

TEST(Error, StatusesAreTheContract) {
  EXPECT_EQ(exit_status(ErrorCode::kInternal), 1);
  EXPECT_EQ(exit_status(ErrorCode::kUsage), 2);
  EXPECT_EQ(exit_status(ErrorCode::kBadInput), 3);
  EXPECT_EQ(exit_status(ErrorCode::kIo), 4);
  EXPECT_EQ(exit_status(ErrorCode::kDiverged), 5);
  EXPECT_EQ(exit_status(ErrorCode::kLimitExceeded), 6);
}

TEST(Error, CarriesCodeTextAndFix) {
  const Error error(ErrorCode::kBadInput, "column 'age' is empty", "drop it");
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_STREQ(error.what(), "column 'age' is empty");
  EXPECT_EQ(error.fix(), "drop it");
}

TEST(Error, IsARuntimeErrorAndTheFixIsOptional) {
  try {
    throw Error(ErrorCode::kIo, "gone");
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "gone");
  }
  EXPECT_TRUE(Error(ErrorCode::kIo, "gone").fix().empty());
}

TEST(Estimate, NamesOfDirectionsAndUnits) {
  EXPECT_EQ(to_string(Bound::kLower), "lower bound");
  EXPECT_EQ(to_string(Bound::kUpper), "upper bound");
  EXPECT_EQ(to_string(Bound::kExact), "exact");
  EXPECT_EQ(to_string(Bound::kEstimate), "estimate");
  EXPECT_EQ(to_string(InformationUnit::kNats), "nats");
  EXPECT_EQ(to_string(InformationUnit::kBits), "bits");
}

TEST(Estimate, OneBitIsTheNaturalLogarithmOfTwo) {
  EXPECT_NEAR(from_nats(0.693147180559945309, InformationUnit::kBits), 1.0, 1e-15);
  EXPECT_EQ(from_nats(0.25, InformationUnit::kNats), 0.25);
}

TEST(Estimate, AnEstimateClaimsNothingByDefault) {
  const Estimate estimate;
  EXPECT_EQ(estimate.bound, Bound::kEstimate);
  EXPECT_FALSE(estimate.interval95.has_value());
}

}  // namespace
}  // namespace ppan
