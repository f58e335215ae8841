#pragma once

// Numbers of a column, many at a time: ColumnEncoding::encode() and decode() of each, to the bit. Each step
// runs over all of them, so that it takes several at once; a release does little else.

#include <span>

#include "ppan/encode/encoding.h"

namespace ppan {

void encode_all(const ColumnEncoding& column, std::span<double> values);
void decode_all(const ColumnEncoding& column, std::span<double> values);

}  // namespace ppan
