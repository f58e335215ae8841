#include "ppan/audit/leakage_measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ppan/theory/leakage_measures.h"

namespace ppan {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct MeasureName {
  std::string name;
  std::string title;
  MeasureUnit unit = MeasureUnit::kNats;
  bool more_is_worse = true;
};

MeasureName alpha_name(double alpha) {
  return {fmt::format("alpha-leakage-{}", alpha),
          fmt::format("\u03b1-leakage (Arimoto), \u03b1 = {}", alpha)};
}
MeasureName sibson_name(double alpha) {
  return {fmt::format("sibson-{}", alpha), fmt::format("Sibson information, \u03b1 = {}", alpha)};
}

const MeasureName kPrior{"prior-vulnerability", "chance to name X without the release",
                         MeasureUnit::kProbability};
const MeasureName kBayes{"bayes-vulnerability", "chance to name X from the release",
                         MeasureUnit::kProbability};
const MeasureName kMinEntropy{"min-entropy-leakage", "min-entropy leakage"};
const MeasureName kAdditive{"additive-leakage", "rise of the chance to name X", MeasureUnit::kProbability};
const MeasureName kSecurity{"bayes-security", "Bayes security", MeasureUnit::kRatio, false};
const MeasureName kMaximal{"maximal-leakage", "maximal leakage"};
const MeasureName kGain{"gain-vulnerability", "expected gain from the release", MeasureUnit::kGain};
const MeasureName kGainLeakage{"gain-leakage", "g-leakage"};

LeakageMeasure measure(const MeasureName& name, Estimate estimate) {
  return {name.name, name.title, name.unit, name.more_is_worse, std::move(estimate)};
}

// Scores of one attacker on the test rows, and what a row moves the mean by.
struct Scores {
  double mean = 0;
  Vector<double> influence;  ///< Not centred.
};

Scores scores_of(Vector<double> value) {
  return {value.mean(), std::move(value)};
}

class HeldOut {
 public:
  HeldOut(const Matrix<float>& log_probability, const Symbols& x, const Vector<double>& prior,
          const Units& unit, const LeakageMeasureOptions& options)
      : log_q_(log_probability.cast<double>()),
        x_(x),
        prior_(prior / prior.sum()),
        unit_(unit),
        options_(options) {
    share_ = Vector<double>::Zero(prior.size());
    for (const std::int32_t code : x) share_[code] += 1.0 / static_cast<double>(x.size());
  }

  [[nodiscard]] std::vector<LeakageMeasure> all() const {
    std::vector<LeakageMeasure> out;
    add_vulnerability(out);
    for (const double alpha : options_.alpha) {
      const Scores with = scores_of(alpha_scores(alpha, Vector<double>::Zero(prior_.size())));
      out.push_back(
          measure(alpha_name(alpha), log_ratio(with, prior_scores(alpha), alpha / (alpha - 1),
                                               fmt::format("held-out \u03b1-loss, \u03b1 = {}", alpha))));
      out.push_back(
          measure(sibson_name(alpha),
                  log_ratio(sibson_scores(alpha), exactly(1), alpha / (alpha - 1),
                            fmt::format("held-out \u03b1-loss with reweighted levels, \u03b1 = {}", alpha))));
    }
    out.push_back(measure(kMaximal, log_ratio(sibson_scores(kInfinity), exactly(1), 1,
                                              "sum over the levels of the share recognised, held-out rows")));
    if (options_.gain.size() > 0) add_gain(out);
    return out;
  }

