#pragma once

// The paper's experiment on images: its options, its files and figures.

#include <cstdint>
#include <optional>
#include <string>

#include "ppan/image/image_curve.h"
#include "ppan/read/image_set.h"
#include "ppan/report/curve_file.h"

namespace ppan {

/// The options of the command line, where given.
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
};

inline constexpr const char* kMnistDescription =
    "handwritten digits (IDX files, --data): hide the digit, keep the image; by the paper's mechanism or "
    "by "
    "a noisy code, attacked by networks that neither has met";

/// The run that the options describe. Throws Error(kUsage) for options that contradict each other.
ImageCurveOptions mnist_options(const MnistPaperOptions& given);

/// How a run ended.
struct MnistOutcome {
  CurveTable curve{};
  std::size_t finished = 0;  ///< Points.
  std::size_t planned = 0;
  bool was_finished = false;  ///< Before: there was nothing to do.
  bool interrupted = false;
  bool diverged = false;  ///< A point.
};

/// The experiment from its images to its run directory; it can be resumed.
class MnistTask {
 public:
  /// Reads the images. Throws Error(kUsage) naming every problem.
  MnistTask(MnistPaperOptions given, std::string version);

  [[nodiscard]] const ImageCurveOptions& options() const { return options_; }
  /// Trains, attacks, and writes all results into the directory.
  MnistOutcome run(ImageCurveHooks hooks);

 private:
  MnistPaperOptions given_;
  std::string version_;
  ImageCurveOptions options_;
  ImageSplit data_;
};

}  // namespace ppan
