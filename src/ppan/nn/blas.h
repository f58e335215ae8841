#pragma once

// The BLAS of the process. A library may not change it for others who use it in the same process (Python with
// NumPy, a service): BlasThreads puts back what it found, and everything that lasts is done by a Runtime,
// which only a program that owns its process makes.

namespace ppan {

/// While it lives, BLAS uses `threads` threads in the whole process; when the last one of those that live at
/// a time ends, it uses as many as before the first. Made where work runs side by side by itself.
class BlasThreads {
 public:
  explicit BlasThreads(int threads);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;
};

/// What a program that owns its process may do to BLAS; made at the start of main(), before any thread.
///
/// OpenBLAS picks its kernels from a list of processor models. A processor newer than the list gets those for
/// SSE3, on a processor with AVX-512 four times slower than the right ones. A Runtime lets OpenBLAS choose
/// again, by what the processor can do, unless the user has chosen (OPENBLAS_CORETYPE). While it lives,
/// BlasThreads(1) also ends the threads of OpenBLAS that would wait for work beside ours. Both go through
/// functions that OpenBLAS exports but does not document; where they are missing nothing is done. The
/// kernels stay chosen when the Runtime ends.
class Runtime {
 public:
  Runtime();
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

/// Threads that BLAS uses now.
int blas_threads();
/// What BLAS is in use, for example "OpenBLAS 0.3.21 ...".
const char* blas_description();

}  // namespace ppan
