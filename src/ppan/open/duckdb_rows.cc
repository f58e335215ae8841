// Parquet, JSON lines and SQL over files as a source, by DuckDB.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/open/backends.h"
#include "ppan/open/duckdb_library.h"

namespace ppan {
namespace {

// A column of a result, and how it is asked for: types that have no place here are cast by the engine.
struct EngineColumn {
  RowColumn column;
  duckdb_type type = DUCKDB_TYPE_INVALID;  // of the vectors that come
  std::string cast;
};

constexpr int kDecimalDigits = 18;  // that 64 bits hold
// Columns declared wider than that seldom hold so many digits: with few decimals their values fit, and one
// that does not is an error; with more they are taken as reals.
constexpr int kWideScale = 6;

[[noreturn]] void refuse_nested(const std::string& name, const std::string& column) {
  throw Error(ErrorCode::kBadInput,
              fmt::format("{}: column \"{}\" holds lists or records, which are not released", name, column),
              "leave it out, or take one value from it in a query");
}

EngineColumn decimal_column(RowColumn column, const DuckdbLibrary& duckdb, duckdb_logical_type type) {
  EngineColumn out{.column = std::move(column)};
  const int width = duckdb.decimal_width(type);
  const int scale = duckdb.decimal_scale(type);
  out.column.sql_type = fmt::format("DECIMAL({},{})", width, scale);
  if (width > kDecimalDigits && scale > kWideScale) {
    out.column.storage = CellStorage::kReal;
    out.cast = "DOUBLE";
    out.type = DUCKDB_TYPE_DOUBLE;
    return out;
  }
  out.column.storage = CellStorage::kInteger;
  if (scale == 0) {  // whole numbers, as some databases export all of theirs
    out.cast = "BIGINT";
    out.type = DUCKDB_TYPE_BIGINT;
    return out;
  }
  out.column.meaning = CellMeaning::kDecimal;
  out.column.scale = scale;
  out.type = duckdb.decimal_internal_type(type);
  if (width > kDecimalDigits) {
    out.cast = fmt::format("DECIMAL({},{})", kDecimalDigits, scale);
    out.type = DUCKDB_TYPE_BIGINT;
  }
  return out;
}

// Types that the engine casts on the way in, and back on the way out (duckdb_sink.cc).
const char* name_of(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_UTINYINT:
      return "UTINYINT";
    case DUCKDB_TYPE_USMALLINT:
      return "USMALLINT";
    case DUCKDB_TYPE_UINTEGER:
      return "UINTEGER";
    case DUCKDB_TYPE_UBIGINT:
      return "UBIGINT";
    case DUCKDB_TYPE_HUGEINT:
      return "HUGEINT";
    case DUCKDB_TYPE_UHUGEINT:
      return "UHUGEINT";
    case DUCKDB_TYPE_TIMESTAMP_S:
      return "TIMESTAMP_S";
    case DUCKDB_TYPE_TIMESTAMP_MS:
      return "TIMESTAMP_MS";
    case DUCKDB_TYPE_TIMESTAMP_NS:
      return "TIMESTAMP_NS";
    default:
      return "";
  }
}

EngineColumn column_of(const std::string& source, const std::string& name, duckdb_type type) {
  EngineColumn out{.column = {.name = name}, .type = type};
  const auto integers = [&](CellMeaning meaning, const char* sql_type) {
    out.column.storage = CellStorage::kInteger;
    out.column.meaning = meaning;
    out.column.sql_type = sql_type;
  };
  const auto reals = [&](const char* sql_type) {
    out.column.storage = CellStorage::kReal;
    out.column.sql_type = sql_type;
  };
  const auto cast = [&](const char* sql_type, duckdb_type to) {
    out.cast = sql_type;
    out.type = to;
  };
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
      integers(CellMeaning::kBoolean, "BOOLEAN");
      break;
    case DUCKDB_TYPE_TINYINT:
      integers(CellMeaning::kPlain, "TINYINT");
      break;
    case DUCKDB_TYPE_SMALLINT:
      integers(CellMeaning::kPlain, "SMALLINT");
      break;
    case DUCKDB_TYPE_INTEGER:
      integers(CellMeaning::kPlain, "INTEGER");
      break;
    case DUCKDB_TYPE_BIGINT:
      integers(CellMeaning::kPlain, "BIGINT");
      break;
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UHUGEINT:
      integers(CellMeaning::kPlain, name_of(type));
      cast("BIGINT", DUCKDB_TYPE_BIGINT);
      break;
    case DUCKDB_TYPE_FLOAT:
      reals("REAL");
      break;
    case DUCKDB_TYPE_DOUBLE:
      reals("DOUBLE");
      break;
    case DUCKDB_TYPE_DATE:
      integers(CellMeaning::kDate, "DATE");
      break;
    case DUCKDB_TYPE_TIMESTAMP:
      integers(CellMeaning::kTimestamp, "TIMESTAMP");
      break;
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP_NS:
      integers(CellMeaning::kTimestamp, name_of(type));
      cast("TIMESTAMP", DUCKDB_TYPE_TIMESTAMP);
      break;
    case DUCKDB_TYPE_TIMESTAMP_TZ:
      integers(CellMeaning::kInstant, "TIMESTAMP WITH TIME ZONE");
      break;
    case DUCKDB_TYPE_VARCHAR:
      out.column.sql_type = "VARCHAR";
      break;
    case DUCKDB_TYPE_LIST:
    case DUCKDB_TYPE_STRUCT:
    case DUCKDB_TYPE_MAP:
    case DUCKDB_TYPE_ARRAY:
    case DUCKDB_TYPE_UNION:
    case DUCKDB_TYPE_BLOB:
      refuse_nested(source, name);
    default:  // enumerations, times of day, UUIDs
      out.column.sql_type = "VARCHAR";
      cast("VARCHAR", DUCKDB_TYPE_VARCHAR);
  }
  return out;
}

