#include "ppan/image/image_curve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "ppan/audit/attack_numbers.h"
#include "ppan/audit/attacker.h"
#include "ppan/core/crypto.h"
#include "ppan/core/error.h"
#include "ppan/core/hull.h"
#include "ppan/engine/engine.h"
#include "ppan/game/distortion.h"
#include "ppan/image/image_archive.h"
#include "ppan/image/image_subset.h"

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

std::vector<std::int32_t> first_numbers(Index count) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

constexpr const char* kStart = "start";
constexpr const char* kTeacher = "teacher";      // who tells the mechanism what to keep of a task
constexpr const char* kRecipient = "recipient";  // what a recipient gets from the ends of the curve

std::string train_name(Index i) {
  return fmt::format("train-{:02}", i + 1);
}

// What decides how hard a point is attacked: another attack is another piece, on the same trained point.
std::string attack_text(const ImageAttackOptions& a) {
  std::string text = fmt::format("epochs {}, batch {}, rate {}, releases {}, selection {}, trees {} of {}",
                                 a.epochs, a.batch, a.rate, a.releases, a.selection, a.trees, a.tree_images);
  for (const ImageNetworkShape& shape : a.networks) text += fmt::format(", {}", fmt::join(shape.hidden, "-"));
  if (!a.code.empty()) text += fmt::format(", code {}", fmt::join(a.code, "-"));
  return text + (a.convolution ? ", convolution" : "");
}

// What a recipient gets from the images as they are, and from their mean for everybody.
struct KeptRecipient {
  std::vector<TaskScore> unchanged{};
  std::vector<TaskScore> constant{};
};
template <typename Archive>
void members(Archive& archive, KeptRecipient& value) {
  auto& [unchanged, constant] = value;
  archive(unchanged, constant);
}

ImageAttackOptions attack_options(const ImageCurveOptions& options) {
  ImageAttackOptions attack = options.attack;
  attack.seed = SeededRandom(options.seed).fork("attack").next();
  return attack;
}

// A training that is done, as it is kept.
struct KeptTraining {
  TrainState<float> state{};
  double seconds = 0;
};
template <typename Archive>
void members(Archive& archive, KeptTraining& value) {
  auto& [state, seconds] = value;
  archive(state, seconds);
}

}  // namespace

class ImageDomain::Work {
 public:
  Work(const ImageSplit& data, const ImageCurveOptions& options, const ImageCurveHooks& hooks,
       std::string run)
      : identity(std::move(run)),
        data_(data),
        options_(options),
        hooks_(hooks),
        pixels_(data.train.height * data.train.width),
        records_(image_records(data.train, options.train, options.code.task_budget)),
        random_(options.seed),
        attack_(sha256(attack_text(options.attack)).substr(0, 8)) {
    like_.given = options;
    like_.targets = image_targets(options);
    like_.train_images = records_.rows();
    like_.test_images = data.test.size();
    like_.entropy = empirical_entropy(records_.sensitive.front().code, data.train.classes);
    const Matrix<float>& y = data.test.pixels;
    like_.unchanged_distortion = pixel_cross_entropy(y, y).mean();
    const Eigen::RowVectorXf mean = records_.observed.value.colwise().mean();
    like_.constant_distortion = pixel_cross_entropy(y, mean.replicate(y.rows(), 1)).mean();
  }

  [[nodiscard]] Index points() const { return static_cast<Index>(like_.targets.size()); }
  [[nodiscard]] std::string attack_name(Index i) const {
    return fmt::format("attack-{:02}-{}", i + 1, attack_);
  }

