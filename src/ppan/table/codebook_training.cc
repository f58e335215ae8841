#include "ppan/table/codebook_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ppan/audit/attack_numbers.h"
#include "ppan/audit/code_certificate.h"
#include "ppan/nn/adam.h"

namespace ppan {
namespace {

constexpr Index kRowsPerCodeword = 64;
constexpr Index kSteps = 1200;
constexpr int kLeastEpochs = 8;
constexpr int kMostEpochs = 200;
constexpr std::int32_t kMostJoint = 256;   // levels of all hidden columns together
constexpr std::int32_t kMostKept = 64;     // levels of all kept tasks together
constexpr std::int32_t kNumberLevels = 8;  // of a hidden or task number
constexpr double kStartBeta = 30;          // distances are shares of a whole table of unrelated values
constexpr int kSteerings = 60;             // of lambda, over a training
constexpr double kSteerRate = 0.1;
constexpr double kStartLambda = 0.1;
constexpr double kStiffness = 1;
constexpr double kMostStiff = 2;
constexpr double kNearTarget = 0.15;  // of the target, that is as good as on it
constexpr double kScoreRate = 0.1;
constexpr double kLeastLambda = 1e-3;
constexpr double kMostLambda = 300;
constexpr Index kSteerRows = 6000;

// Levels of hidden and task columns: numbers in a few quantile bins.
ColumnLevels coded_levels(const EncodedRows& rows, std::int32_t column, const Encoding& encoding,
                          std::int64_t least_rows) {
  return fit_levels(
      rows, column, encoding,
      {.most_bins = kNumberLevels, .most_segments = 1, .spike_share = 0.1, .least_rows = least_rows});
}

// No fewer than a few mini-batches in an epoch, however small the table.
Index batch_for(Index rows, const CodebookOptions& options) {
  return std::min<Index>(options.batch, std::max<Index>(1, rows / 8));
}

CodedAttribute join(const std::vector<CodedAttribute>& parts, std::size_t rows) {
  CodedAttribute out{Symbols(rows, 0), 1};
  for (const CodedAttribute& part : parts) {
    for (std::size_t r = 0; r < rows; ++r) out.code[r] = out.code[r] * part.levels + part.code[r];
    out.levels *= part.levels;
  }
  return out;
}

// Everything that is counted, as the columns of a matrix: features, then an indicator for each pair (x, t) of
// each hidden attribute, then for each level of each task, then 1.
class Tables {
 public:
  Tables(const CodebookRows& rows, Index codewords) : rows_(&rows), kept_(rows.kept.levels) {
    Index width = rows.features.cols();
    for (const CodedAttribute& x : rows.hidden) {
      hidden_.push_back(width);
      width += static_cast<Index>(x.levels) * kept_;
    }
    for (const CodedAttribute& t : rows.task) {
      task_.push_back(width);
      width += t.levels;
    }
    mass_ = width;
    sum_.setZero(codewords, width + 1);
    for (std::size_t h = 0; h < rows.hidden.size(); ++h) prior_.push_back(prior_of(rows.hidden[h]));
  }

  // The counted columns of some rows.
  void counted(const std::int32_t* which, Index count, Matrix<float>& out) const {
    out.setZero(count, sum_.cols());
    for (Index i = 0; i < count; ++i) {
      const auto r = static_cast<std::size_t>(which[i]);
      for (std::size_t h = 0; h < hidden_.size(); ++h) out(i, hidden_[h] + pair(h, r)) = 1;
      for (std::size_t t = 0; t < task_.size(); ++t) out(i, task_[t] + rows_->task[t].code[r]) = 1;
      out(i, mass_) = 1;
    }
    for (Index f = 0; f < rows_->features.cols(); ++f) {
      for (Index i = 0; i < count; ++i) out(i, f) = rows_->features(which[i], f);
    }
  }

  void set(Matrix<float> sum) { sum_ = std::move(sum); }
  void blend(const Matrix<float>& batch_sum, float keep) { sum_ = keep * sum_ + (1 - keep) * batch_sum; }
  [[nodiscard]] const Matrix<float>& sum() const { return sum_; }
  [[nodiscard]] Vector<float> mass() const { return sum_.col(mass_); }

