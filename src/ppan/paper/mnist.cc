#include "ppan/paper/mnist.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <mutex>
#include <numeric>

#include "ppan/audit/attack_numbers.h"
#include "ppan/audit/attacker.h"
#include "ppan/core/parallel.h"
#include "ppan/game/distortion.h"
#include "ppan/nn/blas.h"

namespace ppan {
namespace {

constexpr int kPaperPoints = 6;
constexpr std::uint64_t kFnvStart = 14695981039346656037ULL;
constexpr std::uint64_t kFnvPrime = 1099511628211ULL;

std::uint64_t fingerprint(std::uint64_t hash, const void* data, std::size_t bytes) {
  const auto* byte = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ byte[i]) * kFnvPrime;
  return hash;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

ImageSet first_images(const ImageSet& set, Index count) {
  ImageSet part = set;
  part.pixels = set.pixels.topRows(count);
  part.labels.resize(static_cast<std::size_t>(count));
  return part;
}

class Run {
 public:
  Run(const ImageSplit& data, const MnistOptions& options, const MnistHooks& hooks)
      : data_(data),
        options_(options),
        hooks_(hooks),
        pixels_(data.train.height * data.train.width),
        records_(image_records(data.train, options.train)),
        random_(options.seed) {
    result_.given = options;
    result_.targets = mnist_targets(options);
    result_.train_images = records_.rows();
    result_.test_images = data.test.size();
    result_.entropy = empirical_entropy(records_.sensitive.front().code, data.train.classes);
    const Matrix<float>& y = data.test.pixels;
    result_.unchanged_distortion = pixel_cross_entropy(y, y).mean();
    const Eigen::RowVectorXf mean = records_.observed.value.colwise().mean();
    result_.constant_distortion = pixel_cross_entropy(y, mean.replicate(y.rows(), 1)).mean();
    done_.resize(result_.targets.size());
  }

  MnistResult run() {
    const BlasThreads one(1);  // points, and attacks on them, run side by side
    const int threads = thread_count(options_.threads);
    if (options_.preset == Preset::kPaper) {
      parallel_for(static_cast<std::int64_t>(done_.size()), threads, [&](std::int64_t i) {
        auto trained = train_point(i, {});
        if (trained) finish(i, std::move(*trained));
      });
    } else {
      run_chain(threads);
    }
    for (auto& point : done_) {
      if (point) result_.points.push_back(std::move(*point));
    }
    result_.interrupted = result_.points.size() < done_.size();
    return std::move(result_);
  }

 private:
  struct TrainedPoint {
    Trained<float> trained;
    double seconds = 0;
  };

  [[nodiscard]] bool interrupted() const { return hooks_.interrupted && hooks_.interrupted(); }
  [[nodiscard]] std::uint64_t seed_of(Index i) const {
    return random_.fork("point", static_cast<std::uint64_t>(i + 1)).next();
  }

  // The code of each point starts where that of the one before ended; its gate and its adversary start
  // afresh, so that what the adversary believes is not what an earlier mechanism taught it to. While a point
  // trains, the one before it is attacked.
  void run_chain(int threads) {
    auto before = train_start();
    std::future<void> attack;
    bool first = true;
    for (const Index i : chain_order()) {
      if (!before) break;
      TrainStart<float> start;
      start.mechanism = code_start_parameters(options_.code, pixels_, before->trained.mechanism->parameters(),
                                              !first, seed_of(i));
      start.multiplier = first ? kCodeMultiplier : before->trained.summary.epochs.back().multiplier;
      first = false;
      auto point = train_point(i, std::move(start));
      if (attack.valid()) attack.get();
      if (!point) break;
      before = TrainedPoint{{point->trained.mechanism->clone(1), nullptr, point->trained.summary}};
      const auto shared = std::make_shared<TrainedPoint>(std::move(*point));
      const auto work = [this, i, shared] { finish(i, std::move(*shared)); };
      if (threads > 1) {
        attack = std::async(std::launch::async, work);
      } else {
        work();
      }
    }
    if (attack.valid()) attack.get();
  }

