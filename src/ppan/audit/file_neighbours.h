#pragma once

// What the rows beside a row say of it. A released file keeps the order of its rows: a cell may be about the
// row before it, a number may have risen since, and a person may stand in the file for the first time.

#include <functional>
#include <string>

#include "ppan/audit/audit_table.h"

namespace ppan {

/// One number for each row, of a column.
using TakeNeighbours = std::function<void(const std::string& column, Vector<float> data)>;

/// Of each of `columns`: how many rows before this one have exactly the same, whether none has, and of
/// numbers the differences from the row before and from the row after. The first `placed` rows are those of
/// the file; all others have 0.
void file_neighbours(const AuditTable& released, const std::vector<std::size_t>& columns, Index placed,
                     const TakeNeighbours& take);

}  // namespace ppan
