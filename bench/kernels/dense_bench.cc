// The three products of a dense layer at the sizes of the paper: 5 and 20 units with batches of 200, 1000
// units with batches of 100. Counter: floating-point operations per second.

#include "checked_benchmark.h"
#include "ppan/nn/blas.h"
#include "ppan/nn/dense.h"

namespace ppan {
namespace {

constexpr double kTolerance = 1e-5;

// Z = A W + b by the textbook, in double.
Matrix<double> forward_reference(const Matrix<float>& a, const Matrix<float>& w, const Vector<float>& b) {
  Matrix<double> z(a.rows(), w.cols());
  for (Index r = 0; r < a.rows(); ++r) {
    for (Index j = 0; j < w.cols(); ++j) {
      double sum = static_cast<double>(b[j]);
      for (Index i = 0; i < a.cols(); ++i) sum += static_cast<double>(a(r, i)) * static_cast<double>(w(i, j));
      z(r, j) = sum;
    }
  }
  return z;
}

struct Layer {
  explicit Layer(const benchmark::State& state)
      : rows(state.range(0)), inputs(state.range(1)), outputs(state.range(2)) {
    SeededRandom random(1);
    a = bench::random_matrix(random, rows, inputs);
    w = bench::random_matrix(random, inputs, outputs);
    b = bench::random_matrix(random, outputs, 1);
    dz = bench::random_matrix(random, rows, outputs);
  }
  void count(benchmark::State& state) const {
    state.counters["flop/s"] =
        benchmark::Counter(2.0 * static_cast<double>(rows * inputs * outputs),
                           benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
    constexpr const char* kNames[] = {"narrow", "panels", "BLAS"};
    state.SetLabel(kNames[static_cast<int>(dense_kernel(rows, inputs, outputs))]);
  }
  Index rows;
  Index inputs;
  Index outputs;
  Matrix<float> a;
  Matrix<float> w;
  Vector<float> b;
  Matrix<float> dz;
};

void forward(benchmark::State& state) {
  const Layer layer(state);
  Matrix<float> z(layer.rows, layer.outputs);
  for (auto _ : state) {
    dense_forward(layer.rows, layer.inputs, layer.outputs, layer.a.data(), layer.w.data(), layer.b.data(),
                  false, z.data());
    benchmark::DoNotOptimize(z.data());
    benchmark::ClobberMemory();
  }
  layer.count(state);
  bench::check(state, z, forward_reference(layer.a, layer.w, layer.b), kTolerance);
}

void backward_input(benchmark::State& state) {
  const Layer layer(state);
  Matrix<float> da(layer.rows, layer.inputs);
  for (auto _ : state) {
    dense_backward_input(layer.rows, layer.inputs, layer.outputs, layer.dz.data(), layer.w.data(), da.data());
    benchmark::DoNotOptimize(da.data());
    benchmark::ClobberMemory();
  }
  layer.count(state);
  bench::check(state, da, forward_reference(layer.dz, layer.w.transpose(), Vector<float>::Zero(layer.inputs)),
               kTolerance);
}

void backward_weights(benchmark::State& state) {
  const Layer layer(state);
  Matrix<float> dw(layer.inputs, layer.outputs);
  Vector<float> db(layer.outputs);
  for (auto _ : state) {
    dense_backward_weights(layer.rows, layer.inputs, layer.outputs, layer.a.data(), layer.dz.data(),
                           dw.data(), db.data());
    benchmark::DoNotOptimize(dw.data());
    benchmark::ClobberMemory();
  }
  layer.count(state);
  bench::check(state, dw,
               forward_reference(layer.a.transpose(), layer.dz, Vector<float>::Zero(layer.outputs)),
               kTolerance);
  bench::check(state, db, layer.dz.cast<double>().colwise().sum().transpose(), kTolerance);
}

void paper_sizes(benchmark::internal::Benchmark* each) {
  each->ArgNames({"rows", "in", "out"});
  each->Args({200, 2, 5})->Args({200, 5, 5})->Args({200, 5, 2});
  each->Args({200, 13, 20})->Args({200, 20, 20})->Args({200, 20, 10});
  each->Args({100, 804, 1000})->Args({100, 1000, 1000})->Args({100, 1000, 784})->Args({100, 500, 1});
}

BENCHMARK(forward)->Apply(paper_sizes);
BENCHMARK(backward_input)->Apply(paper_sizes);
BENCHMARK(backward_weights)->Apply(paper_sizes);

}  // namespace
}  // namespace ppan

int main(int argc, char** argv) {
  const ppan::Runtime runtime;
  const ppan::BlasThreads one(1);
  return ppan::bench::run(argc, argv);
}
