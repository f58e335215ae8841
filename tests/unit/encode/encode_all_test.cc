// Many numbers at once are each what they are alone, to the bit: a released number must be the one that its
// text, and an attacker, would have.

#include "ppan/encode/encode_all.h"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <vector>

#include "ppan/core/random.h"

namespace ppan {
namespace {

bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

ColumnEncoding column(double grid, std::optional<int> decimals, bool ranks) {
  ColumnEncoding out{.name = "x", .type = ColumnType::kReal};
  out.mean = 12.3;
  out.scale = 4.7;
  out.least = -20;
  out.most = 55.5;
  out.grid = grid;
  out.format.decimals = decimals;
  if (ranks) {
    out.knot = {-20, 0, 3.25, 55.5};
    out.score = {-2, -0.1, 0.3, 2.5};
    out.mean = 0.1;
    out.scale = 1.1;
  }
  return out;
}

void expect_the_same(const ColumnEncoding& how, double width) {
  SeededRandom random(3);
  std::vector<double> x{0.0, -20, 55.5, -1e9, 1e9, 0.25, 0.125, 12.3};
  for (int i = 0; i < 500; ++i) x.push_back(width * (random.uniform() - 0.5));
  std::vector<double> encoded = x;
  encode_all(how, encoded);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(same_bits(encoded[i], how.encode(x[i]))) << x[i];
  std::vector<double> v = encoded;
  v.insert(v.end(),
           {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 7, -7});
  std::vector<double> decoded = v;
  decode_all(how, decoded);
  for (std::size_t i = 0; i < v.size(); ++i) EXPECT_TRUE(same_bits(decoded[i], how.decode(v[i]))) << v[i];
}

TEST(EncodeAll, IsEachOfThem) {
  for (const bool ranks : {false, true}) {
    for (const double grid : {0.0, 0.01, 0.25, 5.0}) expect_the_same(column(grid, 2, ranks), 120);
    expect_the_same(column(0, std::nullopt, ranks), 120);
    ColumnEncoding whole = column(0, 0, ranks);
    whole.type = ColumnType::kInteger;
    expect_the_same(whole, 120);
  }
}

TEST(EncodeAll, HoldsWhereNumbersAreCoarserThanTheGrid) {
  ColumnEncoding wide = column(1, 0, false);
  wide.least = -1e18;
  wide.most = 1e18;
  wide.scale = 1e17;
  expect_the_same(wide, 4e18);
}

TEST(EncodeAll, ComparesBits) {
  EXPECT_FALSE(same_bits(0.1 + 0.2, 0.3));  // the test can fail
}

}  // namespace
}  // namespace ppan
