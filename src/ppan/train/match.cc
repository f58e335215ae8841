#include "ppan/train/match.h"

#include <cmath>

namespace ppan {

Problems GameOptions::check() const {
  ProblemList list;
  list.add("mechanism", mechanism.check());
  list.add("adversary", adversary.check());
  list.add("utility", utility.check());
  list.add("budget", budget.check());
  list.add("discriminator", discriminator.check());
  list.add("adam", adam.check());
  const bool finite_release =
      mechanism.kind == MechanismKind::kFinite || mechanism.kind == MechanismKind::kGumbel;
  const auto check_kind = [&](DistortionKind kind, const char* field) {
    list.require(kind != DistortionKind::kError || finite_release, field,
                 "probability of error needs a finite mechanism");
    list.require(
        (kind != DistortionKind::kSquared && kind != DistortionKind::kPixelCrossEntropy) || !finite_release,
        field, "squared error and pixel cross-entropy need a mechanism that releases real numbers");
    list.require(kind != DistortionKind::kPixelCrossEntropy || mechanism.sigmoid_output, field,
                 "pixel cross-entropy needs mechanism.sigmoid_output");
  };
  check_kind(distortion, "distortion");
  list.require_at_least("second.price", second.price, 0);
  if (second.price > 0) {
    check_kind(second.kind, "second.kind");
    list.require(second.kind != distortion, "second.kind", "is that of the first distortion");
    list.require(mechanism.gate.empty(), "mechanism.gate", "does not go with a second distortion");
  }
  list.require(alpha >= 1, "alpha", std::to_string(alpha) + " is not allowed; it must be at least 1");
  list.require_at_least("code_weight", code_weight, 0);
  list.require(code_weight <= 0 || mechanism.kind == MechanismKind::kNoisyCode, "code_weight",
               "only a noisy code has a code");
  list.require(
      mechanism.gate.empty() || (distortion != DistortionKind::kInformation && discriminator.weight == 0),
      "mechanism.gate", "does not go with a learned distortion or a discriminator");
  list.require(discriminator.weight == 0 || !finite_release, "discriminator.weight",
               "a discriminator needs a mechanism that releases real numbers");
  return list.take();
}

template <typename Scalar>
Match<Scalar>::Match(const GameOptions& options, const Records<Scalar>& records,
                     std::unique_ptr<Distortion<Scalar>> distortion)
    : mechanism_((require_none(options.check(), "this game cannot be played:"),
                  make_mechanism(options.mechanism, records.observed))),
      adversary_(options.adversary, mechanism_->seen_width(), records.sensitive),
      distortion_(distortion ? std::move(distortion)
                             : make_distortion(options.distortion, options.utility,
                                               options.mechanism.released, records.useful)),
      second_(options.second.price > 0 ? make_distortion(options.second.kind, options.utility,
                                                         options.mechanism.released, records.second)
                                       : nullptr),
      second_price_(options.second.price),
      utility_frozen_(options.utility_frozen),
      budget_(options.budget),
      code_weight_(options.code_weight),
      whole_power_(std::isinf(options.alpha) ? 1 : (options.alpha - 1) / options.alpha),
      power_(whole_power_),
      mechanism_adam_(options.adam),
      adversary_adam_(options.adam),
      discriminator_adam_(options.adam),
      utility_adam_(options.adam) {
  for (const Attribute<Scalar>& x : records.sensitive) {
    if (whole_power_ > 0 && !x.finite())
      throw Error(ErrorCode::kUsage, "an alpha-loss needs a sensitive attribute with finitely many values",
                  "set alpha (privacy.alpha of a job) to 1");
  }
  if (second_ && records.second.rows() != records.rows())
    throw Error(ErrorCode::kUsage, "a second distortion needs a second useful attribute of every record");
  if (options.discriminator.weight > 0)
    discriminator_.emplace(options.discriminator, options.mechanism.released);
  symbols_ = symbol_game(options, records);
}

template <typename Scalar>
std::optional<SymbolGame<Scalar>> Match<Scalar>::symbol_game(const GameOptions& options,
                                                             const Records<Scalar>& records) const {
  const PosteriorOptions& adversary = options.adversary;
  const bool tables = options.mechanism.kind == MechanismKind::kFinite && options.mechanism.hidden.empty() &&
                      adversary.hidden.empty() && !adversary.bias && !adversary.skip &&
                      !adversary.standardise;
  const bool finite = records.observed.finite() && records.useful.finite() && records.sensitive.size() == 1 &&
                      records.sensitive.front().finite();
  if (!tables || !finite || !budget_.by_mean()) return std::nullopt;
  const Matrix<Scalar> d = distortion_->table(records.useful.levels, options.mechanism.released);
  if (d.rows() != records.useful.levels || d.cols() != options.mechanism.released) return std::nullopt;
  return SymbolGame<Scalar>(records.observed.levels, records.sensitive.front().levels, d);
}

template <typename Scalar>
Posterior<Scalar>* Match<Scalar>::learner() {
  Posterior<Scalar>* first = distortion_->learner();
  return first == nullptr && second_ ? second_->learner() : first;
}

template <typename Scalar>
void Match<Scalar>::initialise(const SeededRandom& random) {
  auto mechanism_stream = random.fork("mechanism");
  mechanism_->initialise(mechanism_stream);
  auto adversary_stream = random.fork("adversary");
  adversary_.initialise(adversary_stream);
  if (Posterior<Scalar>* q = learner()) {
    auto stream = random.fork("utility");
    q->initialise(stream);
  }
  if (discriminator_) {
    auto stream = random.fork("discriminator");
    discriminator_->initialise(stream);
  }
}

template <typename Scalar>
MatchState<Scalar> Match<Scalar>::state() {
  MatchState<Scalar> state;
  state.mechanism = {mechanism_->parameters(), mechanism_adam_.state()};
  state.adversary = {adversary_.parameters(), adversary_adam_.state(), adversary_.averages_started()};
  if (discriminator_) state.discriminator = {discriminator_->parameters(), discriminator_adam_.state()};
  if (Posterior<Scalar>* q = learner()) {
    state.utility = {q->parameters(), utility_adam_.state(), q->averages_started()};
  }
  state.multiplier = budget_.multiplier();
  state.running = budget_.running();
  return state;
}

template <typename Scalar>
void Match<Scalar>::resume(const MatchState<Scalar>& state) {
  const auto take = [](const PlayerState<Scalar>& from, const char* player, Vector<Scalar>& parameters,
                       Adam<Scalar>& adam) {
    const auto fits = [&](const Vector<Scalar>& v) { return v.size() == parameters.size(); };
    if (!fits(from.parameters) || (from.adam.m.size() > 0 && !(fits(from.adam.m) && fits(from.adam.v)))) {
      throw Error(ErrorCode::kUsage,
                  std::string("training cannot be resumed: the ") + player + " has another shape");
    }
    parameters = from.parameters;
    adam.resume(from.adam);
  };
  take(state.mechanism, "mechanism", mechanism_->parameters(), mechanism_adam_);
  take(state.adversary, "adversary", adversary_.parameters(), adversary_adam_);
  adversary_.set_averages_started(state.adversary.averages_started);
  if (discriminator_) {
    take(state.discriminator, "discriminator", discriminator_->parameters(), discriminator_adam_);
  }
  if (Posterior<Scalar>* q = learner()) {
    take(state.utility, "utility network", q->parameters(), utility_adam_);
    q->set_averages_started(state.utility.averages_started);
  }
  if (budget_.options().memory > 0 && state.mechanism.adam.m.size() > 0 && state.running.steps == 0) {
    throw Error(ErrorCode::kUsage,
                "training cannot be resumed: the state has no running mean for a dual budget with memory");
  }
  budget_.set_multiplier(state.multiplier);
  budget_.set_running(state.running);
}

template <typename Scalar>
double Match<Scalar>::weighted_mean(const Matrix<Scalar>& value) const {
  return static_cast<double>(value.cwiseProduct(draws_.weight).sum()) / static_cast<double>(draws_.records);
}

template <typename Scalar>
void Match<Scalar>::draw(const Records<Scalar>& batch, const Matrix<Scalar>& noise, DrawScope scope) {
  // Probabilities for every symbol of W pay as soon as a batch has as many records.
  by_symbol_ = symbols_ && batch.observed.levels <= batch.rows();
  if (by_symbol_) {
    symbols_->draw(batch, mechanism_->parameters());
    return;
  }
  mechanism_->draw_part(scope, batch.observed, noise, draws_);
  noise_ = &noise;
}

template <typename Scalar>
double Match<Scalar>::step_adversary(const Records<Scalar>& batch, double rate) {
  if (!by_symbol_) adversary_.observe(draws_.seen());
  const double value = evaluate_adversary(batch, adversary_gradient_);
  adversary_adam_.step(rate, adversary_gradient_, adversary_.parameters());
  return value;
}

template <typename Scalar>
double Match<Scalar>::evaluate_adversary(const Records<Scalar>& batch, Vector<Scalar>& descent) {
  if (by_symbol_) {
    symbols_->believe(adversary_.parameters(), power_);
    const double value = symbols_->mean_utility(whole_power_);
    symbols_->adversary_descent(descent);
    return value;
  }
  const Matrix<Scalar>& score =
      adversary_.score(draws_.seen(), draws_.shared, draws_.per_record, batch.sensitive);
  const double value = mean_utility(score, utility(score));
  weigh_scores(Scalar(-1) / static_cast<Scalar>(draws_.records));
  adversary_.backward(draws_.seen(), draws_.shared, draws_.per_record, batch.sensitive, d_score_, &descent,
                      nullptr);
  return value;
}

template <typename Scalar>
double Match<Scalar>::step_discriminator(const Records<Scalar>& batch, double rate) {
  if (!discriminator_) return 0;
  const double value = discriminator_->evaluate(draws_, batch.useful.value, discriminator_gradient_);
  discriminator_gradient_ = -discriminator_gradient_;
  discriminator_adam_.step(rate, discriminator_gradient_, discriminator_->parameters());
  return value;
}

template <typename Scalar>
double Match<Scalar>::step_utility(const Records<Scalar>& batch, double rate) {
  Posterior<Scalar>* q = learner();
  if (!q || utility_frozen_) return 0;
  const bool first = distortion_->learner() == q;
  Distortion<Scalar>& learned = first ? *distortion_ : *second_;
  const Attribute<Scalar>& useful = first ? batch.useful : batch.second;
  q->observe(draws_.released);
  learned.evaluate(draws_, useful, distortion_value_);
  const double value = -weighted_mean(distortion_value_);
  d_distortion_ = draws_.weight * (Scalar(1) / static_cast<Scalar>(draws_.records));
  learned.learner_backward(draws_, useful, d_distortion_, utility_gradient_);
  utility_adam_.step(rate, utility_gradient_, q->parameters());
  return value;
}

template <typename Scalar>
const Matrix<Scalar>& Match<Scalar>::utility(const Matrix<Scalar>& score) {
  if (power_ == 0) return score;
  const auto power = static_cast<Scalar>(power_);
  utility_slope_ = (power * score.array()).exp().matrix();
  utility_value_ = ((utility_slope_.array() - 1) / power).matrix();
  return utility_value_;
}

template <typename Scalar>
double Match<Scalar>::mean_utility(const Matrix<Scalar>& score, const Matrix<Scalar>& utility) const {
  if (power_ == whole_power_) return weighted_mean(utility);
  const auto power = static_cast<Scalar>(whole_power_);
  return weighted_mean((((power * score.array()).exp() - Scalar(1)) / power).matrix());
}

template <typename Scalar>
void Match<Scalar>::weigh_scores(Scalar factor) {
  d_score_ = draws_.weight * factor;
  if (power_ > 0) d_score_ = d_score_.cwiseProduct(utility_slope_);
}

template <typename Scalar>
void Match<Scalar>::add_distortion(const Records<Scalar>& batch, StepReport& report) {
  distortion_->evaluate(draws_, batch.useful, distortion_value_);
  if (draws_.rest_unchanged) rest_ = Vector<Scalar>::Ones(draws_.records) - draws_.weight.rowwise().sum();
  record_distortion_.setZero(draws_.records);
  for (Index k = 0; k < draws_.per_record; ++k) {
    record_distortion_ += distortion_value_.col(k).cwiseProduct(draws_.weight.col(k));
  }
  if (draws_.rest_unchanged) {
    distortion_->unchanged(batch.useful, unchanged_);
    record_distortion_ += rest_.cwiseProduct(unchanged_);
  }
  report.distortion = static_cast<double>(record_distortion_.mean());
  d_distortion_.resize(draws_.records, draws_.per_record);
  if (budget_.by_draw()) {
    budget_.cost(distortion_value_, draw_cost_, d_distortion_);
    report.penalty += weighted_mean(draw_cost_);
    if (draws_.rest_unchanged) {  // from here on what staying unchanged costs
      for (Scalar& d : unchanged_) d = budget_.cost(d);
      report.penalty += static_cast<double>(rest_.dot(unchanged_)) / static_cast<double>(draws_.records);
    }
    const Scalar share = Scalar(1) / static_cast<Scalar>(draws_.records);
    d_distortion_.array() *= share * draws_.weight.array();
  } else {
    report.penalty += budget_.evaluate(record_distortion_, slope_);
    for (Index k = 0; k < draws_.per_record; ++k) {
      d_distortion_.col(k).array() = slope_.array() * draws_.weight.col(k).array();
    }
  }
  distortion_->backward(draws_, batch.useful, d_distortion_, draws_gradient_);
}

template <typename Scalar>
void Match<Scalar>::add_second(const Records<Scalar>& batch, StepReport& report) {
  second_->evaluate(draws_, batch.second, second_value_);
  report.second = second_price_ * weighted_mean(second_value_);
  d_distortion_ = draws_.weight * static_cast<Scalar>(second_price_ / static_cast<double>(draws_.records));
  second_->backward(draws_, batch.second, d_distortion_, draws_gradient_);
}

template <typename Scalar>
void Match<Scalar>::add_weight_price(Index k) {
  auto gradient = draws_gradient_.weight.col(k).array();
  if (second_) {
    const auto price = static_cast<Scalar>(second_price_ / static_cast<double>(draws_.records));
    gradient += price * second_value_.col(k).array();
  }
  if (budget_.by_draw()) {
    const Scalar share = Scalar(1) / static_cast<Scalar>(draws_.records);
    gradient += share * draw_cost_.col(k).array();
    if (draws_.rest_unchanged) gradient -= share * unchanged_.array();
    return;
  }
  gradient += slope_.array() * distortion_value_.col(k).array();
  if (draws_.rest_unchanged) gradient -= slope_.array() * unchanged_.array();
}

template <typename Scalar>
StepReport Match<Scalar>::evaluate_by_symbol(const Records<Scalar>& batch, Vector<Scalar>& gradient) {
  StepReport report;
  symbols_->believe(adversary_.parameters(), power_);
  report.log_likelihood = symbols_->mean_utility(whole_power_);
  report.distortion = symbols_->mean_distortion();
  double slope = 0;
  report.penalty = budget_.evaluate_mean(report.distortion, slope);
  symbols_->mechanism_gradient(batch, adversary_weight_, slope, gradient);
  return report;
}

template <typename Scalar>
StepReport Match<Scalar>::evaluate_mechanism(const Records<Scalar>& batch, Vector<Scalar>& gradient) {
  if (by_symbol_) return evaluate_by_symbol(batch, gradient);
  const Scalar share = Scalar(1) / static_cast<Scalar>(draws_.records);
  StepReport report;
  draws_gradient_.clear();

  const Matrix<Scalar>& log_belief =
      adversary_.score(draws_.seen(), draws_.shared, draws_.per_record, batch.sensitive);
  const Matrix<Scalar>& score = utility(log_belief);
  report.log_likelihood = mean_utility(log_belief, score);
  const Scalar felt = static_cast<Scalar>(adversary_weight_) * share;
  if (felt > 0 && !draws_.shared) {  // the symbols of an alphabet do not move
    weigh_scores(felt);
    adversary_.backward(draws_.seen(), draws_.shared, draws_.per_record, batch.sensitive, d_score_, nullptr,
                        &draws_gradient_.seen);
    draws_gradient_.has_seen = true;
  }
  if (code_weight_ > 0) add_code_length(report);
  add_distortion(batch, report);
  if (second_) add_second(batch, report);
  if (discriminator_) report.discriminator = discriminator_->evaluate_release(draws_, draws_gradient_);

  if (draws_.weights_learned) {
    draws_gradient_.weight.resize(draws_.records, draws_.per_record);
    for (Index k = 0; k < draws_.per_record; ++k) {
      draws_gradient_.weight.col(k).array() = score.col(k).array() * felt;
      add_weight_price(k);
    }
    if (code_weight_ > 0)
      draws_gradient_.weight += code_length_ * (static_cast<Scalar>(code_weight_ / 2) * share);
    if (discriminator_) discriminator_->add_weight_gradient(draws_gradient_);
  }
  mechanism_->backward(batch.observed, *noise_, draws_, draws_gradient_, gradient);
  return report;
}

template <typename Scalar>
void Match<Scalar>::add_code_length(StepReport& report) {
  // A code without its noise is its centre; the draws of a record share it, and so its gradient.
  center_ = draws_.code - *noise_;
  code_length_.resize(draws_.records, draws_.per_record);
  Eigen::Map<Vector<Scalar>>(code_length_.data(), code_length_.size()) = center_.rowwise().squaredNorm();
  report.penalty += 0.5 * code_weight_ * weighted_mean(code_length_);
  const Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>> weight(draws_.weight.data(),
                                                                         draws_.weight.size());
  const auto slope = static_cast<Scalar>(code_weight_ / static_cast<double>(draws_.records));
  for (Index c = 0; c < center_.cols(); ++c) center_.col(c).array() *= slope * weight;
  if (draws_gradient_.has_seen) {
    draws_gradient_.seen += center_;
  } else {
    draws_gradient_.seen = center_;
    draws_gradient_.has_seen = true;
  }
}

template <typename Scalar>
double Match<Scalar>::measure_distortion(const Records<Scalar>& batch) {
  if (by_symbol_) return symbols_->mean_distortion();
  distortion_->evaluate(draws_, batch.useful, distortion_value_);
  double mean = weighted_mean(distortion_value_);
  if (draws_.rest_unchanged) {
    distortion_->unchanged(batch.useful, unchanged_);
    rest_ = Vector<Scalar>::Ones(draws_.records) - draws_.weight.rowwise().sum();
    mean += static_cast<double>(rest_.dot(unchanged_)) / static_cast<double>(draws_.records);
  }
  return mean;
}

template <typename Scalar>
StepReport Match<Scalar>::step_mechanism(const Records<Scalar>& batch, double rate, double share) {
  const StepReport report = evaluate_mechanism(batch, mechanism_gradient_);
  mechanism_adam_.step(rate, mechanism_gradient_, mechanism_->parameters());
  budget_.update(report.distortion, share);
  return report;
}

template class Match<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class Match<double>;
#endif

}  // namespace ppan
