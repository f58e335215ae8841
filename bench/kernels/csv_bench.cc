// Delimited text in and numbers out: the reader alone, and the reader with every cell taken as a number. The
// checksum of what was read is compared with that of what was written. Counter: bytes of text per second.

#include <fmt/format.h>

#include "checked_benchmark.h"
#include "ppan/source/csv.h"
#include "ppan/source/number.h"

namespace ppan {
namespace {

constexpr Index kColumns = 8;

struct Text {
  explicit Text(Index rows) {
    SeededRandom random(1);
    for (Index c = 0; c < kColumns; ++c) bytes += fmt::format("{}c{}", c > 0 ? "," : "", c);
    bytes += '\n';
    for (Index r = 0; r < rows; ++r) {
      for (Index c = 0; c < kColumns; ++c) {
        const double cents = static_cast<double>(random.index(1'000'000));
        cells_sum += cents / 100;
        bytes += fmt::format("{}{:.2f}", c > 0 ? "," : "", cents / 100);
      }
      bytes += '\n';
    }
  }
  std::string bytes;
  double cells_sum = 0;
};

void parse(benchmark::State& state) {
  const Text text(state.range(0));
  const bool numbers = state.range(1) != 0;
  Vector<double> got(1);
  CsvChunk chunk;
  for (auto _ : state) {
    CsvReader reader(memory_source(text.bytes));
    double sum = 0;
    Index cells = 0;
    while (reader.next(chunk)) {
      cells += chunk.rows() * static_cast<Index>(chunk.columns());
      if (!numbers) continue;
      for (std::int64_t r = 0; r < chunk.rows(); ++r) {
        for (std::size_t c = 0; c < chunk.columns(); ++c) sum += parse_number(chunk.cell(r, c)).value;
      }
    }
    got[0] = numbers ? sum : static_cast<double>(cells);
    benchmark::DoNotOptimize(got.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.bytes.size()));
  const double want = numbers ? text.cells_sum : static_cast<double>(state.range(0) * kColumns);
  bench::check(state, got, Vector<double>::Constant(1, want), 1e-9);
}
BENCHMARK(parse)
    ->ArgNames({"rows", "numbers"})
    ->Args({10'000, 0})
    ->Args({10'000, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ppan

int main(int argc, char** argv) {
  return ppan::bench::run(argc, argv);
}
