#pragma once

// Gains of g-leakage from a file: what each guess is worth for each value of a sensitive attribute.

#include <filesystem>
#include <string>
#include <vector>

#include "ppan/core/matrix.h"

namespace ppan {

struct GainTable {
  std::vector<std::string> levels{};  ///< Values of the attribute, one for each column.
  Matrix<double> gain{};              ///< Guesses x levels, at least 0.
};

/// Delimited text with a header of levels and a row of gains for each guess; a first column called "guess"
/// names the guesses and is not read. Throws Error(kBadInput) naming line and column of what is not a gain.
GainTable read_gain_table(const std::filesystem::path& path);

/// The columns in the order of `levels`. Throws Error(kBadInput) listing the levels that have none.
Matrix<double> gain_for(const GainTable& table, const std::vector<std::string>& levels);

}  // namespace ppan