  // Means of the features; a codeword without rows keeps its centre.
  void move_centres(Matrix<float>& centre) const {
    const Vector<float> mass = sum_.col(mass_);
    for (Index c = 0; c < centre.rows(); ++c) {
      if (mass[c] > 1e-12F) centre.row(c) = sum_.row(c).head(centre.cols()) / mass[c];
    }
  }

  // log q(x|c,t) / p(x|t), codewords x (x, t); counts are joined by one row of the prior, `unit` of the mass.
  [[nodiscard]] Matrix<float> hidden_scores(std::size_t h, float unit) const {
    const std::int32_t levels = rows_->hidden[h].levels;
    Matrix<float> out(sum_.rows(), static_cast<Index>(levels) * kept_);
    for (std::int32_t t = 0; t < kept_; ++t) {
      for (Index c = 0; c < sum_.rows(); ++c) {
        float all = unit;
        for (std::int32_t x = 0; x < levels; ++x)
          all += sum_(c, hidden_[h] + static_cast<Index>(x) * kept_ + t);
        for (std::int32_t x = 0; x < levels; ++x) {
          const Index at = static_cast<Index>(x) * kept_ + t;
          const float p = prior_[h][at];
          const float q = (sum_(c, hidden_[h] + at) + unit * p) / all;
          out(c, at) = p > 0 ? std::log(std::max(q, 1e-12F) / p) : 0;
        }
      }
    }
    return out;
  }
  // -log q(t|c), codewords x t.
  [[nodiscard]] Matrix<float> task_costs(std::size_t t, float unit) const {
    const std::int32_t levels = rows_->task[t].levels;
    const Matrix<float> counts = sum_.middleCols(task_[t], levels);
    const Vector<float> share = counts.colwise().sum().transpose() / std::max(1e-12F, counts.sum());
    Matrix<float> out(sum_.rows(), levels);
    for (Index c = 0; c < sum_.rows(); ++c) {
      const float all = counts.row(c).sum() + unit;
      for (std::int32_t l = 0; l < levels; ++l)
        out(c, l) = -std::log(std::max((counts(c, l) + unit * share[l]) / all, 1e-12F));
    }
    return out;
  }
  [[nodiscard]] Index pair(std::size_t h, std::size_t row) const {
    return static_cast<Index>(rows_->hidden[h].code[row]) * kept_ + rows_->kept.code[row];
  }

 private:
  // p(x|t).
  [[nodiscard]] Vector<float> prior_of(const CodedAttribute& x) const {
    Vector<float> out = Vector<float>::Zero(static_cast<Index>(x.levels) * kept_);
    Vector<float> of_kept = Vector<float>::Zero(kept_);
    for (std::size_t r = 0; r < x.code.size(); ++r) {
      out[static_cast<Index>(x.code[r]) * kept_ + rows_->kept.code[r]] += 1;
      of_kept[rows_->kept.code[r]] += 1;
    }
    for (Index at = 0; at < out.size(); ++at) out[at] /= std::max(1.0F, of_kept[at % kept_]);
    return out;
  }

