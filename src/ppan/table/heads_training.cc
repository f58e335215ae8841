#include "ppan/table/heads_training.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "ppan/audit/attack_numbers.h"
#include "ppan/game/budget.h"
#include "ppan/table/heads_batch.h"
#include "ppan/table/heads_links.h"
#include "ppan/table/heads_path.h"

namespace ppan {
namespace {

constexpr Index kSteps = 3000;
constexpr int kLeastEpochs = 8;
constexpr int kMostEpochs = 300;
constexpr double kDecay = 0.3;  // of the weights of teacher and discriminator, which would overfit without
// The adversary must not overfit its training rows: what only it knows is hidden at the cost of what
// everybody needs.
constexpr double kAdversaryDecay = 1;
// On few rows that is too little and more is better, unless the secret is easy to learn: rows that a network
// did not learn from decide.
constexpr Index kManyRows = 12'000;
constexpr std::array kFewRowsDecays{3.0, 10.0};
constexpr Index kDecaySteps = 1000;
// An adversary that decays more misses the last of what is told. So where the budget is not spent in this
// part of the training, its decay falls; where it is spent, the decay rises again. It takes this share of the
// training for a factor of ten.
constexpr double kDecayFallsFrom = 0.4;
constexpr double kDecayTime = 0.2;
constexpr double kUnspent = 0.95;    // of the budget
constexpr double kSpentRate = 0.05;  // of a batch in what is spent
constexpr double kDualWeight = 30;
constexpr double kDualRate = 0.2;
// Below its budget a mechanism pays a price that falls from the first to the second, until so far into the
// training. A loose budget would otherwise let the cells go at once, to where nothing tells them the way
// back.
constexpr double kFirstPrice = 0.3;
constexpr double kLastPrice = 0.05;
constexpr double kPriceFallsUntil = 0.9;
constexpr double kKeptGate = 5 / kGateScale;      // keeps 99 % of the cells
constexpr double kRedrawnGate = -3 / kGateScale;  // keeps 5 %
constexpr Index kTeacherSteps = 2000;
constexpr Index kTeacherChecks = 20;
constexpr double kTeacherHeldOut = 0.2;
constexpr float kMarginRate = 0.05F;   // of a batch in the running shares
constexpr float kLeastMargin = 1e-3F;  // added to shares: rare cells would be held too tightly

CellNetworkShape player_shape(const HeadsStart& start, const HeadsView& view, const HeadsOptions& options,
                              bool kept) {
  CellNetworkShape shape;
  shape.cells = view.tokens.count;
  if (kept) shape.cells.push_back(start.rows.coded.kept.levels);
  shape.numbers = view.numbers.inputs();
  shape.hidden = player_units(options.hidden, start.rows.rows());
  return shape;
}

// Fits the teacher to most of the rows; the state that predicts the others best is kept.
Vector<float> train_teacher(const HeadsStart& start, const HeadsOptions& options, std::uint64_t seed) {
  if (start.rows.coded.task.empty() || options.task_weight <= 0) return {};
  SeededRandom random(seed);
  const HeadsView view(start.fit);
  CellPlayer<float> teacher(player_shape(start, view, options, false), levels_of_all(start.rows.coded.task));
  teacher.initialise(random);
  const LearnAndTest part =
      learn_and_test(start.rows.rows(), kTeacherHeldOut, static_cast<std::size_t>(start.rows.rows()), random);
  HeadsBatch test;
  test.gather(start.rows, view, part.test);
  const bool held_out = !part.test.empty();
  BatchCycle cycle(part.learn, heads_batch_size(static_cast<Index>(part.learn.size()), options.batch));
  const RateSchedule rate{.rate = options.rate, .decay_from = 0.3, .final_fraction = 0.02};
  Vector<float> best = teacher.parameters();
  double most = held_out ? teacher.score(test.token, test.number_code, test.task) : 0;
  HeadsBatch some;
  for (Index step = 0; step < kTeacherSteps; ++step) {
    some.gather(start.rows, view, cycle.next(random));
    teacher.score(some.token, some.number_code, some.task);
    teacher.step(some.token, some.number_code,
                 rate.at(static_cast<double>(step) / static_cast<double>(kTeacherSteps)), kDecay);
    if (!held_out || (step + 1) % (kTeacherSteps / kTeacherChecks) != 0) continue;
    if (const double found = teacher.score(test.token, test.number_code, test.task); found > most) {
      most = found;
      best = teacher.parameters();
    }
  }
  return held_out ? best : teacher.parameters();
}

// The cells of a batch as the adversary sees them: with what is released as it is.
CellRows with_kept(const HeadsBatch& batch) {
  CellRows out(batch.token.rows() + 1, batch.token.cols());
  out.topRows(batch.token.rows()) = batch.token;
  for (Index i = 0; i < out.cols(); ++i) out(out.rows() - 1, i) = batch.kept[static_cast<std::size_t>(i)];
  return out;
}

// By how much the adversary's weights decay: of some decays the one with which a network of its kind, fitted
// to most of the original rows, predicts the others best at its end.
double find_adversary_decay(const HeadsStart& start, const HeadsOptions& options, std::uint64_t seed) {
  if (start.rows.rows() >= kManyRows) return kAdversaryDecay;
  SeededRandom split(seed);
  const LearnAndTest part =
      learn_and_test(start.rows.rows(), kTeacherHeldOut, static_cast<std::size_t>(start.rows.rows()), split);
  if (part.test.empty()) return kAdversaryDecay;
  const HeadsView view(start.fit);
  HeadsBatch test;
  test.gather(start.rows, view, part.test);
  const CellRows tested = with_kept(test);
  const RateSchedule rate{.rate = options.rate, .decay_from = 0.5, .final_fraction = 0.05};
  const auto score = [&](double decay) {
    SeededRandom random = split.fork("decay");
    CellPlayer<float> player(player_shape(start, view, options, true),
                             levels_of_all(start.rows.coded.hidden));
    player.initialise(random);
    BatchCycle cycle(part.learn, heads_batch_size(static_cast<Index>(part.learn.size()), options.batch));
    HeadsBatch some;
    for (Index step = 0; step < kDecaySteps; ++step) {
      some.gather(start.rows, view, cycle.next(random));
      const CellRows seen = with_kept(some);
      player.score(seen, some.number_code, some.hidden);
      player.step(seen, some.number_code,
                  rate.at(static_cast<double>(step) / static_cast<double>(kDecaySteps)), decay);
    }
    return player.score(tested, test.number_code, test.hidden);
  };
  double best = kAdversaryDecay;
  double most = score(best);
  for (const double decay : kFewRowsDecays) {
    const double found = score(decay);
    if (found <= most) continue;
    most = found;
    best = decay;
  }
  return best;
}

class Training {
 public:
  Training(const HeadsStart& start, double budget, const HeadsOptions& options, std::uint64_t seed)
      : start_(start),
        options_(options),
        view_(start.fit),
        network_(shape()),
        parameters_(start.learned.parameters),
        adversary_(player_shape(start, view_, options, true), levels_of_all(start.rows.coded.hidden)),
        judge_(player_shape(start, view_, options, false), {2}),
        budget_({.form = BudgetForm::kDual, .limit = budget, .weight = kDualWeight, .dual_rate = kDualRate}),
        random_(SeededRandom(seed).fork("draws")),
        order_(static_cast<std::size_t>(start.rows.rows())) {
    SeededRandom first = SeededRandom(seed).fork("players");
    adversary_.initialise(first);
    judge_.initialise(first);
    if (start.learned.teacher.size() > 0) {
      teacher_ =
          CellPlayer<float>(player_shape(start, view_, options, false), levels_of_all(start.rows.coded.task));
      teacher_.parameters() = start.learned.teacher;
    }
    std::iota(order_.begin(), order_.end(), 0);
    batch_size_ = std::min(heads_batch_size(start.rows.rows(), options.batch), start.rows.rows());
    epochs_ = heads_epochs(start.rows.rows(), options);
    for (const CodedAttribute& x : start.rows.coded.hidden) entropy_ += empirical_entropy(x.code, x.levels);
    margin_ = Vector<float>::Zero(network_.cells());
    for (Index i = 0; i < start.rows.own.cols(); ++i) {
      for (Index h = 0; h < network_.heads(); ++h)
        margin_[network_.first(static_cast<std::size_t>(h)) + start.rows.own(h, i)] += 1;
    }
    margin_ /= static_cast<float>(start.rows.rows());
    running_ = margin_;
    redraw(budget);
    limit_ = budget;
    decay_ = start.learned.adversary_decay;
  }

