#pragma once

// Functional dependencies: education_num follows from education, an age group from an age. A mechanism that
// changes the columns separately breaks them; a derived column (`derived_from`) is looked up again from the
// released value of its source.

#include <string>
#include <vector>

#include "ppan/read/table.h"

namespace ppan {

struct Dependency {
  std::string source{};  ///< A category or a number.
  std::string column{};  ///< The column that follows from it.
  double share = 0;      ///< Share of the rows that have the most frequent value for their value of `source`.
  double without = 0;    ///< The same without knowing `source`.
};

struct DependencyOptions {
  double least_share = 0.995;      ///< 0 to 1.
  double most_unexplained = 0.1;   ///< Of the rows that guessing without the source gets wrong. 0 to 1.
  std::int64_t most_levels = 256;  ///< Different values of a source. At least 2.
};

/// Functional and near-functional dependencies of columns on single categories and numbers, strongest first.
/// Each row is predicted from the other rows with the same value of the source, so rare values explain
/// nothing. A column that is the source of others is not listed as following from them: of two names for one
/// thing, the number follows from the category, and otherwise the later column from the earlier one.
std::vector<Dependency> find_dependencies(const Table& table, const DependencyOptions& options = {});

}  // namespace ppan
