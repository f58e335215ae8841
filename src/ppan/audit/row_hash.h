#pragma once

// Released rows as single symbols: two rows are the same if everything released in them is.

#include <cstdint>
#include <vector>

#include "ppan/audit/audit_table.h"

namespace ppan {

/// One hash per row of everything released in it. 64 bits: two of a million rows collide once in 40 million
/// tables.
std::vector<std::uint64_t> row_hashes(const AuditTable& table);

}  // namespace ppan