  const CodebookRows* rows_;
  std::int32_t kept_;
  std::vector<Index> hidden_;
  std::vector<Index> task_;
  Index mass_ = 0;
  Matrix<float> sum_;  // codewords x counted: sums of P(c|w), as shares of the rows
  std::vector<Vector<float>> prior_;
};

// I(X;C,T) of some rows, less its bias, summed over the hidden attributes.
double steered_leakage(CodebookEncoder<float>& encoder, const Vector<float>& parameters,
                       const CodebookCentres<float>& centres, const CodebookRows& rows) {
  CodeDistribution distribution;
  distribution.probability = encoder.forward(parameters, centres, rows.features);
  distribution.kept = rows.kept.code;
  distribution.kept_levels = rows.kept.levels;
  double sum = 0;
  for (const CodedAttribute& x : rows.hidden) {
    const CodeInformation found = corrected_code_information(distribution, x.code, x.levels, false);
    sum += std::max(0.0, found.plug_in - found.bias);
  }
  return sum;
}

CodebookRows first_rows(const CodebookRows& rows, Index most) {
  if (rows.rows() <= most) return rows;
  CodebookRows out = rows;
  out.features = rows.features.topRows(most);
  const auto cut = [most](CodedAttribute& attribute) {
    attribute.code.resize(static_cast<std::size_t>(most));
  };
  for (CodedAttribute& x : out.hidden) cut(x);
  for (CodedAttribute& t : out.task) cut(t);
  cut(out.kept);
  return out;
}

// What it takes to train: the loop of the start and of the points.
class Training {
 public:
  Training(const CodebookRows& rows, const CodebookRows& held_out, const CodebookOptions& options,
           Index codewords, std::uint64_t seed)
      : rows_(rows),
        held_out_(first_rows(held_out.rows() > 0 ? held_out : rows, kSteerRows)),
        options_(options),
        encoder_(rows.features.cols(), options.hidden, codewords),
        tables_(rows, codewords),
        random_(seed),
        order_(static_cast<std::size_t>(rows.rows())) {
    std::iota(order_.begin(), order_.end(), 0);
    batch_ = batch_for(rows.rows(), options);
    unit_ = 1 / static_cast<float>(rows.rows());
    for (const CodedAttribute& x : rows.hidden) entropy_ += empirical_entropy(x.code, x.levels);
    epochs_ = codebook_epochs(rows.rows(), options);
    steps_ = epochs_ * std::max<Index>(1, rows.rows() / batch_);
  }

  Vector<float> parameters{};
  CodebookCentres<float> centres{};

  void begin_at_rows(const Vector<float>& weight) {
    const Index codewords = encoder_.codewords();
    shuffle(random_, order_);
    centres.centre.resize(codewords, rows_.features.cols());
    centres.weight = weight;
    const Vector<float> mean = rows_.features.colwise().mean();
    for (Index c = 0; c < codewords; ++c) {
      centres.centre.row(c) = 0.7F * rows_.features.row(order_[static_cast<std::size_t>(c % rows_.rows())]) +
                              0.3F * mean.transpose();
    }
    encoder_.initialise(kStartBeta, random_, parameters);
  }

  // Trains with lambda 0, or steered towards `target`.
  TrainSummary run(std::optional<double> target, const std::vector<Observer>& observers) {
    TrainSummary summary;
    summary.records = rows_.rows();
    summary.batch_used = batch_;
    target_ = target;
    lambda_ = target ? kStartLambda : 0;
    count_all();
    scored_ = target ? training_leakage() : 0;
    const Index every = std::max<Index>(1, steps_ / kSteerings);
    const RateSchedule rate{.rate = options_.rate, .decay_from = 0.4, .final_fraction = 0.02};
    Index step = 0;
    for (int epoch = 1; epoch <= epochs_; ++epoch) {
      shuffle(random_, order_);
      EpochReport report{.epoch = epoch, .epochs = epochs_};
      Index batches = 0;
      for (Index first = 0; first + batch_ <= rows_.rows(); first += batch_, ++step, ++batches) {
        if (target && step % every == 0)
          steer(*target, static_cast<double>(step) / static_cast<double>(steps_));
        const StepReport one =
            train_step(first, rate.at(static_cast<double>(step) / static_cast<double>(steps_)));
        report.mean.distortion += one.distortion;
        report.mean.log_likelihood += one.log_likelihood;
        report.mean.penalty += one.penalty;
      }
      const auto count = static_cast<double>(std::max<Index>(1, batches));
      report.mean.distortion /= count;
      report.mean.log_likelihood /= count;
      report.mean.penalty /= count;
      report.multiplier = lambda_;
      summary.epochs.push_back(report);
      if (!parameters.allFinite()) {
        summary.stop = Stop::kDiverged;
        summary.message = "the codebook's parameters are no longer finite";
        break;
      }
      if (!target && epoch * 2 <= epochs_) renew_empty(order_);
      bool stop = false;
      for (const Observer& observer : observers) {
        if (const Verdict verdict = observer(report); verdict.stop) {
          summary.stop = Stop::kObserver;
          summary.message = verdict.reason;
          stop = true;
        }
      }
      if (stop) break;
    }
    summary.iterations = step;
    if (target && summary.stop == Stop::kEpochLimit) {
      remember(std::abs(held_out_leakage() - *target) / scale_of(*target));
      parameters = best_parameters_;
      centres = best_centres_;
    }
    count_all();
    return summary;
  }

