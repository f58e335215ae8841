#pragma once

// What a reader compares a learned mechanism with: ways of releasing a table that need no training.

#include <cstdint>
#include <span>
#include <vector>

#include "ppan/core/random.h"
#include "ppan/encode/encoder.h"
#include "ppan/read/schema.h"

namespace ppan {

enum class NoisyColumns {
  kEvery,       ///< Each column by the noise that fits it.
  kCategories,  ///< Randomized response alone; numbers stay as they are.
  kNumbers,     ///< Gaussian noise alone; categories stay as they are.
};

/// Independent noise of one strength t >= 0 on the released columns: a category becomes a level drawn
/// uniformly with probability min(t, 1) (randomized response), a number gets normal noise of variance t, in
/// variances of the column, and stays within its range. Whether a number is missing counts as a category of
/// two levels, and goes with the number.
EncodedRows add_noise(const EncodedRows& rows, std::span<const std::int32_t> columns,
                      const Encoding& encoding, double strength, RandomSource& random,
                      NoisyColumns noisy = NoisyColumns::kEvery);

/// The strength at which the noise costs `distortion` on these rows, found by bisection on `seed`'s draws;
/// the greatest useful strength if none costs so much.
double noise_strength(const EncodedRows& rows, std::span<const std::int32_t> columns,
                      const Encoding& encoding, double distortion, std::uint64_t seed,
                      NoisyColumns noisy = NoisyColumns::kEvery);

/// Columns of `columns` by what they tell about the hidden columns by themselves, most first: plug-in mutual
/// information with numbers cut into 16 bins of equal share. Ties keep their order.
std::vector<std::int32_t> by_leakage(const EncodedRows& rows, std::span<const std::int32_t> columns,
                                     const Schema& schema, const Encoding& encoding);

/// The columns `columns` of `rows`, with those of `dropped` replaced by one constant each: the most frequent
/// level, the mean.
EncodedRows drop_columns(const EncodedRows& rows, std::span<const std::int32_t> columns,
                         std::span<const std::int32_t> dropped, const Encoding& encoding);

}  // namespace ppan
