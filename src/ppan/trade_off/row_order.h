#pragma once

// Whether the order of a table's rows gives a sensitive column away. A release keeps the order, so a table
// sorted by the secret leaks whatever is written in its cells; no attacker of a curve sees that, because a
// curve is measured on rows drawn at random.

#include <string>
#include <vector>

#include "ppan/read/schema.h"
#include "ppan/read/table.h"

namespace ppan {

/// A sentence for every sensitive column that the place of a row tells something about. Rows are cut into
/// blocks of neighbours, and the table of blocks against levels (numbers: four classes of equal size) is
/// tested for independence: G = 2 n I is about chi-squared with (blocks - 1)(levels - 1) degrees of freedom
/// (Wilks, 1938). A table without order is accused with a probability of less than 1 in 10,000.
std::vector<std::string> row_order_notices(const Table& table, const Schema& schema);

}  // namespace ppan
