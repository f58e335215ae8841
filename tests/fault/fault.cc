// A library to be loaded before all others (LD_PRELOAD) that fails one call of the program's main(): the n-th
// allocation, or the n-th call that writes, flushes or renames. Faults begin with main(), because what runs
// before it belongs to the loader.
//
//   PPAN_FAULT_KIND   "allocation" or "write"
//   PPAN_FAULT_AT     n, counted from 1; 0: none
//   PPAN_FAULT_ALL    "1": every call after it fails too
//   PPAN_FAULT_COUNT  file that gets the number of calls when the program ends

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

enum Kind { kNone, kAllocation, kWrite };

std::atomic<int> armed{kNone};
std::atomic<long> calls{0};
long fail_at = 0;
bool fail_all = false;

bool fails(Kind kind) {
  if (armed.load(std::memory_order_relaxed) != kind) return false;
  const long call = calls.fetch_add(1) + 1;
  return fail_at > 0 && (fail_all ? call >= fail_at : call == fail_at);
}

void report() {
  armed = kNone;
  const char* path = std::getenv("PPAN_FAULT_COUNT");
  if (path == nullptr) return;
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%ld\n", calls.load());
  const int file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file >= 0) {
    ::syscall(SYS_write, file, text, static_cast<std::size_t>(length));
    ::close(file);
  }
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int armed_main(int count, char** arguments, char** environment) {
  const char* kind = std::getenv("PPAN_FAULT_KIND");
  const char* at = std::getenv("PPAN_FAULT_AT");
  const char* all = std::getenv("PPAN_FAULT_ALL");
  fail_at = at != nullptr ? std::atol(at) : 0;
  fail_all = all != nullptr && std::strcmp(all, "1") == 0;
  if (kind != nullptr) armed = std::strcmp(kind, "write") == 0 ? kWrite : kAllocation;
  const int status = real_main(count, arguments, environment);
  report();
  return status;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int __libc_start_main(Main main, int count, char** arguments, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  real_main = main;
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  return next<Start>("__libc_start_main")(armed_main, count, arguments, init, fini, loader_fini, stack_end);
}

void* malloc(std::size_t size) {
  if (!fails(kAllocation)) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}
void* calloc(std::size_t count, std::size_t size) {
  if (!fails(kAllocation)) return __libc_calloc(count, size);
  errno = ENOMEM;
  return nullptr;
}
void* realloc(void* old, std::size_t size) {
  if (!fails(kAllocation)) return __libc_realloc(old, size);
  errno = ENOMEM;
  return nullptr;
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (!fails(kAllocation)) return __libc_memalign(alignment, size);
  errno = ENOMEM;
  return nullptr;
}
void* memalign(std::size_t alignment, std::size_t size) {
  return aligned_alloc(alignment, size);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t size) {
  void* const memory = aligned_alloc(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *to = memory;
  return 0;
}

ssize_t write(int file, const void* bytes, std::size_t count) {
  if (fails(kWrite)) {
    errno = ENOSPC;
    return -1;
  }
  return ::syscall(SYS_write, file, bytes, count);
}
ssize_t writev(int file, const iovec* parts, int count) {
  if (fails(kWrite)) {
    errno = ENOSPC;
    return -1;
  }
  return ::syscall(SYS_writev, file, parts, count);
}
int fsync(int file) {
  if (fails(kWrite)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, file));
}
int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  if (fails(kWrite)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat, from_directory, from, to_directory, to));
}
}
