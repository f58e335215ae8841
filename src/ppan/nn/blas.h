#pragma once

// The BLAS of the process. A library may not change it for other users in the same process (Python with
// NumPy, a service). BlasThreads restores what it found; lasting changes are made by a Runtime, which only a
// program that owns its process creates.

namespace ppan {

/// During its lifetime, BLAS uses `threads` threads in the whole process. When the last of the objects alive
/// at the same time is destroyed, the number from before the first is restored. Used where work already runs
/// in parallel.
class BlasThreads {
 public:
  explicit BlasThreads(int threads);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;
};

/// The lasting BLAS settings of a program that owns its process. Create it at the start of main(), before any
/// thread.
///
/// OpenBLAS picks its kernels from a list of processor models. A processor newer than the list gets those for
/// SSE3, on a processor with AVX-512 four times slower than the right ones. A Runtime lets OpenBLAS choose
/// again, by the features of the processor, unless the user has chosen (OPENBLAS_CORETYPE). During its
/// lifetime, BlasThreads(1) also ends the threads of OpenBLAS that would otherwise compete with ours while
/// waiting for work. Both use functions that OpenBLAS exports but does not document; where they are missing,
/// nothing is done. The choice of kernels outlasts the Runtime.
class Runtime {
 public:
  Runtime();
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

/// Threads that BLAS uses now.
int blas_threads();
/// The BLAS in use, for example "OpenBLAS 0.3.21 ...".
const char* blas_description();

}  // namespace ppan