constexpr std::size_t kInlined = sizeof(duckdb_string_t::value.inlined.inlined);

template <typename From, typename To>
void copy_numbers(const void* from, std::size_t rows, std::vector<To>& to) {
  const auto* const values = static_cast<const From*>(from);
  to.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) to[r] = static_cast<To>(values[r]);
}

// Texts of up to 12 bytes stand in the vector itself.
void take_texts(const char* data, std::size_t rows, const RowCells& cells, CellBuffer& buffer) {
  buffer.text.resize(rows);
  std::size_t size = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    duckdb_string_t text;
    std::memcpy(&text, data + sizeof text * r, sizeof text);
    const std::uint32_t length = cells.is_missing(r) ? 0 : text.value.inlined.length;
    // Whole vectors are copied, which takes less time than asking how long each text is.
    if (buffer.bytes.size() < size + std::max<std::size_t>(length, kInlined))
      buffer.bytes.resize(2 * (size + length) + rows * kInlined);
    buffer.text[r] = {static_cast<std::uint32_t>(size), length};
    if (length <= kInlined) {
      std::memcpy(buffer.bytes.data() + size, text.value.inlined.inlined, kInlined);
    } else {
      std::memcpy(buffer.bytes.data() + size, text.value.pointer.ptr, length);
    }
    size += length;
  }
}

// The cells of one vector, from row `first` on. Numbers are widened; text is copied, for the engine takes its
// memory back.
void take_vector(const EngineColumn& column, const char* data, const std::uint64_t* validity,
                 std::size_t first, std::size_t rows, CellBuffer& buffer, RowCells& cells) {
  if (validity != nullptr) {
    buffer.missing.resize(rows);
    bool any = false;
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t at = first + r;
      buffer.missing[r] = (validity[at / 64] >> (at % 64) & 1U) == 0 ? 1 : 0;
      any = any || buffer.missing[r] != 0;
    }
    if (any) cells.missing = buffer.missing.data();
  }
  switch (column.type) {
    case DUCKDB_TYPE_BOOLEAN:
    case DUCKDB_TYPE_TINYINT:
      copy_numbers<std::int8_t>(data + first, rows, buffer.integer);
      break;
    case DUCKDB_TYPE_SMALLINT:
      copy_numbers<std::int16_t>(data + 2 * first, rows, buffer.integer);
      break;
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_DATE:
      copy_numbers<std::int32_t>(data + 4 * first, rows, buffer.integer);
      break;
    case DUCKDB_TYPE_FLOAT:
      copy_numbers<float>(data + 4 * first, rows, buffer.real);
      break;
    case DUCKDB_TYPE_DOUBLE:
      copy_numbers<double>(data + 8 * first, rows, buffer.real);
      break;
    case DUCKDB_TYPE_VARCHAR: {
      take_texts(data + sizeof(duckdb_string_t) * first, rows, cells, buffer);
      cells.text = buffer.text.data();
      cells.bytes = buffer.bytes.data();
      return;
    }
    default:  // 64 bits: integers, times, decimals
      copy_numbers<std::int64_t>(data + 8 * first, rows, buffer.integer);
  }
  cells.integer = buffer.integer.data();
  cells.real = buffer.real.data();
}

