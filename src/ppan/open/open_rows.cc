#include "ppan/open/open_rows.h"

#include <fmt/format.h>

#include "ppan/core/error.h"
#include "ppan/open/address.h"
#include "ppan/open/backends.h"
#include "ppan/source/csv_sink.h"
#include "ppan/source/csv_source.h"

namespace ppan {

std::unique_ptr<RowSource> open_rows(const std::string& text, const OpenOptions& options) {
  const Address address = relative_to(parse_address(text), options.directory);
  const CsvOptions& csv = options.csv;
  const TextStyle style{.missing = csv.missing, .decimal = csv.decimal};
  switch (address.kind) {
    case AddressKind::kText:
      return std::make_unique<CsvSource>(open_csv(address.place, csv));
    case AddressKind::kTexts:
      return open_files(address, csv);
    case AddressKind::kSqlite:
      return open_sqlite(address, style, csv.chunk_rows);
    case AddressKind::kPostgres:
      return open_postgres(address, style, csv.chunk_rows);
    case AddressKind::kParquet:
    case AddressKind::kJson:
    case AddressKind::kQuery:
      break;
  }
  return open_duckdb(address, options.directory, style, csv.chunk_rows);
}

std::unique_ptr<RowSink> create_rows(const std::string& text, const CreateOptions& options) {
  const Address address = parse_address(text);
  switch (address.kind) {
    case AddressKind::kText:
      return std::make_unique<CsvSink>(open_sink(address.place, options.access), options.style);
    case AddressKind::kSqlite: {
      const Address input = options.input.empty() ? Address{} : parse_address(options.input);
      return create_sqlite(address, options.force, input.kind == AddressKind::kSqlite);
    }
    case AddressKind::kPostgres:
      return create_postgres(address, options.force);
    case AddressKind::kParquet:
    case AddressKind::kJson:
      if (address.is_file()) return create_duckdb(address, options.force);
      break;
    case AddressKind::kTexts:
    case AddressKind::kQuery:
      break;
  }
  throw Error(ErrorCode::kUsage, fmt::format("{} names no single table to write", address.shown),
              "name a file, or a table of a database");
}

std::string sources_built_in() {
  return fmt::format("{}, {}, {}", sqlite_version(), postgres_version(), duckdb_version());
}

}  // namespace ppan
