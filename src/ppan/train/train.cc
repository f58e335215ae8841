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

  const SeededRandom root(options.seed);
  auto order_stream = root.fork("order");
  auto noise_stream = root.fork("noise");
  Match<Scalar> match(options.game, records, std::move(start.distortion));
  match.initialise(root.fork("parameters"));
  take_start(start.mechanism, "mechanism", match.mechanism().parameters());
  take_start(start.adversary, "adversary", match.adversary().parameters());
  match.set_multiplier(start.multiplier);

  TrainSummary summary{.given = options, .records = records.rows()};
  summary.batch_used = std::min(options.batch, records.rows());
  const Index batches = records.rows() / summary.batch_used;  // a remainder gets its turn in another order
  const double total = static_cast<double>(batches) * options.epochs;
  summary.message = fmt::format("reached the limit of {} epochs", options.epochs);

  std::vector<std::int32_t> order(static_cast<std::size_t>(records.rows()));
  std::iota(order.begin(), order.end(), 0);
  Records<Scalar> batch;
  Matrix<Scalar> noise;
  Snapshot<Scalar> good{match.mechanism().parameters(), match.adversary().parameters()};
  // Without noise the draws of a mini-batch stay what they are until the mechanism moves.
  const bool redraw = options.redraw && match.mechanism().noisy();
  const auto draw = [&](DrawScope scope) {
    match.mechanism().fill_noise(noise_stream, summary.batch_used, noise);
    match.draw(batch, noise, scope);
  };
  const bool redraw_helpers = redraw && match.has_helpers();

  int done = 0;
  if (start.resume) {
    match.resume(start.resume->match);
    summary.epochs = std::move(start.resume->epochs);
    done = static_cast<int>(summary.epochs.size());
    summary.iterations = batches * done;
    good = {match.mechanism().parameters(), match.adversary().parameters()};
    // The random streams are brought to where they were by drawing what was drawn: seconds against the hours
    // that are saved, and the state needs none of a generator's inside.
    const Index draws = redraw ? options.adversary_steps + (redraw_helpers ? 1 : 0) + 1 : 1;
    const bool ended = done >= options.epochs;
    for (int epoch = 0; !ended && epoch < done; ++epoch) shuffle(order_stream, order);
    for (Index d = 0; !ended && d < draws * summary.iterations; ++d) {
      match.mechanism().fill_noise(noise_stream, summary.batch_used, noise);
    }
  }

  for (int epoch = done + 1; epoch <= options.epochs; ++epoch) {
    EpochReport report{.epoch = epoch, .epochs = options.epochs};
    shuffle(order_stream, order);
    match.feel_adversary(std::clamp((epoch - options.warm_up) / (options.ramp + 1.0), 0.0, 1.0));
    match.sharpen(std::min(1.0, epoch / std::max(1.0, options.alpha_ramp * options.epochs)));
    for (Index b = 0; b < batches; ++b) {
      gather(records, order.data() + b * summary.batch_used, summary.batch_used, batch);
      const double progress = static_cast<double>(summary.iterations++) / total;
      const double adversary_rate = options.adversary_rate.at(progress);
      for (int s = 0; s < options.adversary_steps; ++s) {
        if (s == 0 || redraw) draw({.same_records = s > 0, .seen_only = redraw});
        report.adversary += match.step_adversary(batch, adversary_rate);
      }
      if (redraw_helpers) draw({.same_records = true});
      report.discriminator += match.step_discriminator(batch, adversary_rate);
      report.utility += match.step_utility(batch, adversary_rate);
      if (redraw) draw({.same_records = true});
      const double rate = options.mechanism_rate.at(progress);
      if (options.weight_decay > 0) {
        match.mechanism().parameters() *= static_cast<Scalar>(1 - rate * options.weight_decay);
      }
      const StepReport step = match.step_mechanism(batch, rate, rate / options.mechanism_rate.rate);
      report.mean.log_likelihood += step.log_likelihood;
      report.mean.distortion += step.distortion;
      report.mean.penalty += step.penalty;
      report.mean.discriminator += step.discriminator;
    }
    const double share = 1.0 / static_cast<double>(batches);
    report.mean.log_likelihood *= share;
    report.mean.distortion *= share;
    report.mean.penalty *= share;
    report.mean.discriminator *= share;
    report.adversary *= share / options.adversary_steps;
    report.discriminator *= share;
    report.utility *= share;
    report.multiplier = match.budget().multiplier();
    summary.epochs.push_back(report);

    const double loss = report.mean.loss();
    if (!std::isfinite(loss) || std::abs(loss) > kExploded || !finite(match)) {
      summary.stop = Stop::kDiverged;
      summary.message = fmt::format("diverged in epoch {} (loss {}); the state of epoch {} was kept", epoch,
                                    loss, epoch - 1);
      match.mechanism().parameters() = good.mechanism;
      match.adversary().parameters() = good.adversary;
      break;
    }
    good = {match.mechanism().parameters(), match.adversary().parameters()};
    if (start.checkpoint) start.checkpoint({match.state(), summary.epochs});

    bool stop = false;
    for (const Observer& observer : observers) {
      const Verdict verdict = observer(report);
      if (!verdict.stop || stop) continue;
      stop = true;
      summary.stop = Stop::kObserver;
      summary.message =
          fmt::format("stopped after epoch {} of {}: {}", epoch, options.epochs, verdict.reason);
    }
    if (stop) break;
  }
  if (options.final_releases > 0) {
    summary.distortion = measure_distortion(records, options, root.fork("final-releases"), match);
  }
  auto adversary = std::make_unique<Posterior<Scalar>>(match.adversary());
  return {match.take_mechanism(), std::move(adversary), std::move(summary)};
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
template Trained<double> train(const Records<double>&, const TrainOptions&, const std::vector<Observer>&,
                               TrainStart<double>);

}  // namespace ppan