  // A code hides little at first, so tight budgets come first. With a gate they come last: what goes through
  // the code is hidden as well as at a loose budget, and how much goes through it is soon learned.
  [[nodiscard]] std::vector<Index> chain_order() const {
    std::vector<Index> order(result_.targets.size());
    std::iota(order.begin(), order.end(), 0);
    const auto target = [&](Index i) { return result_.targets[static_cast<std::size_t>(i)]; };
    if (options_.code.gate.empty()) {
      std::ranges::stable_sort(order, {}, target);
    } else {
      std::ranges::stable_sort(order, std::ranges::greater{}, target);
    }
    return order;
  }

  std::optional<TrainedPoint> train_start() {
    return play(-1, code_start_training(options_.code, pixels_, seed_of(-1)), {});
  }

  std::optional<TrainedPoint> train_point(Index i, TrainStart<float> start) {
    const double target = result_.targets[static_cast<std::size_t>(i)];
    TrainOptions train;
    if (options_.preset == Preset::kPaper) {
      PaperImageOptions paper = options_.paper;
      paper.epochs = mnist_epochs(options_);
      train = paper_training(paper, pixels_, target, seed_of(i));
    } else {
      CodeImageOptions code = options_.code;
      code.epochs = mnist_epochs(options_);
      train = code_training(code, pixels_, target, seed_of(i));
    }
    return play(i, train, std::move(start));
  }

  // One training, resumed if part of it is in the store; nothing if the user stopped it.
  std::optional<TrainedPoint> play(Index i, const TrainOptions& options, TrainStart<float> start) {
    if (interrupted()) return std::nullopt;
    const auto begin = std::chrono::steady_clock::now();
    if (hooks_.store.load_state) start.resume = hooks_.store.load_state(i);
    if (hooks_.store.save_state) {
      start.checkpoint = [&, i](const TrainState<float>& state) { hooks_.store.save_state(i, state); };
    }
    bool cut_short = false;
    const Observer watch = [&](const EpochReport& report) {
      if (hooks_.epoch) hooks_.epoch(i, report, result_.entropy + report.adversary);
      cut_short = report.epoch < report.epochs && interrupted();
      return Verdict{cut_short, "interrupted"};
    };
    TrainedPoint point{train(records_, options, {watch}, std::move(start))};
    point.seconds = seconds_since(begin);
    if (cut_short) return std::nullopt;
    return point;
  }

  void finish(Index i, TrainedPoint trained) {
    if (interrupted()) return;
    MnistPoint point{.plan = i, .target = result_.targets[static_cast<std::size_t>(i)]};
    point.model = trained_model(data_.train, *trained.trained.mechanism, fmt::format("point {}", i + 1));
    const EpochReport& last = trained.trained.summary.epochs.back();
    point.training_distortion = last.mean.distortion;
    point.training = std::move(trained.trained.summary);
    point.seconds = trained.seconds;
    std::optional<MnistMeasure> known;
    if (hooks_.store.load_measure) known = hooks_.store.load_measure(i);
    if (known) {
      point.measure = std::move(*known);
    } else {
      if (hooks_.attacking) hooks_.attacking(i);
      point.measure = measure_images(point.model, trained.trained.adversary.get(), data_, options_);
      if (hooks_.store.save_measure) hooks_.store.save_measure(i, point.measure);
    }
    const std::scoped_lock lock(finished_mutex_);
    if (hooks_.finished) hooks_.finished(point);
    done_[static_cast<std::size_t>(i)] = std::move(point);
  }

