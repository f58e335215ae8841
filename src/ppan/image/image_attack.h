#pragma once

// The attack on images. Attackers start from scratch after the mechanism is frozen. They know the mechanism
// and hold the images it was trained on with their labels, so they can release those any number of times:
// every mini-batch is a new release. They are selected on one part of the images that neither the mechanism
// nor they have learned from, and reported on the other part. All networks learn from the same stream of
// releases, so a stronger suite costs no further releases. Dense networks see every pixel standardised to
// mean 0 and variance 1, so that small variations of a pixel are as visible to them as large ones.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ppan/audit/attack_numbers.h"
#include "ppan/core/estimate.h"
#include "ppan/core/problem.h"
#include "ppan/image/image_learner.h"
#include "ppan/model/image_model.h"
#include "ppan/nn/activation.h"
#include "ppan/read/image_set.h"

namespace ppan {

/// A fully connected attacker.
struct ImageNetworkShape {
  std::vector<Index> hidden;
  Activation activation = Activation::kRelu;
};

struct ImageAttackOptions {
  /// The shape of the paper's adversary, and another.
  std::vector<ImageNetworkShape> networks{{{1000, 1000}, Activation::kTanh}, {{512, 512}}};
  bool convolution = true;  ///< A small convolutional network too.
  /// Hidden layers of one that sees the code of a noisy-code mechanism instead of the image; empty: none.
  std::vector<Index> code{512, 512};
  Index tree_images = 8000;  ///< Releases that boosted trees learn from, on principal components; 0: none.
  Index components = 40;     ///< Principal components for the trees. At least 1.
  int trees = 400;           ///< Most trees, all classes together. At least 1.
  int epochs = 8;            ///< Passes over the images, each a new release. At least 1.
  Index batch = 100;         ///< At least 1.
  double rate = 0.001;       ///< Adam's initial rate; it falls to a twentieth along half a cosine. Above 0.
  int releases = 2;          ///< Of each image that attackers are scored on. At least 1.
  double selection = 0.3;    ///< Share of the held-out images on which the strongest is chosen. 0 to 1.
  std::uint64_t seed = 1;
  [[nodiscard]] Problems check() const;
};

struct ImageAttackerScore {
  std::string name;
  double selection = 0;  ///< H - log loss on the selection images, nats.
  Estimate leakage;      ///< On the reported images; a lower bound.
  Rate accuracy;
  std::vector<ImageLearning> learning;  ///< Networks only.
};

struct ImageAttack {
  std::vector<ImageAttackerScore> attackers;  ///< Of the release; strongest on the selection images first.
  std::optional<ImageAttackerScore>
      code;                   ///< Sees more than is released, so it is not an attacker of the release.
  double entropy = 0;         ///< Of the labels of the reported images, nats.
  double prior_accuracy = 0;  ///< Share of the most frequent label among them.
  bool still_rising = false;  ///< The last epoch of the strongest attacker still added a noticeable amount.

  /// The strongest, chosen on the selection images.
  [[nodiscard]] const ImageAttackerScore& strongest() const { return attackers.front(); }
  /// The least leakage, nats, that an ideal attacker would detect with probability 0.9 on as many images as
  /// were scored. No leaks are planted into images, so these attackers may need a larger one.
  [[nodiscard]] double least_seen() const;
  /// What the finding leaves possible, nats: the greater of the upper end of its 99 % interval and
  /// least_seen(), but at most the entropy and what `upper` bounds allow. Limits and choices go by it.
  [[nodiscard]] double upper_end(const std::vector<Estimate>& upper) const;
};

/// Options for this number of images to learn from: with fewer images there are more passes, so that
/// attackers make the same number of steps. `quick`: one small network, and as small a one on the code.
ImageAttackOptions attack_for(Index images, Index pixels, bool quick);

/// `learn` are the images that attackers learn from, `held_out` those they are selected and reported on. Both
/// have labels and the model's size. Throws Error(kUsage) for bad options.
ImageAttack attack_images(const ImageModel& model, const ImageSet& learn, const ImageSet& held_out,
                          const ImageAttackOptions& options = {});

/// Upper bounds on I(label; release) that the distribution of the mechanism allows, from the first `most`
/// images of `set`, the least first: none unless the model is one noisy code.
std::vector<Estimate> image_upper_bounds(const ImageModel& model, const ImageSet& set, Index most);

}  // namespace ppan
