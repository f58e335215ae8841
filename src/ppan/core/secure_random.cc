#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <pthread.h>

#include <atomic>

#include "ppan/core/error.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

// How many forks lie between this process and the one that loaded the program. A child inherits its parent's
// buffered words and must throw them away.
std::atomic<std::uint64_t>& forks() {
  static std::atomic<std::uint64_t> count{0};
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forks().fetch_add(1); });
  (void)registered;
  return count;
}

}  // namespace

SecureRandom::SecureRandom() : fork_count_(forks().load()) {}

SecureRandom::~SecureRandom() {
  OPENSSL_cleanse(buffer().data(), buffer().size_bytes());
}

bool SecureRandom::stale() {
  return forks().load(std::memory_order_relaxed) != fork_count_;
}

void SecureRandom::refill(std::span<std::uint64_t> words) {
  fork_count_ = forks().load();
  const auto bytes = static_cast<int>(words.size_bytes());
  if (RAND_bytes(reinterpret_cast<unsigned char*>(words.data()), bytes) != 1) {
    throw Error(ErrorCode::kInternal, "the secure random source failed; nothing can be released without it");
  }
}

}  // namespace ppan