  TrainSummary run(const std::vector<Observer>& observers) {
    TrainSummary summary;
    summary.records = start_.rows.rows();
    summary.batch_used = batch_size_;
    const Index batches = std::max<Index>(1, start_.rows.rows() / batch_size_);
    const auto steps = static_cast<double>(batches * epochs_);
    const RateSchedule rate{.rate = options_.rate, .decay_from = 0.4, .final_fraction = 0.01};
    const RateSchedule players{.rate = options_.rate, .decay_from = 0.5, .final_fraction = 0.05};
    Index step = 0;
    for (int epoch = 1; epoch <= epochs_; ++epoch) {
      shuffle(random_, order_);
      EpochReport report{.epoch = epoch, .epochs = epochs_};
      for (Index b = 0; b < batches; ++b, ++step) {
        batch_.gather(start_.rows, view_,
                      std::span(order_).subspan(static_cast<std::size_t>(b * batch_size_),
                                                static_cast<std::size_t>(batch_size_)));
        const double progress = static_cast<double>(step) / steps;
        floor_ = kFirstPrice * std::pow(kLastPrice / kFirstPrice, std::min(1.0, progress / kPriceFallsUntil));
        report.adversary += step_players(players.at(progress)) / static_cast<double>(batches);
        const StepReport one = step_mechanism(rate.at(progress));
        if (progress > kDecayFallsFrom) steer_decay(steps);
        report.mean.distortion += one.distortion / static_cast<double>(batches);
        report.mean.log_likelihood += one.log_likelihood / static_cast<double>(batches);
        report.mean.penalty += one.penalty / static_cast<double>(batches);
        report.mean.discriminator += one.discriminator / static_cast<double>(batches);
      }
      report.multiplier = budget_.multiplier();
      summary.epochs.push_back(report);
      if (!parameters_.allFinite()) {
        summary.stop = Stop::kDiverged;
        summary.message = "the parameters of the heads are no longer finite";
        parameters_ = good_;
        break;
      }
      good_ = parameters_;
      if (told_to_stop(report, observers, summary)) break;
    }
    summary.iterations = step;
    return summary;
  }

