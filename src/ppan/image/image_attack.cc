#include "ppan/image/image_attack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>

#include "ppan/audit/density_bound.h"
#include "ppan/audit/tree_attacker.h"
#include "ppan/core/linear_algebra.h"
#include "ppan/image/conv_network.h"

namespace ppan {
namespace {

// The last epoch "still added" this much, in nats or as a share of what was found.
constexpr double kRiseNats = 0.01;
constexpr double kRiseShare = 0.05;
// Mini-batches that attackers of usual length learn from, and most passes over few images.
constexpr double kUsualSteps = 2400;
constexpr int kMostEpochs = 400;
// Releases that tell the mean and the spread of each pixel, and the least spread that is made 1.
constexpr Index kScaleReleases = 2000;
constexpr float kLeastSpread = 1e-3F;

// One release of some images, the same with pixels of mean 0 and variance 1, and, where there is one, the
// code it was made from. A gate releases each as it is with some probability: attackers are then taken to
// read it, whatever it shows, so they learn from the others only, and need not learn to read.
struct Released {
  Matrix<float> image;
  Matrix<float> scaled;
  Matrix<float> code;
  Vector<float> coded;  // probability that the image is not released as it is
};
enum class Sees { kImage, kScaled, kCode };
const Matrix<float>& seen(Sees what, const Released& z) {
  return what == Sees::kCode ? z.code : what == Sees::kScaled ? z.scaled : z.image;
}

class Source {
 public:
  explicit Source(const ImageModel& model) : releaser_(model) {
    const ImageComponent& only = model.components.front();
    if (model.components.size() > 1 || only.kind != ComponentKind::kTrained) return;
    MechanismOptions options = only.mechanism;
    options.draws = 1;
    shape_.value.resize(0, model.pixels());
    mechanism_ = make_mechanism(options, shape_);
    mechanism_->parameters() = only.parameters;
    has_code_ = options.kind == MechanismKind::kNoisyCode;
    code_width_ = has_code_ ? options.code : 0;
  }
  [[nodiscard]] bool has_code() const { return has_code_; }
  [[nodiscard]] Index code_width() const { return code_width_; }

  // Learns the scale of the pixels from one release.
  void learn_scale(const Matrix<float>& pixels, RandomSource& random) {
    mean_ = Eigen::RowVectorXf::Zero(pixels.cols());
    factor_ = Eigen::RowVectorXf::Ones(pixels.cols());
    Released z;
    release(pixels, random, z);
    mean_ = z.image.colwise().mean();
    const Eigen::RowVectorXf variance =
        (z.image.rowwise() - mean_).colwise().squaredNorm() / static_cast<float>(z.image.rows());
    factor_ = variance.array().sqrt().max(kLeastSpread).inverse();
  }

  void release(const Matrix<float>& pixels, RandomSource& random, Released& out) {
    if (mechanism_) {
      shape_.value = pixels;
      mechanism_->fill_noise(random, pixels.rows(), noise_);
      mechanism_->draw(shape_, noise_, draws_);
      out.image = draws_.released;
      out.coded = draws_.weight.col(0);
      if (has_code_) out.code = draws_.code;
    } else {
      releaser_.release(pixels, random, out.image);
      out.coded.setOnes(pixels.rows());
    }
    out.scaled = ((out.image.rowwise() - mean_).array().rowwise() * factor_.array()).matrix();
  }

 private:
  ImageReleaser releaser_;
  std::unique_ptr<Mechanism<float>> mechanism_;
  Attribute<float> shape_;
  Matrix<float> noise_;
  Draws<float> draws_;
  bool has_code_ = false;
  Index code_width_ = 0;
  Eigen::RowVectorXf mean_;
  Eigen::RowVectorXf factor_;
};

// A network under training, and what it sees.
struct NetworkLearner {
  ImageLearner network;
  Sees sees = Sees::kImage;