class DuckdbSource final : public RowSource {
 public:
  DuckdbSource(const Address& address, const std::filesystem::path& directory, const TextStyle& style,
               std::int64_t chunk_rows)
      : RowSource(address.shown),
        duckdb_(&duckdb_library()),
        // Pages of Parquet are unpacked faster than rows are released; a query may be any amount of work.
        session_(address.kind == AddressKind::kParquet ? 1 : 0, directory.string()),
        // Whole vectors of the engine, unless fewer rows than usual are wanted: each chunk has costs of its
        // own.
        chunk_rows_(chunk_rows < kChunkRows ? chunk_rows
                                            : static_cast<std::int64_t>(duckdb_->vector_size())) {
    std::error_code ignored;
    if (address.is_file() && std::filesystem::is_directory(address.place, ignored))
      throw Error(ErrorCode::kIo, fmt::format("{} is a directory", name()),
                  fmt::format("name its files: '{}/*.parquet'", address.place));
    query_ = query_of(address);
    start(fmt::format("select * from ({}\n) limit 0", query_));
    for (idx_t c = 0; c < duckdb_->column_count(&result_); ++c) {
      RowColumn named{.name = duckdb_->column_name(&result_, c)};
      const duckdb_type type = duckdb_->column_type(&result_, c);
      if (type == DUCKDB_TYPE_DECIMAL) {
        duckdb_logical_type logical = duckdb_->column_logical_type(&result_, c);
        columns_.push_back(decimal_column(std::move(named), *duckdb_, logical));
        duckdb_->destroy_logical_type(&logical);
      } else {
        columns_.push_back(column_of(name(), named.name, type));
      }
    }
    stop();
    std::vector<RowColumn> columns;
    for (const EngineColumn& column : columns_) columns.push_back(column.column);
    set_columns(std::move(columns));
    set_style(style);
    // Parquet says at its end how many rows it has.
    if (address.kind == AddressKind::kParquet)
      all_ = session_.number(
          fmt::format("select sum(num_rows)::bigint from parquet_file_metadata({})", duckdb_files(address)));
    for (std::size_t c = 0; c < columns_.size(); ++c) read_.push_back(c);
  }
  DuckdbSource(const DuckdbSource&) = delete;
  DuckdbSource& operator=(const DuckdbSource&) = delete;
  ~DuckdbSource() override {
    if (chunk_ != nullptr) duckdb_->destroy_data_chunk(&chunk_);
    stop();
  }

