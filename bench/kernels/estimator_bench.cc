// Nearest-neighbour estimate of mutual information (KSG) as the records grow, for one and five dimensions on
// each side. The answer is compared with the truth for Gaussian pairs of correlation 0.8.

#include "checked_benchmark.h"
#include "ppan/audit/ksg.h"

namespace ppan {
namespace {

void ksg(benchmark::State& state) {
  const Index records = state.range(0);
  const Index dimensions = state.range(1);
  constexpr double kRho = 0.8;
  SeededRandom random(1);
  const Matrix<double> x = bench::random_matrix(random, records, dimensions).cast<double>();
  const Matrix<double> z = kRho * x + std::sqrt(1 - kRho * kRho) *
                                          bench::random_matrix(random, records, dimensions).cast<double>();
  Vector<double> nats(1);
  for (auto _ : state) {
    nats[0] = ksg_information(x, z).nats;
    benchmark::DoNotOptimize(nats.data());
  }
  state.SetItemsProcessed(state.iterations() * records);
  const double truth = -0.5 * static_cast<double>(dimensions) * std::log(1 - kRho * kRho);
  // Nearest neighbours in ten dimensions are far ones: the estimate falls short by up to a third.
  bench::check(state, nats, Vector<double>::Constant(1, truth), dimensions == 1 ? 0.1 : 0.35);
}
BENCHMARK(ksg)
    ->ArgNames({"records", "dimensions"})
    ->Args({1000, 1})
    ->Args({4000, 1})
    ->Args({16000, 1})
    ->Args({4000, 5})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ppan

int main(int argc, char** argv) {
  return ppan::bench::run(argc, argv);
}
