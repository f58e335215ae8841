#pragma once

// Encodes and decodes many numbers of a column at a time, with the same bits as ColumnEncoding::encode() and
// decode(). Each step runs over all numbers, so that it vectorises; a release does little else.

#include <cstdint>
#include <span>
#include <vector>

#include "ppan/encode/encoding.h"

namespace ppan {

/// How many of `sorted`, which is not empty, are less than each of `values`, or at most it if `equal`: the
/// positions of std::lower_bound() and std::upper_bound(). Searches run side by side, so that none waits for
/// a mispredicted branch of another: cells of a table come in any order.
void count_less(std::span<const double> sorted, std::span<const double> values, bool equal,
                std::vector<std::uint32_t>& out);

void encode_all(const ColumnEncoding& column, std::span<double> values);
void decode_all(const ColumnEncoding& column, std::span<double> values);

}  // namespace ppan
