// What is done number by number: Adam over parameter vectors of the paper's networks (scalar 51, vector 805,
// MNIST 2.6 million), softmax over batches, activations.

#include "checked_benchmark.h"
#include "ppan/game/softmax.h"
#include "ppan/nn/activation.h"
#include "ppan/nn/adam.h"

namespace ppan {
namespace {

void adam(benchmark::State& state) {
  SeededRandom random(1);
  Vector<float> gradient = bench::random_matrix(random, state.range(0), 1);
  gradient += gradient.cwiseSign();  // away from 0, where epsilon would count
  Vector<float> parameters = Vector<float>::Zero(state.range(0));
  Adam<float> optimiser;
  constexpr int kChecked = 10;
  for (int step = 0; step < kChecked; ++step) optimiser.step(1e-3, gradient, parameters);
  // With a constant gradient every step is -rate * sign(gradient).
  bench::check(state, parameters, -1e-3 * kChecked * gradient.cast<double>().cwiseSign(), 1e-4);
  for (auto _ : state) {
    optimiser.step(1e-3, gradient, parameters);
    benchmark::DoNotOptimize(parameters.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(adam)->Arg(51)->Arg(805)->Arg(2'600'000);

Matrix<double> softmax_reference(const Matrix<float>& logits) {
  Matrix<double> p = logits.cast<double>().array().exp().matrix();
  for (Index i = 0; i < p.rows(); ++i) p.row(i) /= p.row(i).sum();
  return p;
}

void softmax(benchmark::State& state) {
  SeededRandom random(2);
  const Matrix<float> logits = bench::random_matrix(random, state.range(0), state.range(1));
  Matrix<float> p;
  for (auto _ : state) {
    softmax_rows(logits, p);
    benchmark::DoNotOptimize(p.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * logits.size());
  bench::check(state, p, softmax_reference(logits), 1e-5);
}
BENCHMARK(softmax)->Args({100, 10})->Args({200, 10});

void log_softmax(benchmark::State& state) {
  SeededRandom random(3);
  const Matrix<float> logits = bench::random_matrix(random, state.range(0), state.range(1));
  Matrix<float> log_p;
  for (auto _ : state) {
    log_softmax_rows(logits, log_p);
    benchmark::DoNotOptimize(log_p.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * logits.size());
  bench::check(state, log_p, softmax_reference(logits).array().log().matrix(), 1e-5);
}
BENCHMARK(log_softmax)->Args({10, 10})->Args({100, 10});

void tanh_of_a_wide_layer(benchmark::State& state) {
  SeededRandom random(4);
  const Matrix<float> input = bench::random_matrix(random, 100, 1000);
  Matrix<float> values = input;
  for (auto _ : state) {
    values = input;
    activate(Activation::kTanh, values);
    benchmark::DoNotOptimize(values.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * input.size());
  bench::check(state, values, input.cast<double>().array().tanh().matrix(), 1e-5);
}
BENCHMARK(tanh_of_a_wide_layer);

}  // namespace
}  // namespace ppan

int main(int argc, char** argv) {
  return ppan::bench::run(argc, argv);
}
