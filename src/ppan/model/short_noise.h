#pragma once

// Random numbers of a release in single precision. Half a word of the secure source is enough for each: the
// error of a probability, 2^-32, is smaller than the rounding error of a float.

#include "ppan/core/matrix.h"
#include "ppan/core/random.h"

namespace ppan {

/// Fills with independent draws, uniform on [0, 1): two from a word, 32 bits each.
void fill_short_uniform(RandomSource& random, Matrix<float>& out);
/// Fills with independent standard normal draws (Box-Muller): two from a word, of which the radius has 40
/// bits and the angle 24, so that they reach 7.4 standard deviations.
void fill_short_normal(RandomSource& random, Matrix<float>& out);

}  // namespace ppan
