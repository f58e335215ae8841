#include "ppan/image/code_game.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ppan/core/error.h"
#include "ppan/game/budget.h"
#include "ppan/game/distortion.h"
#include "ppan/nn/adam.h"

namespace ppan {
namespace {

using Labels = std::vector<Attribute<float>>;

class Adversary {
 public:
  Adversary(const GameOptions& options, Index width, const Labels& labels, SeededRandom random)
      : posterior_(std::make_unique<Posterior<float>>(options.adversary, width, labels)),
        adam_(options.adam) {
    posterior_->initialise(random);
  }

  // Ascends mean log Q(x|seen); returns it as it was before the step.
  double step(const Matrix<float>& seen, const Labels& x, double rate) {
    posterior_->observe(seen);
    const double value = static_cast<double>(posterior_->score(seen, false, 1, x).mean());
    d_score_.setConstant(seen.rows(), 1, -1.0F / static_cast<float>(seen.rows()));
    posterior_->backward(seen, false, 1, x, d_score_, &gradient_, nullptr);
    adam_.step(rate, gradient_, posterior_->parameters());
    return value;
  }
  // mean log Q(x|seen); d_seen() becomes its gradient times `weight`.
  double felt(const Matrix<float>& seen, const Labels& x, float weight) {
    const double value = static_cast<double>(posterior_->score(seen, false, 1, x).mean());
    d_score_.setConstant(seen.rows(), 1, weight / static_cast<float>(seen.rows()));
    posterior_->backward(seen, false, 1, x, d_score_, nullptr, &d_seen_);
    return value;
  }
  [[nodiscard]] const Matrix<float>& d_seen() const { return d_seen_; }

  [[nodiscard]] PlayerState<float> state() const {
    return {posterior_->parameters(), adam_.state(), posterior_->averages_started()};
  }
  void resume(const PlayerState<float>& state) {
    if (state.parameters.size() != posterior_->parameters().size())
      throw Error(ErrorCode::kUsage, "training cannot be resumed: an adversary has another shape");
    posterior_->parameters() = state.parameters;
    posterior_->set_averages_started(state.averages_started);
    adam_.resume(state.adam);
  }
  [[nodiscard]] Vector<float>& parameters() { return posterior_->parameters(); }
  [[nodiscard]] std::unique_ptr<Posterior<float>> take() { return std::move(posterior_); }

 private:
  std::unique_ptr<Posterior<float>> posterior_;
  Adam<float> adam_;
  Vector<float> gradient_;
  Matrix<float> d_score_;
  Matrix<float> d_seen_;
};

class CodeGame {
 public:
  CodeGame(const Records<float>& records, const TrainOptions& options, TrainStart<float>& start)
      : records_(records),
        options_(options),
        root_(options.seed),
        order_stream_(root_.fork("order")),
        noise_stream_(root_.fork("noise")),
        mechanism_(make_mechanism(options.game.mechanism, records.observed)),
        on_code_(options.game, mechanism_->seen_width(), records.sensitive, root_.fork("on-code")),
        on_picture_(options.game, options.game.mechanism.released, records.sensitive,
                    root_.fork("on-picture")),
        distortion_(make_distortion(options.game.distortion, options.game.utility,
                                    options.game.mechanism.released, records.useful)),
        budget_(options.game.budget),
        adam_(options.game.adam),
        batch_size_(std::min(options.batch, records.rows())),
        order_(static_cast<std::size_t>(records.rows())) {
    SeededRandom stream = root_.fork("mechanism");
    mechanism_->initialise(stream);
    if (start.mechanism.size() > 0) {
      if (start.mechanism.size() != mechanism_->parameters().size())
        throw Error(ErrorCode::kUsage,
                    fmt::format("training cannot start: the mechanism has {} parameters, but {} were given",
                                mechanism_->parameters().size(), start.mechanism.size()));
      mechanism_->parameters() = start.mechanism;
    }
    budget_.set_multiplier(start.multiplier);
    std::iota(order_.begin(), order_.end(), 0);
    summary_ = {.given = options, .records = records.rows(), .batch_used = batch_size_};
    summary_.message = fmt::format("reached the limit of {} epochs", options.epochs);
    if (start.resume) resume(*start.resume);
  }

  TrainedCode run(const std::vector<Observer>& observers, const TrainStart<float>& start) {
    keep();
    for (int epoch = static_cast<int>(summary_.epochs.size()) + 1; epoch <= options_.epochs; ++epoch) {
      const EpochReport report = play(epoch);
      summary_.epochs.push_back(report);
      if (!std::isfinite(report.mean.loss()) || !mechanism_->parameters().allFinite() ||
          !on_code_.parameters().allFinite() || !on_picture_.parameters().allFinite()) {
        summary_.stop = Stop::kDiverged;
        summary_.message = fmt::format("diverged in epoch {} (loss {}); the state of epoch {} was kept",
                                       epoch, report.mean.loss(), epoch - 1);
        mechanism_->parameters() = good_mechanism_;
        on_code_.parameters() = good_code_;
        on_picture_.parameters() = good_picture_;
        break;
      }
      keep();
      if (start.checkpoint) start.checkpoint(state());
      bool stop = false;
      for (const Observer& observer : observers) {
        const Verdict verdict = observer(report);
        if (!verdict.stop || stop) continue;
        stop = true;
        summary_.stop = Stop::kObserver;
        summary_.message =
            fmt::format("stopped after epoch {} of {}: {}", epoch, options_.epochs, verdict.reason);
      }
      if (stop) break;
    }
    return {{std::move(mechanism_), on_code_.take(), std::move(summary_)}, on_picture_.take()};
  }

