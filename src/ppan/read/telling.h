#pragma once

// What single columns tell about another one: a recoding of the secret, or a task that goes with it. Whoever
// drafts a job should know before a curve is trained: what is released as it is sets a floor under the
// leakage that no mechanism goes below.

#include <span>
#include <string>
#include <vector>

#include "ppan/read/table.h"

namespace ppan {

struct Telling {
  std::string column{};
  std::string about{};
  double nats = 0;   ///< Gained on rows that nothing was learned from: a lower bound. 0 if nothing was.
  double error = 0;  ///< Its standard error.
  double share = 0;  ///< Of the entropy of `about`, 0 to 1.
};

/// For each of `columns` (identifiers and `about` itself left out) what it tells about the column `about`.
/// Frequencies of values are learned from half of the rows and scored on the others, both ways, so what only
/// looks like a relation counts for nothing. Numbers of many values are cut into quantiles. What is found is
/// no more than the column tells.
std::vector<Telling> find_telling(const Table& table, const std::string& about,
                                  std::span<const std::string> columns);

}  // namespace ppan
