#pragma once

// Which family of mechanisms "auto" stands for. Where the joint alphabet of the released columns is small,
// the finite one: it is exact. Otherwise heads, which serve recipients best at equal leakage
// (docs/decisions/0013-heads.md); and noise-input where heads cannot be used.

#include <string>

#include "ppan/encode/encoder.h"
#include "ppan/read/schema.h"
#include "ppan/table/table_curve.h"

namespace ppan {

struct FamilyChoice {
  MechanismFamily family = MechanismFamily::kHeads;  ///< Never kAuto.
  std::string why_not_heads{};  ///< Where noise-input takes the place of heads. For people.
};

/// A family that is asked for by name is taken.
FamilyChoice choose_family(const TableCurveOptions& options, const Schema& schema, const Encoding& encoding);

}  // namespace ppan
