#pragma once

// What single columns reveal about another one: a recoding of the secret, or a task that is correlated with
// it. The author of a job should know this before a curve is trained, because columns that are released
// unchanged are a lower limit of the leakage that no mechanism can go below.

#include <span>
#include <string>
#include <vector>

#include "ppan/read/table.h"

namespace ppan {

struct RevealingColumn {
  std::string column{};
  std::string about{};
  double nats = 0;  ///< Found on rows that were not used for learning: a lower bound. 0 if nothing was found.
  double error = 0;  ///< Its standard error.
  double share = 0;  ///< Of the entropy of `about`, 0 to 1.
};

/// For each of `columns` (except identifiers and `about` itself), what it reveals about the column `about`.
/// Frequencies of values are learned from half of the rows and scored on the others, both ways, so chance
/// relations do not count. Numbers with many values are divided at their quantiles. The result is a lower
/// bound of what the column reveals.
std::vector<RevealingColumn> find_revealing_columns(const Table& table, const std::string& about,
                                                    std::span<const std::string> columns);

}  // namespace ppan
