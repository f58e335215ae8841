#include "ppan/open/duckdb_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ppan/core/error.h"
#include "ppan/open/backends.h"

namespace ppan {
namespace {

// What the engine may take: buffers of the rows on their way, not the table.
constexpr const char* kMemoryLimit = "256MB";

struct Loaded {
  DuckdbLibrary functions;
  bool whole = false;
  std::string words;
};

Loaded load() {
  Loaded out;
  void* library = ::dlopen(PPAN_DUCKDB_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) library = ::dlopen("libduckdb.so", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    out.words = ::dlerror();
    return out;
  }
  out.whole = true;
  const auto find = [&]<typename Function>(const char* name, Function& to) {
    to = reinterpret_cast<Function>(::dlsym(library, name));
    if (to != nullptr) return;
    out.whole = false;
    out.words = fmt::format("it lacks {}", name);
  };
#define PPAN_FIND(name) find("duckdb_" #name, out.functions.name);
  PPAN_DUCKDB_FUNCTIONS(PPAN_FIND)
#undef PPAN_FIND
  return out;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

const DuckdbLibrary* find_duckdb_library() {
  return loaded().whole ? &loaded().functions : nullptr;
}

const DuckdbLibrary& duckdb_library() {
  if (!loaded().whole)
    throw Error(ErrorCode::kUsage, fmt::format("DuckDB's library cannot be used: {}", loaded().words),
                "run script/bootstrap duckdb, or convert the table to CSV first");
  return loaded().functions;
}

std::string duckdb_quoted(const std::string& text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out.push_back(quote);
    out.push_back(c);
  }
  out.push_back(quote);
  return out;
}

std::string duckdb_files(const Address& address) {
  if (!address.is_file()) return duckdb_quoted(address.place, '\'');
  std::string plain;
  for (const char c : address.place)
    plain += std::string_view("*?[").find(c) == std::string_view::npos ? std::string(1, c)
                                                                       : fmt::format("[{}]", c);
  return duckdb_quoted(plain, '\'');
}

void fail_duckdb(const std::string& name, const char* words, duckdb_error_type type) {
  std::string text = words == nullptr ? "it failed without a word" : words;
  // Words about a query end in a drawing of where it went wrong, and may offer an extension that is not to be
  // had.
  text.resize(std::min(text.size(), text.find("\n\nLINE")));
  const bool data = type == DUCKDB_ERROR_CONVERSION || type == DUCKDB_ERROR_OUT_OF_RANGE ||
                    type == DUCKDB_ERROR_INVALID_INPUT || type == DUCKDB_ERROR_MISMATCH_TYPE;
  if (data) text = words_about_data(text, name);
  const bool place =
      type == DUCKDB_ERROR_IO || type == DUCKDB_ERROR_OUT_OF_MEMORY || type == DUCKDB_ERROR_CONNECTION;
  // A file that cannot be read as what it is said to be is bad input, though DuckDB calls some of it
  // input/output.
  const bool damaged =
      text.find("No magic bytes") != std::string::npos || text.find("too small to be") != std::string::npos;
  throw Error(place && !damaged ? ErrorCode::kIo : ErrorCode::kBadInput, fmt::format("{}: {}", name, text));
}

DuckdbSession::DuckdbSession(int threads, const std::string& file_search_path) : library_(&duckdb_library()) {
  duckdb_config config = nullptr;
  if (library_->create_config(&config) != DuckDBSuccess) throw std::bad_alloc();
  for (const auto& [key, value] : {std::pair("memory_limit", kMemoryLimit),
                                   {"streaming_buffer_size", "8MB"},  // fewer waits for the next chunk
                                   {"autoinstall_known_extensions", "false"},
                                   {"autoload_known_extensions", "false"},
                                   {"allow_community_extensions", "false"},
                                   {"allow_unsigned_extensions", "false"},
                                   {"temp_directory", ""}})
    library_->set_config(config, key, value);
  if (threads > 0) library_->set_config(config, "threads", std::to_string(threads).c_str());
  char* words = nullptr;
  const bool opened = library_->open_ext(nullptr, &database_, config, &words) == DuckDBSuccess;
  library_->destroy_config(&config);
  const std::string text = words == nullptr ? "" : words;
  if (words != nullptr) library_->free(words);
  if (!opened || library_->connect(database_, &connection_) != DuckDBSuccess) {
    library_->close(&database_);
    throw Error(ErrorCode::kIo, fmt::format("DuckDB does not start: {}", text));
  }
  try {
    if (!file_search_path.empty())
      run(fmt::format("set file_search_path = {}", duckdb_quoted(file_search_path, '\'')), "DuckDB");
    run("set lock_configuration = true", "DuckDB");
  } catch (...) {
    library_->disconnect(&connection_);
    library_->close(&database_);
    throw;
  }
}

DuckdbSession::~DuckdbSession() {
  library_->disconnect(&connection_);
  library_->close(&database_);
}

void DuckdbSession::run(const std::string& sql, const std::string& name) {
  duckdb_result result{};
  const bool done = library_->query(connection_, sql.c_str(), &result) == DuckDBSuccess;
  const std::string words = done ? "" : library_->result_error(&result);
  const duckdb_error_type type = done ? DUCKDB_ERROR_INVALID : library_->result_error_type(&result);
  library_->destroy_result(&result);
  if (!done) fail_duckdb(name, words.c_str(), type);
}

std::optional<std::int64_t> DuckdbSession::number(const std::string& sql) {
  std::optional<std::int64_t> out;
  duckdb_result result{};
  if (library_->query(connection_, sql.c_str(), &result) == DuckDBSuccess) {
    duckdb_data_chunk chunk = library_->fetch_chunk(result);
    if (chunk != nullptr && library_->data_chunk_get_size(chunk) == 1) {
      duckdb_vector vector = library_->data_chunk_get_vector(chunk, 0);
      const std::uint64_t* const validity = library_->vector_get_validity(vector);
      if (validity == nullptr || (*validity & 1U) != 0)
        out = *static_cast<const std::int64_t*>(library_->vector_get_data(vector));
    }
    if (chunk != nullptr) library_->destroy_data_chunk(&chunk);
  }
  library_->destroy_result(&result);
  return out;
}

std::string duckdb_version() {
  const DuckdbLibrary* const library = find_duckdb_library();
  return library == nullptr ? "without DuckDB (its library cannot be loaded)"
                            : fmt::format("DuckDB {}", library->library_version());
}

}  // namespace ppan
