#include "ppan/nn/blas.h"

#include <cblas.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

// Exported by OpenBLAS, not documented: choose the kernels again, end the threads. Threads start again by
// themselves when they are needed.
extern "C" void gotoblas_dynamic_quit() __attribute__((weak));
extern "C" void gotoblas_dynamic_init() __attribute__((weak));
extern "C" int blas_thread_shutdown_() __attribute__((weak));
// Hand out the buffers that products work in; what is given back stays for the next.
extern "C" void* blas_memory_alloc(int) __attribute__((weak));
extern "C" void blas_memory_free(void*) __attribute__((weak));

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

bool address_space_is_limited() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// Where OpenBLAS cannot have a buffer, it asks for it again, for ever. So the buffers that `count` threads
// need are taken while there is room for them, or std::bad_alloc is thrown. Only where memory is limited:
// elsewhere an address costs nothing until it is used.
void reserve_buffers(unsigned count) {
  constexpr std::size_t kBufferBytes = (std::size_t{128} << 20U) + 8192;
  static unsigned reserved = 0;
  if (count <= reserved || !blas_memory_alloc || !blas_memory_free || !address_space_is_limited()) return;
  const std::size_t bytes = (count - reserved) * kBufferBytes;
  void* const room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  ::munmap(room, bytes);
  std::vector<void*> buffers(count);
  for (void*& buffer : buffers) buffer = blas_memory_alloc(0);
  for (void* buffer : buffers) blas_memory_free(buffer);
  reserved = count;
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
  if (runtimes > 0) {
    reserve_buffers(std::max(1U, std::thread::hardware_concurrency()));
    if (address_space_is_limited()) threads = 1;  // its own threads take buffers when they start
  }
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