  // The code of each point starts where that of the one before ended; its gate and its adversary start
  // afresh, so that what the adversary believes is not what an earlier mechanism taught it to. While a point
  // trains, the one before it is attacked.
  [[nodiscard]] std::vector<Piece> pieces() const {
    std::vector<Piece> out;
    std::vector<std::string> teacher;
    if (taught()) {
      out.push_back({kTeacher, {}});
      teacher = {kTeacher};
    }
    std::vector<std::string> before = teacher;
    const auto come_after = [&](const std::string& name) {
      before = teacher;
      before.push_back(name);
    };
    if (options_.method == ImageMethod::kCode) {
      out.push_back({kStart, before});
      come_after(kStart);
    }
    if (has_task()) out.push_back({recipient_name(), {}});
    for (const Index i : order()) {
      out.push_back({train_name(i), before});
      out.push_back({attack_name(i), {train_name(i)}});
      if (options_.method == ImageMethod::kCode) come_after(train_name(i));
    }
    return out;
  }

  [[nodiscard]] std::string recipient_name() const { return fmt::format("{}-{}", kRecipient, attack_); }
  [[nodiscard]] bool has_task() const { return !data_.train.task.empty(); }
  [[nodiscard]] bool taught() const {
    return options_.method == ImageMethod::kCode && options_.code.keeps_task();
  }

  std::optional<std::string> teacher_piece() {
    if (interrupted()) return std::nullopt;
    TeacherOptions teacher = options_.code.teacher;
    teacher.seed = random_.fork("teacher").next();
    return archived(fit_task_teacher(data_.train, options_.train, teacher));
  }

  std::optional<std::string> recipient_piece() {
    if (interrupted()) return std::nullopt;
    const auto score = [&](const ImageModel& model) {
      return std::vector<TaskScore>{
          measure_image_task(model, data_, options_.train, attack_options(options_))};
    };
    return archived(KeptRecipient{score(unchanged_model(data_.train)), score(constant_model(data_.train))});
  }

  std::optional<std::string> train_piece(Index i, const Pieces& needed, const Checkpoint& checkpoint) {
    TrainStart<float> start;
    for (const auto& [name, bytes] : needed) {
      if (name == kTeacher) {
        start.utility = unarchived<TaskTeacher>(bytes).parameters;
        continue;
      }
      const bool first = name == kStart;
      const Index number = first ? -1 : index_of(name);
      const Trained<float> trained = restore(number, unarchived<KeptTraining>(bytes));
      start.mechanism =
          code_start_parameters(options_.code, pixels_, trained.mechanism->parameters(), !first, seed_of(i));
      const double usual = options_.code.task_budget ? kTaskMultiplier : kCodeMultiplier;
      start.multiplier = first ? usual : trained.summary.epochs.back().multiplier;
    }
    return play(i, std::move(start), checkpoint);
  }

  std::optional<std::string> attack_piece(Index i, const Pieces& needed) {
    if (interrupted()) return std::nullopt;
    if (hooks_.attacking) hooks_.attacking(i);
    const Trained<float> trained = restore(i, unarchived<KeptTraining>(needed.at(train_name(i))));
    const ImageModel model = trained_model(data_.train, *trained.mechanism, fmt::format("point {}", i + 1));
    return archived(measure_images(model, trained.adversary.get(), data_, options_));
  }

  void finished(const std::string& name, const std::string& bytes) {
    if (!hooks_.finished || name == kStart || name == kTeacher || name.starts_with(kRecipient)) return;
    const Index i = index_of(name);
    if (name == train_name(i)) {
      trained_[i] = bytes;
    } else if (const auto trained = trained_.find(i); trained != trained_.end()) {
      hooks_.finished(point(i, trained->second, bytes));
    }
  }

  [[nodiscard]] ImageCurveResult finish(const Pieces& pieces) const {
    ImageCurveResult result = like_;
    for (Index i = 0; i < points(); ++i) {
      const auto trained = pieces.find(train_name(i));
      const auto attacked = pieces.find(attack_name(i));
      if (trained != pieces.end() && attacked != pieces.end())
        result.points.push_back(point(i, trained->second, attacked->second));
    }
    const auto recipient = pieces.find(recipient_name());
    if (recipient != pieces.end()) {
      auto kept = unarchived<KeptRecipient>(recipient->second);
      result.task_unchanged = std::move(kept.unchanged);
      result.task_constant = std::move(kept.constant);
    }
    result.interrupted = static_cast<Index>(result.points.size()) < points();
    return result;
  }

