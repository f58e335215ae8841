#pragma once

// What stands behind each kind of address. Each throws Error(kUsage) with how to get it where it was not built in.

#include <cstdint>
#include <memory>
#include <string>

#include "ppan/open/address.h"
#include "ppan/open/open_rows.h"

namespace ppan {

std::unique_ptr<RowSource> open_files(const Address& address, const CsvOptions& options);

std::unique_ptr<RowSource> open_sqlite(const Address& address, const TextStyle& style, std::int64_t chunk_rows);
/// `beside`: the same file is read meanwhile.
std::unique_ptr<RowSink> create_sqlite(const Address& address, bool force, bool beside);
std::string sqlite_version();

std::unique_ptr<RowSource> open_postgres(const Address& address, const TextStyle& style, std::int64_t chunk_rows);
std::unique_ptr<RowSink> create_postgres(const Address& address, bool force);
std::string postgres_version();

std::unique_ptr<RowSource> open_duckdb(const Address& address, const std::filesystem::path& directory,
                                       const TextStyle& style, std::int64_t chunk_rows);
std::unique_ptr<RowSink> create_duckdb(const Address& address, bool force);
std::string duckdb_version();

}  // namespace ppan
