#pragma once

// Drafts a job file: for a table at any address, or for images.

#include <cstdint>
#include <string>

#include "ppan/job/draft.h"
#include "ppan/source/csv.h"

namespace ppan {

struct DraftRequest {
  std::string data{};    ///< Address of a table, directory of PNG files or IDX file.
  std::string labels{};  ///< Of images; empty: those found next to the images.
  /// Where the job file will be: paths in it are relative to that, so that both can be moved together. Empty
  /// or "-": unknown; paths stay unchanged.
  std::string output{};
  std::uint64_t max_unpacked = kMostUnpackedInMemory;
  DraftRoles roles{};

  [[nodiscard]] bool into_file() const { return !output.empty() && output != "-"; }
};

/// Throws Error(kUsage) for options that contradict each other and Error(kBadInput) for data that cannot be
/// read.
std::string draft(const DraftRequest& request);

}  // namespace ppan
