#include "ppan/train/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ppan {
namespace {

// A loss this far from any meaningful one (nats plus penalty) is taken as an explosion.
constexpr double kExploded = 1e8;

template <typename Scalar>
struct Snapshot {
  Vector<Scalar> mechanism;
  Vector<Scalar> adversary;
};

template <typename Scalar>
bool finite(Match<Scalar>& match) {
  return match.mechanism().parameters().allFinite() && match.adversary().parameters().allFinite();
}

template <typename Scalar>
void take_start(const Vector<Scalar>& from, const char* player, Vector<Scalar>& to) {
  if (from.size() == 0) return;
  if (from.size() != to.size()) {
    throw Error(ErrorCode::kUsage,
                fmt::format("training cannot start: the {} has {} parameters, but {} were given", player,
                            to.size(), from.size()));
  }
  to = from;
}

// Mean distortion of the mechanism as it is, over all records; a noiseless one needs a single pass.
template <typename Scalar>
double measure_distortion(const Records<Scalar>& records, const TrainOptions& options, SeededRandom random,
                          Match<Scalar>& match) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(records.rows()));
  std::iota(order.begin(), order.end(), 0);
  Records<Scalar> batch;
  Matrix<Scalar> noise;
  const int passes = match.mechanism().noisy() ? options.final_releases : 1;
  double sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    for (Index from = 0; from < records.rows(); from += options.batch) {
      const Index count = std::min(options.batch, records.rows() - from);
      gather(records, order.data() + from, count, batch);
      match.mechanism().fill_noise(random, count, noise);
      match.draw(batch, noise);
      sum += match.measure_distortion(batch) * static_cast<double>(count);
    }
  }
  return sum / (static_cast<double>(passes) * static_cast<double>(records.rows()));
}

// One training, from its start to its end.
template <typename Scalar>
class Training {
 public:
  Training(const Records<Scalar>& records, const TrainOptions& options, TrainStart<Scalar> start)
      : records_(records),
        options_(options),
        root_(options.seed),
        order_stream_(root_.fork("order")),
        noise_stream_(root_.fork("noise")),
        match_(options.game, records, std::move(start.distortion)),
        summary_{.given = options, .records = records.rows()},
        checkpoint_(std::move(start.checkpoint)) {
    match_.initialise(root_.fork("parameters"));
    take_start(start.mechanism, "mechanism", match_.mechanism().parameters());
    take_start(start.adversary, "adversary", match_.adversary().parameters());
    if (start.utility.size() > 0 && match_.learner())
      take_start(start.utility, "utility network", match_.learner()->parameters());
    match_.set_multiplier(start.multiplier);
    summary_.batch_used = std::min(options.batch, records.rows());
    batches_ = records.rows() / summary_.batch_used;  // a remainder gets its turn in another order
    summary_.message = fmt::format("reached the limit of {} epochs", options.epochs);
    order_.resize(static_cast<std::size_t>(records.rows()));
    std::iota(order_.begin(), order_.end(), 0);
    // Without noise the draws of a mini-batch stay what they are until the mechanism moves.
    redraw_ = options.redraw && match_.mechanism().noisy();
    redraw_helpers_ = redraw_ && match_.has_helpers();
    if (start.resume) resume(*start.resume);
    remember();
  }

  Trained<Scalar> run(const std::vector<Observer>& observers) {
    for (int epoch = static_cast<int>(summary_.epochs.size()) + 1; epoch <= options_.epochs; ++epoch) {
      const EpochReport report = run_epoch(epoch);
      summary_.epochs.push_back(report);
      if (diverged(report)) break;
      remember();
      if (checkpoint_) checkpoint_({match_.state(), summary_.epochs});
      if (stopped(report, observers)) break;
    }
    if (options_.final_releases > 0) {
      summary_.distortion = measure_distortion(records_, options_, root_.fork("final-releases"), match_);
    }
    auto adversary = std::make_unique<Posterior<Scalar>>(match_.adversary());
    return {match_.take_mechanism(), std::move(adversary), std::move(summary_)};
  }

 private:
  void remember() { good_ = {match_.mechanism().parameters(), match_.adversary().parameters()}; }

  void fill_noise() { match_.mechanism().fill_noise(noise_stream_, summary_.batch_used, noise_); }

  void draw(DrawScope scope) {
    fill_noise();
    match_.draw(batch_, noise_, scope);
  }

  // The random streams are brought to where they were by drawing what was drawn: seconds against the hours
  // that are saved, and the state needs none of a generator's inside.
  void resume(TrainState<Scalar>& state) {
    match_.resume(state.match);
    summary_.epochs = std::move(state.epochs);
    const int done = static_cast<int>(summary_.epochs.size());
    summary_.iterations = batches_ * done;
    const Index draws = redraw_ ? options_.adversary_steps + (redraw_helpers_ ? 1 : 0) + 1 : 1;
    if (done >= options_.epochs) return;
    for (int epoch = 0; epoch < done; ++epoch) shuffle(order_stream_, order_);
    for (Index d = 0; d < draws * summary_.iterations; ++d) fill_noise();
  }

  EpochReport run_epoch(int epoch) {
    EpochReport report{.epoch = epoch, .epochs = options_.epochs};
    shuffle(order_stream_, order_);
    match_.feel_adversary(std::clamp((epoch - options_.warm_up) / (options_.ramp + 1.0), 0.0, 1.0));
    match_.sharpen(std::min(1.0, epoch / std::max(1.0, options_.alpha_ramp * options_.epochs)));
    for (Index b = 0; b < batches_; ++b) {
      gather(records_, order_.data() + b * summary_.batch_used, summary_.batch_used, batch_);
      step(report);
    }
    const double share = 1.0 / static_cast<double>(batches_);
    report.mean.log_likelihood *= share;
    report.mean.distortion *= share;
    report.mean.penalty *= share;
    report.mean.discriminator *= share;
    report.mean.second *= share;
    report.adversary *= share / options_.adversary_steps;
    report.discriminator *= share;
    report.utility *= share;
    report.multiplier = match_.budget().multiplier();
    return report;
  }