  [[nodiscard]] bool sees_code() const { return sees == Sees::kCode; }
  void step(const Released& z, const Symbols& x, double rate) {
    network.step(seen(sees, z), x, rate, &z.coded);
  }
  [[nodiscard]] Matrix<float> log_probability(const Released& z) {
    return network.log_probability(seen(sees, z));
  }
};

// Held-out images, released `releases` times, one release after the other.
struct ScoredPart {
  Symbols x;  // of one release
  std::vector<Released> release;
};

// What one attacker says about a part: log Q for each release.
using Answers = std::vector<Matrix<float>>;

// The expectation over the gate of log Q(x|z) (an image released as it is scores 0) and of being right.
struct Scores {
  Vector<double> log_likelihood;
  Vector<double> hit;
};
Scores measure_scores(const Answers& answers, const ScoredPart& part) {
  const auto n = static_cast<Index>(part.x.size());
  Scores out{Vector<double>::Zero(n), Vector<double>::Zero(n)};
  for (std::size_t r = 0; r < answers.size(); ++r) {
    const Matrix<float>& a = answers[r];
    for (Index i = 0; i < n; ++i) {
      const std::int32_t truth = part.x[static_cast<std::size_t>(i)];
      const auto coded = static_cast<double>(part.release[r].coded[i]);
      out.log_likelihood[i] += coded * static_cast<double>(a(i, truth));
      Index likeliest = 0;
      a.row(i).maxCoeff(&likeliest);
      out.hit[i] += 1 - coded + (likeliest == truth ? coded : 0);
    }
  }
  out.log_likelihood /= static_cast<double>(answers.size());
  out.hit /= static_cast<double>(answers.size());
  return out;
}

double nats_found(const Answers& answers, const ScoredPart& part, std::int32_t levels) {
  return empirical_entropy(part.x, levels) + measure_scores(answers, part).log_likelihood.mean();
}

ImageAttackerScore score_of(std::string name, const Answers& on_selection, const ScoredPart& selection,
                            const Answers& on_reported, const ScoredPart& reported, std::int32_t levels) {
  ImageAttackerScore score{.name = std::move(name)};
  score.selection = nats_found(on_selection, selection, levels);
  const Vector<double> base = log_share(reported.x, levels);
  const auto [log_likelihood, hits] = measure_scores(on_reported, reported);
  const Vector<double> gain = log_likelihood - base;
  std::string method = "held-out log loss, " + score.name;
  if (reported.release.front().coded.minCoeff() < 1) method += "; unchanged images count as read";
  score.leakage = lower_bound(gain, -base.mean(), method);
  score.accuracy = mean_rate(hits);
  return score;
}

// The plain mean of the attackers' probabilities: no parameter to fit, and often stronger than each.
Answers mean_of(const std::vector<Answers>& all) {
  Answers mixed = all.front();
  for (std::size_t r = 0; r < mixed.size(); ++r) {
    Matrix<float> sum = Matrix<float>::Zero(mixed[r].rows(), mixed[r].cols());
    for (const Answers& a : all) sum.array() += a[r].array().exp();
    mixed[r] = (sum / static_cast<float>(all.size())).array().log().matrix();
  }
  return mixed;
}

// Boosted trees on principal components of the releases.
class TreeLearner {
 public:
  TreeLearner(const ImageAttackOptions& options, std::int32_t levels) : options_(options), levels_(levels) {}

  void fit(const Matrix<float>& z, const Symbols& x, const Matrix<float>& selection,
           const Symbols& selection_x, RandomSource& random) {
    mean_ = z.colwise().mean();
    const Matrix<float> centred = z.rowwise() - mean_;
    const Matrix<float> covariance = centred.transpose() * centred / static_cast<float>(z.rows());
    basis_ = symmetric_eigen(covariance.cast<double>())
                 .vectors.rightCols(std::min(options_.components, z.cols()))
                 .cast<float>();
    AttackTask task;
    task.levels = levels_;
    task.prior = Vector<double>::Constant(levels_, 0.5);
    for (const std::int32_t code : x) task.prior[code] += 1;
    task.prior /= task.prior.sum();
    task.effort.trees = options_.trees;
    attacker_ = std::make_unique<TreeAttacker>(task);
    attacker_->fit(rows(z, x), rows(selection, selection_x), random);
  }
  Matrix<float> log_probability(const Matrix<float>& z) { return attacker_->log_probability(rows(z, {})); }

