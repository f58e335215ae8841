#pragma once

// Whether the order of a table's rows reveals a sensitive column. A release keeps the order, so a table
// sorted by the secret leaks it, whatever its cells contain. No attacker of a curve detects that, because a
// curve is measured on rows drawn at random.

#include <string>
#include <vector>

#include "ppan/read/schema.h"
#include "ppan/read/table.h"

namespace ppan {

/// A sentence for every sensitive column about which the position of a row is informative. Rows are divided
/// into blocks of neighbours, and the table of blocks against levels (numbers: four classes of equal size) is
/// tested for independence: G = 2 n I is about chi-squared with (blocks - 1)(levels - 1) degrees of freedom
/// (Wilks, 1938). The probability of a false alarm for a table in random order is less than 1 in 10,000.
std::vector<std::string> row_order_notices(const Table& table, const Schema& schema);

}  // namespace ppan
