#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "ppan/core/crypto.h"
#include "ppan/core/error.h"
#include "ppan/core/per_thread.h"
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

// Words ahead, for all sources of a thread: a call of RAND_bytes costs as much as a thousand bytes from it.
struct Ahead {
  std::array<std::uint64_t, 2048> words{};
  std::size_t used = words.size();
  std::uint64_t fork_count = 0;
  ~Ahead() { OPENSSL_cleanse(words.data(), sizeof words); }
};

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
  static PerThread<Ahead> per_thread;
  Ahead& ahead = per_thread.get();
  if (ahead.fork_count != fork_count_ || ahead.words.size() - ahead.used < words.size()) {
    ahead.used = ahead.words.size();  // none, should the next lines fail
    start_crypto();
    if (RAND_bytes(reinterpret_cast<unsigned char*>(ahead.words.data()), sizeof ahead.words) != 1) {
      throw Error(ErrorCode::kIo, "the secure random source failed; nothing can be released without it",
                  "see that there is enough memory, and that the system's own source works");
    }
    ahead.used = 0;
    ahead.fork_count = fork_count_;
  }
  const auto from = ahead.words.begin() + static_cast<std::ptrdiff_t>(ahead.used);
  std::copy_n(from, words.size(), words.begin());
  OPENSSL_cleanse(&*from, words.size_bytes());  // handed out once
  ahead.used += words.size();
}

}  // namespace ppan
