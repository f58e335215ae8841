#pragma once

// A fair bit that a release says rightly in 85 % of the rows, by whatever means, beside a twin that says it
// by a coin: what an audit must find, and where it must find nothing.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ppan/audit/audit.h"
#include "ppan/core/random.h"

namespace ppan {

constexpr Index kRows = 3000;
inline const std::vector<std::string> kMarkers{""};
inline const double kPlanted = std::log(2.0) + 0.85 * std::log(0.85) + 0.15 * std::log(0.15);  // 0.270 nats

// A fair bit, and the same said rightly with probability 0.85 or, in the twin, by a coin.
struct Bits {
  Symbols x;
  Symbols said;
  Bits(SeededRandom& random, bool leaks) {
    for (Index i = 0; i < kRows; ++i) {
      x.push_back(static_cast<std::int32_t>(random.index(2)));
      said.push_back(random.uniform() < (leaks ? 0.85 : 0.5) ? x.back() : 1 - x.back());
    }
  }
};

inline AuditColumn ages(SeededRandom& random) {
  std::vector<std::string> cells;
  for (Index i = 0; i < kRows; ++i) cells.push_back(fmt::format("{}", 18 + random.index(70)));
  return column_of_cells("age", cells, kMarkers);
}

using Release = std::function<std::vector<AuditColumn>(const Symbols& said, SeededRandom& random)>;

inline AttributeAudit audited(const Release& release, bool leaks, std::uint64_t seed) {
  SeededRandom random(seed);
  const Bits bits(random, leaks);
  AuditInput input;
  input.released.columns = release(bits.said, random);
  input.released.columns.push_back(ages(random));
  input.sensitive.push_back(column_of_codes("secret", bits.x, 2));
  return audit(input, {.quick = true, .measure_power = false}).attributes.front();
}

// Seeds are fixed. Found lies within 5 standard errors (0.02 each) of what was planted. The twin's interval
// stays above 0 once in 40 audits; seeds are such that it does not, and three standard errors would be 0.02
// at most.
inline void expect_found_and_twin_clean(const Release& release, std::uint64_t seed) {
  const AttributeAudit found = audited(release, true, seed);
  EXPECT_GT(found.leakage.nats, 0.8 * kPlanted - 0.03) << found.winner;
  EXPECT_LT(found.leakage.nats, kPlanted + 0.1);
  const AttributeAudit twin = audited(release, false, seed);
  EXPECT_LT(twin.leakage.nats, 0.02) << twin.winner;
}

}  // namespace ppan
