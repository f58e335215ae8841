#pragma once

// The paper's experiment on images: its options, its files and figures.

#include <cstdint>
#include <optional>
#include <string>

#include "ppan/core/estimate.h"
#include "ppan/image/image_curve.h"
#include "ppan/report/curve_file.h"

namespace ppan {

/// What the command line says, where given.
struct MnistPaperOptions {
  std::string out;
  std::string data;
  std::string preset = "best";
  std::string lambda;  ///< Numbers separated by commas; preset paper.
  std::string budget;  ///< Numbers separated by commas; preset best.
  std::optional<double> gamma;
  std::optional<double> beta1;
  std::optional<int> points;
  std::optional<int> epochs;
  std::optional<int> attack_epochs;
  std::optional<std::int64_t> train;
  std::optional<std::int64_t>
      digit;  ///< Test image of the panels, from 0; absent: the first that is changed.
  std::uint64_t seed = 1;
  int threads = 0;
  bool resume = false;
  bool force = false;
  bool quiet = false;
  InformationUnit unit = InformationUnit::kNats;
};

inline constexpr const char* kMnistDescription =
    "handwritten digits (IDX files, --data): hide the digit, keep the image; by the paper's mechanism or "
    "by "
    "a noisy code, attacked by networks that neither has met";

/// What the options ask for. Throws Error(kUsage) for those that do not go together.
ImageCurveOptions mnist_options(const MnistPaperOptions& given);

/// What a run knows beside its result.
struct MnistRun {
  std::string version{};      ///< Of this program.
  std::string training{};     ///< image_fingerprint(), for people.
  std::string fingerprint{};  ///< By which --resume knows the run.
  double seconds = 0;
};

/// Everything a person looks at, into options.out. Returns the curve for the terminal.
CurveTable write_mnist_run(const MnistPaperOptions& given, const ImageSplit& data, const ImageCurveResult& result,
                           const MnistRun& run);

}  // namespace ppan