  double held_out_leakage() { return steered_leakage(encoder_, parameters, centres, held_out_); }
  double training_leakage() { return steered_leakage(encoder_, parameters, centres, rows_); }

 private:
  // The tables of all rows, exactly; the centres stay.
  void count_all() {
    Matrix<float> sum = Matrix<float>::Zero(encoder_.codewords(), tables_.sum().cols());
    std::vector<std::int32_t> which(order_.size());
    std::iota(which.begin(), which.end(), 0);
    constexpr Index kChunk = 2048;
    for (Index first = 0; first < rows_.rows(); first += kChunk) {
      const Index count = std::min(kChunk, rows_.rows() - first);
      tables_.counted(which.data() + first, count, counted_);
      const Matrix<float> features = counted_.leftCols(rows_.features.cols());
      sum.noalias() += encoder_.forward(parameters, centres, features).transpose() * counted_;
    }
    tables_.set(sum / static_cast<float>(rows_.rows()));
  }

  void steer(double target, double progress) {
    const double found = held_out_leakage();
    const double relative = std::clamp((found - target) / scale_of(target), -1.0, 1.0);
    remember(std::abs(found - target) / scale_of(target));
    const double rate = kSteerRate * (progress < 0.6 ? 1.0 : 0.5);
    lambda_ = std::clamp(lambda_ * std::exp(rate * relative), kLeastLambda, kMostLambda);
    offset_ = scored_ - found;
  }

  // Codewords that have merged hardly part again: so the training ends with the last state on the target, and
  // if there was none, with the nearest.
  void remember(double miss) {
    if (miss > std::max(nearest_, kNearTarget)) return;
    nearest_ = miss;
    best_parameters_ = parameters;
    best_centres_ = centres;
  }

  static double scale_of(double target) { return std::max(target, 0.005); }

  // Where the trade-off is a straight line, a multiplier alone ends at one of its ends: so the price rises
  // with the leakage itself, as mini-batches see it (`offset_`: what they see too much).
  [[nodiscard]] double price() const {
    if (!target_) return 0;
    const double excess = scored_ - offset_ - *target_;
    return lambda_ * std::clamp(1 + kStiffness * excess / scale_of(*target_), 0.0, kMostStiff);
  }

  StepReport train_step(Index first, double rate) {
    const std::int32_t* which = order_.data() + first;
    tables_.counted(which, batch_, counted_);
    features_ = counted_.leftCols(rows_.features.cols());
    const Matrix<float>& probability = encoder_.forward(parameters, centres, features_);
    encoder_.distances(centres, features_, cost_);
    StepReport report;
    report.distortion =
        static_cast<double>(probability.cwiseProduct(cost_).sum()) / static_cast<double>(batch_);
    cost_ *= static_cast<float>(options_.column_weight);
    scores_.setZero(batch_, probability.cols());
    for (std::size_t h = 0; h < rows_.hidden.size(); ++h) {
      const Matrix<float> score = tables_.hidden_scores(h, unit_);
      for (Index c = 0; c < scores_.cols(); ++c) {
        for (Index i = 0; i < batch_; ++i)
          scores_(i, c) += score(c, tables_.pair(h, static_cast<std::size_t>(which[i])));
      }
    }
    report.log_likelihood =
        static_cast<double>(probability.cwiseProduct(scores_).sum()) / static_cast<double>(batch_) - entropy_;
    scored_ += kScoreRate * (report.log_likelihood + entropy_ - scored_);
    cost_ += static_cast<float>(price()) * scores_;
    for (std::size_t t = 0; t < rows_.task.size() && options_.task_weight > 0; ++t) {
      const Matrix<float> task = static_cast<float>(options_.task_weight) * tables_.task_costs(t, unit_);
      for (Index c = 0; c < cost_.cols(); ++c) {
        for (Index i = 0; i < batch_; ++i)
          cost_(i, c) += task(c, rows_.task[t].code[static_cast<std::size_t>(which[i])]);
      }
    }
    report.penalty =
        static_cast<double>(probability.cwiseProduct(cost_).sum()) / static_cast<double>(batch_) -
        report.log_likelihood;
    encoder_.backward(parameters, features_, cost_, gradient_);
    const Matrix<float> sum = probability.transpose() * counted_ / static_cast<float>(batch_);
    adam_.step(rate, gradient_, parameters);
    // Counts reach back over about two passes.
    const float keep =
        1 - std::min(0.2F, 0.5F * static_cast<float>(batch_) / static_cast<float>(rows_.rows()));
    tables_.blend(sum, keep);
    tables_.move_centres(centres.centre);
    return report;
  }

