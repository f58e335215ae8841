#pragma once

// Images of a run on images: grids of released digits, the panels of one digit, and the trade-off against
// accuracy.

#include <optional>
#include <string>
#include <vector>

#include "ppan/image/image_curve.h"
#include "ppan/read/png.h"
#include "ppan/report/figure.h"

namespace ppan {

/// One test image of each class, first found, then the release of each by every point.
struct ImageGrid {
  GreyImage image;
  std::vector<std::string> row_names;
};
ImageGrid image_grid_of(const ImageSet& test, const ImageCurveResult& result, std::uint64_t seed);

/// One digit: original, released, and with independent noise of the same distortion on every pixel. Noise is
/// uniform, added to each pixel and clipped at black and white; its strength is found by bisection.
struct ImagePanels {
  GreyImage image;
  double distortion = 0;        ///< Of the release shown, nats per pixel.
  double noise_distortion = 0;  ///< Of the noisy image.
};
/// `digit`: which test image, from 0; absent: the first of 100 that the release changes. Throws Error(kUsage)
/// for one that is not there.
ImagePanels image_panels(const ImageSet& test, const ImagePoint& point, std::uint64_t seed,
                         std::optional<Index> digit = {});

/// Distortion against the accuracy of attackers, and against leakage, each with the training adversary's
/// belief as a series of its own.
Figure accuracy_figure(const ImageCurveResult& result);
Figure leakage_figure(const ImageCurveResult& result);
/// Both in one, as the paper shows them: accuracy on the left axis, leakage on the right.
Figure accuracy_and_leakage_figure(const ImageCurveResult& result);

}  // namespace ppan
