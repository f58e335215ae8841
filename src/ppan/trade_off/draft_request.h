#pragma once

// A first job file for whatever a person has: a table at any address, or images.

#include <cstdint>
#include <string>

#include "ppan/job/draft.h"
#include "ppan/source/csv.h"

namespace ppan {

struct DraftRequest {
  std::string data{};    ///< Address of a table, directory of PNG files or IDX file.
  std::string labels{};  ///< Of images; empty: those beside them.
  /// Where the job file will lie: paths in it are relative to that, so that both can be moved together. Empty
  /// or "-": nowhere; paths stay as they are.
  std::string output{};
  std::uint64_t max_unpacked = kMostUnpackedInMemory;
  DraftRoles roles{};

  [[nodiscard]] bool into_file() const { return !output.empty() && output != "-"; }
};

/// Throws Error(kUsage) for what does not go together and Error(kBadInput) for data that cannot be read.
std::string draft(const DraftRequest& request);

}  // namespace ppan
