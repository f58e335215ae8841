#pragma once

// The paper's experiment on images: a sweep of operating points, each trained, attacked by fresh attackers
// on images it has not seen, and shown beside time-sharing. The preset `paper` is the paper's mechanism at
// the paper's settings; `best` is a noisy code, in which fresh attackers find far less
// (docs/decisions/0007-images.md).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/core/hull.h"
#include "ppan/core/problem.h"
#include "ppan/image/image_attack.h"
#include "ppan/image/image_training.h"
#include "ppan/model/image_model.h"
#include "ppan/paper/experiment.h"
#include "ppan/read/idx.h"
#include "ppan/train/train.h"

namespace ppan {

struct MnistOptions {
  Preset preset = Preset::kBest;
  std::vector<double> targets;  ///< lambda (paper) or budgets (best) of the points; empty: the usual ones.
  std::optional<int> points;    ///< How many of the usual ones. 1 to 1000.
  std::optional<int> epochs;    ///< Of each point.
  Index train = 0;              ///< Images to train on; 0: all.
  int threads = 0;              ///< 0: one per core. Changes no number.
  std::uint64_t seed = 1;
  PaperImageOptions paper;
  CodeImageOptions code{.gate = {200}};
  ImageAttackOptions attack;
  Index bound_images = 10'000;  ///< Whose codes make the upper bound, at most. 0: no bound.

  [[nodiscard]] Problems check() const;
};

/// lambda (paper) or distortion budget (best) of each point, in the order of the plan. The paper's weights
/// go down from 35 to 8 without a discriminator and from 15 to 2 with one, evenly in their logarithm.
std::vector<double> mnist_targets(const MnistOptions& options);
/// How long the trainings are.
int mnist_epochs(const MnistOptions& options);
/// Everything that decides what a training does, as text: the same for the same training, whatever is
/// measured afterwards. Data enter by their fingerprint.
std::string mnist_fingerprint(const MnistOptions& options, const ImageSplit& data);

/// What was measured on images the mechanism has not seen.
struct MnistMeasure {
  double distortion = 0;  ///< Pixel cross-entropy, nats per pixel.
  Interval distortion95;
  double unchanged = 0;  ///< Share of the images that a gate releases as they are.
  ImageAttack attack;
  std::vector<Estimate> upper;  ///< Upper bounds, if the mechanism allows any; the least first.
  /// I(X;Z) as the training adversary believes it on these images, nats, and how many it recognises. Never
  /// evidence.
  double belief = 0;
  double belief_accuracy = 0;
  double seconds = 0;
};

struct MnistPoint {
  Index plan = 0;
  double target = 0;
  ImageModel model;
  TrainSummary training;
  double training_distortion = 0;  ///< Mean over the last epoch.
  double seconds = 0;              ///< Of training, this time.
  MnistMeasure measure;
};

struct MnistResult {
  MnistOptions given;
  std::vector<double> targets;
  std::vector<MnistPoint> points;  ///< Finished ones, in the order of the plan.
  bool interrupted = false;
  double entropy = 0;               ///< H(X) of the labels trained on, nats.
  double unchanged_distortion = 0;  ///< Of the test images released unchanged.
  double constant_distortion = 0;   ///< Of the mean training image released for all of them.
  Index train_images = 0;
  Index test_images = 0;

  /// Leakage of time-sharing at a distortion between those two: H(X) falling to 0 along a line.
  [[nodiscard]] double time_sharing(double distortion) const;
  /// What can be served: unchanged first, then the points, constant last.
  [[nodiscard]] std::vector<HullPoint> servable() const;
  /// Leakage of the completed curve, the lower hull of what can be served, as a share of time-sharing.
  /// Nothing where time-sharing is not defined or leaks nothing.
  [[nodiscard]] std::optional<double> share_of_time_sharing(double distortion) const;
};

/// Where a run keeps what it would be a loss to compute again. Called from several threads, for different
/// points at once. Point -1 is the autoencoder that the others start from.
struct MnistStore {
  std::function<std::optional<TrainState<float>>(Index point)> load_state;
  std::function<void(Index point, const TrainState<float>&)> save_state;
  std::function<std::optional<MnistMeasure>(Index point)> load_measure;
  std::function<void(Index point, const MnistMeasure&)> save_measure;
};

struct MnistHooks {
  std::function<bool()> interrupted;
  /// After each epoch, with the leakage as its own adversary sees it, nats.
  std::function<void(Index point, const EpochReport&, double leakage)> epoch;
  /// When the attack on a point begins.
  std::function<void(Index point)> attacking;
  std::function<void(const MnistPoint&)> finished;  ///< One call at a time.
  MnistStore store;
};

/// Throws Error(kUsage) listing every problem of `options`.
MnistResult run_mnist(const ImageSplit& data, const MnistOptions& options, const MnistHooks& hooks = {});

/// The fully known part of a release: distortion, what the adversary of the training believes (null: there is
/// none), attackers, bounds.
MnistMeasure measure_images(const ImageModel& model, Posterior<float>* adversary, const ImageSplit& data,
                            const MnistOptions& options);

}  // namespace ppan
