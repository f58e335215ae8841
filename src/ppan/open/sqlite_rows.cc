// Tables of SQLite files. SQLite types cells, not columns: a column has the type that it was declared with,
// or that its first value has where it was declared with none, and a later value of another type is an error
// that names its row.

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/core/temporary.h"
#include "ppan/open/backends.h"
#include "ppan/source/calendar.h"

namespace ppan {
namespace {

struct CloseConnection {
  void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, CloseConnection>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

[[noreturn]] void fail(const std::string& name, sqlite3* connection, int state) {
  const int kind = state & 0xFF;
  const bool data =
      kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || kind == SQLITE_ERROR || kind == SQLITE_MISMATCH;
  const char* const words = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(state);
  throw Error(data ? ErrorCode::kBadInput : ErrorCode::kIo, fmt::format("{}: {}", name, words));
}

Connection open_file(const std::string& file, const std::string& name, int flags) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw Error(ErrorCode::kIo, fmt::format("{}: {} is a directory", name, file));
  sqlite3* raw = nullptr;
  const int state = sqlite3_open_v2(file.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Connection connection(raw);
  if (state != SQLITE_OK) fail(name, raw, state);
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, 10'000);
  return connection;
}

void run(sqlite3* connection, const std::string& sql, const std::string& name) {
  const int state = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr);
  if (state != SQLITE_OK) fail(name, connection, state);
}

Statement prepare(sqlite3* connection, const std::string& sql, const std::string& name) {
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int state =
      sqlite3_prepare_v2(connection, sql.c_str(), static_cast<int>(sql.size()) + 1, &raw, &rest);
  Statement statement(raw);
  if (state != SQLITE_OK) fail(name, connection, state);
  const std::string_view left = rest == nullptr ? "" : rest;
  if (raw == nullptr || left.find_first_not_of(" \t\r\n;") != std::string_view::npos)
    throw Error(ErrorCode::kUsage, fmt::format("{}: the query is not one statement", name),
                "give one SELECT");
  return statement;
}

std::string quoted_name(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string upper(const char* text) {
  std::string out = text == nullptr ? "" : text;
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return out;
}

// What a column is, by its declaration and by its value in the first row.
RowColumn column_of(sqlite3_stmt* statement, int column, bool has_row) {
  RowColumn out{.name = sqlite3_column_name(statement, column)};
  const std::string declared = upper(sqlite3_column_decltype(statement, column));
  const int first = has_row ? sqlite3_column_type(statement, column) : SQLITE_NULL;
  const auto has = [&](const char* part) { return declared.find(part) != std::string::npos; };
  const auto first_text = [&] {
    return std::string_view(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
                            static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
  };
  const auto integers = [&](CellMeaning meaning, const char* sql_type) {
    out.storage = CellStorage::kInteger;
    out.meaning = meaning;
    out.sql_type = sql_type;
  };
  if (has("BOOL")) {
    integers(CellMeaning::kBoolean, "BOOLEAN");
  } else if (has("INT")) {
    integers(CellMeaning::kPlain, "BIGINT");
  } else if (has("REAL") || has("FLOA") || has("DOUB") || has("NUMERIC") || has("DECIMAL")) {
    out.storage = CellStorage::kReal;
    out.sql_type = "DOUBLE";
  } else if ((has("TIME") || has("DATE")) && first == SQLITE_TEXT) {
    if (parse_date(first_text())) {
      integers(CellMeaning::kDate, "DATE");
    } else if (parse_timestamp(first_text())) {
      integers(CellMeaning::kTimestamp, "TIMESTAMP");
    }
  } else if (declared.empty() && first == SQLITE_INTEGER) {
    integers(CellMeaning::kPlain, "BIGINT");
  } else if (declared.empty() && first == SQLITE_FLOAT) {
    out.storage = CellStorage::kReal;
    out.sql_type = "DOUBLE";
  }
  if (out.storage == CellStorage::kText) out.sql_type = "VARCHAR";
  return out;
}

class SqliteSource final : public RowSource {
 public:
  SqliteSource(const Address& address, const TextStyle& style, std::int64_t chunk_rows)
      : RowSource(address.shown),
        chunk_rows_(chunk_rows),
        connection_(open_file(address.place, address.shown, SQLITE_OPEN_READONLY)),
        statement_(prepare(connection_.get(),
                           address.query.empty() ? fmt::format("select * from {}", quoted_name(address.table))
                                                 : address.query,
                           address.shown)) {
    if (sqlite3_stmt_readonly(statement_.get()) == 0 || sqlite3_column_count(statement_.get()) == 0)
      throw Error(ErrorCode::kUsage, fmt::format("{}: the query does not read a table", name()),
                  "give a SELECT");
    step();
    std::vector<RowColumn> columns;
    for (int c = 0; c < sqlite3_column_count(statement_.get()); ++c)
      columns.push_back(column_of(statement_.get(), c, !ended_));
    set_columns(std::move(columns));
    set_style(style);
    if (address.query.empty()) guess_rows(quoted_name(address.table));
  }

  bool next(RowChunk& chunk) override {
    if (ended_) return false;
    const std::size_t count = columns().size();
    chunk.start(0, count, rows_);
    for (std::size_t c = 0; c < count; ++c) chunk.buffer(c).clear();
    std::int64_t rows = 0;
    for (; rows < chunk_rows_ && !ended_; ++rows, step()) {
      for (std::size_t c = 0; c < count; ++c) add(static_cast<int>(c), rows, chunk.buffer(c));
    }
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
    return true;
  }
  [[nodiscard]] std::optional<double> share_read() const override {
    if (guessed_rows_ <= 0) return std::nullopt;
    return std::min(1.0, static_cast<double>(rows_) / static_cast<double>(guessed_rows_));
  }

 private:
  // The greatest number of a row, which is found at once: counting would read the whole file. Tables without
  // such numbers, and views, have none.
  void guess_rows(const std::string& table) {
    const std::string sql = fmt::format("select max(rowid) from {}", table);
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(connection_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) return;
    const Statement last(raw);
    if (sqlite3_step(raw) == SQLITE_ROW) guessed_rows_ = sqlite3_column_int64(raw, 0);
  }

  void step() {
    const int state = sqlite3_step(statement_.get());
    if (state == SQLITE_ROW) return;
    if (state != SQLITE_DONE) fail(name(), connection_.get(), state);
    ended_ = true;
    // The last row is read: whoever writes to the same file does not wait for this.
    sqlite3_reset(statement_.get());
  }

  [[noreturn]] void refuse(int column, std::int64_t row, const char* wanted) const {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} row {}, column \"{}\": the value is not {}", name(), rows_ + row + 1,
                            columns()[static_cast<std::size_t>(column)].name, wanted),
                "fix the value, or cast the column in a query");
  }