  // "train-03" or "attack-03-...": 2.
  static Index index_of(const std::string& name) {
    int number = 0;
    const std::size_t dash = name.find('-');
    std::from_chars(name.data() + dash + 1, name.data() + name.size(), number);
    return number - 1;
  }

  const std::string identity;

 private:
  [[nodiscard]] bool interrupted() const { return hooks_.interrupted && hooks_.interrupted(); }
  [[nodiscard]] std::uint64_t seed_of(Index i) const {
    return random_.fork("point", static_cast<std::uint64_t>(i + 1)).next();
  }

  // A code hides little at first, so tight budgets come first. With a gate they come last: what goes through
  // the code is hidden as well as at a loose budget, and how much goes through it is soon learned.
  [[nodiscard]] std::vector<Index> order() const {
    std::vector<Index> order(like_.targets.size());
    std::iota(order.begin(), order.end(), 0);
    if (options_.method == ImageMethod::kPaper) return order;
    const auto target = [&](Index i) { return like_.targets[static_cast<std::size_t>(i)]; };
    if (options_.code.gate.empty()) {
      std::ranges::stable_sort(order, {}, target);
    } else {
      std::ranges::stable_sort(order, std::ranges::greater{}, target);
    }
    return order;
  }

  [[nodiscard]] TrainOptions training(Index i) const {
    if (i < 0) return code_start_training(options_.code, pixels_, seed_of(i));
    const double target = like_.targets[static_cast<std::size_t>(i)];
    if (options_.method == ImageMethod::kPaper) {
      PaperImageOptions paper = options_.paper;
      paper.epochs = image_epochs(options_);
      return paper_training(paper, pixels_, target, seed_of(i));
    }
    CodeImageOptions code = options_.code;
    code.epochs = image_epochs(options_);
    return code_training(code, pixels_, target, seed_of(i));
  }

  // One training, resumed if part of it was kept; nothing if the user stopped it.
  std::optional<std::string> play(Index i, TrainStart<float> start, const Checkpoint& checkpoint) {
    if (interrupted()) return std::nullopt;
    const auto begin = std::chrono::steady_clock::now();
    std::optional<TrainState<float>> last;
    if (checkpoint.load) {
      if (const auto kept = checkpoint.load()) last = unarchived<TrainState<float>>(*kept);
      start.resume = last;
    }
    start.checkpoint = [&](const TrainState<float>& state) {
      last = state;
      if (checkpoint.save) checkpoint.save(archived(state));
    };
    bool cut_short = false;
    const Observer watch = [&](const EpochReport& report) {
      if (hooks_.epoch) hooks_.epoch(i, report, like_.entropy + report.adversary);
      cut_short = report.epoch < report.epochs && interrupted();
      return Verdict{cut_short, "interrupted"};
    };
    const Trained<float> trained = train(records_, training(i), {watch}, std::move(start));
    if (cut_short) return std::nullopt;
    if (!last)
      throw Error(ErrorCode::kDiverged,
                  fmt::format("{}: {}", i < 0 ? kStart : train_name(i), trained.summary.message),
                  "try a smaller learning rate");
    return archived(KeptTraining{std::move(*last), seconds_since(begin)});
  }

  // A training that is done comes back as it was returned; one that diverged, diverges once more.
  [[nodiscard]] Trained<float> restore(Index i, KeptTraining kept) const {
    TrainStart<float> start;
    start.resume = std::move(kept.state);
    return train(records_, training(i), {}, std::move(start));
  }