 private:
  [[nodiscard]] AttackRows rows(const Matrix<float>& z, const Symbols& x) const {
    AttackRows out;
    out.data = (z.rowwise() - mean_) * basis_;
    out.cell.assign(static_cast<std::size_t>(z.rows()), -1);
    out.x = x.empty() ? Symbols(static_cast<std::size_t>(z.rows()), 0) : x;
    return out;
  }

  ImageAttackOptions options_;
  std::int32_t levels_;
  Eigen::RowVectorXf mean_;
  Matrix<float> basis_;
  std::unique_ptr<TreeAttacker> attacker_;
};

class Attack {
 public:
  Attack(const ImageModel& model, const ImageSet& learn, const ImageSet& held_out,
         const ImageAttackOptions& options)
      : learn_(learn),
        options_(options),
        levels_(std::max(learn.classes, held_out.classes)),
        random_(options.seed),
        source_(model) {
    SeededRandom scale = random_.fork("scale");
    source_.learn_scale(learn.pixels.topRows(std::min(kScaleReleases, learn.size())), scale);
    split(held_out);
    add_learners(model);
  }

  ImageAttack run() {
    train_networks();
    ImageAttack result;
    std::vector<Answers> on_selection;
    std::vector<Answers> on_reported;
    const auto add = [&](const std::string& name, const auto& log_probability,
                         const std::vector<ImageLearning>& learning, bool sees_code) {
      Answers selection;
      Answers reported;
      for (const Released& z : selection_.release) selection.push_back(log_probability(z));
      for (const Released& z : reported_.release) reported.push_back(log_probability(z));
      ImageAttackerScore score = score_of(name, selection, selection_, reported, reported_, levels_);
      score.learning = learning;
      if (sees_code) {
        result.code = std::move(score);
        return;
      }
      result.attackers.push_back(std::move(score));
      on_selection.push_back(std::move(selection));
      on_reported.push_back(std::move(reported));
    };
    for (NetworkLearner& learner : learners_) {
      learner.network.take_best();
      add(
          learner.network.name(), [&](const Released& z) { return learner.log_probability(z); },
          learner.network.learning(), learner.sees_code());
    }
    if (on_selection.size() > 1) {
      result.attackers.push_back(score_of("mean of the networks", mean_of(on_selection), selection_,
                                          mean_of(on_reported), reported_, levels_));
    }
    if (options_.tree_images > 0) {
      TreeLearner trees = fit_trees();
      add(
          "boosted trees on principal components",
          [&](const Released& z) { return trees.log_probability(z.image); }, {}, false);
    }
    std::stable_sort(result.attackers.begin(), result.attackers.end(),
                     [](const auto& a, const auto& b) { return a.selection > b.selection; });
    result.entropy = empirical_entropy(reported_.x, levels_);
    std::vector<Index> count(static_cast<std::size_t>(levels_), 0);
    for (const std::int32_t x : reported_.x) ++count[static_cast<std::size_t>(x)];
    result.prior_accuracy = static_cast<double>(*std::max_element(count.begin(), count.end())) /
                            static_cast<double>(reported_.x.size());
    for (const NetworkLearner& learner : learners_) {
      const auto& steps = learner.network.learning();
      if (learner.sees_code() || steps.size() < 2) continue;
      const double rise = steps.back().nats - steps[steps.size() - 2].nats;
      if (steps.back().nats >= result.strongest().selection - kRiseNats &&
          rise > std::max(kRiseNats, kRiseShare * steps.back().nats)) {
        result.still_rising = true;
      }
    }
    return result;
  }

