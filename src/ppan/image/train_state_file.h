#pragma once

// A training between two epochs as a file, so that it survives being killed. The container is that of models
// (model_file.h): checksummed by its reader's checks, written all or nothing.

#include <filesystem>
#include <string>

#include "ppan/train/train.h"

namespace ppan {

/// `fingerprint` says, as text, what decides the course of the training: settings, records, seed.
void write_train_state(const std::filesystem::path& path, const TrainState<float>& state,
                       const std::string& fingerprint);

/// Throws Error(kBadInput) for a file that is no such state, and Error(kUsage) for one with another
/// fingerprint, showing both.
TrainState<float> read_train_state(const std::filesystem::path& path, const std::string& fingerprint);

}  // namespace ppan
