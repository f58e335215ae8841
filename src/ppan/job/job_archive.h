#pragma once

// Options as bytes (core/archive.h): everything that a program sets distinguishes one job from another,
// including options without a key in a job file. The number of threads affects no result and is left out.

#include "ppan/audit/audit_archive.h"
#include "ppan/job/image_job.h"
#include "ppan/job/table_job.h"

namespace ppan {

template <typename Archive>
void members(Archive& archive, LevelOptions& value) {
  auto& [most_bins, most_segments, spike_share, least_rows] = value;
  archive(most_bins, most_segments, spike_share, least_rows);
}
template <typename Archive>
void members(Archive& archive, TableTrainingOptions& value) {
  auto& [family, hidden, code_size, code_radius, noise_inputs, budget_form, alpha, epochs, batch,
         adversary_steps, rate, restarts] = value;
  archive(family, hidden, code_size, code_radius, noise_inputs, budget_form, alpha, epochs, batch,
          adversary_steps, rate, restarts);
}
template <typename Archive>
void members(Archive& archive, CodebookOptions& value) {
  auto& [codewords, hidden, epochs, batch, rate, column_weight, task_weight, least_rows, levels] = value;
  archive(codewords, hidden, epochs, batch, rate, column_weight, task_weight, least_rows, levels);
}
template <typename Archive>
void members(Archive& archive, HeadsOptions& value) {
  auto& [hidden, noise_inputs, epochs, batch, adversary_steps, rate, task_weight, row_weight, margin_weight,
         least_rows, levels] = value;
  archive(hidden, noise_inputs, epochs, batch, adversary_steps, rate, task_weight, row_weight, margin_weight,
          least_rows, levels);
}
template <typename Archive>
void members(Archive& archive, LeakageOptions& value) {
  auto& [quick, training_releases, most_rows, most_trained_rows, measure_power, known_power, seed] = value;
  archive(quick, training_releases, most_rows, most_trained_rows, measure_power, known_power, seed);
}
template <typename Archive>
void members(Archive& archive, TableCurveOptions& value) {
  auto& [points, budgets, training, codebook, heads, leakages, validation, test, leakage, redrawn, references,
         threads, seed] = value;
  static_cast<void>(threads);
  archive(points, budgets, training, codebook, heads, leakages, validation, test, leakage, redrawn,
          references, seed);
}
template <typename Archive>
void members(Archive& archive, TeacherOptions& value) {
  auto& [hidden, batch, rate, steps, seed] = value;
  archive(hidden, batch, rate, steps, seed);
}
template <typename Archive>
void members(Archive& archive, CodeImageOptions& value) {
  auto& [encoder, decoder, code, radius, code_weight, gate, adversary, start_epochs, start_rate, epochs,
         batch, adversary_steps, rate, task_weight, task_budget, teacher] = value;
  archive(encoder, decoder, code, radius, code_weight, gate, adversary, start_epochs, start_rate, epochs,
          batch, adversary_steps, rate, task_weight, task_budget, teacher);
}

}  // namespace ppan