  [[nodiscard]] const Vector<float>& parameters() const { return parameters_; }
  [[nodiscard]] double entropy() const { return entropy_; }
  [[nodiscard]] double adversary_decay() const { return decay_; }

 private:
  [[nodiscard]] HeadsShape shape() const {
    return first_heads(start_, options_).shape(start_.rows.features.cols());
  }

  // As much of the path as the budget pays for is redrawn from the beginning.
  void redraw(double budget) {
    const HeadsLearned& learned = start_.learned;
    for (std::size_t k = 0; k < learned.redrawn.size() && learned.redrawn[k] <= budget; ++k) {
      const std::size_t head = learned.order.size() - 1 - k;
      network_.set_head(head, static_cast<float>(kRedrawnGate), parameters_);
    }
  }

  static bool told_to_stop(const EpochReport& report, const std::vector<Observer>& observers,
                           TrainSummary& summary) {
    bool stop = false;
    for (const Observer& observer : observers) {
      if (const Verdict verdict = observer(report); verdict.stop) {
        summary.stop = Stop::kObserver;
        summary.message = verdict.reason;
        stop = true;
      }
    }
    return stop;
  }

  // New cells, and the numbers that would be released for them: the own one where its cell stays. The players
  // need no probabilities, which are most of the work.
  void draw(bool with_probabilities) {
    const Index count = batch_.own.cols();
    noise_.resize(count, options_.noise_inputs);
    fill_normal(random_, noise_);
    uniform_.resize(2 * network_.heads(), count);
    for (Index i = 0; i < uniform_.size(); ++i)
      uniform_.data()[i] = std::min(static_cast<float>(random_.uniform()), 0x1.fffffep-1F);
    if (with_probabilities) {
      network_.draw(parameters_, batch_.features, batch_.own, noise_, uniform_, drawn_);
    } else {
      network_.draw_only(parameters_, batch_.features, batch_.own, noise_, uniform_, drawn_);
    }
    number_ = batch_.number;
    for (std::size_t n = 0; n < start_.fit.numbers.size(); ++n) {
      const HeadNumber& from = start_.fit.numbers[n];
      for (Index i = 0; i < count; ++i) {
        if (network_.stays(static_cast<std::size_t>(from.head), i)) continue;
        const std::int32_t level = from.level[static_cast<std::size_t>(drawn_(from.head, i))];
        number_(static_cast<Index>(n), i) = from.sample(random_.index(from.sample.rows()), level);
      }
    }
    view_.numbers.encode(number_, code_);
    to_tokens(drawn_, view_.tokens, token_);
    with_kept_.resize(drawn_.rows() + 1, count);
    with_kept_.topRows(drawn_.rows()) = token_;
    for (Index i = 0; i < count; ++i) with_kept_(drawn_.rows(), i) = batch_.kept[static_cast<std::size_t>(i)];
  }

