#pragma once

// The measurements of a point of images, as bytes (core/archive.h).

#include "ppan/audit/audit_archive.h"
#include "ppan/image/image_curve.h"
#include "ppan/train/train_archive.h"

namespace ppan {

template <typename Archive>
void members(Archive& archive, ImageLearning& value) {
  auto& [images, nats] = value;
  archive(images, nats);
}
template <typename Archive>
void members(Archive& archive, ImageAttackerScore& value) {
  auto& [name, selection, leakage, accuracy, learning] = value;
  archive(name, selection, leakage, accuracy, learning);
}
template <typename Archive>
void members(Archive& archive, ImageAttack& value) {
  auto& [attackers, code, entropy, prior_accuracy, still_rising] = value;
  archive(attackers, code, entropy, prior_accuracy, still_rising);
}
template <typename Archive>
void members(Archive& archive, ImageMeasure& value) {
  auto& [distortion, distortion95, unchanged, attack, upper, belief, belief_accuracy, task, seconds] = value;
  archive(distortion, distortion95, unchanged, attack, upper, belief, belief_accuracy, task, seconds);
}

template <typename Archive>
void members(Archive& archive, TaskTeacher& value) {
  auto& [parameters, nats] = value;
  archive(parameters, nats);
}

}  // namespace ppan