 private:
  EpochReport play(int epoch) {
    EpochReport report{.epoch = epoch, .epochs = options_.epochs};
    shuffle(order_stream_, order_);
    const Index batches = records_.rows() / batch_size_;
    double code = 0;
    double picture = 0;
    for (Index b = 0; b < batches; ++b) {
      gather(records_, order_.data() + b * batch_size_, batch_size_, batch_);
      const double progress =
          static_cast<double>(summary_.iterations++) / (static_cast<double>(batches) * options_.epochs);
      const double rate = options_.adversary_rate.at(progress);
      for (int s = 0; s < options_.adversary_steps; ++s) {
        draw(s > 0);
        code += on_code_.step(draws_.code, batch_.sensitive, rate);
        picture += on_picture_.step(draws_.released, batch_.sensitive, rate);
      }
      draw(true);
      step_mechanism(options_.mechanism_rate.at(progress), report.mean);
    }
    const double share = 1.0 / static_cast<double>(batches);
    report.mean.log_likelihood *= share;
    report.mean.distortion *= share;
    report.mean.penalty *= share;
    report.adversary = std::max(code, picture) * share / options_.adversary_steps;
    report.multiplier = budget_.multiplier();
    return report;
  }
  void draw(bool same_records) {
    mechanism_->fill_noise(noise_stream_, batch_size_, noise_);
    mechanism_->draw_part({.same_records = same_records}, batch_.observed, noise_, draws_);
  }
  void step_mechanism(double rate, StepReport& sum) {
    constexpr float kHalf = 0.5F;
    gradient_.clear();
    const double code = on_code_.felt(draws_.code, batch_.sensitive, kHalf);
    gradient_.seen = on_code_.d_seen();
    gradient_.has_seen = true;
    const double picture = on_picture_.felt(draws_.released, batch_.sensitive, kHalf);
    gradient_.add_released(on_picture_.d_seen());
    distortion_->evaluate(draws_, batch_.useful, value_);
    record_distortion_ = value_.col(0);
    sum.log_likelihood += 0.5 * (code + picture);
    const auto mean = static_cast<double>(record_distortion_.mean());
    sum.distortion += mean;
    sum.penalty += budget_.evaluate(record_distortion_, slope_);
    d_value_ = slope_;
    distortion_->backward(draws_, batch_.useful, d_value_, gradient_);
    mechanism_->backward(batch_.observed, noise_, draws_, gradient_, mechanism_gradient_);
    adam_.step(rate, mechanism_gradient_, mechanism_->parameters());
    budget_.update(mean);
  }

  void keep() {
    good_mechanism_ = mechanism_->parameters();
    good_code_ = on_code_.parameters();
    good_picture_ = on_picture_.parameters();
  }
  [[nodiscard]] TrainState<float> state() const {
    TrainState<float> state;
    state.match.mechanism = {mechanism_->parameters(), adam_.state()};
    state.match.adversary = on_code_.state();
    state.match.utility = on_picture_.state();
    state.match.multiplier = budget_.multiplier();
    state.epochs = summary_.epochs;
    return state;
  }
  // The random streams are brought to where they were by drawing what was drawn.
  void resume(const TrainState<float>& state) {
    if (state.match.mechanism.parameters.size() != mechanism_->parameters().size())
      throw Error(ErrorCode::kUsage, "training cannot be resumed: the mechanism has another shape");
    mechanism_->parameters() = state.match.mechanism.parameters;
    adam_.resume(state.match.mechanism.adam);
    on_code_.resume(state.match.adversary);
    on_picture_.resume(state.match.utility);
    budget_.set_multiplier(state.match.multiplier);
    summary_.epochs = state.epochs;
    const auto done = static_cast<Index>(state.epochs.size());
    summary_.iterations = records_.rows() / batch_size_ * done;
    if (done >= options_.epochs) return;
    for (Index epoch = 0; epoch < done; ++epoch) shuffle(order_stream_, order_);
    for (Index d = 0; d < summary_.iterations * (options_.adversary_steps + 1); ++d)
      mechanism_->fill_noise(noise_stream_, batch_size_, noise_);
  }

  const Records<float>& records_;
  const TrainOptions& options_;
  SeededRandom root_;
  SeededRandom order_stream_;
  SeededRandom noise_stream_;
  std::unique_ptr<Mechanism<float>> mechanism_;
  Adversary on_code_;
  Adversary on_picture_;
  std::unique_ptr<Distortion<float>> distortion_;
  Budget<float> budget_;
  Adam<float> adam_;
  Index batch_size_;
  std::vector<std::int32_t> order_;
  TrainSummary summary_;
  // Of the last good epoch.
  Vector<float> good_mechanism_;
  Vector<float> good_code_;
  Vector<float> good_picture_;
  // Reused from step to step.
  Records<float> batch_;
  Matrix<float> noise_;
  Draws<float> draws_;
  DrawsGradient<float> gradient_;
  Matrix<float> value_;
  Matrix<float> d_value_;
  Vector<float> record_distortion_;
  Vector<float> slope_;
  Vector<float> mechanism_gradient_;
};

}  // namespace

TrainedCode train_code(const Records<float>& records, const TrainOptions& options,
                       const std::vector<Observer>& observers, TrainStart<float> start) {
  require_none(options.check(), "training cannot start:");
  const MechanismOptions& mechanism = options.game.mechanism;
  if (mechanism.kind != MechanismKind::kNoisyCode || !mechanism.sigmoid_output || mechanism.draws != 1)
    throw Error(ErrorCode::kUsage, "two adversaries play against a noisy code of pictures, one draw each");
  if (records.rows() == 0) throw Error(ErrorCode::kBadInput, "there are no pictures to train on");
  return CodeGame(records, options, start).run(observers, start);
}

}  // namespace ppan