  // The adversary's steps and one of the discriminator, on draws of their own; returns what the adversary
  // scored.
  double step_players(double rate) {
    double sum = 0;
    for (int s = 0; s < options_.adversary_steps; ++s) {
      draw(false);
      sum += adversary_.score(with_kept_, code_, batch_.hidden);
      adversary_.step(with_kept_, code_, rate, decay_);
    }
    if (options_.row_weight > 0) {
      // Half of the rows each: released ones, and others as they are.
      const Index count = drawn_.cols();
      const Index half = count / 2;
      mixed_ = token_;
      mixed_code_ = code_;
      mixed_.rightCols(count - half) = batch_.token.rightCols(count - half);
      mixed_code_.rightCols(count - half) = batch_.number_code.rightCols(count - half);
      released_.assign(1, Symbols(static_cast<std::size_t>(count), 0));
      std::fill_n(released_.front().begin(), half, 1);
      judge_.score(mixed_, mixed_code_, released_);
      judge_.step(mixed_, mixed_code_, rate, kDecay);
    }
    return sum / options_.adversary_steps;
  }

  // What is not spent can pay for hiding from an adversary that decays less.
  void steer_decay(double steps) {
    const double factor = std::pow(10, 1 / (kDecayTime * steps));
    const double moved = spent_ < kUnspent * limit_ ? decay_ / factor : decay_ * factor;
    decay_ = std::clamp(moved, kAdversaryDecay, std::max(kAdversaryDecay, start_.learned.adversary_decay));
  }

  // Adds a player's gradient in what it saw of the released cells.
  void add_seen(float weight) {
    token_gradient_ += weight * seen_.cells.topRows(token_gradient_.rows());
    number_gradient_ += weight * seen_.numbers;
  }

  // From what players see to d(indicator) of the cells: for each cell its token, and the number it would be
  // released with.
  void spread_to_cells() {
    for (Index i = 0; i < cost_.cols(); ++i) {
      for (std::size_t h = 0; h < view_.tokens.of_cell.size(); ++h) {
        const Symbols& token = view_.tokens.of_cell[h];
        const float* from = &token_gradient_(view_.tokens.first[h], i);
        float* to = &cost_(network_.first(h), i);
        for (std::size_t c = 0; c < token.size(); ++c) to[c] += from[token[c]];
      }
    }
    for (std::size_t n = 0; n < start_.fit.numbers.size(); ++n) {
      const HeadNumber& number = start_.fit.numbers[n];
      const Index first = network_.first(static_cast<std::size_t>(number.head));
      const Index code = view_.numbers.first(n);
      const Index inputs = view_.numbers.first(n + 1) - code;
      view_.numbers.of_levels(n, number_gradient_, of_levels_);
      for (Index i = 0; i < cost_.cols(); ++i) {
        const std::int32_t own = number.level[static_cast<std::size_t>(batch_.own(number.head, i))];
        of_levels_(own, i) = number_gradient_.col(i)
                                 .segment(code, inputs)
                                 .dot(batch_.number_code.col(i).segment(code, inputs));
        for (std::size_t c = 0; c < number.level.size(); ++c)
          cost_(first + static_cast<Index>(c), i) += of_levels_(number.level[c], i);
      }
    }
  }