  void add(int column, std::int64_t row, CellBuffer& to) const {
    sqlite3_stmt* const statement = statement_.get();
    const RowColumn& what = columns()[static_cast<std::size_t>(column)];
    const int type = sqlite3_column_type(statement, column);
    const bool missing = type == SQLITE_NULL;
    to.missing.push_back(missing ? 1 : 0);
    if (type == SQLITE_BLOB) refuse(column, row, "text or a number");
    if (what.storage == CellStorage::kText) {
      const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      to.add_text(missing ? std::string_view()
                          : std::string_view(
                                text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))));
      return;
    }
    if (what.storage == CellStorage::kReal) {
      if (type == SQLITE_TEXT) refuse(column, row, "a number");
      to.real.push_back(missing ? 0 : sqlite3_column_double(statement, column));
      return;
    }
    if (what.meaning == CellMeaning::kDate || what.meaning == CellMeaning::kTimestamp) {
      std::optional<std::int64_t> value = 0;
      if (!missing) {
        const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        const std::string_view cell(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
        value = what.meaning == CellMeaning::kDate ? parse_date(cell) : parse_timestamp(cell);
      }
      if (!value) refuse(column, row, what.meaning == CellMeaning::kDate ? "a date" : "a time");
      to.integer.push_back(*value);
      return;
    }
    const bool whole = type == SQLITE_FLOAT && std::nearbyint(sqlite3_column_double(statement, column)) ==
                                                   sqlite3_column_double(statement, column);
    if (!missing && type != SQLITE_INTEGER && !whole) refuse(column, row, "a whole number");
    to.integer.push_back(missing ? 0 : sqlite3_column_int64(statement, column));
  }

