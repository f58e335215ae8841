#pragma once

// What a training was like, as bytes (core/archive.h).

#include "ppan/core/archive.h"
#include "ppan/train/train.h"

namespace ppan {

template <typename Archive>
void members(Archive& archive, StepReport& value) {
  auto& [log_likelihood, distortion, penalty, discriminator] = value;
  archive(log_likelihood, distortion, penalty, discriminator);
}
template <typename Archive>
void members(Archive& archive, EpochReport& value) {
  auto& [epoch, epochs, mean, adversary, discriminator, utility, multiplier] = value;
  archive(epoch, epochs, mean, adversary, discriminator, utility, multiplier);
}
/// Without `given`: whoever reads it back knows what was asked for.
template <typename Archive>
void members(Archive& archive, TrainSummary& value) {
  auto& [given, records, batch_used, iterations, stop, message, epochs, distortion] = value;
  archive(records, batch_used, iterations, stop, message, epochs, distortion);
}

}  // namespace ppan