  StepReport step_mechanism(double rate) {
    draw(true);
    const auto count = static_cast<double>(drawn_.cols());
    StepReport report;
    report.distortion = fill_costs();
    record_distortion_.setConstant(1, static_cast<float>(report.distortion));
    report.penalty = budget_.evaluate(record_distortion_, slope_);
    const float price = std::max(slope_[0], static_cast<float>(floor_));
    cost_ *= price;
    report.log_likelihood = adversary_.score(with_kept_, code_, batch_.hidden);
    adversary_.seen_gradient(with_kept_, code_, seen_);
    token_gradient_.setZero(view_.tokens.first.back() + view_.tokens.count.back(), drawn_.cols());
    number_gradient_.setZero(code_.rows(), drawn_.cols());
    add_seen(1);
    if (start_.learned.teacher.size() > 0) {
      const Matrix<float> before = teacher_.probabilities(batch_.token, batch_.number_code);
      const double own =
          static_cast<double>((before.array() * (before.array() + 1e-12F).log()).sum()) / count;
      const double lost = own - teacher_.cross_score(token_, code_, before);
      const float weight = price * static_cast<float>(options_.task_weight);
      report.penalty += static_cast<double>(weight) * lost;
      teacher_.seen_gradient(token_, code_, seen_);
      add_seen(-weight);
    }
    if (options_.row_weight > 0) {
      const double weight = static_cast<double>(price) * options_.row_weight;
      released_.assign(1, Symbols(static_cast<std::size_t>(drawn_.cols()), 1));
      report.discriminator = weight * judge_.score(token_, code_, released_);
      judge_.seen_gradient(token_, code_, seen_);
      add_seen(static_cast<float>(weight));
    }
    spread_to_cells();
    add_margins();
    cost_ /= static_cast<float>(count);
    network_.backward(parameters_, batch_.own, cost_, gradient_);
    adam_.step(rate, gradient_, parameters_);
    budget_.update(report.distortion);
    spent_ += kSpentRate * (report.distortion - spent_);
    return report;
  }

  // The gradient of KL(shares of the cells released || shares of the training rows), over the last batches.
  void add_margins() {
    running_ += kMarginRate * (network_.probability().rowwise().mean() - running_);
    const Vector<float> log_ratio =
        ((running_.array() + kLeastMargin) / (margin_.array() + kLeastMargin)).log();
    cost_.colwise() += static_cast<float>(options_.margin_weight) * log_ratio;
  }

  // Costs of the cells, cells x rows; returns the mean distortion, by exact expectation.
  double fill_costs() {
    const Matrix<float>& p = network_.probability();
    cost_.resize(p.rows(), p.cols());
    double sum = 0;
    for (Index i = 0; i < p.cols(); ++i) {
      for (std::size_t h = 0; h < start_.fit.heads.size(); ++h) {
        const Index own = batch_.own(static_cast<Index>(h), i);
        const Matrix<float>& distortion = start_.fit.distortion[h];
        const Index first = network_.first(h);
        cost_.col(i).segment(first, distortion.rows()) = start_.fit.cost[h].col(own);
        sum += static_cast<double>(p.col(i).segment(first, distortion.rows()).dot(distortion.col(own)));
      }
    }
    return sum / static_cast<double>(p.cols());
  }