  std::int64_t chunk_rows_;
  Connection connection_;
  Statement statement_;
  std::atomic<std::int64_t> rows_ = 0;  // others ask how far it is
  std::int64_t guessed_rows_ = 0;
  bool ended_ = false;
};

class ChunkPart final : public RowSink::Part {
 public:
  RowChunk chunk;
};

const char* declared_type(const RowColumn& column) {
  if (column.storage == CellStorage::kText) return "TEXT";
  if (column.storage == CellStorage::kReal) return "REAL";
  switch (column.meaning) {
    case CellMeaning::kBoolean:
      return "BOOLEAN";
    case CellMeaning::kDecimal:
      return "REAL";
    case CellMeaning::kDate:
      return "DATE";
    case CellMeaning::kTimestamp:
    case CellMeaning::kInstant:
      return "TIMESTAMP";
    case CellMeaning::kPlain:
      break;
  }
  return "INTEGER";
}

constexpr mode_t kDatabaseMode = 0666;

class SqliteSink final : public RowSink {
 public:
  SqliteSink(const Address& address, bool force, bool beside)
      : name_(address.shown), table_(address.table), file_(address.place) {
    if (address.table.empty())
      throw Error(ErrorCode::kUsage, fmt::format("{} names no table to write", name_), "write ?table=NAME");
    std::error_code ignored;
    if (!std::filesystem::exists(std::filesystem::symlink_status(file_, ignored))) make_file();
    connection_ = open_file(fresh_ ? fresh_->path().string() : address.place, name_,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    // A file that is thrown away when anything fails needs no journal.
    if (fresh_) run(connection_.get(), "pragma journal_mode = off; pragma synchronous = off", name_);
    // Pages that are changed go to the file at the end: a reader of the same file would not let them before.
    if (beside) run(connection_.get(), "pragma cache_spill = off", name_);
    run(connection_.get(), "begin immediate", name_);
    open_ = true;
    const Statement find = prepare(connection_.get(), "select 1 from sqlite_master where name = ?1", name_);
    sqlite3_bind_text(find.get(), 1, table_.c_str(), -1, SQLITE_STATIC);
    replaces_ = sqlite3_step(find.get()) == SQLITE_ROW;
    if (replaces_ && !force)
      throw Error(ErrorCode::kUsage, fmt::format("{}: the table exists already", name_),
                  "name another one, or --force to replace it");
    written_ = replaces_ ? "ppan_new_" + table_ : table_;
  }
  SqliteSink(const SqliteSink&) = delete;
  SqliteSink& operator=(const SqliteSink&) = delete;
  ~SqliteSink() override {
    insert_.reset();
    if (open_ && connection_) sqlite3_exec(connection_.get(), "rollback", nullptr, nullptr, nullptr);
  }

  void begin(const std::vector<RowColumn>& columns) override {
    columns_ = columns;
    std::string list;
    std::string marks;
    for (const RowColumn& column : columns_) {
      list +=
          fmt::format("{}{} {}", list.empty() ? "" : ", ", quoted_name(column.name), declared_type(column));
      marks += marks.empty() ? "?" : ", ?";
    }
    run(connection_.get(), fmt::format("create table {} ({})", quoted_name(written_), list), name_);
    insert_ = prepare(connection_.get(),
                      fmt::format("insert into {} values ({})", quoted_name(written_), marks), name_);
  }

  [[nodiscard]] std::unique_ptr<Part> pack(const RowChunk& rows) const override {
    auto part = std::make_unique<ChunkPart>();
    copy_rows(rows, part->chunk);
    return part;
  }

  void write(std::unique_ptr<Part> part) override {
    const RowChunk& chunk = static_cast<const ChunkPart&>(*part).chunk;
    for (std::size_t r = 0; r < static_cast<std::size_t>(chunk.rows()); ++r) {
      for (std::size_t c = 0; c < columns_.size(); ++c)
        bind(columns_[c], chunk.cells(c), r, static_cast<int>(c) + 1);
      const int state = sqlite3_step(insert_.get());
      if (state != SQLITE_DONE) fail(name_, connection_.get(), state);
      sqlite3_reset(insert_.get());
    }
  }

  void finish() override {
    insert_.reset();
    if (replaces_) {
      run(connection_.get(), fmt::format("drop table {}", quoted_name(table_)), name_);
      run(connection_.get(),
          fmt::format("alter table {} rename to {}", quoted_name(written_), quoted_name(table_)), name_);
    }
    run(connection_.get(), "commit", name_);
    open_ = false;
    if (!fresh_) return;
    connection_.reset();
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(file_, ignored)))
      throw Error(ErrorCode::kIo, fmt::format("{}: somebody else has made the file meanwhile", name_));
    if (const int error = fresh_->replace(file_.filename().string()); error != 0)
      throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", name_, std::strerror(error)));
  }

 private:
  // A new database is written beside its place, which it takes at the end.
  void make_file() {
    try {
      const std::filesystem::path directory = file_.parent_path();
      fresh_ = std::make_unique<Temporary>(directory.empty() ? "." : directory, Temporary::Kind::kFile,
                                           kDatabaseMode);
    } catch (const std::system_error& error) {
      throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", name_, error.code().message()));
    }
  }

  void bind(const RowColumn& column, const RowCells& cells, std::size_t row, int place) {
    sqlite3_stmt* const statement = insert_.get();
    if (cells.is_missing(row)) {
      sqlite3_bind_null(statement, place);
      return;
    }
    if (column.storage == CellStorage::kReal || column.meaning == CellMeaning::kDecimal) {
      sqlite3_bind_double(statement, place, number_at(column, cells, row));
      return;
    }
    const bool plain = column.meaning == CellMeaning::kPlain || column.meaning == CellMeaning::kBoolean;
    if (column.storage == CellStorage::kInteger && plain) {
      sqlite3_bind_int64(statement, place, cells.integer[row]);
      return;
    }
    scratch_.clear();
    append_text(column, cells, row, scratch_);
    sqlite3_bind_text(statement, place, scratch_.data(), static_cast<int>(scratch_.size()), SQLITE_TRANSIENT);
  }

  std::string name_;
  std::string table_;
  std::string written_;
  std::filesystem::path file_;
  std::unique_ptr<Temporary> fresh_;  // where there was no file
  bool replaces_ = false;
  bool open_ = false;
  Connection connection_;
  Statement insert_;
  std::vector<RowColumn> columns_;
  std::string scratch_;
};

}  // namespace

Backend sqlite_backend() {
  return {.version = [] { return fmt::format("SQLite {}", sqlite3_libversion()); },
          .schemes = {"sqlite"},
          .open = [](const Address& address, const OpenOptions& options) -> std::unique_ptr<RowSource> {
            return std::make_unique<SqliteSource>(address, text_style(options.csv), options.csv.chunk_rows);
          },
          .create = [](const Address& address, const CreateOptions& options) -> std::unique_ptr<RowSink> {
            // The same file may be read meanwhile.
            const bool beside =
                !options.input.empty() && parse_address(options.input).scheme == address.scheme;
            return std::make_unique<SqliteSink>(address, options.force, beside);
          }};
}

}  // namespace ppan
