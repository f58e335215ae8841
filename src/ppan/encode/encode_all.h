#pragma once

// Numbers of a column, many at a time: ColumnEncoding::encode() and decode() of each, to the bit. Each step
// runs over all of them, so that it takes several at once; a release does little else.

#include <cstdint>
#include <span>
#include <vector>

#include "ppan/encode/encoding.h"

namespace ppan {

/// How many of `sorted`, which is not empty, are less than each of `values`, or at most it if `equal`: where
/// std::lower_bound() and std::upper_bound() are. Side by side, so that none waits for a guess of where
/// another one lies: cells of a table come in any order.
void count_less(std::span<const double> sorted, std::span<const double> values, bool equal,
                std::vector<std::uint32_t>& out);

void encode_all(const ColumnEncoding& column, std::span<double> values);
void decode_all(const ColumnEncoding& column, std::span<double> values);

}  // namespace ppan
