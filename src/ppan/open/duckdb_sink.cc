// Parquet and JSON lines as a sink, by DuckDB: a COPY on a thread of its own reads from a table function that hands it the rows
// as they come, so that no more than a few chunks are held, and row groups, compression and encodings are the engine's.

#include <fmt/format.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/core/temporary.h"
#include "ppan/open/backends.h"
#include "ppan/open/duckdb_library.h"

namespace ppan {
namespace {

constexpr std::size_t kMostWaiting = 4;  // chunks
constexpr mode_t kFileMode = 0666;

class ChunkPart final : public RowSink::Part {
 public:
  RowChunk chunk;
};

// How a column is handed over.
struct HandedType {
  duckdb_type type = DUCKDB_TYPE_VARCHAR;
  int width = 0;  // of a decimal
};

HandedType handed_type(const RowColumn& column) {
  if (column.storage == CellStorage::kText) return {};
  if (column.storage == CellStorage::kReal)
    return {column.sql_type == "REAL" ? DUCKDB_TYPE_FLOAT : DUCKDB_TYPE_DOUBLE};
  switch (column.meaning) {
    case CellMeaning::kBoolean:
      return {DUCKDB_TYPE_BOOLEAN};
    case CellMeaning::kDecimal:
      return {DUCKDB_TYPE_DECIMAL, 18};
    case CellMeaning::kDate:
      return {DUCKDB_TYPE_DATE};
    case CellMeaning::kTimestamp:
      return {DUCKDB_TYPE_TIMESTAMP};
    case CellMeaning::kInstant:
      return {DUCKDB_TYPE_TIMESTAMP_TZ};
    case CellMeaning::kPlain:
      break;
  }
  return {DUCKDB_TYPE_BIGINT};
}

// The type that the file is to have, if the rows are handed over as a wider one.
std::string cast_of(const RowColumn& column) {
  if (column.storage != CellStorage::kInteger) return "";
  const bool narrower = column.sql_type == "TINYINT" || column.sql_type == "SMALLINT" || column.sql_type == "INTEGER" ||
                        column.sql_type.starts_with("DECIMAL(");
  return narrower ? "::" + column.sql_type : "";
}

/// Rows that wait for the engine.
class Queue {
 public:
  explicit Queue(const DuckdbLibrary& duckdb) : duckdb_(&duckdb) {}

  /// False when the engine has ended already.
  bool push(std::unique_ptr<RowSink::Part> part) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || waiting_.size() < kMostWaiting; });
    if (ended_) return false;
    waiting_.push_back(std::move(part));
    changed_.notify_all();
    return true;
  }
  void close(bool whole) {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    abandoned_ = !whole;
    changed_.notify_all();
  }
  void end(std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    failure_ = std::move(failure);
    changed_.notify_all();
  }
  [[nodiscard]] std::exception_ptr failure() {
    const std::scoped_lock lock(mutex_);
    return failure_;
  }

  /// The engine asks for the next rows; none: there are no more.
  void give(duckdb_function_info info, duckdb_data_chunk output) {
    const auto most = static_cast<std::size_t>(duckdb_->vector_size());
    if (current_ == nullptr || used_ == static_cast<std::size_t>(current_->rows())) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (abandoned_) {
        duckdb_->function_set_error(info, "the rows ended before their time");
        return;
      }
      if (waiting_.empty()) {
        duckdb_->data_chunk_set_size(output, 0);
        return;
      }
      part_ = std::move(waiting_.front());
      waiting_.pop_front();
      changed_.notify_all();
      current_ = &static_cast<const ChunkPart&>(*part_).chunk;
      used_ = 0;
    }
    const std::size_t rows = std::min(most, static_cast<std::size_t>(current_->rows()) - used_);
    for (std::size_t c = 0; c < columns.size(); ++c)
      fill(columns[c], current_->cells(c), rows, duckdb_->data_chunk_get_vector(output, c));
    duckdb_->data_chunk_set_size(output, rows);
    used_ += rows;
  }

  std::vector<RowColumn> columns;

 private:
  void fill(const RowColumn& column, const RowCells& cells, std::size_t rows, duckdb_vector vector) {
    if (cells.missing != nullptr) {
      duckdb_->vector_ensure_validity_writable(vector);
      std::uint64_t* const validity = duckdb_->vector_get_validity(vector);
      for (std::size_t r = 0; r < rows; ++r) {
        if (cells.missing[used_ + r] != 0) validity[r / 64] &= ~(std::uint64_t{1} << (r % 64));
      }
    }
    void* const data = duckdb_->vector_get_data(vector);
    const auto numbers = [&]<typename To>(To* to, const auto* from) {
      for (std::size_t r = 0; r < rows; ++r) to[r] = static_cast<To>(from[used_ + r]);
    };
    switch (handed_type(column).type) {
      case DUCKDB_TYPE_VARCHAR:
        for (std::size_t r = 0; r < rows; ++r) {
          if (cells.is_missing(used_ + r)) continue;
          const std::string_view text = cells.text_at(used_ + r);
          duckdb_->vector_assign_string_element_len(vector, r, text.data(), text.size());
        }
        break;
      case DUCKDB_TYPE_FLOAT:
        numbers(static_cast<float*>(data), cells.real);
        break;
      case DUCKDB_TYPE_DOUBLE:
        numbers(static_cast<double*>(data), cells.real);
        break;
      case DUCKDB_TYPE_BOOLEAN:
        numbers(static_cast<std::int8_t*>(data), cells.integer);
        break;
      case DUCKDB_TYPE_DATE:
        numbers(static_cast<std::int32_t*>(data), cells.integer);
        break;
      default:
        numbers(static_cast<std::int64_t*>(data), cells.integer);
    }
  }

  const DuckdbLibrary* duckdb_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<RowSink::Part>> waiting_;
  bool closed_ = false;
  bool abandoned_ = false;
  bool ended_ = false;
  std::exception_ptr failure_;
  // Of the engine's thread.
  std::unique_ptr<RowSink::Part> part_;
  const RowChunk* current_ = nullptr;
  std::size_t used_ = 0;
};

