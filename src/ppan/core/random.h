#pragma once

// Randomness is a parameter. A RandomSource hands out 64-bit words; everything else (uniform, normal, index,
// shuffle) is built on it, so that the seeded source of training and tests and the secure source of releases
// are used by the same code.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "ppan/core/matrix.h"

namespace ppan {

class RandomSource {
 public:
  virtual ~RandomSource() = default;

  std::uint64_t next() {
    if (used_ == buffer_.size() || stale()) {
      refill(buffer_);
      used_ = 0;
    }
    return buffer_[used_++];
  }
  /// The same words as that many calls of next(), in less time.
  void next(std::span<std::uint64_t> words);
  /// Uniform on [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  /// Uniform on {0, ..., count - 1}, without modulo bias. `count` is at least 1.
  std::int64_t index(std::int64_t count);

 protected:
  RandomSource() = default;
  RandomSource(const RandomSource&) = default;
  RandomSource& operator=(const RandomSource&) = default;
  virtual void refill(std::span<std::uint64_t> words) = 0;
  /// True when buffered words must not be used any more (a forked process must not repeat its parent's).
  [[nodiscard]] virtual bool stale() { return false; }
  std::span<std::uint64_t> buffer() { return buffer_; }

 private:
  std::array<std::uint64_t, 128> buffer_{};
  std::size_t used_ = 128;
};

/// Reproducible stream (xoshiro256++). Streams forked by name are independent of each other and of how much
/// was drawn from their parent, so adding a draw in one place never shifts another.
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed);
  [[nodiscard]] SeededRandom fork(std::string_view name) const;
  [[nodiscard]] SeededRandom fork(std::string_view name, std::uint64_t number) const;

 protected:
  void refill(std::span<std::uint64_t> words) override;

 private:
  std::uint64_t key_;  // identity of the stream, from which forks derive
  std::array<std::uint64_t, 4> state_{};
};

/// Words from OpenSSL's RAND_bytes. Takes no seed. Throws Error(kIo) if the source fails.
class SecureRandom final : public RandomSource {
 public:
  SecureRandom();
  ~SecureRandom() override;
  SecureRandom(const SecureRandom&) = delete;
  SecureRandom& operator=(const SecureRandom&) = delete;

 protected:
  void refill(std::span<std::uint64_t> words) override;
  [[nodiscard]] bool stale() override;

 private:
  std::uint64_t fork_count_;
};

/// Fills with independent draws, uniform on [low, high).
template <typename Scalar>
void fill_uniform(RandomSource& random, Scalar low, Scalar high, Matrix<Scalar>& out);
/// Fills with independent standard normal draws (Box-Muller).
template <typename Scalar>
void fill_normal(RandomSource& random, Matrix<Scalar>& out);
/// Fisher-Yates.
void shuffle(RandomSource& random, std::span<std::int32_t> values);
/// Index drawn with the given probabilities (which sum to 1 up to rounding).
std::int64_t draw_index(RandomSource& random, std::span<const double> probabilities);

}  // namespace ppan