  [[nodiscard]] ImagePoint point(Index i, const std::string& kept, const std::string& measure) const {
    auto training = unarchived<KeptTraining>(kept);
    ImagePoint out{.plan = i, .target = like_.targets[static_cast<std::size_t>(i)]};
    out.seconds = training.seconds;
    Trained<float> trained = restore(i, std::move(training));
    out.model = trained_model(data_.train, *trained.mechanism, fmt::format("point {}", i + 1));
    out.training_distortion = trained.summary.epochs.back().mean.distortion;
    out.training = std::move(trained.summary);
    out.measure = unarchived<ImageMeasure>(measure);
    return out;
  }

  const ImageSplit& data_;
  const ImageCurveOptions options_;
  const ImageCurveHooks& hooks_;
  Index pixels_;
  Records<float> records_;
  SeededRandom random_;
  std::string attack_;
  ImageCurveResult like_;  // without its points
  std::map<Index, std::string> trained_;
};

ImageDomain::ImageDomain(const ImageSplit& data, const ImageCurveOptions& options,
                         const ImageCurveHooks& hooks, std::string identity) {
  require_none(options.check(), "the curve cannot be made:");
  if (options.code.keeps_task() && data.train.task.empty())
    throw Error(ErrorCode::kUsage, "there is no task to preserve",
                "name its labels, or set the weight of the task to 0");
  if (data.train.classes < 2) {
    throw Error(ErrorCode::kBadInput, "the training images are all of one class; there is nothing to hide");
  }
  work_ = std::make_unique<Work>(data, options, hooks, std::move(identity));
}

ImageDomain::~ImageDomain() = default;

std::string ImageDomain::fingerprint() const {
  return work_->identity;
}

std::vector<Piece> ImageDomain::pieces() const {
  return work_->pieces();
}

int ImageDomain::planned() const {
  return static_cast<int>(work_->points());
}

std::vector<std::string> ImageDomain::start_pieces() const {
  std::vector<std::string> out;
  for (const Piece& piece : pieces()) {
    if (piece.name == kTeacher || piece.name == kStart) out.push_back(piece.name);
  }
  return out;
}

std::vector<std::string> ImageDomain::reference_pieces() const {
  if (!work_->has_task()) return {};
  return {work_->recipient_name()};
}

std::vector<std::string> ImageDomain::point_pieces(int number) const {
  return {train_name(number - 1), work_->attack_name(number - 1)};
}

std::optional<std::string> ImageDomain::make(const std::string& name, const Pieces& needed,
                                             const Checkpoint& checkpoint) {
  if (name == kTeacher) return work_->teacher_piece();
  if (name.starts_with(kRecipient)) return work_->recipient_piece();
  if (name == kStart) return work_->train_piece(-1, needed, checkpoint);
  const Index i = Work::index_of(name);
  if (name == train_name(i)) return work_->train_piece(i, needed, checkpoint);
  return work_->attack_piece(i, needed);
}

void ImageDomain::finished(const std::string& name, const std::string& bytes, bool /*made*/) {
  work_->finished(name, bytes);
}

ImageCurveResult ImageDomain::finish(const Pieces& pieces) const {
  return work_->finish(pieces);
}

ImageCurveResult image_curve(const ImageSplit& data, const ImageCurveOptions& options,
                             const ImageCurveHooks& hooks) {
  ImageDomain domain(data, options, hooks);
  return domain.finish(make_pieces(domain, nullptr, {options.threads, {}, hooks.interrupted}).pieces);
}

std::string_view to_string(ImageMethod method) {
  return method == ImageMethod::kPaper ? "paper" : "best";
}

