#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace ppan {

/// An object for each thread, created at its first use and destroyed when the thread ends. If memory runs
/// out, get() throws std::bad_alloc. With a thread_local object the C library would end the process when it
/// cannot register the destructor.
template <typename T>
class PerThread {
 public:
  PerThread() {
    if (pthread_key_create(&key_, [](void* own) { delete static_cast<T*>(own); }) != 0)
      throw std::bad_alloc();
  }
  ~PerThread() { pthread_key_delete(key_); }
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;

  T& get() {
    if (void* known = pthread_getspecific(key_)) return *static_cast<T*>(known);
    auto own = std::make_unique<T>();
    if (pthread_setspecific(key_, own.get()) != 0) throw std::bad_alloc();
    return *own.release();
  }

 private:
  pthread_key_t key_{};
};

}  // namespace ppan
