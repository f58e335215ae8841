// The least that any release of a table must do: read it, take the numbers as numbers, write the columns out
// again. No encoding, no mechanism, no noise. Threads share the work as they do in a release: a chunk at a
// time, in order.
//   bench_csv_copy IN OUT COLUMN... [--threads N]
// Prints {"rows", "seconds"}.

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/core/parallel.h"
#include "ppan/source/csv.h"
#include "ppan/source/csv_writer.h"
#include "ppan/source/number.h"

namespace {

constexpr std::int64_t kChunkRows = 1024;  // as a release takes them

void append_chunk(const ppan::CsvChunk& chunk, const std::vector<std::size_t>& columns, std::string& text) {
  text.clear();
  for (std::int64_t row = 0; row < chunk.rows(); ++row) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) text += ',';
      const std::string_view cell = chunk.cell(row, columns[c]);
      const ppan::ParsedNumber number = ppan::parse_number(cell);
      if (number.ok()) {
        ppan::append_number(number.value, {.decimals = number.decimals}, text);
      } else {
        ppan::append_field(cell, ',', text);
      }
    }
    text += '\n';
  }
}

// Chunks go to threads in the order of the file, and come back in it.
std::int64_t copy(ppan::CsvReader& in, const std::vector<std::size_t>& columns, ppan::ByteSink& out,
                  int threads) {
  std::mutex reading;
  std::mutex writing;
  std::condition_variable turn_changed;
  std::int64_t taken = 0;
  std::int64_t turn = 0;
  std::int64_t rows = 0;
  ppan::parallel_for(threads, threads, [&](std::int64_t) {
    ppan::CsvChunk chunk;
    std::string text;
    while (true) {
      std::int64_t number = 0;
      {
        const std::scoped_lock lock(reading);
        if (!in.next(chunk)) return;
        number = taken++;
      }
      append_chunk(chunk, columns, text);
      std::unique_lock lock(writing);
      turn_changed.wait(lock, [&] { return turn == number; });
      out.write(text);
      rows += chunk.rows();
      ++turn;
      turn_changed.notify_all();
    }
  });
  return rows;
}

}  // namespace

int main(int count, char** words) {
  std::vector<std::string> names(words + 1, words + count);
  int threads = 0;
  if (names.size() > 2 && names[names.size() - 2] == "--threads") {
    threads = std::atoi(names.back().c_str());
    names.resize(names.size() - 2);
  }
  if (names.size() < 3) {
    fmt::print(stderr, "usage: bench_csv_copy IN OUT COLUMN... [--threads N]\n");
    return 2;
  }
  try {
    const auto start = std::chrono::steady_clock::now();
    ppan::CsvReader in = ppan::open_csv(names[0], {.chunk_rows = kChunkRows});
    const auto out = ppan::open_sink(names[1]);
    names.erase(names.begin(), names.begin() + 2);
    std::vector<std::size_t> columns;
    for (const std::string& name : names) {
      const auto column = in.find(name);
      if (!column) throw ppan::Error(ppan::ErrorCode::kBadInput, "the table has no column " + name);
      columns.push_back(*column);
    }
    std::string header;
    ppan::append_row(names, ',', header);
    out->write(header);
    const std::int64_t rows = copy(in, columns, *out, ppan::thread_count(threads));
    out->finish();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    fmt::print("{{\"rows\": {}, \"seconds\": {}}}\n", rows, spent.count());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_csv_copy: {}\n", error.what());
    return 1;
  }
}