Problems ImageCurveOptions::check() const {
  ProblemList list;
  list.require(paper.gamma == 0 || method == ImageMethod::kPaper, "gamma",
               "only the preset paper has a discriminator; add --preset paper");
  for (const double target : targets) {
    list.require_positive(method == ImageMethod::kPaper ? "lambda" : "budget", target);
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

std::vector<double> image_targets(const ImageCurveOptions& options) {
  if (!options.targets.empty()) return options.targets;
  std::vector<double> targets;
  if (options.method == ImageMethod::kCode) {
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

int image_epochs(const ImageCurveOptions& options) {
  return options.epochs.value_or(options.method == ImageMethod::kPaper ? options.paper.epochs
                                                                       : options.code.epochs);
}

std::string image_fingerprint(const ImageCurveOptions& options, const ImageSplit& data) {
  const ImageSet& set = data.train;
  const Index rows = options.train > 0 ? std::min(options.train, set.size()) : set.size();
  std::uint64_t hash = kFnvStart;
  for (Index j = 0; j < set.pixels.cols(); ++j) {
    hash = fingerprint(hash, set.pixels.col(j).data(), static_cast<std::size_t>(rows) * sizeof(float));
  }
  hash = fingerprint(hash, set.labels.data(), static_cast<std::size_t>(rows) * sizeof(std::int32_t));
  std::string text =
      fmt::format("preset {}, epochs {}, seed {}, images {} of {}x{} ({:016x})", to_string(options.method),
                  image_epochs(options), options.seed, rows, set.height, set.width, hash);
  text += fmt::format(", points {}", fmt::join(image_targets(options), " "));
  if (options.method == ImageMethod::kPaper) {
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
    if (c.keeps_task()) {
      const Symbols& task = set.task.code;
      text += fmt::format(", task {} {} ({:016x}), teacher {} batch {} rate {} steps {}",
                          c.task_budget ? "budget" : "weight", c.task_weight,
                          fingerprint(kFnvStart, task.data(), task.size() * sizeof(task.front())),
                          fmt::join(c.teacher.hidden, "-"), c.teacher.batch, c.teacher.rate, c.teacher.steps);
    }
  }
  return text;
}

double ImageCurveResult::time_sharing(double distortion) const {
  return entropy * unchanged_share(distortion, unchanged_distortion, constant_distortion);
}

std::vector<HullPoint> ImageCurveResult::servable() const {
  std::vector<HullPoint> all{{unchanged_distortion, entropy}};
  for (const ImagePoint& p : points) {
    all.push_back({p.measure.distortion, p.measure.attack.strongest().leakage.nats});
  }
  all.push_back({constant_distortion, 0});
  return all;
}

std::optional<double> ImageCurveResult::share_of_time_sharing(double distortion) const {
  if (distortion < unchanged_distortion || distortion >= constant_distortion) return std::nullopt;
  const std::vector<HullPoint> all = servable();
  const std::optional<double> completed = hull_leakage(all, lower_hull(all), distortion);
  if (!completed) return std::nullopt;
  return *completed / time_sharing(distortion);
}

ImageMeasure measure_images(const ImageModel& model, Posterior<float>* adversary, const ImageSplit& data,
                            const ImageCurveOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  ImageMeasure measure;
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
  const ImageAttackOptions attack = attack_options(options);
  const Index rows = options.train > 0 ? std::min(options.train, data.train.size()) : data.train.size();
  measure.attack =
      rows == data.train.size()
          ? attack_images(model, data.train, data.test, attack)
          : attack_images(model, take_images(data.train, first_numbers(rows)), data.test, attack);
  measure.upper = image_upper_bounds(model, data.test, options.bound_images);
  // Nothing tells more about the digit than the digit: by data processing no upper bound need exceed H(X).
  const double entropy = empirical_entropy(data.test.labels, data.test.classes);
  for (Estimate& bound : measure.upper) {
    bound.nats = std::min(bound.nats, entropy);
    if (bound.interval95)
      bound.interval95 =
          Interval{std::min(bound.interval95->low, entropy), std::min(bound.interval95->high, entropy)};
  }
  if (!data.train.task.empty())
    measure.task.push_back(measure_image_task(model, data, options.train, attack));
  measure.seconds = seconds_since(begin);
  return measure;
}

}  // namespace ppan
