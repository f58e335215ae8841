// Tables of PostgreSQL databases, by COPY in binary form, each way in one transaction.

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/open/backends.h"
#include "ppan/open/binary_copy.h"

namespace ppan {
namespace {

struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, CloseConnection>;
using Result = std::unique_ptr<PGresult, ClearResult>;

// The server's words, without their line ends.
std::string words_of(const char* text) {
  std::string out = text == nullptr ? "" : text;
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  return out;
}

// A statement that the server refused is about what was asked; everything else about the connection.
[[noreturn]] void fail(const std::string& name, PGconn* connection, const PGresult* result = nullptr) {
  const char* const state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string_view kind = state == nullptr ? "" : std::string_view(state).substr(0, 2);
  const bool asked =
      kind == "42" || kind == "22" || kind == "23" || kind == "0A" || kind == "3F" || kind == "3D";
  std::string words =
      words_of(result != nullptr && kind != "" ? PQresultErrorMessage(result) : PQerrorMessage(connection));
  if (words.empty()) words = "the connection to the server was lost";
  if (kind == "22" || kind == "23") words = words_about_data(words);
  throw Error(asked ? ErrorCode::kBadInput : ErrorCode::kIo, fmt::format("{}: {}", name, words));
}

Connection connect(const Address& address) {
  // A server that does not answer is not waited for without end.
  const std::array<const char*, 4> keys{"dbname", "connect_timeout", "fallback_application_name", nullptr};
  const std::array<const char*, 4> values{address.place.c_str(), "15", "ppan", nullptr};
  Connection connection(PQconnectdbParams(keys.data(), values.data(), 1));
  if (!connection || PQstatus(connection.get()) != CONNECTION_OK) fail(address.shown, connection.get());
  PQsetNoticeProcessor(
      connection.get(), [](void*, const char*) {}, nullptr);  // the library never prints
  return connection;
}

Result run(PGconn* connection, const std::string& sql, const std::string& name,
           ExecStatusType wanted = PGRES_COMMAND_OK) {
  Result result(PQexec(connection, sql.c_str()));
  if (!result || PQresultStatus(result.get()) != wanted) fail(name, connection, result.get());
  return result;
}

std::string quoted_name(PGconn* connection, const std::string& name) {
  char* const text = PQescapeIdentifier(connection, name.data(), name.size());
  if (text == nullptr) throw Error(ErrorCode::kUsage, "the name of the table is not valid text");
  std::string out = text;
  PQfreemem(text);
  return out;
}

// schema.table as the server wants it.
std::string quoted_table(PGconn* connection, const std::string& table) {
  const std::size_t point = table.find('.');
  if (point == std::string::npos) return quoted_name(connection, table);
  return fmt::format("{}.{}", quoted_name(connection, table.substr(0, point)),
                     quoted_name(connection, table.substr(point + 1)));
}

struct ServerColumn {
  RowColumn column;
  CopyType type = CopyType::kText;
  std::string cast{};  // to what, by the server
};

// What a type of the server is here, by its number in pg_type; those that are not listed come as text.
ServerColumn column_of(const char* name, Oid oid, int modifier) {
  ServerColumn out;
  out.column.name = name;
  const auto integers = [&](CopyType type, CellMeaning meaning, const char* sql_type) {
    out.type = type;
    out.column.storage = CellStorage::kInteger;
    out.column.meaning = meaning;
    out.column.sql_type = sql_type;
  };
  const auto reals = [&](CopyType type, const char* sql_type) {
    out.type = type;
    out.column.storage = CellStorage::kReal;
    out.column.sql_type = sql_type;
  };
  switch (oid) {
    case 16:
      integers(CopyType::kBoolean, CellMeaning::kBoolean, "BOOLEAN");
      break;
    case 21:
      integers(CopyType::kInt2, CellMeaning::kPlain, "SMALLINT");
      break;
    case 23:
      integers(CopyType::kInt4, CellMeaning::kPlain, "INTEGER");
      break;
    case 20:
      integers(CopyType::kInt8, CellMeaning::kPlain, "BIGINT");
      break;
    case 700:
      reals(CopyType::kFloat4, "REAL");
      break;
    case 701:
      reals(CopyType::kFloat8, "DOUBLE");
      break;
    case 1082:
      integers(CopyType::kDate, CellMeaning::kDate, "DATE");
      break;
    case 1114:
      integers(CopyType::kTimestamp, CellMeaning::kTimestamp, "TIMESTAMP");
      break;
    case 1184:
      integers(CopyType::kTimestamp, CellMeaning::kInstant, "TIMESTAMP WITH TIME ZONE");
      break;
    case 1700: {
      const int precision = modifier < 4 ? 0 : (modifier - 4) >> 16;
      const int scale = modifier < 4 ? 0 : (modifier - 4) & 0x7FF;
      if (precision > 0 && scale == 0) {  // whole numbers
        const bool wide = precision > 18;
        integers(wide ? CopyType::kInt8 : CopyType::kNumeric, CellMeaning::kPlain, "");
        out.column.sql_type = fmt::format("DECIMAL({},0)", precision);
        if (wide) out.cast = "bigint";
        break;
      }
      if (precision == 0 || scale > 18 || precision + (scale + 3) / 4 * 4 - scale > 18) {  // beyond 64 bits
        reals(CopyType::kNumeric, "DOUBLE");
        break;
      }
      integers(CopyType::kNumeric, CellMeaning::kDecimal, "");
      out.column.sql_type = fmt::format("DECIMAL({},{})", precision, scale);
      out.column.scale = scale;
      break;
    }
    case 18:
    case 19:
    case 25:
    case 1042:
    case 1043:
      out.column.sql_type = "VARCHAR";
      break;
    default:
      out.cast = "text";
      out.column.sql_type = "VARCHAR";
  }
  return out;
}

class PostgresSource final : public RowSource {
 public:
  PostgresSource(const Address& address, const TextStyle& style, std::int64_t chunk_rows)
      : RowSource(address.shown), chunk_rows_(chunk_rows), connection_(connect(address)) {
    set_style(style);
    run(connection_.get(), "begin transaction isolation level repeatable read read only", name());
    std::string query = address.query;
    while (!query.empty() && (query.back() == ';' || query.back() == ' ' || query.back() == '\n'))
      query.pop_back();
    if (query.empty()) {
      const std::string table = quoted_table(connection_.get(), address.table);
      query = fmt::format("select * from {}", table);
      guess_rows(table);
    }
    const std::vector<ServerColumn> found = describe(query);
    std::vector<RowColumn> columns;
    std::vector<CopyType> types;
    std::string list;
    for (const ServerColumn& column : found) {
      list += fmt::format("{}{}{}{}", list.empty() ? "" : ", ",
                          quoted_name(connection_.get(), column.column.name),
                          column.cast.empty() ? "" : "::", column.cast);
      columns.push_back(column.column);
      types.push_back(column.type);
    }
    set_columns(std::move(columns));
    reader_.emplace(name(), std::move(types));
    run(connection_.get(),
        fmt::format("copy (select {} from ({}) as ppan_rows) to stdout (format binary)", list, query), name(),
        PGRES_COPY_OUT);
  }

