#pragma once

// The audit of an image model. The model releases images that it was not trained on, as often as the
// attackers need, and new attackers learn the labels from its releases.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/image/image_attack.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_origin.h"
#include "ppan/read/image_set.h"
#include "ppan/trade_off/audit_run.h"

namespace ppan {

struct ImageAuditOptions {
  std::string source{};           ///< What messages call the images.
  bool quick = false;             ///< One small network instead of the suite.
  std::optional<double> limit{};  ///< Nats. At least 0.
  std::uint64_t seed = 1;
};

struct ImageFindings {
  Index images = 0;
  Index learned = 0;      ///< Images that attackers learned from; the others serve to select and to score.
  double distortion = 0;  ///< Cross-entropy, nats per pixel.
  ImageAttack attack{};
  std::vector<Estimate> upper{};  ///< Upper bounds, the least first.
  bool quick = false;
  std::optional<double> limit{};

  /// As ImageAttack has it.
  [[nodiscard]] double upper_end() const { return attack.upper_end(upper); }
  /// False when a limit was set and upper_end() exceeds it, or the attack was inconclusive.
  [[nodiscard]] bool within_limit() const;
};

/// Throws Error(kBadInput) for images of another size than the model's, or too few.
ImageFindings audit_images(const ImageReleaseModel& model, const ImageSet& set,
                           const ImageAuditOptions& options);

/// For people at a terminal; `model` is its file.
std::string to_text(const ImageFindings& found, const std::string& model, InformationUnit unit);
std::string to_json(const ImageFindings& found);

/// What a model file keeps of it; `fingerprint` is keyed (data_fingerprint.h) or empty.
ModelAudit findings_of(const ImageFindings& found, const std::string& fingerprint);

/// The files that write_audit_run() writes for tables; returns the path of the page.
std::filesystem::path write_image_audit(const std::filesystem::path& directory, const ImageFindings& found,
                                        const AuditRun& run);

}  // namespace ppan
