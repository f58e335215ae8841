// What answers for databases that were not built in.

#include <fmt/format.h>

#include "ppan/core/error.h"
#include "ppan/open/backends.h"

namespace ppan {

#if !PPAN_SQLITE || !PPAN_POSTGRES || !PPAN_DUCKDB
namespace {

[[noreturn]] void not_built_in(const Address& address, const char* what, const char* fix) {
  throw Error(ErrorCode::kUsage, fmt::format("{} needs {}, which this program was built without", address.shown, what),
              fix);
}

}  // namespace
#endif

#if !PPAN_SQLITE
constexpr const char* kSqliteFix = "install libsqlite3-dev and build again";
std::unique_ptr<RowSource> open_sqlite(const Address& address, const TextStyle& /*style*/, std::int64_t /*rows*/) {
  not_built_in(address, "SQLite", kSqliteFix);
}
std::unique_ptr<RowSink> create_sqlite(const Address& address, bool /*force*/, bool /*beside*/) {
  not_built_in(address, "SQLite", kSqliteFix);
}
std::string sqlite_version() {
  return "without SQLite";
}
#endif

#if !PPAN_POSTGRES
constexpr const char* kPostgresFix = "install libpq-dev and build again";
std::unique_ptr<RowSource> open_postgres(const Address& address, const TextStyle& /*style*/, std::int64_t /*rows*/) {
  not_built_in(address, "libpq", kPostgresFix);
}
std::unique_ptr<RowSink> create_postgres(const Address& address, bool /*force*/) {
  not_built_in(address, "libpq", kPostgresFix);
}
std::string postgres_version() {
  return "without PostgreSQL";
}
#endif

#if !PPAN_DUCKDB
constexpr const char* kDuckdbFix =
    "run script/bootstrap duckdb and build again, or convert the table to CSV first";
std::unique_ptr<RowSource> open_duckdb(const Address& address, const std::filesystem::path& /*directory*/,
                                       const TextStyle& /*style*/, std::int64_t /*rows*/) {
  not_built_in(address, "DuckDB", kDuckdbFix);
}
std::unique_ptr<RowSink> create_duckdb(const Address& address, bool /*force*/) {
  not_built_in(address, "DuckDB", kDuckdbFix);
}
std::string duckdb_version() {
  return "without DuckDB";
}
#endif

}  // namespace ppan