void bind_rows(duckdb_bind_info info) {
  const DuckdbLibrary& duckdb = duckdb_library();
  const auto& queue = *static_cast<const Queue*>(duckdb.bind_get_extra_info(info));
  for (const RowColumn& column : queue.columns) {
    const HandedType handed = handed_type(column);
    duckdb_logical_type type = handed.type == DUCKDB_TYPE_DECIMAL
                                   ? duckdb.create_decimal_type(18, static_cast<std::uint8_t>(column.scale))
                                   : duckdb.create_logical_type(handed.type);
    duckdb.bind_add_result_column(info, column.name.c_str(), type);
    duckdb.destroy_logical_type(&type);
  }
}

void init_rows(duckdb_init_info info) {
  duckdb_library().init_set_max_threads(info, 1);  // in order
}

void give_rows(duckdb_function_info info, duckdb_data_chunk output) {
  auto& queue = *static_cast<Queue*>(duckdb_library().function_get_extra_info(info));
  try {
    queue.give(info, output);
  } catch (const std::exception& error) {
    duckdb_library().function_set_error(info, error.what());
  }
}

class DuckdbSink final : public RowSink {
 public:
  explicit DuckdbSink(const Address& address)
      : name_(address.shown),
        json_(address.kind == AddressKind::kJson),
        packed_(address.place.ends_with(".gz")),
        duckdb_(&duckdb_library()),
        queue_(*duckdb_) {
    try {
      target_ = follow_links(address.place);
      std::filesystem::path directory = target_.parent_path();
      if (directory.empty()) directory = ".";
      temporary_ = std::make_unique<Temporary>(directory, Temporary::Kind::kFile, kFileMode);
    } catch (const std::system_error& error) {
      throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", name_, error.code().message()));
    }
  }
  DuckdbSink(const DuckdbSink&) = delete;
  DuckdbSink& operator=(const DuckdbSink&) = delete;
  ~DuckdbSink() override {
    queue_.close(false);
    if (engine_.joinable()) engine_.join();
  }

  void begin(const std::vector<RowColumn>& columns) override {
    queue_.columns = columns;
    duckdb_table_function function = duckdb_->create_table_function();
    duckdb_->table_function_set_name(function, "ppan_rows");
    duckdb_->table_function_set_extra_info(function, &queue_, nullptr);
    duckdb_->table_function_set_bind(function, bind_rows);
    duckdb_->table_function_set_init(function, init_rows);
    duckdb_->table_function_set_function(function, give_rows);
    const bool done = duckdb_->register_table_function(session_.connection(), function) == DuckDBSuccess;
    duckdb_->destroy_table_function(&function);
    if (!done) throw Error(ErrorCode::kInternal, "DuckDB takes no function");
    std::string list;
    for (const RowColumn& column : columns) {
      const std::string quoted = duckdb_quoted(column.name, '"');
      list += fmt::format("{}{}{} as {}", list.empty() ? "" : ", ", quoted, cast_of(column), quoted);
    }
    const std::string sql = fmt::format(
        "copy (select {} from ppan_rows()) to {} ({}, use_tmp_file false)", list,
        duckdb_quoted(temporary_->path().string(), '\''),
        json_ ? fmt::format("format json, compression {}", packed_ ? "gzip" : "none") : "format parquet, compression zstd");
    engine_ = std::thread([this, sql] {
      std::exception_ptr failure;
      try {
        session_.run(sql, name_);
      } catch (...) {
        failure = std::current_exception();
      }
      queue_.end(failure);
    });
  }

  [[nodiscard]] std::unique_ptr<Part> pack(const RowChunk& rows) const override {
    auto part = std::make_unique<ChunkPart>();
    copy_rows(rows, part->chunk);
    return part;
  }

  void write(std::unique_ptr<Part> part) override {
    if (static_cast<const ChunkPart&>(*part).chunk.rows() == 0) return;
    if (queue_.push(std::move(part))) return;
    if (const std::exception_ptr failure = queue_.failure()) std::rethrow_exception(failure);
    throw Error(ErrorCode::kInternal, "DuckDB stopped before the end of the rows");
  }

  void finish() override {
    queue_.close(true);
    if (engine_.joinable()) engine_.join();
    if (const std::exception_ptr failure = queue_.failure()) std::rethrow_exception(failure);
    if (const int error = temporary_->replace(target_.filename().string()); error != 0)
      throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", name_, std::strerror(error)));
  }

 private:
  std::string name_;
  bool json_;
  bool packed_;
  const DuckdbLibrary* duckdb_;
  DuckdbSession session_;
  Queue queue_;
  std::filesystem::path target_;
  std::unique_ptr<Temporary> temporary_;
  std::thread engine_;
};

}  // namespace

std::unique_ptr<RowSink> create_duckdb(const Address& address, const CreateOptions& /*options*/) {
  return std::make_unique<DuckdbSink>(address);
}

}  // namespace ppan
