#include "ppan/open/backends.h"

namespace ppan {

#if !PPAN_SQLITE
Backend sqlite_backend() {
  return {.version = [] { return std::string("without SQLite"); },
          .schemes = {"sqlite"},
          .needs = "SQLite",
          .fix = "install libsqlite3-dev and build again"};
}
#endif

#if !PPAN_POSTGRES
Backend postgres_backend() {
  return {.version = [] { return std::string("without PostgreSQL"); },
          .schemes = {"postgresql", "postgres"},
          .needs = "libpq",
          .fix = "install libpq-dev and build again"};
}
#endif

#if !PPAN_DUCKDB
Backend duckdb_backend() {
  return {.version = [] { return std::string("without DuckDB"); },
          .kinds = {AddressKind::kParquet, AddressKind::kJson, AddressKind::kQuery},
          .needs = "DuckDB",
          .fix = "run script/bootstrap duckdb and build again, or convert the table to CSV first"};
}
#endif

const std::vector<Backend>& backends() {
  static const std::vector<Backend> all{text_backend(), sqlite_backend(), postgres_backend(),
                                        duckdb_backend()};
  return all;
}

}  // namespace ppan