  const ImageSplit& data_;
  const MnistOptions& options_;
  const MnistHooks& hooks_;
  Index pixels_;
  Records<float> records_;
  SeededRandom random_;
  MnistResult result_;
  std::mutex finished_mutex_;
  std::vector<std::optional<MnistPoint>> done_;
};

}  // namespace

Problems MnistOptions::check() const {
  ProblemList list;
  list.require(paper.gamma == 0 || preset == Preset::kPaper, "gamma",
               "only the preset paper has a discriminator; add --preset paper");
  for (const double target : targets) {
    list.require_positive(preset == Preset::kPaper ? "lambda" : "budget", target);
  }
  if (points) list.require_between("points", *points, 1, 1000);
  list.require(!points || targets.empty(), "points",
               "the values of the points are given, so their number is");
  if (epochs) list.require_between("epochs", *epochs, 1, 1e6);
  list.require_at_least("train", static_cast<double>(train), 0);
  list.require_between("threads", threads, 0, 1024);
  list.require(bound_images == 0 || bound_images >= 100, "bound_images", "must be 0 or at least 100");
  list.add("paper", paper.check());
  list.add("code", code.check());
  list.add("attack", attack.check());
  return list.take();
}

std::vector<double> mnist_targets(const MnistOptions& options) {
  if (!options.targets.empty()) return options.targets;
  std::vector<double> targets;
  if (options.preset == Preset::kBest) {
    static const std::vector<double> kBudgets{0.10, 0.12, 0.15, 0.18, 0.20, 0.22};
    if (!options.points) return kBudgets;
    const int n = *options.points;
    for (int i = 0; i < n; ++i) {
      const double along = n == 1 ? 0.5 : static_cast<double>(i) / (n - 1);
      targets.push_back(kBudgets.front() + along * (kBudgets.back() - kBudgets.front()));
    }
    return targets;
  }
  const double from = options.paper.gamma > 0 ? 15 : 35;
  const double to = options.paper.gamma > 0 ? 2 : 8;
  const int n = options.points.value_or(kPaperPoints);
  for (int i = 0; i < n; ++i) {
    const double along = n == 1 ? 0.5 : static_cast<double>(i) / (n - 1);
    // Three digits, so that what a table shows is what was used.
    const double exact = from * std::pow(to / from, along);
    targets.push_back(std::round(exact * 100) / 100);
  }
  return targets;
}

int mnist_epochs(const MnistOptions& options) {
  return options.epochs.value_or(options.preset == Preset::kPaper ? options.paper.epochs
                                                                  : options.code.epochs);
}

std::string mnist_fingerprint(const MnistOptions& options, const ImageSplit& data) {
  const ImageSet& set = data.train;
  const Index rows = options.train > 0 ? std::min(options.train, set.size()) : set.size();
  std::uint64_t hash = kFnvStart;
  for (Index j = 0; j < set.pixels.cols(); ++j) {
    hash = fingerprint(hash, set.pixels.col(j).data(), static_cast<std::size_t>(rows) * sizeof(float));
  }
  hash = fingerprint(hash, set.labels.data(), static_cast<std::size_t>(rows) * sizeof(std::int32_t));
  std::string text =
      fmt::format("preset {}, epochs {}, seed {}, images {} of {}x{} ({:016x})", to_string(options.preset),
                  mnist_epochs(options), options.seed, rows, set.height, set.width, hash);
  text += fmt::format(", points {}", fmt::join(mnist_targets(options), " "));
  if (options.preset == Preset::kPaper) {
    const PaperImageOptions& p = options.paper;
    text += fmt::format(
        ", gamma {}, layers {} noise {} adversary {} discriminator {}, batch {}, rate {}, beta1 {}", p.gamma,
        fmt::join(p.hidden, "-"), p.noise_inputs, fmt::join(p.adversary, "-"),
        fmt::join(p.discriminator, "-"), p.batch, p.rate, p.beta1_used());
  } else {
    const CodeImageOptions& c = options.code;
    text += fmt::format(
        ", encoder {} code {} radius {} weight {} decoder {} gate {} adversary {}, start {} epochs at {}, "
        "batch {}, {} adversary steps, rate {}",
        fmt::join(c.encoder, "-"), c.code, c.radius, c.code_weight, fmt::join(c.decoder, "-"),
        fmt::join(c.gate, "-"), fmt::join(c.adversary, "-"), c.start_epochs, c.start_rate, c.batch,
        c.adversary_steps, c.rate);
  }
  return text;
}

double MnistResult::time_sharing(double distortion) const {
  const double along = (constant_distortion - distortion) / (constant_distortion - unchanged_distortion);
  return entropy * std::clamp(along, 0.0, 1.0);
}

std::vector<HullPoint> MnistResult::servable() const {
  std::vector<HullPoint> all{{unchanged_distortion, entropy}};
  for (const MnistPoint& p : points) {
    all.push_back({p.measure.distortion, p.measure.attack.strongest().leakage.nats});
  }
  all.push_back({constant_distortion, 0});
  return all;
}

std::optional<double> MnistResult::share_of_time_sharing(double distortion) const {
  if (distortion < unchanged_distortion || distortion >= constant_distortion) return std::nullopt;
  const std::vector<HullPoint> all = servable();
  const std::optional<double> completed = hull_leakage(all, lower_hull(all), distortion);
  if (!completed) return std::nullopt;
  return *completed / time_sharing(distortion);
}

MnistMeasure measure_images(const ImageModel& model, Posterior<float>* adversary, const ImageSplit& data,
                            const MnistOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  MnistMeasure measure;
  const ImageComponent& component = model.components.front();
  Attribute<float> observed;
  observed.value = data.test.pixels;
  MechanismOptions single = component.mechanism;
  single.draws = 1;
  {
    const auto mechanism = make_mechanism(single, observed);
    mechanism->parameters() = component.parameters;
    SeededRandom random = SeededRandom(options.seed).fork("test-noise");
    Matrix<float> noise;
    Draws<float> draws;
    mechanism->fill_noise(random, observed.rows(), noise);
    mechanism->draw(observed, noise, draws);
    const auto cost = make_distortion(DistortionKind::kPixelCrossEntropy, {}, model.pixels(), observed);
    Matrix<float> value;
    Vector<float> unchanged;
    cost->evaluate(draws, observed, value);
    cost->unchanged(observed, unchanged);
    const Vector<float> coded = draws.weight.col(0);
    const Rate distortion =
        mean_rate((unchanged.array() + coded.array() * (value.col(0) - unchanged).array()).cast<double>());
    measure.unchanged = 1 - static_cast<double>(coded.mean());
    measure.distortion = distortion.value;
    measure.distortion95 = distortion.interval95;

    if (adversary) {
      // Its guess is the label it gives the greatest score.
      std::vector<Attribute<float>> guess(1);
      guess.front().levels = data.train.classes;
      Matrix<float> scores(observed.rows(), data.train.classes);
      for (std::int32_t x = 0; x < data.train.classes; ++x) {
        guess.front().code.assign(static_cast<std::size_t>(observed.rows()), x);
        scores.col(x) = adversary->score(draws.seen(), false, 1, guess).col(0);
      }
      // An image released as it is counts as read, as it does for the attackers.
      for (Index i = 0; i < scores.rows(); ++i) {
        const std::int32_t truth = data.test.labels[static_cast<std::size_t>(i)];
        Index likeliest = 0;
        scores.row(i).maxCoeff(&likeliest);
        const auto share = static_cast<double>(coded[i]);
        measure.belief += share * static_cast<double>(scores(i, truth));
        measure.belief_accuracy += 1 - share + (likeliest == truth ? share : 0);
      }
      const auto n = static_cast<double>(scores.rows());
      measure.belief = empirical_entropy(data.test.labels, data.test.classes) + measure.belief / n;
      measure.belief_accuracy /= n;
    }
  }
  ImageAttackOptions attack = options.attack;
  attack.seed = SeededRandom(options.seed).fork("attack").next();
  const Index rows = options.train > 0 ? std::min(options.train, data.train.size()) : data.train.size();
  measure.attack = rows == data.train.size()
                       ? attack_images(model, data.train, data.test, attack)
                       : attack_images(model, first_images(data.train, rows), data.test, attack);
  measure.upper = image_upper_bounds(model, data.test, options.bound_images);
  // Nothing tells more about the digit than the digit: by data processing no upper bound need exceed H(X).
  const double entropy = empirical_entropy(data.test.labels, data.test.classes);
  for (Estimate& bound : measure.upper) {
    bound.nats = std::min(bound.nats, entropy);
    if (bound.interval95)
      bound.interval95 =
          Interval{std::min(bound.interval95->low, entropy), std::min(bound.interval95->high, entropy)};
  }
  measure.seconds = seconds_since(begin);
  return measure;
}

MnistResult run_mnist(const ImageSplit& data, const MnistOptions& options, const MnistHooks& hooks) {
  require_none(options.check(), "the experiment cannot be run:");
  if (data.train.classes < 2) {
    throw Error(ErrorCode::kBadInput, "the training images are all of one class; there is nothing to hide");
  }
  return Run(data, options, hooks).run();
}

}  // namespace ppan