  bool next(RowChunk& chunk) override {
    if (ended_) return false;
    const std::size_t count = columns().size();
    chunk.start(0, count, rows_);
    for (std::size_t c = 0; c < count; ++c) chunk.buffer(c).clear();
    std::int64_t rows = reader_->take(chunk, columns(), 0, chunk_rows_);
    while (rows < chunk_rows_ && receive()) rows = reader_->take(chunk, columns(), rows, chunk_rows_);
    for (std::size_t c = 0; c < count; ++c) {
      CellBuffer& buffer = chunk.buffer(c);
      RowCells& cells = chunk.cells(c);
      cells.missing = buffer.missing.data();
      cells.text = buffer.text.data();
      cells.bytes = buffer.bytes.data();
      cells.integer = buffer.integer.data();
      cells.real = buffer.real.data();
    }
    chunk.set_rows(rows);
    rows_ += rows;
    if (rows == 0) ended_ = true;
    return rows > 0;
  }
  [[nodiscard]] std::optional<double> share_read() const override {
    if (guessed_rows_ <= 0) return std::nullopt;
    return std::min(1.0, static_cast<double>(rows_) / guessed_rows_);
  }

 private:
  // What the server thinks the table has; nothing where it has never looked.
  void guess_rows(const std::string& table) {
    const std::array<const char*, 1> value{table.c_str()};
    const Result found(PQexecParams(connection_.get(),
                                    "select reltuples from pg_class where oid = to_regclass($1)", 1, nullptr,
                                    value.data(), nullptr, nullptr, 0));
    if (!found || PQresultStatus(found.get()) != PGRES_TUPLES_OK)
      fail(name(), connection_.get(), found.get());
    if (PQntuples(found.get()) == 1) guessed_rows_ = std::strtod(PQgetvalue(found.get(), 0, 0), nullptr);
  }