  // A turn of every player on the mini-batch.
  void step(EpochReport& report) {
    const double total = static_cast<double>(batches_) * options_.epochs;
    const double progress = static_cast<double>(summary_.iterations++) / total;
    const double adversary_rate = options_.adversary_rate.at(progress);
    for (int s = 0; s < options_.adversary_steps; ++s) {
      if (s == 0 || redraw_) draw({.same_records = s > 0, .seen_only = redraw_});
      report.adversary += match_.step_adversary(batch_, adversary_rate);
    }
    if (redraw_helpers_) draw({.same_records = true});
    report.discriminator += match_.step_discriminator(batch_, adversary_rate);
    report.utility += match_.step_utility(batch_, adversary_rate);
    if (redraw_) draw({.same_records = true});
    const double rate = options_.mechanism_rate.at(progress);
    if (options_.weight_decay > 0) {
      match_.mechanism().parameters() *= static_cast<Scalar>(1 - rate * options_.weight_decay);
    }
    const StepReport step = match_.step_mechanism(batch_, rate, rate / options_.mechanism_rate.rate);
    report.mean.log_likelihood += step.log_likelihood;
    report.mean.distortion += step.distortion;
    report.mean.penalty += step.penalty;
    report.mean.discriminator += step.discriminator;
    report.mean.second += step.second;
  }

  bool diverged(const EpochReport& report) {
    const double loss = report.mean.loss();
    if (std::isfinite(loss) && std::abs(loss) <= kExploded && finite(match_)) return false;
    summary_.stop = Stop::kDiverged;
    summary_.message = fmt::format("diverged in epoch {} (loss {}); the state of epoch {} was kept",
                                   report.epoch, loss, report.epoch - 1);
    match_.mechanism().parameters() = good_.mechanism;
    match_.adversary().parameters() = good_.adversary;
    return true;
  }

  // Every observer hears of every epoch; the first that wants to stop gives the reason.
  bool stopped(const EpochReport& report, const std::vector<Observer>& observers) {
    bool stop = false;
    for (const Observer& observer : observers) {
      const Verdict verdict = observer(report);
      if (!verdict.stop || stop) continue;
      stop = true;
      summary_.stop = Stop::kObserver;
      summary_.message =
          fmt::format("stopped after epoch {} of {}: {}", report.epoch, options_.epochs, verdict.reason);
    }
    return stop;
  }

  const Records<Scalar>& records_;
  const TrainOptions& options_;
  const SeededRandom root_;
  SeededRandom order_stream_;
  SeededRandom noise_stream_;
  Match<Scalar> match_;
  TrainSummary summary_;
  std::function<void(const TrainState<Scalar>&)> checkpoint_;
  Index batches_ = 0;
  bool redraw_ = false;
  bool redraw_helpers_ = false;
  std::vector<std::int32_t> order_;
  Records<Scalar> batch_;
  Matrix<Scalar> noise_;
  Snapshot<Scalar> good_;  // before a step that may diverge
};

}  // namespace

Problems TrainOptions::check() const {
  ProblemList list;
  list.add("game", game.check());
  list.require_at_least("epochs", epochs, 1);
  list.require_at_least("batch", static_cast<double>(batch), 1);
  list.require_at_least("adversary_steps", adversary_steps, 1);
  list.require_at_least("warm_up", warm_up, 0);
  list.require_at_least("ramp", ramp, 0);
  list.require_between("alpha_ramp", alpha_ramp, 0, 1);
  list.require_at_least("weight_decay", weight_decay, 0);
  list.require_at_least("final_releases", final_releases, 0);
  list.add("mechanism_rate", mechanism_rate.check());
  list.add("adversary_rate", adversary_rate.check());
  return list.take();
}

std::string_view to_string(Stop stop) {
  switch (stop) {
    case Stop::kEpochLimit:
      return "epoch limit";
    case Stop::kObserver:
      return "stopped";
    case Stop::kDiverged:
      return "diverged";
  }
  return "unknown";
}

template <typename Scalar>
Trained<Scalar> train(const Records<Scalar>& records, const TrainOptions& options,
                      const std::vector<Observer>& observers, TrainStart<Scalar> start) {
  require_none(options.check(), "training cannot start:");
  if (records.rows() == 0) throw Error(ErrorCode::kBadInput, "there are no records to train on");
  return Training<Scalar>(records, options, std::move(start)).run(observers);
}

Observer early_stop(int patience, double least_gain) {
  return [=, best = std::numeric_limits<double>::infinity(), waited = 0](const EpochReport& report) mutable {
    if (report.mean.loss() < best - least_gain) {
      best = report.mean.loss();
      waited = 0;
    } else {
      ++waited;
    }
    return Verdict{waited >= patience,
                   fmt::format("the loss has not fallen by {} nats for {} epochs", least_gain, patience)};
  };
}

template Trained<float> train(const Records<float>&, const TrainOptions&, const std::vector<Observer>&,
                              TrainStart<float>);
#ifdef PPAN_DOUBLE_TRAINING
template Trained<double> train(const Records<double>&, const TrainOptions&, const std::vector<Observer>&,
                               TrainStart<double>);
#endif

}  // namespace ppan