 private:
  void split(const ImageSet& held_out) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(held_out.size()));
    std::iota(order.begin(), order.end(), 0);
    SeededRandom shuffling = random_.fork("split");
    shuffle(shuffling, order);
    const auto first =
        static_cast<std::size_t>(std::clamp<double>(options_.selection * static_cast<double>(held_out.size()),
                                                    1, static_cast<double>(held_out.size()) - 1));
    SeededRandom noise = random_.fork("scored-noise");
    const auto fill = [&](std::span<const std::int32_t> rows, ScoredPart& part) {
      Matrix<float> pixels(static_cast<Index>(rows.size()), held_out.pixels.cols());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        pixels.row(static_cast<Index>(i)) = held_out.pixels.row(rows[i]);
        part.x.push_back(held_out.labels[static_cast<std::size_t>(rows[i])]);
      }
      part.release.resize(static_cast<std::size_t>(options_.releases));
      for (Released& z : part.release) source_.release(pixels, noise, z);
    };
    fill(std::span(order).first(first), selection_);
    fill(std::span(order).subspan(first), reported_);
  }

  void add_learners(const ImageModel& model) {
    std::uint64_t number = 0;
    const auto stream = [&] { return random_.fork("attacker", number++); };
    for (const ImageNetworkShape& shape : options_.networks) {
      learners_.push_back({ImageLearner(fmt::format("network {} {}", fmt::join(shape.hidden, "-"),
                                                    to_string(shape.activation)),
                                        MlpShape{.inputs = model.pixels(),
                                                 .hidden = shape.hidden,
                                                 .outputs = levels_,
                                                 .activation = shape.activation},
                                        stream()),
                           Sees::kScaled});
    }
    if (options_.convolution) {
      learners_.push_back({ImageLearner(
          "convolutional network",
          ConvShape{.height = model.height, .width = model.width, .outputs = levels_}, stream())});
    }
    if (!options_.code.empty() && source_.has_code()) {
      learners_.push_back(
          {ImageLearner(fmt::format("network {} relu on the code", fmt::join(options_.code, "-")),
                        MlpShape{.inputs = source_.code_width(), .hidden = options_.code, .outputs = levels_},
                        stream()),
           Sees::kCode});
    }
  }

  void train_networks() {
    if (learners_.empty()) return;
    std::vector<std::int32_t> order(static_cast<std::size_t>(learn_.size()));
    std::iota(order.begin(), order.end(), 0);
    SeededRandom order_stream = random_.fork("order");
    SeededRandom noise_stream = random_.fork("noise");
    const Index batch = std::min(options_.batch, learn_.size());
    const Index batches = learn_.size() / batch;
    Matrix<float> pixels(batch, learn_.pixels.cols());
    Symbols x(static_cast<std::size_t>(batch));
    Released z;
    Index done = 0;
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      shuffle(order_stream, order);
      for (Index b = 0; b < batches; ++b, ++done) {
        const std::int32_t* rows = order.data() + b * batch;
        for (Index j = 0; j < pixels.cols(); ++j) {
          const float* from = learn_.pixels.col(j).data();
          for (Index i = 0; i < batch; ++i) pixels(i, j) = from[rows[i]];
        }
        for (Index i = 0; i < batch; ++i) {
          x[static_cast<std::size_t>(i)] = learn_.labels[static_cast<std::size_t>(rows[i])];
        }
        source_.release(pixels, noise_stream, z);
        const double along = static_cast<double>(done) / static_cast<double>(batches * options_.epochs);
        const double rate = falling_rate(options_.rate, along);
        for (NetworkLearner& learner : learners_) learner.step(z, x, rate);
      }
      for (NetworkLearner& learner : learners_) {
        learner.network.epoch_done(
            done * batch,
            nats_found({learner.log_probability(selection_.release.front())}, selection_, levels_));
      }
    }
  }

  // Trees know no weights: images that a coin would not release as they are. At least two are kept.
  static std::pair<Matrix<float>, Symbols> only_coded(const Released& z, const Symbols& x,
                                                      RandomSource& random) {
    std::vector<Index> rows;
    Symbols kept;
    for (Index i = 0; i < z.image.rows(); ++i) {
      if (random.uniform() >= static_cast<double>(z.coded[i]) && i + 2 - std::ssize(rows) < z.image.rows()) {
        continue;
      }
      rows.push_back(i);
      kept.push_back(x[static_cast<std::size_t>(i)]);
    }
    return {z.image(rows, Eigen::all), std::move(kept)};
  }

  TreeLearner fit_trees() {
    SeededRandom stream = random_.fork("trees");
    std::vector<std::int32_t> order(static_cast<std::size_t>(learn_.size()));
    std::iota(order.begin(), order.end(), 0);
    shuffle(stream, order);
    const Index rows = std::min(options_.tree_images, learn_.size());
    Matrix<float> pixels(rows, learn_.pixels.cols());
    Symbols x;
    for (Index i = 0; i < rows; ++i) {
      const std::int32_t row = order[static_cast<std::size_t>(i)];
      pixels.row(i) = learn_.pixels.row(row);
      x.push_back(learn_.labels[static_cast<std::size_t>(row)]);
    }
    Released z;
    source_.release(pixels, stream, z);
    TreeLearner trees(options_, levels_);
    const auto [learned, learned_x] = only_coded(z, x, stream);
    const auto [chosen, chosen_x] = only_coded(selection_.release.front(), selection_.x, stream);
    trees.fit(learned, learned_x, chosen, chosen_x, stream);
    return trees;
  }

  const ImageSet& learn_;
  const ImageAttackOptions& options_;
  std::int32_t levels_;
  SeededRandom random_;
  Source source_;
  ScoredPart selection_;
  ScoredPart reported_;
  std::vector<NetworkLearner> learners_;
};

