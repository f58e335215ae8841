#pragma once

// Helpers shared by the samplers; private to this directory.

#include "ppan/core/random.h"
#include "ppan/core/records.h"

namespace ppan {

inline Matrix<double> standard_normal(Index rows, Index cols, RandomSource& random) {
  Matrix<double> draws(rows, cols);
  fill_normal(random, draws);
  return draws;
}

inline Attribute<double> real(Matrix<double> value) {
  return {{}, 0, std::move(value)};
}
inline Attribute<double> finite(Symbols code, std::int32_t levels) {
  return {std::move(code), levels, {}};
}

}  // namespace ppan
