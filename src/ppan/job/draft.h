#pragma once

// A first job file for a table.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ppan/source/csv.h"
#include "ppan/source/row_source.h"

namespace ppan {

/// Roles that are known when a job is drafted. Empty ones are left for the user to fill in.
struct DraftRoles {
  std::vector<std::string> sensitive{};
  /// Empty: every column that has no other role and is neither an identifier nor constant.
  std::vector<std::string> useful{};
  std::vector<std::string> observed{};
  std::vector<std::string> keep{};
  std::vector<std::string> side{};
  std::vector<std::string> group{};  ///< At most one.
  std::vector<std::string> task{};
};

/// A first job file for a table: guesses the format of the file and the types of its columns, and marks
/// uncertain guesses in comments. `data` is read once and cannot be "-"; `source` is what the job calls it,
/// `data` itself if empty. Throws Error(kUsage) for roles that name no column or contradict each other.
std::string draft_job(const std::filesystem::path& data, const DraftRoles& roles = {},
                      const std::string& source = {}, std::uint64_t most_unpacked = kMostUnpacked);

/// The same for a table that is not one file of delimited text. Reads `rows` to their end. `source` is their
/// name in the job. `again` opens them once more, to find functional dependencies, or returns nothing.
std::string draft_job(const std::string& source, RowSource& rows, const DraftRoles& roles,
                      const std::function<std::unique_ptr<RowSource>()>& again);

}  // namespace ppan
