#pragma once

// `ppan audit` for a model of images: it releases images that it was not trained on, as often as the
// attackers want, and new attackers learn the labels from its releases.

#include <cstdint>
#include <optional>
#include <string>

#include "ppan/core/estimate.h"
#include "ppan/model/model_signature.h"

namespace ppan::cli {

struct ImageAuditRun {
  std::string model{};            ///< File.
  std::string data{};             ///< Directory of PNG files, or IDX images.
  std::string labels{};           ///< Of them; empty: those beside them.
  bool quick = false;             ///< One small network instead of the suite.
  bool save = false;              ///< Keep what was found in the model file.
  const SigningKey* key = nullptr;  ///< To sign what is saved with.
  std::optional<double> limit{};  ///< Nats.
  InformationUnit unit = InformationUnit::kNats;
  std::string json{};  ///< Write what was found there; "-": to standard output, instead of the text.
  std::uint64_t seed = 1;
};

/// Returns the exit status.
int run_image_audit(const ImageAuditRun& run);

}  // namespace ppan::cli
