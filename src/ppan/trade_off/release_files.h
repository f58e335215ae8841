#pragma once

// Releases a table (or images) with a model file, from source to destination. Used by `ppan release`.

#include <cstdint>
#include <functional>
#include <string>

#include "ppan/release/release_table.h"
#include "ppan/source/byte_source.h"

namespace ppan {

struct ReleaseFiles {
  std::string model{};
  std::string table{};       ///< Address (open/address.h), or images.
  std::string output = "-";  ///< Address, or where images go.
  std::string rejects{};     ///< File for rejected rows, which are raw; empty: none.
  std::string delimiter{};   ///< One character or "tab"; empty: as in training.
  std::string trust{};  ///< File of public keys, one of which must have signed the model; empty: any or none.
  std::uint64_t max_unpacked = kMostUnpacked;
  bool force = false;  ///< Replace an existing table of a database or directory of images.
  /// Called with the number of rows written and their share of the table, 0 if unknown.
  std::function<void(std::int64_t rows, double share)> progress{};
  ReleaseOptions options{};
};

/// All or nothing. Throws Error(kUsage) for options that contradict each other, before anything is written,
/// and as release_table() does. Of images the summary is empty.
ReleaseSummary release_files(const ReleaseFiles& files);

/// Notices for the user, a line each.
std::string to_text(const ReleaseSummary& summary, const ReleaseFiles& files);

}  // namespace ppan
