#pragma once

// What can read and write tables, each by one library. A new one is a file that defines its Backend, and a
// line in backends.cc.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/open/address.h"
#include "ppan/open/open_rows.h"

namespace ppan {

struct Backend {
  /// For --version: "SQLite 3.40.1", or that it is not there. Empty: nothing to say. A library may be loaded
  /// for it.
  std::string (*version)() = nullptr;
  std::vector<std::string_view> schemes{};  ///< Of databases.
  std::vector<AddressKind> kinds{};         ///< Of files and queries.
  std::string_view needs{};                 ///< The library that is missing; empty: it was built in.
  std::string_view fix{};                   ///< How to get it.
  /// Throw as open_rows() and create_rows(). `options.directory` is part of the address already, but for
  /// queries.
  std::unique_ptr<RowSource> (*open)(const Address& address, const OpenOptions& options) = nullptr;
  std::unique_ptr<RowSink> (*create)(const Address& address, const CreateOptions& options) = nullptr;
};

Backend text_backend();
Backend sqlite_backend();
Backend postgres_backend();
Backend duckdb_backend();

/// All of them, those that were not built in too.
const std::vector<Backend>& backends();

/// How sources of typed values write them as text.
TextStyle text_style(const CsvOptions& csv);

/// What an engine says of data that it cannot use, with what it quotes of them marked as values
/// (core/cell_text.h). `known` is what the user called the source: quoted, it is no value.
std::string words_about_data(const std::string& words, std::string_view known = {});

}  // namespace ppan