  std::vector<ServerColumn> describe(const std::string& query) {
    Result prepared(PQprepare(connection_.get(), "", query.c_str(), 0, nullptr));
    if (!prepared || PQresultStatus(prepared.get()) != PGRES_COMMAND_OK)
      fail(name(), connection_.get(), prepared.get());
    const Result described(PQdescribePrepared(connection_.get(), ""));
    if (!described || PQresultStatus(described.get()) != PGRES_COMMAND_OK)
      fail(name(), connection_.get(), described.get());
    if (PQnfields(described.get()) == 0)
      throw Error(ErrorCode::kUsage, fmt::format("{}: the query does not read a table", name()),
                  "give a SELECT");
    std::vector<ServerColumn> found;
    for (int c = 0; c < PQnfields(described.get()); ++c) {
      found.push_back(
          column_of(PQfname(described.get(), c), PQftype(described.get(), c), PQfmod(described.get(), c)));
      if (found.back().cast == "text") refuse_lists(found.back().column.name, PQftype(described.get(), c));
    }
    return found;
  }

  void refuse_lists(const std::string& column, Oid oid) {
    const Result result =
        run(connection_.get(),
            fmt::format("select typcategory, format_type(oid, null) from pg_type where oid = {}", oid),
            name(), PGRES_TUPLES_OK);
    if (PQntuples(result.get()) == 0) return;
    const std::string_view category = PQgetvalue(result.get(), 0, 0);
    if (category != "A" && category != "C") return;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}: column \"{}\" holds lists or records ({}), which are not released", name(),
                            column, PQgetvalue(result.get(), 0, 1)),
                "leave it out, or take one value from it in a query");
  }

  // More rows from the server; false when there are no more.
  bool receive() {
    if (received_) return false;
    char* bytes = nullptr;
    const int size = PQgetCopyData(connection_.get(), &bytes, 0);
    if (size > 0) {
      reader_->feed({bytes, static_cast<std::size_t>(size)});
      PQfreemem(bytes);
      return true;
    }
    if (size == -2) fail(name(), connection_.get());
    received_ = true;
    const Result result(PQgetResult(connection_.get()));
    if (!result || PQresultStatus(result.get()) != PGRES_COMMAND_OK)
      fail(name(), connection_.get(), result.get());
    if (!reader_->ended())
      throw Error(ErrorCode::kIo, fmt::format("{}: the server stopped before the end of the rows", name()));
    return false;
  }

  std::int64_t chunk_rows_;
  Connection connection_;
  std::optional<CopyReader> reader_;
  std::atomic<std::int64_t> rows_ = 0;  // others ask how far it is
  double guessed_rows_ = 0;
  bool received_ = false;
  bool ended_ = false;
};

struct WrittenType {
  CopyType copy = CopyType::kText;
  std::string sql = "text";
};

WrittenType written_type(const RowColumn& column) {
  if (column.storage == CellStorage::kText) return {};
  if (column.storage == CellStorage::kReal)
    return column.sql_type == "REAL" || column.sql_type == "FLOAT"
               ? WrittenType{CopyType::kFloat4, "real"}
               : WrittenType{CopyType::kFloat8, "double precision"};
  switch (column.meaning) {
    case CellMeaning::kBoolean:
      return {CopyType::kBoolean, "boolean"};
    case CellMeaning::kDecimal:
      return {CopyType::kNumeric, column.sql_type.starts_with("DECIMAL(")
                                      ? column.sql_type
                                      : fmt::format("numeric(18,{})", column.scale)};
    case CellMeaning::kDate:
      return {CopyType::kDate, "date"};
    case CellMeaning::kTimestamp:
      return {CopyType::kTimestamp, "timestamp"};
    case CellMeaning::kInstant:
      return {CopyType::kTimestamp, "timestamp with time zone"};
    case CellMeaning::kPlain:
      break;
  }
  if (column.sql_type.starts_with("DECIMAL(")) return {CopyType::kNumeric, column.sql_type};
  if (column.sql_type == "SMALLINT") return {CopyType::kInt2, "smallint"};
  if (column.sql_type == "INTEGER") return {CopyType::kInt4, "integer"};
  return {CopyType::kInt8, "bigint"};
}

class BytesPart final : public RowSink::Part {
 public:
  std::string bytes;
};

