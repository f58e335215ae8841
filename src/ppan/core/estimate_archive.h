#pragma once

// Estimates as bytes (archive.h).

#include "ppan/core/archive.h"
#include "ppan/core/estimate.h"

namespace ppan {

template <typename Archive>
void members(Archive& archive, Interval& value) {
  auto& [low, high] = value;
  archive(low, high);
}
template <typename Archive>
void members(Archive& archive, Estimate& value) {
  auto& [nats, interval95, bound, method, samples] = value;
  archive(nats, interval95, bound, method, samples);
}

}  // namespace ppan
