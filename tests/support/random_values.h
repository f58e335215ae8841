#pragma once

#include "ppan/core/matrix.h"
#include "ppan/core/random.h"
#include "ppan/core/records.h"

namespace ppan::testing {

/// Independent standard normal numbers.
template <typename Scalar = double>
Matrix<Scalar> random_matrix(RandomSource& random, Index rows, Index cols) {
  Matrix<Scalar> m(rows, cols);
  fill_normal(random, m);
  return m;
}

template <typename Scalar = double>
Vector<Scalar> random_vector(RandomSource& random, Index size) {
  return random_matrix<Scalar>(random, size, 1).col(0);
}

template <typename Scalar = double>
Attribute<Scalar> random_real(RandomSource& random, Index rows, Index dimensions) {
  Attribute<Scalar> a;
  a.value = random_matrix<Scalar>(random, rows, dimensions);
  return a;
}

template <typename Scalar = double>
Attribute<Scalar> random_finite(RandomSource& random, Index rows, std::int32_t levels) {
  Attribute<Scalar> a;
  a.levels = levels;
  a.code.resize(static_cast<std::size_t>(rows));
  for (auto& code : a.code) code = static_cast<std::int32_t>(random.index(levels));
  return a;
}

}  // namespace ppan::testing