  // Codewords that next to nobody has begin again at a row.
  void renew_empty(const std::vector<std::int32_t>& order) {
    const Vector<float> mass = tables_.mass();
    const float least = static_cast<float>(options_.least_rows) * unit_;
    std::size_t next = 0;
    bool renewed = false;
    for (Index c = 0; c < mass.size(); ++c) {
      if (mass[c] >= least) continue;
      centres.centre.row(c) = rows_.features.row(order[next++ % order.size()]);
      renewed = true;
    }
    if (renewed) count_all();
  }

  const CodebookRows& rows_;
  CodebookRows held_out_;
  const CodebookOptions& options_;
  CodebookEncoder<float> encoder_;
  Tables tables_;
  SeededRandom random_;
  std::vector<std::int32_t> order_;
  Index batch_ = 1;
  float unit_ = 1;
  int epochs_ = 1;
  Index steps_ = 1;
  std::optional<double> target_;
  double lambda_ = 0;
  double scored_ = 0;  // I(X;C|T) of mini-batches by the tables, smoothed
  double offset_ = 0;
  double nearest_ = std::numeric_limits<double>::infinity();
  Vector<float> best_parameters_;
  CodebookCentres<float> best_centres_;
  double entropy_ = 0;
  Adam<float> adam_;
  Matrix<float> counted_;
  Matrix<float> features_;
  Matrix<float> cost_;
  Matrix<float> scores_;
  Vector<float> gradient_;
};

// I(X;T) of what is released as it is.
double kept_information(const CodebookRows& rows) {
  CodeDistribution distribution;
  distribution.probability = Matrix<float>::Ones(rows.rows(), 1);
  distribution.kept = rows.kept.code;
  distribution.kept_levels = rows.kept.levels;
  double sum = 0;
  for (const CodedAttribute& x : rows.hidden) sum += code_information(distribution, x.code, x.levels);
  return sum;
}

}  // namespace

Problems CodebookOptions::check() const {
  ProblemList list;
  if (codewords) list.require_between("codewords", static_cast<double>(*codewords), 2, 4096);
  for (const Index units : hidden) list.require_between("hidden", static_cast<double>(units), 1, 8192);
  if (epochs) list.require_at_least("epochs", *epochs, 1);
  list.require_at_least("batch", static_cast<double>(batch), 1);
  list.require_positive("rate", rate);
  list.require_at_least("column_weight", column_weight, 0);
  list.require_at_least("task_weight", task_weight, 0);
  list.require_at_least("least_rows", static_cast<double>(least_rows), 1);
  list.add("levels", levels.check());
  return list.take();
}

int codebook_epochs(Index rows, const CodebookOptions& options) {
  const Index batches = std::max<Index>(1, rows / batch_for(rows, options));
  return options.epochs.value_or(
      static_cast<int>(std::clamp<Index>(kSteps / batches, kLeastEpochs, kMostEpochs)));
}

Index codewords_for(Index rows, const CodebookOptions& options) {
  return options.codewords.value_or(std::clamp<Index>(rows / kRowsPerCodeword, 8, 512));
}

Problems check_codewords(Index rows, const CodebookOptions& options) {
  const Index codewords = codewords_for(rows, options);
  ProblemList list;
  list.require(codewords * options.least_rows <= rows, "mechanism.codewords",
               fmt::format("{} codewords of at least {} people each need {} training rows, and there are {}; "
                           "set fewer codewords, or use a larger table",
                           codewords, options.least_rows, codewords * options.least_rows, rows));
  return list.take();
}

CodebookShape codebook_shape(const EncodedRows& train, const Schema& schema, const Encoding& encoding,
                             const CodebookOptions& options) {
  require_none(check_codewords(train.rows, options), "a codebook cannot be trained:");
  return coded_shape(train, schema, encoding, options.levels, options.least_rows);
}

CodebookShape coded_shape(const EncodedRows& train, const Schema& schema, const Encoding& encoding,
                          LevelOptions levels, std::int64_t least_rows) {
  CodebookShape shape;
  levels.least_rows = least_rows;
  const auto fit = [&](const std::vector<std::string>& names) {
    std::vector<ColumnLevels> out;
    for (const std::int32_t column : encoding.indices_of(names))
      out.push_back(fit_levels(train, column, encoding, levels));
    return out;
  };
  shape.observed = fit(schema.observed_columns());
  shape.released = fit(schema.useful);
  for (const std::int32_t column : encoding.indices_of(schema.hidden_columns()))
    shape.hidden.push_back(coded_levels(train, column, encoding, least_rows));
  for (const std::int32_t column : encoding.indices_of(schema.task))
    shape.task.push_back(coded_levels(train, column, encoding, least_rows));
  const Layout layout = make_layout(encoding, encoding.indices_of(schema.observed_columns()));
  shape.weight =
      codebook_distance_weights(encoding, layout, shape.observed, encoding.indices_of(schema.useful));
  return shape;
}

CodedRows coded_rows(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                     const CodebookShape& shape) {
  CodedRows out;
  double joint = 1;
  for (const ColumnLevels& levels : shape.hidden) {
    out.hidden.push_back({levels_of(rows, levels, encoding), levels.levels()});
    joint *= levels.levels();
  }
  if (joint <= kMostJoint) out.hidden = {join(out.hidden, static_cast<std::size_t>(rows.rows))};
  double kept = 1;
  for (const ColumnLevels& levels : shape.task) {
    out.task.push_back({levels_of(rows, levels, encoding), levels.levels()});
    kept *= levels.levels();
  }
  const bool conditioned = schema.task_kept && kept <= kMostKept;
  out.kept =
      join(conditioned ? out.task : std::vector<CodedAttribute>{}, static_cast<std::size_t>(rows.rows));
  return out;
}

CodebookRows codebook_rows(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                           const CodebookShape& shape) {
  CodebookRows out{coded_rows(rows, schema, encoding, shape), {}};
  const Layout layout = make_layout(encoding, encoding.indices_of(schema.observed_columns()));
  codebook_features(rows, encoding, layout, shape.observed, out.features);
  return out;
}

CodebookStart train_codebook_start(const CodebookRows& train, const CodebookRows& held_out,
                                   const CodebookShape& shape, const CodebookOptions& options,
                                   std::uint64_t seed, const std::vector<Observer>& observers) {
  require_none(options.check(), "a codebook cannot be trained:");
  Training training(train, held_out, options, codewords_for(train.rows(), options), seed);
  training.begin_at_rows(shape.weight);
  training.run(std::nullopt, observers);
  return {training.parameters, training.centres, training.held_out_leakage(),
          kept_information(held_out.rows() > 0 ? held_out : train)};
}

TrainedCodebook train_codebook(const CodebookRows& train, const CodebookRows& held_out,
                               const CodebookStart& start, double leakage, const CodebookOptions& options,
                               std::uint64_t seed, const std::vector<Observer>& observers) {
  Training training(train, held_out, options, start.centres.centre.rows(), seed);
  training.parameters = start.parameters;
  training.centres = start.centres;
  TrainedCodebook out;
  out.summary = training.run(leakage, observers);
  out.steered = training.held_out_leakage();
  out.belief = training.training_leakage();
  out.parameters = std::move(training.parameters);
  out.centres = std::move(training.centres);
  return out;
}

}  // namespace ppan