 private:
  [[nodiscard]] Index rows() const { return log_q_.rows(); }
  [[nodiscard]] std::int32_t truth(Index i) const { return x_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Scores exactly(double value) const { return {value, Vector<double>::Zero(rows())}; }

  /// The attacker without the release scores score[x]; exactly its mean where the prior is known.
  [[nodiscard]] Scores without_release(const Vector<double>& score) const {
    if (options_.prior_known) return exactly(prior_.dot(score));
    Vector<double> value(rows());
    for (Index i = 0; i < rows(); ++i) value[i] = score[truth(i)];
    return scores_of(std::move(value));
  }

  void add_vulnerability(std::vector<LeakageMeasure>& out) const {
    Vector<double> hit(rows());
    for (Index i = 0; i < rows(); ++i) {
      Index guess = 0;
      log_q_.row(i).maxCoeff(&guess);
      hit[i] = guess == truth(i) ? 1 : 0;
    }
    Index likeliest = 0;
    prior_.maxCoeff(&likeliest);
    Vector<double> blind_score = Vector<double>::Zero(prior_.size());
    blind_score[likeliest] = 1;
    const Scores blind = without_release(blind_score);
    const Scores with{hit.mean(), hit};

    Estimate prior{.nats = blind.mean, .bound = Bound::kEstimate, .method = "share of the likeliest level"};
    prior.samples = options_.prior_known ? 0 : rows();
    prior.interval95 =
        options_.prior_known ? Interval{blind.mean, blind.mean} : share(blind.influence, unit_).interval95;
    out.push_back(measure(kPrior, prior));

    // Whoever sees the release may also ignore it.
    Estimate bayes = lower("share of held-out rows whose likeliest level is the true one");
    const Interval wilson = share(hit, unit_).interval95;
    bayes.nats = std::max(with.mean, blind.mean);
    bayes.interval95 =
        Interval{std::max(wilson.low, prior.interval95->low), std::max(wilson.high, prior.interval95->high)};
    out.push_back(measure(kBayes, bayes));
    out.push_back(measure(kMinEntropy, log_ratio(with, blind, 1, "log of held-out against prior accuracy")));

    const Vector<double> difference = with.influence - blind.influence;
    out.push_back(measure(kAdditive, clipped(with.mean - blind.mean, half_width(difference), 0, 1,
                                             lower("held-out less prior accuracy"))));
    const double missed = 1 - blind.mean;
    Estimate security{.bound = Bound::kUpper, .method = "held-out against prior error", .samples = rows()};
    if (missed <= 0) {
      security.nats = 1;
      security.interval95 = Interval{0, 1};
    } else {
      const double ratio = (1 - with.mean) / missed;
      const Vector<double> influence = (ratio * blind.influence - with.influence) / missed;
      const double half = half_width(influence);
      security.nats = std::clamp(ratio, 0.0, 1.0);
      security.interval95 =
          Interval{std::clamp(std::min(ratio, 1.0) - half, 0.0, 1.0), std::clamp(ratio + half, 0.0, 1.0)};
    }
    out.push_back(measure(kSecurity, security));
  }

  void add_gain(std::vector<LeakageMeasure>& out) const {
    const Matrix<double>& gain = options_.gain;
    const Matrix<double> expected = log_q_.array().exp().matrix() * gain.transpose();  // rows x guesses
    Vector<double> value(rows());
    for (Index i = 0; i < rows(); ++i) {
      Index guess = 0;
      expected.row(i).maxCoeff(&guess);
      value[i] = gain(guess, truth(i));
    }
    Index blind_guess = 0;
    (gain * prior_).maxCoeff(&blind_guess);
    const Scores blind = without_release(gain.row(blind_guess).transpose());
    const Scores with = scores_of(std::move(value));
    out.push_back(measure(kGain, clipped(with.mean, half_width(with.influence), gain.minCoeff(),
                                         gain.maxCoeff(), lower("mean gain on held-out rows"))));
    // Gains may differ by any factor, so this leakage is not bounded by log |X|.
    out.push_back(
        measure(kGainLeakage, log_ratio(with, blind, 1, "log of held-out against prior gain", kInfinity)));
  }

  /// q(x_i|z_i)^((alpha-1)/alpha) with q proportional to (Q(x|z) exp(tilt(x)))^alpha; at infinity 1 where the
  /// greatest is the truth.
  [[nodiscard]] Vector<double> alpha_scores(double alpha, const Vector<double>& tilt) const {
    Vector<double> value(rows());
    for (Index i = 0; i < rows(); ++i) {
      const Vector<double> log_weight = log_q_.row(i).transpose() + tilt;
      Index greatest = 0;
      const double most = log_weight.maxCoeff(&greatest);
      if (std::isinf(alpha)) {
        value[i] = greatest == truth(i) ? 1 : 0;
        continue;
      }
      const double total = (alpha * (log_weight.array() - most)).exp().sum();
      const double log_q = alpha * (log_weight[truth(i)] - most) - std::log(total);
      value[i] = std::exp((alpha - 1) / alpha * log_q);
    }
    return value;
  }

  [[nodiscard]] Scores prior_scores(double alpha) const {
    const Vector<double> tilted = (prior_ / prior_.maxCoeff()).array().pow(alpha);
    return without_release((tilted / tilted.sum()).array().pow((alpha - 1) / alpha));
  }

  /// E P(X)^(1/alpha - 1) q(X|Z)^((alpha-1)/alpha), P the shares of the levels: their own error is counted,
  /// by the derivative of sum_x P(x)^(1/alpha) r_x in P, r_x the mean within a level.
  [[nodiscard]] Scores sibson_scores(double alpha) const {
    const double power = std::isinf(alpha) ? -1 : 1 / alpha - 1;
    const Vector<double> value = alpha_scores(alpha, power * prior_.array().log());
    const Vector<double>& p = options_.prior_known ? prior_ : share_;
    Vector<double> level_mean = Vector<double>::Zero(p.size());
    for (Index i = 0; i < rows(); ++i)
      level_mean[truth(i)] += value[i] / (static_cast<double>(rows()) * share_[truth(i)]);
    Scores scores{0, Vector<double>(rows())};
    for (Index i = 0; i < rows(); ++i) {
      const std::int32_t level = truth(i);
      const double weight = std::pow(p[level], power);
      scores.mean += weight * value[i] / static_cast<double>(rows());
      // power = 1/alpha - 1, so a row beyond its level's mean counts fully, the mean itself 1/alpha.
      scores.influence[i] = weight * (options_.prior_known ? value[i] : value[i] + power * level_mean[level]);
    }
    return scores;
  }

  [[nodiscard]] Estimate lower(std::string method) const {
    return {.bound = Bound::kLower, .method = std::move(method), .samples = rows()};
  }

  [[nodiscard]] double half_width(const Vector<double>& influence) const {
    const Rate rate = mean_rate(influence, unit_);
    return rate.interval95.high - rate.value;
  }

  /// A value below `least` counts as `least`, with as much doubt as the rows leave.
  static Estimate clipped(double value, double half, double least, double most, Estimate estimate) {
    const auto clip = [&](double v) { return std::clamp(v, least, most); };
    estimate.nats = clip(value);
    estimate.interval95 = Interval{clip(value - half), clip(std::max(value, least) + half)};
    return estimate;
  }

  [[nodiscard]] Estimate log_ratio(const Scores& with, const Scores& without, double factor,
                                   std::string method) const {
    return log_ratio(with, without, factor, std::move(method), std::log(static_cast<double>(prior_.size())));
  }
  [[nodiscard]] Estimate log_ratio(const Scores& with, const Scores& without, double factor,
                                   std::string method, double most) const {
    if (with.mean <= 0 || without.mean <= 0) {  // nothing recognised, or nothing to compare with
      Estimate nothing = lower(std::move(method));
      nothing.interval95 = Interval{0, most};
      return nothing;
    }
    const Vector<double> influence = factor * (with.influence / with.mean - without.influence / without.mean);
    return clipped(factor * std::log(with.mean / without.mean), half_width(influence), 0, most,
                   lower(std::move(method)));
  }

  Matrix<double> log_q_;
  const Symbols& x_;
  Vector<double> prior_;
  Vector<double> share_;  ///< Of the levels among the test rows.
  const Units& unit_;
  const LeakageMeasureOptions& options_;
};

void require_shapes(const Matrix<float>& log_probability, const Symbols& x, const Vector<double>& prior,
                    const Units& unit) {
  ProblemList list;
  const auto rows = static_cast<std::size_t>(log_probability.rows());
  list.require(rows >= 2, "log_probability", "has fewer than 2 rows");
  list.require(x.size() == rows, "x", fmt::format("has {} rows where there are {}", x.size(), rows));
  list.require(unit.empty() || unit.size() == rows, "unit",
               fmt::format("has {} rows where there are {}", unit.size(), rows));
  list.require(prior.size() == log_probability.cols(), "prior",
               fmt::format("has {} levels where there are {}", prior.size(), log_probability.cols()));
  list.require(prior.size() == 0 || (prior.allFinite() && prior.minCoeff() > 0), "prior",
               "has an entry that is not positive");
  const bool coded = std::all_of(
      x.begin(), x.end(), [&](std::int32_t code) { return code >= 0 && code < log_probability.cols(); });
  list.require(coded, "x", "has a level that is not there");
  require_none(list.take(), "these rows cannot be measured:", ErrorCode::kBadInput);
}

}  // namespace

std::string_view to_string(MeasureUnit unit) {
  switch (unit) {
    case MeasureUnit::kNats:
      return "nats";
    case MeasureUnit::kProbability:
      return "probability";
    case MeasureUnit::kRatio:
      return "ratio";
    case MeasureUnit::kGain:
      return "gain";
  }
  return "unknown";
}

Problems LeakageMeasureOptions::check(Index levels) const {
  ProblemList list;
  for (const double a : alpha) {
    list.require(std::isfinite(a) && a > 1, "alpha",
                 fmt::format("{} is not allowed; it must be greater than 1 and finite", a));
  }
  if (gain.size() > 0) {
    for (const Problem& p : theory::check_gain(gain, levels)) list.require(false, p.field, p.what);
  }
  return list.take();
}

bool more_is_worse(std::string_view name) {
  return name != kSecurity.name;
}

std::vector<std::string> leakage_measure_names(const LeakageMeasureOptions& options) {
  std::vector<std::string> names{kPrior.name, kBayes.name, kMinEntropy.name, kAdditive.name, kSecurity.name};
  for (const double a : options.alpha) {
    names.push_back(alpha_name(a).name);
    names.push_back(sibson_name(a).name);
  }
  names.push_back(kMaximal.name);
  if (options.gain.size() > 0) {
    names.push_back(kGain.name);
    names.push_back(kGainLeakage.name);
  }
  return names;
}

std::vector<LeakageMeasure> exact_leakage_measures(const MatrixRef<double>& joint,
                                                   const LeakageMeasureOptions& options) {
  require_none(theory::check_joint(joint), "these measures cannot be computed:", ErrorCode::kBadInput);
  require_none(options.check(joint.rows()), "these measures cannot be computed:");
  std::vector<LeakageMeasure> out;
  const auto add = [&](const MeasureName& name, double value) {
    out.push_back(measure(
        name, {.nats = value, .bound = Bound::kExact, .method = "known joint distribution of X and Z"}));
  };
  add(kPrior, theory::prior_vulnerability(joint));
  add(kBayes, theory::bayes_vulnerability(joint));
  add(kMinEntropy, theory::min_entropy_leakage(joint));
  add(kAdditive, theory::additive_leakage(joint));
  add(kSecurity, theory::bayes_security(joint));
  for (const double a : options.alpha) {
    add(alpha_name(a), theory::arimoto_information(joint, a));
    add(sibson_name(a), theory::sibson_information(joint, a));
  }
  add(kMaximal, theory::maximal_leakage(joint));
  if (options.gain.size() > 0) {
    add(kGain, theory::posterior_gain(joint, options.gain));
    add(kGainLeakage, theory::gain_leakage(joint, options.gain));
  }
  return out;
}

std::vector<LeakageMeasure> held_out_leakage_measures(const Matrix<float>& log_probability, const Symbols& x,
                                                      const Vector<double>& prior, const Units& unit,
                                                      const LeakageMeasureOptions& options) {
  require_shapes(log_probability, x, prior, unit);
  require_none(options.check(log_probability.cols()), "these measures cannot be computed:");
  return HeldOut(log_probability, x, prior, unit, options).all();
}

}  // namespace ppan
