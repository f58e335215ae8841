#pragma once

// What the pieces of a table's curve give, as bytes (core/archive.h).

#include "ppan/audit/audit_archive.h"
#include "ppan/game/mechanism_archive.h"
#include "ppan/table/curve_pieces.h"
#include "ppan/train/train_archive.h"

namespace ppan {

template <typename Archive>
void members(Archive& archive, TableStart& value) {
  auto& [mechanism, parameters] = value;
  archive(mechanism, parameters);
}
template <typename Archive>
void members(Archive& archive, CodebookCentres<float>& value) {
  auto& [centre, weight] = value;
  archive(centre, weight);
}
template <typename Archive>
void members(Archive& archive, CodebookStart& value) {
  auto& [parameters, centres, leakage, kept_leakage] = value;
  archive(parameters, centres, leakage, kept_leakage);
}
template <typename Archive>
void members(Archive& archive, HeadLink& value) {
  auto& [first, second, logit] = value;
  archive(first, second, logit);
}
template <typename Archive>
void members(Archive& archive, HeadsLearned& value) {
  auto& [order, redrawn, links, base, parameters, teacher, adversary_decay] = value;
  archive(order, redrawn, links, base, parameters, teacher, adversary_decay);
}
template <typename Archive>
void members(Archive& archive, RedrawnColumns& value) {
  auto& [order, counts, links, base] = value;
  archive(order, counts, links, base);
}
template <typename Archive>
void members(Archive& archive, CurveStart& value) {
  auto& [game, codebook, heads, seconds] = value;
  archive(game, codebook, heads, seconds);
}
template <typename Archive>
void members(Archive& archive, ColumnChange& value) {
  auto& [name, numeric, weight, changed, distortion, rms_error] = value;
  archive(name, numeric, weight, changed, distortion, rms_error);
}
template <typename Archive>
void members(Archive& archive, TableChange& value) {
  auto& [distortion, changed, columns] = value;
  archive(distortion, changed, columns);
}
template <typename Archive>
void members(Archive& archive, RecipientView& value) {
  auto& [associations, spikes, copied, copied_original] = value;
  archive(associations, spikes, copied, copied_original);
}
template <typename Archive>
void members(Archive& archive, MeasuredRelease& value) {
  auto& [series, label, budget, change, audit, upper, task, recipient] = value;
  archive(series, label, budget, change, audit, upper, task, recipient);
}
/// Without the model, which has a form of its own.
template <typename Archive>
void members(Archive& archive, TrainedPoint& value) {
  auto& [number, budget, training_distortion, training_belief, training, held_out_distortion, went_on,
         seconds, model] = value;
  archive(number, budget, training_distortion, training_belief, training, held_out_distortion, went_on,
          seconds);
}
template <typename Archive>
void members(Archive& archive, AuditedPoint& value) {
  auto& [measured, training_leakage, warnings, seconds] = value;
  archive(measured, training_leakage, warnings, seconds);
}

}  // namespace ppan
