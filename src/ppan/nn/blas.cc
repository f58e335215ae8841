#include "ppan/nn/blas.h"

#include <cblas.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

// Exported by OpenBLAS, not documented: choose the kernels again, end the threads. Threads start again by
// themselves when they are needed.
extern "C" void gotoblas_dynamic_quit() __attribute__((weak));
extern "C" void gotoblas_dynamic_init() __attribute__((weak));
extern "C" int blas_thread_shutdown_() __attribute__((weak));

namespace ppan {
namespace {

std::atomic<int> runtimes{0};

// Those BlasThreads that live, and what the first of them found.
struct Guards {
  std::mutex mutex;
  int alive = 0;
  int before = 0;
};
Guards& guards() {
  static Guards all;
  return all;
}

void set_threads(int threads) {
  if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
}

void choose_kernels() {
#if defined(__x86_64__)
  constexpr const char* kChoice = "OPENBLAS_CORETYPE";
  if (!gotoblas_dynamic_quit || !gotoblas_dynamic_init || std::getenv(kChoice)) return;
  if (std::strcmp(openblas_get_corename(), "Prescott") != 0) return;
  const char* kernels = nullptr;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kernels = "Haswell";
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    kernels = "SkylakeX";
  }
  if (!kernels) return;
  ::setenv(kChoice, kernels, 0);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  ::unsetenv(kChoice);
#endif
}

}  // namespace

BlasThreads::BlasThreads(int threads) {
  Guards& all = guards();
  const std::scoped_lock lock(all.mutex);
  if (all.alive++ == 0) all.before = openblas_get_num_threads();
  set_threads(threads);
  // Waiting for work, they would take turns with ours: a tenth of the time of a release of a million rows.
  if (threads == 1 && runtimes > 0 && blas_thread_shutdown_) blas_thread_shutdown_();
}

BlasThreads::~BlasThreads() {
  Guards& all = guards();
  const std::scoped_lock lock(all.mutex);
  if (--all.alive == 0) set_threads(all.before);
}

Runtime::Runtime() {
  if (runtimes++ == 0) choose_kernels();
}

Runtime::~Runtime() {
  --runtimes;
}

int blas_threads() {
  return openblas_get_num_threads();
}

const char* blas_description() {
  return openblas_get_config();
}

}  // namespace ppan
