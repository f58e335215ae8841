#pragma once

// Which released row is a person's, when cells were moved by amounts that nobody knows? The one whose
// nearness is the least likely to come about by chance. In column j two rows lie apart by d_j, and a share
// p_j of all rows is as near to the person as that; a match is judged by
//     sum_j log p_j,
// the logarithm of the chance that a row which has nothing to do with the person is as near in all columns. A
// pay that agrees to 2 of 90,000 outweighs an age that is off by 2 of 70, which distances in standard
// deviations get wrong.

#include <cstdint>
#include <vector>

#include "ppan/audit/audit_table.h"

namespace ppan {

struct LikelyMatch {
  std::vector<std::int32_t>
      row;  ///< Of each person, among the released rows looked at; -1: none was near in any number.
  Vector<double> log_chance;  ///< Of it; 0 where there is none.
};

/// The first `people` rows of `both` are persons, the next `released` are released rows. Candidates are the
/// 16 released rows on either side of a person in each numeric column: the work is that many times rows times
/// columns squared.
LikelyMatch least_likely_match(const AuditTable& both, Index people, Index released);

}  // namespace ppan
