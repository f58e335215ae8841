#pragma once

// The summary of a training, and its state between two epochs, as bytes (core/archive.h).

#include "ppan/core/archive.h"
#include "ppan/train/train.h"

namespace ppan {

template <typename Archive>
void members(Archive& archive, StepReport& value) {
  auto& [log_likelihood, distortion, penalty, discriminator, second] = value;
  archive(log_likelihood, distortion, penalty, discriminator, second);
}
template <typename Archive>
void members(Archive& archive, EpochReport& value) {
  auto& [epoch, epochs, mean, adversary, discriminator, utility, multiplier] = value;
  archive(epoch, epochs, mean, adversary, discriminator, utility, multiplier);
}
/// Without `given`: the reader knows the request.
template <typename Archive>
void members(Archive& archive, TrainSummary& value) {
  auto& [given, records, batch_used, iterations, stop, message, epochs, distortion] = value;
  archive(records, batch_used, iterations, stop, message, epochs, distortion);
}

template <typename Archive>
void members(Archive& archive, Adam<float>::State& value) {
  auto& [beta1_power, beta2_power, m, v] = value;
  archive(beta1_power, beta2_power, m, v);
}
template <typename Archive>
void members(Archive& archive, PlayerState<float>& value) {
  auto& [parameters, adam, averages_started] = value;
  archive(parameters, adam, averages_started);
}
template <typename Archive>
void members(Archive& archive, Budget<float>::Running& value) {
  auto& [mean, steps] = value;
  archive(mean, steps);
}
template <typename Archive>
void members(Archive& archive, MatchState<float>& value) {
  auto& [mechanism, adversary, discriminator, utility, multiplier, running] = value;
  archive(mechanism, adversary, discriminator, utility, multiplier, running);
}
template <typename Archive>
void members(Archive& archive, TrainState<float>& value) {
  auto& [match, epochs] = value;
  archive(match, epochs);
}

}  // namespace ppan
