#pragma once

// `ppan paper mnist`: the experiment on images, with its checkpoints and figures.

#include <cstdint>
#include <optional>
#include <string>

#include "ppan/core/estimate.h"

namespace ppan::cli {

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

/// Returns the exit status.
int run_mnist_paper(const MnistPaperOptions& options);

}  // namespace ppan::cli
