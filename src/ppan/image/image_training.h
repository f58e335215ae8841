#pragma once

// How a mechanism for images is trained: the paper's, or a noisy code. Both are given as the options of one
// training (train/train.h), so that it can be observed, saved and resumed like any other.
//
// The paper's: z = f(y, noise) with a sigmoid at its output, an adversary on the released image, one step
// each, loss E log Q(x|z) + lambda E d (+ gamma E log D(z)).
//
// Noisy code: an encoder, a bounded code with unit noise added, a decoder; the adversary sees the code and
// makes several steps for one of the mechanism's, long codes have a price, and the distortion is held at a
// budget. With a gate, images that are expensive to hide are released unchanged. It starts from an
// autoencoder trained for usefulness alone: started with the privacy term it collapses to the mean image,
// from which no gradient leads away. The price is what makes it withstand attackers that it has not met. With
// a task (image_task.h) it preserves what predicts the task: either in addition to the pixels, whose
// distortion has the budget, at a price for each nat that is lost; or primarily, with the budget on lost nats
// and a small price on pixels, so that the release is still an image. docs/decisions/0007-images.md has the
// measurements.

#include <cstdint>
#include <optional>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/core/records.h"
#include "ppan/image/image_task.h"
#include "ppan/model/image_model.h"
#include "ppan/read/image_set.h"
#include "ppan/train/train.h"

namespace ppan {

/// Images as records of the game: W = Y = the pixels, X = the label; a task is the second Y, or with
/// `task_first` the first one. With `most` above 0 only the first `most` images.
Records<float> image_records(const ImageSet& set, Index most = 0, bool task_first = false);

/// The paper's mechanism.
struct PaperImageOptions {
  std::vector<Index> hidden{1000, 1000};     ///< Of the mechanism, tanh.
  Index noise_inputs = 20;                   ///< Uniform on [-1,1].
  std::vector<Index> adversary{1000, 1000};  ///< tanh.
  std::vector<Index> discriminator{500};     ///< tanh; used if gamma is above 0.
  double gamma = 0;                          ///< Weight of the discriminator. At least 0.
  int epochs = 50;
  Index batch = 100;
  double rate = 0.001;
  /// Adam's beta1, from 0 to below 1. Empty: 0.9 as printed, but 0.5 with a discriminator: at small weights
  /// the game as printed collapses to one image for all within an epoch and stays there
  /// (docs/decisions/0007-images.md).
  std::optional<double> beta1;
  [[nodiscard]] double beta1_used() const { return beta1.value_or(gamma > 0 ? 0.5 : 0.9); }
  [[nodiscard]] Problems check() const;
};

/// One training with distortion weighted by `lambda`.
TrainOptions paper_training(const PaperImageOptions& options, Index pixels, double lambda,
                            std::uint64_t seed);

/// A noisy code.
struct CodeImageOptions {
  std::vector<Index> encoder{400, 400};    ///< ReLU.
  std::vector<Index> decoder{400, 400};    ///< ReLU.
  Index code = 32;                         ///< Numbers in the code. At least 1.
  double radius = 8;                       ///< R: each lies within +-R before unit noise is added. Above 0.
  double code_weight = 0.003;              ///< Price of a code, GameOptions::code_weight. At least 0.
  std::vector<Index> gate;                 ///< ReLU, MechanismOptions::gate; empty: every image is coded.
  std::vector<Index> adversary{512, 512};  ///< ReLU with a direct linear path.
  int start_epochs = 10;                   ///< Of the autoencoder. At least 1.
  double start_rate = 0.002;
  int epochs = 30;
  Index batch = 100;
  int adversary_steps = 4;
  double rate = 0.001;
  /// Nats of leakage that a nat about the task is worth; 0: it is ignored. At least 0.
  double task_weight = 0;
  /// Budgets limit the task loss, in nats of -log Q'(task|z), instead of the pixel distortion.
  bool task_budget = false;
  TeacherOptions teacher{};  ///< Q' of the task.
  [[nodiscard]] bool keeps_task() const { return task_budget || task_weight > 0; }
  [[nodiscard]] Problems check() const;
};

/// The autoencoder that every point starts from.
TrainOptions code_start_training(const CodeImageOptions& options, Index pixels, std::uint64_t seed);
/// One training that holds the distortion at `budget`.
TrainOptions code_training(const CodeImageOptions& options, Index pixels, double budget, std::uint64_t seed);
/// Its start: the parameters of the previously trained code, and of a new gate where there is one. An old
/// gate may be saturated and unable to learn. `before` may have a gate or none; `hiding`: the code has
/// learned to hide, so that the new gate may start half open instead of fully open.
Vector<float> code_start_parameters(const CodeImageOptions& options, Index pixels,
                                    const Vector<float>& before, bool hiding, std::uint64_t seed);
/// Where the multiplier of that training starts, nats per unit of distortion; and with a budget on the task.
inline constexpr double kCodeMultiplier = 15;
inline constexpr double kTaskMultiplier = 5;

/// A model of one trained component.
ImageModel trained_model(const ImageSet& like, const Mechanism<float>& mechanism, const std::string& label);
/// Models without training: the unchanged image, and the mean of `set` for everybody.
ImageModel unchanged_model(const ImageSet& like);
ImageModel constant_model(const ImageSet& set);

}  // namespace ppan
