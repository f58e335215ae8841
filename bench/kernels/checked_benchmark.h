#pragma once

// A fast kernel that computes something else is worth nothing: every benchmark compares its answer with a
// plain reference, and the executable fails if one of them is wrong.

#include <benchmark/benchmark.h>

#include <cmath>

#include "ppan/core/matrix.h"
#include "ppan/core/random.h"

namespace ppan::bench {

inline bool& wrong_answer() {
  static bool wrong = false;
  return wrong;
}

/// Marks the benchmark as failed unless `got` and `want` agree to `tolerance`, relative to the largest
/// `want`.
template <typename Got, typename Want>
void check(benchmark::State& state, const Eigen::MatrixBase<Got>& got, const Eigen::MatrixBase<Want>& want,
           double tolerance) {
  const double scale = want.template cast<double>().cwiseAbs().maxCoeff() + 1e-300;
  const double worst =
      (got.template cast<double>() - want.template cast<double>()).cwiseAbs().maxCoeff() / scale;
  if (worst <= tolerance) return;
  wrong_answer() = true;
  state.SkipWithError("the answer is wrong");
}

inline Matrix<float> random_matrix(RandomSource& random, Index rows, Index cols) {
  Matrix<float> m(rows, cols);
  fill_normal(random, m);
  return m;
}

inline int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return wrong_answer() ? 1 : 0;
}

}  // namespace ppan::bench
