#pragma once

// From an address to rows, and back. What each kind needs is linked here alone: a program that reads and
// writes delimited text links ppan::source and no database.

#include <filesystem>
#include <memory>
#include <string>

#include "ppan/core/file.h"
#include "ppan/source/csv.h"
#include "ppan/source/row_sink.h"
#include "ppan/source/row_source.h"

namespace ppan {

struct OpenOptions {
  /// How delimited text is written. Its markers of "no value" and its number of rows to a chunk hold for
  /// every source.
  CsvOptions csv{};
  std::filesystem::path directory{};  ///< Where relative paths begin; empty: where the program runs.
};

/// Opens the table at an address (open/address.h). Throws Error(kUsage) for an address or query that cannot
/// be meant, Error(kBadInput) for a table that cannot be used and Error(kIo) for a place that does not
/// answer, with its own words.
std::unique_ptr<RowSource> open_rows(const std::string& address, const OpenOptions& options = {});

struct CreateOptions {
  TextStyle style{};                ///< Of delimited text.
  bool force = false;               ///< Replace a table of a database; a file is replaced anyway.
  Access access = Access::kShared;  ///< Of files of delimited text.
  std::string input{};              ///< Address that is read meanwhile, if any: it may be the same database.
};

/// Makes a table at an address: a file, or a new table of a database in one transaction. What was there stays
/// until finish(). Throws as open_rows().
std::unique_ptr<RowSink> create_rows(const std::string& address, const CreateOptions& options = {});

/// What was built in, for --version: "SQLite 3.40.1, PostgreSQL (libpq 15), DuckDB v1.5.0". Words for what
/// was not.
std::string sources_built_in();

}  // namespace ppan
