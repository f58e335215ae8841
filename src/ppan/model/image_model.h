#pragma once

// A mechanism for images, as a value: the size of the images and one or more components, of which each
// image goes through one, chosen by a hidden coin.

#include <memory>
#include <string>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"
#include "ppan/core/random.h"
#include "ppan/game/mechanism.h"
#include "ppan/model/table_model.h"
#include "ppan/read/image_set.h"

namespace ppan {

struct ImageComponent {
  ComponentKind kind = ComponentKind::kUnchanged;
  double weight = 1;    ///< Share of the images that go through it. Above 0; they sum to 1.
  std::string label{};  ///< For people: "unchanged", "constant", "point 3".

  Vector<float> constant{};      ///< kConstant: the image that everybody gets, in [0,1].
  MechanismOptions mechanism{};  ///< kTrained: kNoiseInput or kNoisyCode.
  Vector<float> parameters{};    ///< kTrained.
};

struct ImageModel {
  Index height = 0;  ///< Pixels.
  Index width = 0;   ///< Pixels.
  int classes = 0;   ///< Of the sensitive label it was trained to hide.
  std::vector<ImageComponent> components{};

  [[nodiscard]] Index pixels() const { return height * width; }
  /// Sizes that fit each other, weights that sum to 1, finite parameters.
  [[nodiscard]] Problems check() const;
};

/// Releases images of one size. Keeps the networks between calls.
class ImageReleaser {
 public:
  /// Throws Error(kBadInput) listing every problem of the model.
  explicit ImageReleaser(const ImageModel& model);
  ~ImageReleaser();
  ImageReleaser(const ImageReleaser&) = delete;
  ImageReleaser& operator=(const ImageReleaser&) = delete;

  /// One release of each row of `pixels` (records x pixels, in [0,1]), into `released`.
  void release(const Matrix<float>& pixels, RandomSource& random, Matrix<float>& released);

 private:
  ImageModel model_;
  std::vector<std::unique_ptr<Mechanism<float>>> mechanism_;  // of each component; null unless trained
};

/// Images with their labels, released; labels and names are those of `set`.
ImageSet release_images(const ImageModel& model, const ImageSet& set, RandomSource& random);

/// -mean_j [y_j log z_j + (1 - y_j) log(1 - z_j)] of each image, nats per pixel. Brightness of z is kept 1e-7
/// away from 0 and 1, the resolution of a float; the unchanged image costs its own entropy.
Vector<double> pixel_cross_entropy(const Matrix<float>& y, const Matrix<float>& z);

}  // namespace ppan