  void need_only(const std::vector<bool>& columns) override {
    read_.clear();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns[c]) read_.push_back(c);
    }
    if (read_.empty()) read_.push_back(0);  // for the number of rows
  }

  bool next(RowChunk& chunk) override {
    if (!open_) start_reading();
    while (used_ == size_) {
      if (chunk_ != nullptr) duckdb_->destroy_data_chunk(&chunk_);
      chunk_ = duckdb_->fetch_chunk(result_);
      used_ = 0;
      size_ = chunk_ == nullptr ? 0 : duckdb_->data_chunk_get_size(chunk_);
      if (size_ > 0) break;
      if (const char* const words = duckdb_->result_error(&result_); words != nullptr && *words != '\0')
        fail_duckdb(name(), words, duckdb_->result_error_type(&result_));
      if (chunk_ != nullptr) duckdb_->destroy_data_chunk(&chunk_);
      return false;
    }
    const std::size_t rows = std::min(size_ - used_, static_cast<std::size_t>(chunk_rows_));
    chunk.start(static_cast<std::int64_t>(rows), columns_.size(), rows_);
    for (std::size_t v = 0; v < read_.size(); ++v) {
      const std::size_t c = read_[v];
      duckdb_vector vector = duckdb_->data_chunk_get_vector(chunk_, v);
      take_vector(columns_[c], static_cast<const char*>(duckdb_->vector_get_data(vector)),
                  duckdb_->vector_get_validity(vector), used_, rows, chunk.buffer(c), chunk.cells(c));
    }
    used_ += rows;
    rows_ += static_cast<std::int64_t>(rows);
    return true;
  }
  [[nodiscard]] std::optional<std::int64_t> row_count() const override { return all_; }

 private:
  static std::string query_of(const Address& address) {
    const std::string place = duckdb_files(address);
    if (address.kind == AddressKind::kParquet) return fmt::format("select * from read_parquet({})", place);
    if (address.kind == AddressKind::kJson)
      return fmt::format("select * from read_json({}, format = 'newline_delimited')", place);
    std::string query = address.place;
    while (!query.empty() && (query.back() == ';' || query.back() == ' ' || query.back() == '\n'))
      query.pop_back();
    return query;
  }

  void start_reading() {
    std::string list;
    for (const std::size_t c : read_) {
      const EngineColumn& column = columns_[c];
      list += fmt::format("{}{}{}{}", list.empty() ? "" : ", ", duckdb_quoted(column.column.name, '"'),
                          column.cast.empty() ? "" : "::", column.cast);
    }
    start(fmt::format("select {} from ({}\n)", list, query_));
  }

  void start(const std::string& sql) {
    if (duckdb_->prepare(session_.connection(), sql.c_str(), &statement_) != DuckDBSuccess) {
      const char* const words = duckdb_->prepare_error(statement_);
      const std::string text = words == nullptr ? "" : words;
      // A file that is not there is told by the engine's binder too.
      const bool place = text.starts_with("IO Error");
      duckdb_->destroy_prepare(&statement_);
      fail_duckdb(name(), text.c_str(), place ? DUCKDB_ERROR_IO : DUCKDB_ERROR_BINDER);
    }
    if (duckdb_->prepared_statement_type(statement_) != DUCKDB_STATEMENT_TYPE_SELECT)
      throw Error(ErrorCode::kUsage, fmt::format("{} does not read a table", name()), "give a SELECT");
    open_ = true;
    if (duckdb_->execute_prepared_streaming(statement_, &result_) != DuckDBSuccess)
      fail_duckdb(name(), duckdb_->result_error(&result_), duckdb_->result_error_type(&result_));
  }
  void stop() {
    if (open_) duckdb_->destroy_result(&result_);
    if (statement_ != nullptr) duckdb_->destroy_prepare(&statement_);
    open_ = false;
  }

  const DuckdbLibrary* duckdb_;
  DuckdbSession session_;
  std::int64_t chunk_rows_;
  std::string query_;
  std::vector<EngineColumn> columns_;
  std::vector<std::size_t> read_;  // columns
  duckdb_prepared_statement statement_ = nullptr;
  duckdb_result result_{};
  bool open_ = false;
  duckdb_data_chunk chunk_ = nullptr;
  std::size_t used_ = 0;
  std::size_t size_ = 0;
  std::int64_t rows_ = 0;
  std::optional<std::int64_t> all_;
};

}  // namespace

Backend duckdb_backend() {
  return {.version = duckdb_version,
          .kinds = {AddressKind::kParquet, AddressKind::kJson, AddressKind::kQuery},
          .open = [](const Address& address, const OpenOptions& options) -> std::unique_ptr<RowSource> {
            return std::make_unique<DuckdbSource>(address, options.directory, text_style(options.csv),
                                                  options.csv.chunk_rows);
          },
          .create = create_duckdb};
}

}  // namespace ppan