// Images that the gate's coin sends through the code, of the first `count`; all of them without a gate.
std::vector<Index> gated_rows(const ImageComponent& only, const ImageSet& set, Index count) {
  std::vector<Index> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  if (only.mechanism.gate.empty()) return rows;
  Attribute<float> shown;
  shown.value = set.pixels.topRows(count);
  MechanismOptions single = only.mechanism;
  single.draws = 1;
  const auto mechanism = make_mechanism(single, shown);
  mechanism->parameters() = only.parameters;
  SeededRandom random(1);
  Matrix<float> noise;
  Draws<float> draws;
  mechanism->fill_noise(random, count, noise);
  mechanism->draw(shown, noise, draws);
  std::erase_if(rows, [&](Index i) { return random.uniform() >= static_cast<double>(draws.weight(i, 0)); });
  return rows;
}

// From a bound U on I(X;C) among the images that go through the code, to one on what the release tells.
// Whoever also saw the coin B would know I(X;B,C) <= H(X) - P(B) H(X|B) + P(B) U, if the others are read.
Estimate with_gate(Estimate coded, const Symbols& all, const std::vector<Index>& rows, std::int32_t levels) {
  Symbols x;
  for (const Index i : rows) x.push_back(all[static_cast<std::size_t>(i)]);
  const auto n = static_cast<double>(all.size());
  const double share = static_cast<double>(rows.size()) / n;
  // -log P(x) + b log P(x|B), whose mean is H(X) - P(B) H(X|B).
  Vector<double> term = -log_share(all, levels);
  const Vector<double> among = log_share(x, levels);
  for (std::size_t i = 0; i < rows.size(); ++i) term[rows[i]] += among[static_cast<Index>(i)];
  const double rest = term.mean();
  const double error = 1.96 * std::sqrt((term.array() - rest).square().mean() / n);
  coded.interval95 = [&]() -> std::optional<Interval> {
    const Interval within = coded.interval95.value_or(Interval{coded.nats, coded.nats});
    const double nats = rest + share * coded.nats;
    return Interval{nats - std::hypot(error, share * (coded.nats - within.low)),
                    nats + std::hypot(error, share * (within.high - coded.nats))};
  }();
  coded.nats = rest + share * coded.nats;
  coded.method += "; unchanged images count as read";
  return coded;
}

}  // namespace

double ImageAttack::least_seen() const {
  // The log-likelihood gains of a weak leak I have variance 2 I, so I is detected if it lies 1.96 + 1.28
  // standard errors sqrt(2 I / n) above 0.
  constexpr double kSeen = 3.24;
  return 2 * kSeen * kSeen / static_cast<double>(std::max<std::int64_t>(1, strongest().leakage.samples));
}

double ImageAttack::upper_end(const std::vector<Estimate>& upper) const {
  constexpr double kWide = 2.576 / 1.960;  // the 99 % interval in widths of the 95 % one
  const Estimate& found = strongest().leakage;
  double end = found.interval95 ? found.nats + kWide * (found.interval95->high - found.nats) : found.nats;
  end = std::min(std::max(end, least_seen()), entropy);
  for (const Estimate& bound : upper)
    end = std::min(end, bound.interval95 ? std::max(bound.nats, bound.interval95->high) : bound.nats);
  return end;
}

