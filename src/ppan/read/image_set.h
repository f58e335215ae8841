#pragma once

// Images of one size with a label each, as training, attackers and figures use them; the file formats are
// in idx.h and png.h.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"

namespace ppan {

/// Largest height or width of an image, in pixels.
inline constexpr Index kMostImageSide = 4096;
/// Most pixels of a set, over all its images: 2 GiB in memory, where each takes four bytes.
inline constexpr Index kMostImageValues = Index{1} << 29;

/// A second label of each image: what a recipient wants to predict.
struct ImageTask {
  std::string name{};                ///< For people: the column it was read from, or "task".
  Symbols code{};                    ///< One of 0..classes-1 for each image; empty: there is no task.
  int classes = 0;                   ///< Those that occur.
  std::vector<std::string> names{};  ///< What class k was called in its source; size `classes`.

  [[nodiscard]] bool empty() const { return code.empty(); }
};

/// Grey images of one size. A stored byte b is the brightness b/255, so 0 is black and 1 is white.
struct ImageSet {
  Index height = 0;        ///< Pixels, 1..kMostImageSide.
  Index width = 0;         ///< Pixels, 1..kMostImageSide.
  Matrix<float> pixels{};  ///< Images x pixels, in [0,1]; an image's pixels row by row from its top left.
  Symbols labels{};        ///< One of 0..classes-1 for each image, or empty where there are no labels.
  int classes = 0;         ///< 0 where there are no labels.
  std::vector<std::string> class_names{};  ///< What label k was called in its source; size `classes`.
  std::vector<std::string> files{};  ///< File name of each image, for sets that were read from PNG files.
  ImageTask task{};

  [[nodiscard]] Index size() const { return pixels.rows(); }
  /// What makes a set that a program filled in unusable for training and audits, where labels are needed.
  [[nodiscard]] Problems check() const;
};

/// The byte that stands for a brightness: the nearest, with what lies outside [0,1] moved to its end.
inline std::uint8_t pixel_byte(float brightness) {
  // The comparison is false for a NaN too, which becomes black.
  if (!(brightness > 0)) return 0;
  return static_cast<std::uint8_t>(std::lround(255 * std::min(brightness, 1.0F)));
}

}  // namespace ppan
