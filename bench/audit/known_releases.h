#pragma once

// Releases of generated tables whose leakage is known: what an audit says of them can be held against the
// truth.

#include <cstdint>
#include <string>
#include <vector>

#include "ppan/audit/audit.h"

namespace ppan::bench {

enum class Hidden {
  kOneColumn,    ///< A category that says the level with some probability.
  kInteraction,  ///< Two categories, each telling nothing, whose sum says it.
  kDigits,       ///< The last two digits of a number.
  kFewRows,      ///< Some rows say it outright, all others nothing.
  kSpread,       ///< Many numbers, each shifted a little.
};

struct KnownRelease {
  std::string name;
  Hidden hidden = Hidden::kOneColumn;
  std::int32_t levels = 2;
  Index rows = 1000;
  double strength =
      0.3;  ///< Probability that the level is said; for kSpread the shift in standard deviations.
};

/// Twenty tables of 2 to 40 levels and 500 to 50,000 rows.
std::vector<KnownRelease> known_releases();

/// A sample of it.
AuditInput draw(const KnownRelease& release, std::uint64_t seed);

/// I(X;Z), nats: in closed form, or for kSpread by the exact posterior of 200,000 records (standard error
/// below 0.003).
double true_leakage(const KnownRelease& release);

}  // namespace ppan::bench
