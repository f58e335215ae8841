#pragma once

// Releases tables: any number of rows in constant memory, in order, on several threads. Each thread takes the
// next chunk, encodes, releases and packs it on its own, and writes it in order. So memory holds one chunk
// for each thread and a few that wait for their turn.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/model/release_model.h"
#include "ppan/source/csv_source.h"
#include "ppan/source/csv_writer.h"
#include "ppan/source/row_sink.h"
#include "ppan/source/row_source.h"

namespace ppan {

struct ReleaseOptions {
  std::optional<UnknownRow> unknown{};  ///< Absent: as the model says.
  int threads = 0;                      ///< 0: one per core.
  /// For tests only: anybody who knows the seed can undo the release. Absent: noise from the operating
  /// system's cryptographic source, for which there is no seed.
  std::optional<std::uint64_t> insecure_seed{};
  std::function<bool()>
      interrupted{};  ///< Polled between chunks, from several threads; true ends the release.
  /// Called after each chunk with the number of rows written; by one thread at a time.
  std::function<void(std::int64_t rows)> written{};
  [[nodiscard]] Problems check() const;
};

struct ReleaseSummary {
  std::int64_t rows = 0;      ///< Read.
  std::int64_t released = 0;  ///< Written.
  std::int64_t rejected = 0;
  std::int64_t replaced = 0;  ///< Cells that took the nearest level or the mean.
  std::vector<std::string>
      dropped{};  ///< Columns of the input that neither the mechanism nor the release uses.
  bool interrupted = false;
};

/// Rows a thread takes at a time: enough for the networks to run at full speed, few enough to stay in cache.
inline constexpr std::int64_t kReleaseRows = kChunkRows;

/// Opens delimited text as the model's tables are written. `delimiter` overrides what the model says;
/// `most_unpacked` is what a compressed table may unpack to. For other tables: open_rows()
/// (open/open_rows.h).
CsvSource open_table(const ReleaseModel& model, const std::filesystem::path& path,
                     std::optional<char> delimiter = std::nullopt,
                     std::uint64_t most_unpacked = kMostUnpacked);
/// How that text is read, chunk by chunk.
CsvOptions table_options(const ReleaseModel& model, std::optional<char> delimiter = std::nullopt,
                         std::uint64_t most_unpacked = kMostUnpacked);

/// Releases the remaining rows of `in` to `out`, which must not have been started. Columns are matched by
/// name, in any order. Rows that cannot be released stop the release (Error(kBadInput) naming line, column
/// and value), go to `rejects` with line and reason, or are repaired, as `unknown` says; `rejects` is needed
/// for kReject and may be null otherwise. Rejected rows are delimited text, whatever the source is. The
/// caller finishes the sinks, unless this throws or was interrupted. Throws Error(kBadInput) for a table
/// without a column that the model needs.
ReleaseSummary release_table(const ReleaseModel& model, RowSource& in, RowSink& out, ByteSink* rejects,
                             const ReleaseOptions& options = {});

/// Rows in memory, as text.
struct TextTable {
  std::vector<std::string> names{};
  std::vector<std::vector<std::string>> rows{};  ///< As many cells as names.
};
struct ReleasedRows {
  TextTable table{};
  /// Under UnknownRow::kReject the rows that are not in `table`, with two additional columns: reject_line (a
  /// row counts from 2, as in a file with a header) and reject_reason.
  TextTable rejected{};
  ReleaseSummary summary{};
};
/// The same for one or a few rows in memory.
ReleasedRows release_rows(const ReleaseModel& model, const TextTable& rows,
                          const ReleaseOptions& options = {});

}  // namespace ppan
