#pragma once

// DuckDB's C interface, from its shared library, which is loaded when the first table needs it. Loaded this
// way its symbols meet with nobody else's.

#include <duckdb.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ppan/open/address.h"
#include "ppan/open/open_rows.h"

namespace ppan {

#define PPAN_DUCKDB_FUNCTIONS(X)      \
  X(bind_add_result_column)           \
  X(bind_get_extra_info)              \
  X(close)                            \
  X(column_count)                     \
  X(column_logical_type)              \
  X(column_name)                      \
  X(column_type)                      \
  X(connect)                          \
  X(create_config)                    \
  X(create_decimal_type)              \
  X(create_enum_type)                 \
  X(create_logical_type)              \
  X(create_table_function)            \
  X(data_chunk_get_size)              \
  X(data_chunk_get_vector)            \
  X(data_chunk_set_size)              \
  X(decimal_internal_type)            \
  X(decimal_scale)                    \
  X(decimal_width)                    \
  X(destroy_config)                   \
  X(destroy_data_chunk)               \
  X(destroy_logical_type)             \
  X(destroy_prepare)                  \
  X(destroy_result)                   \
  X(destroy_table_function)           \
  X(disconnect)                       \
  X(execute_prepared_streaming)       \
  X(fetch_chunk)                      \
  X(free)                             \
  X(function_get_extra_info)          \
  X(function_set_error)               \
  X(init_set_max_threads)             \
  X(interrupt)                        \
  X(library_version)                  \
  X(open_ext)                         \
  X(prepare)                          \
  X(prepare_error)                    \
  X(prepared_statement_type)          \
  X(query)                            \
  X(register_table_function)          \
  X(result_error)                     \
  X(result_error_type)                \
  X(set_config)                       \
  X(table_function_set_bind)          \
  X(table_function_set_extra_info)    \
  X(table_function_set_function)      \
  X(table_function_set_init)          \
  X(table_function_set_name)          \
  X(vector_assign_string_element_len) \
  X(vector_ensure_validity_writable)  \
  X(vector_get_data)                  \
  X(vector_get_validity)              \
  X(vector_size)

/// Its functions, by their names without "duckdb_".
struct DuckdbLibrary {
#define PPAN_DECLARE(name) decltype(&duckdb_##name) name = nullptr;
  PPAN_DUCKDB_FUNCTIONS(PPAN_DECLARE)
#undef PPAN_DECLARE
};

/// Loads it on the first call. Throws Error(kUsage) with how to get it where it cannot be loaded.
const DuckdbLibrary& duckdb_library();
/// The same; null where it cannot be loaded.
const DuckdbLibrary* find_duckdb_library();
std::string duckdb_version();

/// Of Parquet files and JSON lines.
std::unique_ptr<RowSink> create_duckdb(const Address& address, const CreateOptions& options);

/// A database in memory, without extensions and within bounds, and a connection to it.
class DuckdbSession {
 public:
  /// With one thread it works on the thread that asks; with more, whoever waits for the others does so by
  /// asking again and again. 0: one per core.
  explicit DuckdbSession(int threads, const std::string& file_search_path = {});
  ~DuckdbSession();
  DuckdbSession(const DuckdbSession&) = delete;
  DuckdbSession& operator=(const DuckdbSession&) = delete;
  [[nodiscard]] duckdb_connection connection() const { return connection_; }
  /// Runs a statement of our own. Throws Error(kIo) with DuckDB's words.
  void run(const std::string& sql, const std::string& name);
  /// The one BIGINT that a statement of our own gives; none where it fails or is NULL.
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& sql);

 private:
  const DuckdbLibrary* library_;
  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
};

/// 'text' as SQL has it.
std::string duckdb_quoted(const std::string& text, char quote);
/// The file or pattern of an address as SQL has it: no character of one file is a pattern.
std::string duckdb_files(const Address& address);
/// DuckDB's words of what went wrong, without the plan it was at.
[[noreturn]] void fail_duckdb(const std::string& name, const char* words, duckdb_error_type type);

}  // namespace ppan
