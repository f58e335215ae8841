#pragma once

#include "ppan/core/records.h"

namespace ppan {

/// Writes an attribute into columns first .. first + width - 1 of `to`, `times` times one below the other: a
/// real attribute as it is, a finite one as one-hot rows. `to` has times * rows rows.
template <typename Scalar>
void write_input(const Attribute<Scalar>& from, Index times, Index first, Matrix<Scalar>& to) {
  const Index rows = from.rows();
  if (from.finite()) {
    to.middleCols(first, from.levels).setZero();
    for (Index t = 0; t < times; ++t) {
      for (Index i = 0; i < rows; ++i)
        to(t * rows + i, first + from.code[static_cast<std::size_t>(i)]) = Scalar(1);
    }
    return;
  }
  for (Index t = 0; t < times; ++t) to.block(t * rows, first, rows, from.value.cols()) = from.value;
}

}  // namespace ppan
