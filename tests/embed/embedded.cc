// What a binding would be: a shared library with ppan inside. embed_test.py loads it.

#include "ppan/core/random.h"
#include "ppan/nn/blas.h"
#include "ppan/nn/dense.h"
#include "ppan/paper/experiment.h"

namespace {

// A layer too tall for panels, so that BLAS computes it.
constexpr ppan::Index kRows = 600;
constexpr ppan::Index kUnits = 128;

bool layer_goes_to_blas() {
  ppan::SeededRandom random(1);
  ppan::Matrix<float> a(kRows, kUnits);
  ppan::Matrix<float> w(kUnits, kUnits);
  ppan::fill_normal(random, a);
  ppan::fill_normal(random, w);
  ppan::Matrix<float> z(kRows, kUnits);
  ppan::dense_forward<float>(kRows, kUnits, kUnits, a.data(), w.data(), nullptr, false, z.data());
  return ppan::dense_kernel(kRows, kUnits, kUnits) == ppan::DenseKernel::kBlas && z.allFinite();
}

}  // namespace

/// Trains and scores two points as `ppan paper` does; 0 if all went well.
extern "C" int embedded_run() {
  ppan::ExperimentOptions options;
  options.name = "scalar-gaussian";
  options.points = 1;
  options.epochs = 1;
  const ppan::ExperimentResult result = ppan::run_experiment(options);
  return result.points.size() == 2 && layer_goes_to_blas() ? 0 : 1;
}

/// What only a program that owns its process may do: the test shows that it would notice.
extern "C" void embedded_take_over() {
  const ppan::Runtime runtime;
}
