#pragma once

// Addresses of tables, as people write them in jobs and on the command line:
//
//   people.csv, people.csv.gz, -                       delimited text
//   parts/*.csv.gz                                     many files, one table
//   sales.parquet, 'year=*/*.parquet', events.jsonl    by DuckDB
//   select ... , with ...                              SQL over files, by DuckDB
//   sqlite:shop.db?table=people                        a database in a file; or ?query=select ...
//   postgresql://host/shop?table=people                one behind a server; or ?query=select ...
//
// A word and a colon name a database, whichever it is (open/backends.h knows them), unless there is a file of
// that name. Behind `query=` everything to the end is the query, as it is. A password has no place in an
// address: it would end up in job files and shell histories, so it is refused without being repeated.

#include <filesystem>
#include <string>
#include <string_view>

namespace ppan {

enum class AddressKind {
  kText,      ///< One file of delimited text, or "-".
  kTexts,     ///< Files of delimited text that a pattern names.
  kParquet,   ///< One file, or a pattern.
  kJson,      ///< JSON lines, one file or a pattern.
  kQuery,     ///< SQL over files.
  kDatabase,  ///< A table or query of a database.
};

struct Address {
  AddressKind kind = AddressKind::kText;
  std::string place{};   ///< Path or pattern; SQL; what to connect to, with its scheme.
  std::string scheme{};  ///< Databases: "sqlite", "postgresql", ...
  bool server = false;   ///< Databases: behind a server, not in a file.
  std::string table{};   ///< Databases: one of the two.
  std::string query{};
  std::string shown{};  ///< For messages.

  /// Whether `place` is one path: a file may have the name of a pattern.
  [[nodiscard]] bool is_file() const;
};

/// Throws Error(kUsage) for an address that cannot be one.
Address parse_address(std::string_view text);

/// Whether an address is a pattern of files that names this file, or would if it were there.
bool names_file(const Address& address, const std::filesystem::path& file);

/// What a report calls the table: its file or its name.
std::string short_name(const Address& address);

/// The address with a relative path taken relative to `directory`; SQL and servers stay as they are.
Address relative_to(Address address, const std::filesystem::path& directory);

/// The file that an address names, for comparing it with others; empty for what is none (a query, a pattern,
/// a server, an empty address). A relative one is taken relative to `directory`.
std::filesystem::path file_of(const std::string& address, const std::filesystem::path& directory = {});

}  // namespace ppan