Problems ImageAttackOptions::check() const {
  ProblemList list;
  list.require(!networks.empty() || convolution || tree_images > 0, "networks",
               "there must be at least one attacker");
  for (const ImageNetworkShape& shape : networks) {
    for (const Index units : shape.hidden)
      list.require_at_least("networks.hidden", static_cast<double>(units), 1);
  }
  for (const Index units : code) list.require_at_least("code", static_cast<double>(units), 1);
  list.require_at_least("tree_images", static_cast<double>(tree_images), 0);
  list.require_at_least("components", static_cast<double>(components), 1);
  list.require_at_least("trees", trees, 1);
  list.require_at_least("epochs", epochs, 1);
  list.require_at_least("batch", static_cast<double>(batch), 1);
  list.require_positive("rate", rate);
  list.require_at_least("releases", releases, 1);
  list.require_inside("selection", selection, 0, 1);
  return list.take();
}

ImageAttackOptions attack_for(Index images, Index pixels, bool quick) {
  ImageAttackOptions attack;
  attack.batch = std::clamp<Index>(attack.batch, 1, std::max<Index>(1, images));
  attack.tree_images = std::min(attack.tree_images, images);
  attack.components = std::min(attack.components, pixels);
  double steps = kUsualSteps;
  if (quick) {
    attack.networks = {{{128}}};
    attack.code = {128};
    attack.convolution = false;
    attack.tree_images = 0;
    steps /= 2;
  }
  const double per_epoch = std::max(1.0, static_cast<double>(images) / static_cast<double>(attack.batch));
  attack.epochs = std::clamp(static_cast<int>(std::ceil(steps / per_epoch)), attack.epochs, kMostEpochs);
  return attack;
}

ImageAttack attack_images(const ImageModel& model, const ImageSet& learn, const ImageSet& held_out,
                          const ImageAttackOptions& options) {
  require_none(options.check(), "the attack cannot be made:");
  if (learn.size() < 1 || held_out.size() < 2 || learn.classes < 2 || learn.pixels.cols() != model.pixels() ||
      held_out.pixels.cols() != model.pixels()) {
    throw Error(ErrorCode::kBadInput, "the attack needs labelled images of the model's size");
  }
  return Attack(model, learn, held_out, options).run();
}

std::vector<Estimate> image_upper_bounds(const ImageModel& model, const ImageSet& set, Index most) {
  constexpr Index kLeast = 100;  // fewer say nothing of the distribution of the codes
  const ImageComponent& only = model.components.front();
  const Index count = std::min(most, set.size());
  if (count < kLeast || model.components.size() > 1 || only.kind != ComponentKind::kTrained ||
      only.mechanism.kind != MechanismKind::kNoisyCode) {
    return {};
  }
  MechanismOptions single = only.mechanism;
  single.draws = 1;
  single.gate.clear();
  Attribute<double> coded;
  Symbols x;
  const std::vector<Index> rows = gated_rows(only, set, count);
  coded.value = set.pixels(rows, Eigen::all).cast<double>();
  for (const Index i : rows) x.push_back(set.labels[static_cast<std::size_t>(i)]);
  if (std::ssize(rows) < kLeast) return {};
  const auto mechanism = make_mechanism(single, coded);
  mechanism->parameters() = only.parameters.head(mechanism->parameters().size()).cast<double>();
  DensityBoundOptions options;
  options.records = std::ssize(rows);
  std::vector<Estimate> bounds = mechanism_upper_bounds(*mechanism, coded, x, set.classes, true, options);
  if (!only.mechanism.gate.empty()) {
    const Symbols all(set.labels.begin(), set.labels.begin() + count);
    for (Estimate& bound : bounds) bound = with_gate(bound, all, rows, set.classes);
  }
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const Estimate& a, const Estimate& b) { return a.nats < b.nats; });
  return bounds;
}

}  // namespace ppan
