#pragma once

// The loop: mini-batches, who steps when, and when it ends. Everything else observes.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ppan/train/match.h"

namespace ppan {

struct TrainOptions {
  GameOptions game;
  int epochs = 50;          ///< Passes over the records. At least 1.
  Index batch = 200;        ///< Records per mini-batch; at most all of them are used. At least 1.
  int adversary_steps = 1;  ///< Adversary updates per mechanism update. At least 1.
  /// New draws for every step. Otherwise, as in the paper, the draws of a mini-batch serve all its steps, and
  /// the mechanism's forward pass is done once.
  bool redraw = true;
  /// Epochs at the start in which the adversary does not affect the mechanism, which learns usefulness alone.
  /// At least 0.
  int warm_up = 0;
  /// Epochs after the warm-up over which the adversary's weight in the mechanism's loss rises from 0 to 1. At
  /// least 0.
  int ramp = 0;
  /// With an alpha-loss: share of the epochs, 0 to 1, over which its power (alpha-1)/alpha rises from 0, the
  /// log-loss, to its own. An adversary of high order has almost no gradient where it is confidently wrong,
  /// and the mechanism would move on in the meantime. An adversary that starts from the posterior only has to
  /// follow.
  double alpha_ramp = 0;
  /// Each mechanism step first shrinks its parameters by rate * weight_decay (Loshchilov, Hutter 2019). At
  /// least 0. With few records per symbol it keeps a finite mechanism from overfitting the sample.
  double weight_decay = 0;
  /// Times that all records are released at the end, to measure the mechanism's distortion
  /// (TrainSummary::distortion). At least 0.
  int final_releases = 0;
  RateSchedule mechanism_rate;
  RateSchedule adversary_rate;
  std::uint64_t seed = 1;  ///< Fixes initial parameters, order of records and noise.

  [[nodiscard]] Problems check() const;
};

/// Means over the mini-batches of one epoch.
struct EpochReport {
  int epoch = 0;   ///< From 1.
  int epochs = 0;  ///< Of how many.
  StepReport mean;
  double adversary = 0;      ///< mean log Q(x|z) at the adversary's own steps
  double discriminator = 0;  ///< its objective, 0 without one
  double utility = 0;        ///< mean log Q'(y|z) at the steps of Q', 0 where it makes none
  double multiplier = 0;     ///< of a dual budget
};

enum class Stop { kEpochLimit, kObserver, kDiverged };
std::string_view to_string(Stop stop);

/// The answer of an observer after an epoch: continue, or stop and why.
struct Verdict {
  bool stop = false;
  std::string reason;
};
using Observer = std::function<Verdict(const EpochReport&)>;

struct TrainSummary {
  TrainOptions given;
  Index records = 0;
  Index batch_used = 0;
  std::int64_t iterations = 0;
  Stop stop = Stop::kEpochLimit;
  std::string message;  ///< Why it stopped, in words.
  std::vector<EpochReport> epochs;
  /// Mean distortion of the returned mechanism over all records, if the options request it.
  std::optional<double> distortion;
};

template <typename Scalar>
struct Trained {
  std::unique_ptr<Mechanism<Scalar>> mechanism;
  std::unique_ptr<Posterior<Scalar>> adversary;
  TrainSummary summary;
};

/// The state of a training between two epochs.
template <typename Scalar>
struct TrainState {
  MatchState<Scalar> match;
  std::vector<EpochReport> epochs;  ///< Those that are done.
};

/// What a training may start with instead of the defaults.
template <typename Scalar>
struct TrainStart {
  std::unique_ptr<Distortion<Scalar>> distortion;  ///< Of the caller's own; null: options.game.distortion.
  Vector<Scalar> mechanism;                        ///< Parameters; empty: random.
  Vector<Scalar> adversary;                        ///< Parameters; empty: random.
  Vector<Scalar> utility;                          ///< Of Q'; empty: random.
  double multiplier = 0;                           ///< Of a dual budget. At least 0.
  /// Resumes from here. Records and options must be those of the interrupted training; the result is then the
  /// same bit for bit.
  std::optional<TrainState<Scalar>> resume;
  /// Called after every epoch, to save the state. Resuming from the last state gives the returned result.
  std::function<void(const TrainState<Scalar>&)> checkpoint;
};

/// Plays the game on `records`. Ends at the epoch limit, when an observer says so, or when it diverges (a
/// number is not finite, or the loss has exploded): then the mechanism and adversary of the last good epoch
/// are returned and the summary says so. Throws Error(kUsage) for invalid options. The same arguments give
/// the same bits, whatever else runs.
template <typename Scalar>
Trained<Scalar> train(const Records<Scalar>& records, const TrainOptions& options,
                      const std::vector<Observer>& observers = {}, TrainStart<Scalar> start = {});

/// Stops when the mean loss has not fallen by `least_gain` nats for `patience` epochs, and says so.
Observer early_stop(int patience, double least_gain);

}  // namespace ppan
