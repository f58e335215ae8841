#pragma once

// The attack on pictures. Attackers start from nothing after the mechanism is frozen. They know the mechanism
// and hold the pictures it was trained on with their labels, so they can release those as often as they like:
// every mini-batch is a new release. They are chosen on one part of pictures that neither the mechanism nor
// they have learned from, and reported on the other part. All networks learn from the same stream of
// releases, so a stronger suite costs no further releases. Dense ones see every pixel brought to mean 0 and
// variance 1: what a mechanism hides in small variations of a pixel is as plain to them as what is bright.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ppan/audit/attack_numbers.h"
#include "ppan/core/estimate.h"
#include "ppan/core/problem.h"
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
  bool convolution = true;   ///< A small convolutional network too.
  bool code = true;          ///< One that sees the code of a noisy-code mechanism instead of the picture.
  Index tree_images = 8000;  ///< Releases that boosted trees learn from, on principal components; 0: none.
  Index components = 40;     ///< Principal components for the trees. At least 1.
  int trees = 400;           ///< Most trees, all classes together. At least 1.
  int epochs = 8;            ///< Passes over the pictures, each a new release. At least 1.
  Index batch = 100;         ///< At least 1.
  double rate = 0.001;       ///< Adam's at the start; it falls to a twentieth along half a cosine. Above 0.
  int releases = 2;          ///< Of each picture that attackers are scored on. At least 1.
  double selection = 0.3;    ///< Share of the held-out pictures on which the strongest is chosen. 0 to 1.
  std::uint64_t seed = 1;
  [[nodiscard]] Problems check() const;
};

struct ImageLearning {
  Index pictures = 0;  ///< Releases learned from so far.
  double nats = 0;     ///< Found then on the selection pictures: H - log loss.
};

struct ImageAttackerScore {
  std::string name;
  double selection = 0;  ///< H - log loss on the selection pictures, nats.
  Estimate leakage;      ///< On the reported pictures; a lower bound.
  Rate accuracy;
  std::vector<ImageLearning> learning;  ///< Networks only.
};

struct ImageAttack {
  std::vector<ImageAttackerScore> attackers;  ///< Of the release; strongest on the selection pictures first.
  std::optional<ImageAttackerScore> code;     ///< Sees more than is released, so it is no attacker of it.
  double entropy = 0;                         ///< Of the labels of the reported pictures, nats.
  double prior_accuracy = 0;                  ///< Share of the most frequent label among them.
  bool still_rising = false;  ///< The last epoch of the strongest still added more than little.

  /// The strongest, chosen on the selection pictures.
  [[nodiscard]] const ImageAttackerScore& strongest() const { return attackers.front(); }
};

/// The attack on a mechanism for which so many pictures are at hand to learn from: fewer are gone through
/// more often, so that attackers make as many steps. `quick`: one small network.
ImageAttackOptions attack_for(Index pictures, Index pixels, bool quick);

/// `learn` are the pictures that attackers learn from, `held_out` those they are chosen and reported on. Both
/// have labels and the model's size. Throws Error(kUsage) for bad options.
ImageAttack attack_images(const ImageModel& model, const ImageSet& learn, const ImageSet& held_out,
                          const ImageAttackOptions& options = {});

/// Bounds on I(label; release) from above that the law of the mechanism allows, from the first `most`
/// pictures of `set`, the least first: none unless the model is one noisy code.
std::vector<Estimate> image_upper_bounds(const ImageModel& model, const ImageSet& set, Index most);

}  // namespace ppan
