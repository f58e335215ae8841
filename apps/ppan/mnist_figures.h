#pragma once

// Images of a run on images: grids of released digits, the panels of one digit, and the trade-off against
// accuracy.

#include <optional>
#include <string>
#include <vector>

#include "ppan/paper/mnist.h"
#include "ppan/read/png.h"
#include "ppan/report/figure.h"

namespace ppan::cli {

/// Images side by side in rows, each magnified, with a border between them. All have the same size.
GreyImage image_grid(const std::vector<std::vector<GreyImage>>& rows, Index magnify);
/// A drawing that holds the image, with a line of text before each of its rows.
std::string grid_svg(const GreyImage& grid, const std::string& title,
                     const std::vector<std::string>& row_names, const std::string& note);

/// One test image of each class, first found, then the release of each by every point.
struct DigitGrid {
  GreyImage image;
  std::vector<std::string> row_names;
};
DigitGrid digit_grid(const ImageSet& test, const MnistResult& result, std::uint64_t seed);

/// One digit: as it is, as released, and with independent noise of the same distortion on every pixel. Noise
/// is uniform, added to each pixel and cut off at black and white, its strength found by bisection.
struct DigitPanels {
  GreyImage image;
  double distortion = 0;        ///< Of the release shown, nats per pixel.
  double noise_distortion = 0;  ///< Of the noisy image.
};
/// `digit`: which test image, from 0; absent: the first of 100 that the release changes. Throws Error(kUsage)
/// for one that is not there.
DigitPanels digit_panels(const ImageSet& test, const MnistPoint& point, std::uint64_t seed,
                         std::optional<Index> digit = {});

/// Distortion against the accuracy of attackers, and against leakage, each with the training adversary's
/// belief as a series of its own.
Figure accuracy_figure(const MnistResult& result);
Figure leakage_figure(const MnistResult& result);
/// Both in one, as the paper shows them: accuracy on the left axis, leakage on the right.
Figure accuracy_and_leakage_figure(const MnistResult& result);

}  // namespace ppan::cli
