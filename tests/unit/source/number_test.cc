#include "ppan/source/number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ppan {
namespace {

std::string text_of(double value, NumberFormat format) {
  std::string out;
  append_number(value, format, out);
  return out;
}

TEST(Number, ReadsDecimalNumbers) {
  EXPECT_EQ(parse_number("42").value, 42);
  EXPECT_EQ(parse_number("-17").value, -17);
  EXPECT_EQ(parse_number("+5").value, 5);
  EXPECT_EQ(parse_number(" 1.50\t").value, 1.5);
  EXPECT_EQ(parse_number("1.50").decimals, 2);
  EXPECT_EQ(parse_number(".5").value, 0.5);
  EXPECT_EQ(parse_number("5.").value, 5);
  EXPECT_EQ(parse_number("1e3").value, 1000);
  EXPECT_TRUE(parse_number("1e3").exponent);
  EXPECT_EQ(parse_number("0.1").value, 0.1);
  EXPECT_EQ(parse_number("12345678901234567890").value, 12345678901234567890.0);
  EXPECT_EQ(parse_number("1e-999").value, 0);
  EXPECT_EQ(parse_number("3,25", ',').value, 3.25);
  EXPECT_EQ(parse_number("3,25", ',').decimals, 2);
}

TEST(Number, SeesCodesWrittenWithLeadingZeros) {
  EXPECT_TRUE(parse_number("007").leading_zero);
  EXPECT_FALSE(parse_number("0").leading_zero);
  EXPECT_FALSE(parse_number("0.5").leading_zero);
}

TEST(Number, RefusesEverythingElse) {
  for (const char* text :
       {"", " ", "x", "1x", "1 2", "--1", "+-1", "1,5", "0x10", "e5", "1e", ".", "-", "$5", "1.2.3"})
    EXPECT_EQ(parse_number(text).fault, NumberFault::kNotANumber) << text;
  for (const char* text : {"inf", "-inf", "Infinity", "+INF", "NaN", "-nan", "nan(ind)"})
    EXPECT_EQ(parse_number(text).fault, NumberFault::kNotFinite) << text;
  EXPECT_EQ(parse_number("information").fault, NumberFault::kNotANumber);
  EXPECT_EQ(parse_number("1e999").fault, NumberFault::kTooLarge);
  EXPECT_EQ(parse_number("-1e999").fault, NumberFault::kTooLarge);
  EXPECT_EQ(parse_number("1.7e308").fault, NumberFault::kTooLarge);
  EXPECT_EQ(parse_number("-1.7e308").fault, NumberFault::kTooLarge);
  EXPECT_EQ(parse_number("-1e100").value, -1e100);
  EXPECT_EQ(parse_number(std::string(400, '9')).fault, NumberFault::kTooLarge);
  EXPECT_EQ(parse_number("1.5", ',').fault, NumberFault::kNotANumber);
}

TEST(Number, WritesOnTheGrid) {
  const NumberFormat whole{.decimals = 0};
  EXPECT_EQ(text_of(41.6, whole), "42");
  EXPECT_EQ(text_of(-0.2, whole), "0");
  EXPECT_EQ(text_of(1e15, whole), "1000000000000000");
  EXPECT_EQ(text_of(1e20, whole), "100000000000000000000");
  const NumberFormat money{.decimals = 2, .fixed = true};
  EXPECT_EQ(text_of(12.5, money), "12.50");
  EXPECT_EQ(text_of(-0.005001, money), "-0.01");
  EXPECT_EQ(text_of(0.05, money), "0.05");
  EXPECT_EQ(text_of(-3, money), "-3.00");
  const NumberFormat two{.decimals = 2};
  EXPECT_EQ(text_of(12.5, two), "12.5");
  EXPECT_EQ(text_of(12, two), "12");
  EXPECT_EQ(text_of(100, two), "100");
  EXPECT_EQ(text_of(0, two), "0");
  EXPECT_EQ(text_of(12.25, {.decimals = 2, .fixed = true, .mark = ','}), "12,25");
}

TEST(Number, WithoutAGridTheTextIsTheShortestThatReadsBack) {
  for (const double value : {0.1, 1.0 / 3, 1e100, -2.5e-8, 5e-324, 123456.789})
    EXPECT_EQ(parse_number(text_of(value, {})).value, value);
  EXPECT_EQ(text_of(0.1, {}), "0.1");
}

TEST(Number, SnapMovesToTheNearestGridPoint) {
  EXPECT_EQ((NumberFormat{.decimals = 1}.snap(0.26)), 0.3);
  EXPECT_EQ((NumberFormat{.decimals = 0}.snap(-2.5001)), -3);
  EXPECT_EQ(NumberFormat{}.snap(0.26), 0.26);
}

}  // namespace
}  // namespace ppan
