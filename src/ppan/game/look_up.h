#pragma once

// Reading tables, and adding to them, by the codes of records: most of the work of a finite mechanism and a
// finite adversary. Compilers do not vectorise such loops. Gathering eight elements at once and adding the
// row of a record at a time take a third and half of the time (docs/decisions/0005-discrete-step.md).

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <type_traits>

#include "ppan/core/matrix.h"

namespace ppan {

/// out[i] = table[step * code[i]] for i < count. step * code must fit 31 bits.
template <typename Scalar>
void look_up(const Scalar* table, std::int32_t step, const std::int32_t* code, Index count, Scalar* out) {
  Index i = 0;
#if defined(__AVX2__)
  if constexpr (std::is_same_v<Scalar, float>) {
    const __m256i steps = _mm256_set1_epi32(step);
    for (; i + 8 <= count; i += 8) {
      // Unaligned access through a vector type is what this intrinsic is for.
      const auto* from = reinterpret_cast<const __m256i_u*>(code + i);
      const __m256i where = _mm256_mullo_epi32(_mm256_loadu_si256(from), steps);
      _mm256_storeu_ps(out + i, _mm256_i32gather_ps(table, where, sizeof(float)));
    }
  }
#endif
  for (; i < count; ++i) out[i] = table[step * code[i]];
}

/// table(code[i], k) += from(i, k), where table(l, k) is table[l * level_step + k * column_step]. Record by
/// record: neighbouring additions then never wait for one another's result.
template <typename Scalar>
void add_up(const Matrix<Scalar>& from, const std::int32_t* code, Index level_step, Index column_step,
            Scalar* table) {
  const Index records = from.rows();
  for (Index i = 0; i < records; ++i) {
    Scalar* to = table + code[i] * level_step;
    const Scalar* row = from.data() + i;
    for (Index k = 0; k < from.cols(); ++k) to[k * column_step] += row[k * records];
  }
}

}  // namespace ppan