  const HeadsStart& start_;
  HeadsOptions options_;
  HeadsView view_;
  HeadsNetwork<float> network_;
  Vector<float> parameters_;
  Vector<float> good_;
  CellPlayer<float> adversary_;
  CellPlayer<float> judge_;
  CellPlayer<float> teacher_;
  Budget<float> budget_;
  Adam<float> adam_;
  SeededRandom random_;
  std::vector<std::int32_t> order_;
  Index batch_size_ = 1;
  int epochs_ = 1;
  double floor_ = 0;  // of the price
  double limit_ = 0;  // of the distortion
  double spent_ = 0;  // distortion of the last batches
  double decay_ = 1;  // of the adversary's weights
  double entropy_ = 0;
  HeadsBatch batch_;
  Matrix<float> noise_;
  Matrix<float> uniform_;
  CellRows drawn_;
  CellRows token_;  // of what was drawn
  CellRows with_kept_;
  Matrix<float> number_;
  Matrix<float> code_;  // of it
  CellRows mixed_;
  Matrix<float> mixed_code_;
  std::vector<Symbols> released_;
  Matrix<float> cost_;
  Vector<float> margin_;   // share of the training rows that have each cell
  Vector<float> running_;  // and of those released
  CellGradient<float> seen_;
  Matrix<float> token_gradient_;   // of all players together, in the tokens of the heads ...
  Matrix<float> number_gradient_;  // ... and in the codes of the numbers
  Matrix<float> of_levels_;        // of one number
  Vector<float> gradient_;
  Vector<float> record_distortion_;
  Vector<float> slope_;
};

}  // namespace

Problems HeadsOptions::check() const {
  ProblemList list;
  for (const Index units : hidden) list.require_between("hidden", static_cast<double>(units), 1, 8192);
  list.require_between("noise_inputs", static_cast<double>(noise_inputs), 1, 1024);
  if (epochs) list.require_at_least("epochs", *epochs, 1);
  list.require_at_least("batch", static_cast<double>(batch), 1);
  list.require_at_least("adversary_steps", adversary_steps, 1);
  list.require_positive("rate", rate);
  list.require_at_least("task_weight", task_weight, 0);
  list.require_at_least("row_weight", row_weight, 0);
  list.require_at_least("margin_weight", margin_weight, 0);
  list.require_at_least("least_rows", static_cast<double>(least_rows), 1);
  list.add("levels", levels.check());
  return list.take();
}

int heads_epochs(Index rows, const HeadsOptions& options) {
  const Index batches = std::max<Index>(1, rows / std::max<Index>(1, heads_batch_size(rows, options.batch)));
  return options.epochs.value_or(
      static_cast<int>(std::clamp<Index>(kSteps / batches, kLeastEpochs, kMostEpochs)));
}

HeadsLearned learn_heads(const HeadsFit& fit, const HeadsRows& rows, const HeadsOptions& options,
                         std::uint64_t seed) {
  require_none(options.check(), "heads cannot be trained:");
  const SeededRandom random(seed);
  const HeadsPath path =
      find_path(fit, rows, options.hidden, options.batch, options.task_weight, random.fork("path").next());
  HeadsLearned learned{.order = path.order, .redrawn = path.redrawn};
  HeadsStart start = start_heads(fit, rows, learned);
  Heads heads;
  heads.hidden = options.hidden;
  heads.noise_inputs = options.noise_inputs;
  heads.heads = start.fit.heads;
  const HeadsShape shape = heads.shape(start.rows.features.cols());
  HeadLinks links = fit_links(start.rows.own, shape.cells, random.fork("links").next());
  SeededRandom first = random.fork("heads");
  HeadsNetwork<float>(shape).initialise(first, start.fit.near, static_cast<float>(kKeptGate),
                                        learned.parameters);
  learned.links = std::move(links.links);
  learned.base = std::move(links.base);
  learned.teacher = train_teacher(start, options, random.fork("teacher").next());
  learned.adversary_decay = find_adversary_decay(start, options, random.fork("adversary-decay").next());
  return learned;
}

HeadsStart start_heads(const HeadsFit& fit, const HeadsRows& rows, const HeadsLearned& learned) {
  HeadsStart start{reordered(fit, learned.order), rows, learned};
  start.rows.own = reordered(rows.own, learned.order);
  return start;
}

Heads first_heads(const HeadsStart& start, const HeadsOptions& options) {
  Heads out;
  out.hidden = options.hidden;
  out.noise_inputs = options.noise_inputs;
  out.observed = start.fit.coded.observed;
  out.released = start.fit.coded.released;
  out.heads = start.fit.heads;
  out.pairs = start.fit.pairs;
  out.links = start.learned.links;
  out.base = start.learned.base;
  out.parameters = start.learned.parameters;
  return out;
}

TrainedHeads train_heads(const HeadsStart& start, double budget, const HeadsOptions& options,
                         std::uint64_t seed, const std::vector<Observer>& observers) {
  Training training(start, budget, options, seed);
  TrainedHeads out;
  out.summary = training.run(observers);
  out.heads = first_heads(start, options);
  out.heads.parameters = training.parameters();
  out.adversary_decay = training.adversary_decay();
  if (!out.summary.epochs.empty()) {
    const double score = out.summary.epochs.back().mean.log_likelihood;
    out.belief = std::max(0.0, training.entropy() + score);
  }
  return out;
}

}  // namespace ppan