class PostgresSink final : public RowSink {
 public:
  PostgresSink(const Address& address, bool force) : name_(address.shown), table_(address.table) {
    if (table_.empty())
      throw Error(ErrorCode::kUsage, fmt::format("{} names no table to write", name_), "write ?table=NAME");
    connection_ = connect(address);
    run(connection_.get(), "begin", name_);
    const std::string place = quoted_table(connection_.get(), table_);
    const std::array<const char*, 1> value{place.c_str()};
    const Result found(PQexecParams(connection_.get(), "select to_regclass($1) is not null", 1, nullptr,
                                    value.data(), nullptr, nullptr, 0));
    if (!found || PQresultStatus(found.get()) != PGRES_TUPLES_OK) fail(name_, connection_.get(), found.get());
    replaces_ = std::string_view(PQgetvalue(found.get(), 0, 0)) == "t";
    if (replaces_ && !force)
      throw Error(ErrorCode::kUsage, fmt::format("{}: the table exists already", name_),
                  "name another one, or --force to replace it");
    written_ = table_;
    if (replaces_) {
      const std::size_t point = table_.find('.');
      written_ = point == std::string::npos
                     ? "ppan_new_" + table_
                     : table_.substr(0, point + 1) + "ppan_new_" + table_.substr(point + 1);
    }
  }

  void begin(const std::vector<RowColumn>& columns) override {
    columns_ = columns;
    std::string list;
    for (const RowColumn& column : columns_) {
      const WrittenType type = written_type(column);
      types_.push_back(type.copy);
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", quoted_name(connection_.get(), column.name),
                          type.sql);
    }
    const std::string place = quoted_table(connection_.get(), written_);
    run(connection_.get(), fmt::format("create table {} ({})", place, list), name_);
    run(connection_.get(), fmt::format("copy {} from stdin (format binary)", place), name_, PGRES_COPY_IN);
    std::string header;
    append_copy_header(header);
    put(header);
  }

  [[nodiscard]] std::unique_ptr<Part> pack(const RowChunk& rows) const override {
    auto part = std::make_unique<BytesPart>();
    part->bytes.reserve(static_cast<std::size_t>(rows.rows()) * (columns_.size() * 12 + 2));
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows.rows()); ++r)
      append_copy_row(columns_, types_, rows, r, part->bytes);
    return part;
  }

  void write(std::unique_ptr<Part> part) override { put(static_cast<const BytesPart&>(*part).bytes); }

  void finish() override {
    std::string end;
    append_copy_end(end);
    put(end);
    if (PQputCopyEnd(connection_.get(), nullptr) != 1) fail(name_, connection_.get());
    const Result result(PQgetResult(connection_.get()));
    if (!result || PQresultStatus(result.get()) != PGRES_COMMAND_OK)
      fail(name_, connection_.get(), result.get());
    while (const Result more{PQgetResult(connection_.get())}) {
    }
    if (replaces_) {
      const std::size_t point = table_.find('.');
      const std::string last = point == std::string::npos ? table_ : table_.substr(point + 1);
      run(connection_.get(), fmt::format("drop table {}", quoted_table(connection_.get(), table_)), name_);
      run(connection_.get(),
          fmt::format("alter table {} rename to {}", quoted_table(connection_.get(), written_),
                      quoted_name(connection_.get(), last)),
          name_);
    }
    run(connection_.get(), "commit", name_);
  }

 private:
  void put(const std::string& bytes) {
    if (bytes.empty()) return;
    if (PQputCopyData(connection_.get(), bytes.data(), static_cast<int>(bytes.size())) == 1) return;
    const Result result(PQgetResult(connection_.get()));  // why, if the server said so
    fail(name_, connection_.get(), result.get());
  }

  std::string name_;
  std::string table_;
  std::string written_;
  bool replaces_ = false;
  Connection connection_;  // closed before commit, the server forgets all of it
  std::vector<RowColumn> columns_;
  std::vector<CopyType> types_;
};

}  // namespace

Backend postgres_backend() {
  return {.version =
              [] {
                return fmt::format("PostgreSQL (libpq {}.{})", PQlibVersion() / 10000,
                                   PQlibVersion() % 10000);
              },
          .schemes = {"postgresql", "postgres"},
          .open = [](const Address& address, const OpenOptions& options) -> std::unique_ptr<RowSource> {
            return std::make_unique<PostgresSource>(address, text_style(options.csv), options.csv.chunk_rows);
          },
          .create = [](const Address& address, const CreateOptions& options) -> std::unique_ptr<RowSink> {
            return std::make_unique<PostgresSink>(address, options.force);
          }};
}

}  // namespace ppan
