#include "ppan/audit/attack_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "ppan/audit/attacker_pool.h"
#include "ppan/audit/key_tuples.h"
#include "ppan/audit/telling_relations.h"
#include "ppan/audit/trace_screen.h"
#include "ppan/core/error.h"
#include "ppan/core/parallel.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

// Doubling the rows "clearly" helps when it adds this much, in nats or as a share of what was found.
constexpr double kRiseNats = 0.005;
constexpr double kRiseShare = 0.05;
constexpr double kNearEverything = 0.95;  // of the entropy: nothing left to rise to
constexpr double kTrainShare = 0.5;       // of the rows
constexpr double kSelectionShare = 0.2;   // what is left is for the test
// Where rows that trained the mechanism can be learned from too, more of the held-out ones are for the test.
constexpr double kTrainShareBesideTrained = 0.3;
constexpr double kSourceShare = 0.01;
constexpr double kClearSource = 2.6;   // standard errors
constexpr double kSameFeature = 0.98;  // correlation from which on a trace says what the value says
constexpr Index kMostSourceRows = 4000;
constexpr std::size_t kMostShuffled = 96;  // groups of features, one by one
constexpr std::size_t kBlocks = 32;        // that more than these are shuffled in first
constexpr Index kLeastLearned = 2000;      // rows, however wide the table is

double log_add(double a, double b) {
  const double most = std::max(a, b);
  return std::isinf(most) ? most : most + std::log1p(std::exp(-std::abs(a - b)));
}

// Q' = (1 - e) softmax(log Q / T) + e prior. A small e bounds the loss of a row at log(1/e) above the
// prior's, a large one admits that nothing was learned.
struct Calibration {
  double temperature = 1;
  double prior_share = 0;

  void apply(const Vector<double>& prior, Matrix<float>& log_probability) const {
    Vector<double> row(log_probability.cols());
    for (Index i = 0; i < log_probability.rows(); ++i) {
      row = log_probability.row(i).transpose().cast<double>() / temperature;
      const double most = row.maxCoeff();
      row = (row.array() - most).exp();
      row *= (1 - prior_share) / row.sum();
      row += prior_share * prior;
      log_probability.row(i) = row.array().log().matrix().cast<float>().transpose();
    }
  }
};

Calibration calibrate(const Matrix<float>& log_probability, const Symbols& x, const Vector<double>& prior) {
  constexpr std::array kTemperatures{0.5, 0.7, 0.85, 1.0, 1.15, 1.35, 1.6, 2.0, 3.0, 5.0};
  constexpr std::array kPriorShares{1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0};
  Calibration best;
  double most = -std::numeric_limits<double>::infinity();
  for (const double temperature : kTemperatures) {
    std::array<double, kPriorShares.size()> sum{};
    for (Index i = 0; i < log_probability.rows(); ++i) {
      const auto row = log_probability.row(i).array();
      const float top = row.maxCoeff();
      const double total = static_cast<double>(((row - top) / static_cast<float>(temperature)).exp().sum());
      const std::int32_t truth = x[static_cast<std::size_t>(i)];
      const double p = std::exp(static_cast<double>(log_probability(i, truth) - top) / temperature) / total;
      for (std::size_t e = 0; e < sum.size(); ++e) {
        sum[e] += std::log((1 - kPriorShares[e]) * p + kPriorShares[e] * prior[truth]);
      }
    }
    for (std::size_t e = 0; e < sum.size(); ++e) {
      if (sum[e] > most) {
        most = sum[e];
        best = {temperature, kPriorShares[e]};
      }
    }
  }
  return best;
}

// Weights of a mixture of the attackers that make the selection rows likeliest: expectation maximisation,
// which climbs a concave function.
std::vector<double> mixture_weights(const std::vector<Vector<double>>& score) {
  constexpr int kSteps = 100;
  std::vector<double> weight(score.size(), 1 / static_cast<double>(score.size()));
  const Index rows = score.front().size();
  std::vector<double> part(score.size());
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> next(score.size(), 0);
    for (Index i = 0; i < rows; ++i) {
      double total = 0;
      for (std::size_t a = 0; a < score.size(); ++a) total += part[a] = weight[a] * std::exp(score[a][i]);
      for (std::size_t a = 0; a < score.size(); ++a) next[a] += part[a] / total;
    }
    for (std::size_t a = 0; a < score.size(); ++a) weight[a] = next[a] / static_cast<double>(rows);
  }
  return weight;
}

Vector<double> scores_of(const Matrix<float>& log_probability, const Symbols& x) {
  Vector<double> out(log_probability.rows());
  for (Index i = 0; i < out.size(); ++i) {
    out[i] = static_cast<double>(log_probability(i, x[static_cast<std::size_t>(i)]));
  }
  return out;
}

// From which rows an attacker learns.
enum class LearnFrom { kAll, kHeldOut };

struct Learner {
  AttackerKind kind{};
  LearnFrom from = LearnFrom::kAll;
  [[nodiscard]] std::string name() const {
    return fmt::format("{}{}", to_string(kind), from == LearnFrom::kHeldOut ? " (held-out rows only)" : "");
  }
};

// Whether a trace has by itself anything to do with the attribute.
bool tells_something(const Eigen::Ref<const Vector<float>>& feature, const Symbols& x,
                     std::span<const std::int32_t> rows, std::int32_t levels) {
  constexpr double kDeviations = 3;
  return class_deviations(feature, x, rows, levels) > kDeviations;
}

// Whether a trace only repeats a value of the same column, as the last digit of 0 and 1 does.
bool repeats_value(const SuiteInput& input, Index trace) {
  const auto column = input.released.data.col(trace).array() - input.released.data.col(trace).mean();
  const std::string& name = input.source[static_cast<std::size_t>(trace)].column;
  return std::any_of(input.values.begin(), input.values.end(), [&](Index value) {
    if (input.source[static_cast<std::size_t>(value)].column != name) return false;
    const auto other = input.released.data.col(value).array() - input.released.data.col(value).mean();
    const float norm = std::sqrt(column.square().sum() * other.square().sum());
    return norm > 0 && std::abs((column * other).sum()) > static_cast<float>(kSameFeature) * norm;
  });
}

// Which features attackers are given: all values, and the traces that pass the screening.
struct Screened {
  std::vector<Index> kept;
  std::vector<FeatureSource> source;  // of those
  std::vector<Index> values;          // among those
};

Screened screened(const SuiteInput& input, const AttackTarget& target, const AttackSplit& split,
                  const SuiteOptions& options) {
  constexpr std::size_t kMostScreened = 20'000;
  std::vector<std::int32_t> rows = split.train;
  rows.insert(rows.end(), split.trained.begin(), split.trained.end());
  rows.resize(std::min(rows.size(), kMostScreened));
  Screened out;
  for (Index f = 0; f < input.released.data.cols(); ++f) {
    const FeatureSource& source = input.source[static_cast<std::size_t>(f)];
    const bool trace = source.aspect != "value" && source.aspect != "known";
    const bool many = source.aspect == "digits" || source.aspect == "repeats" ||
                      source.aspect == "equality" || source.aspect == "text" || source.aspect == "pattern" ||
                      source.aspect == "neighbours";
    if (trace && (many || options.screen_traces) &&
        !tells_something(input.released.data.col(f), target.code, rows, target.levels))
      continue;
    if (trace && repeats_value(input, f)) continue;
    if (std::find(input.values.begin(), input.values.end(), f) != input.values.end())
      out.values.push_back(static_cast<Index>(out.kept.size()));
    out.kept.push_back(f);
    out.source.push_back(source);
  }
  return out;
}

// One attacker after fitting and calibration.
struct Trained {
  Learner learner{};
  std::string failure;  // empty: it could be trained
  std::unique_ptr<Attacker> attacker;
  Calibration calibration;
  Matrix<float> on_selection;
  Matrix<float> on_test;
  double selection_score = 0;
};

class Suite {
 public:
  Suite(const SuiteInput& input, const AttackTarget& target, const AttackSplit& split,
        const SuiteOptions& options)
      : input_(input),
        features_(screened(input, target, split, options)),
        target_(target),
        split_(split),
        options_(options),
        random_(options.seed) {
    choose_rows();
    if (target.continuous) scores_ = normal_scores(target, held_out_rows_);
    find_tuples();
    find_relations();
    selection_ = rows_from(input_.released, split.selection);
    test_ = rows_from(input_.released, split.test);
    choose_learners();
  }

  SuiteResult run() {
    const AttackRows all = training(LearnFrom::kAll, 1);
    const AttackRows held_out = split_.trained.empty() ? AttackRows{} : training(LearnFrom::kHeldOut, 1);
    task_ = make_task();
    std::vector<Trained> trained(learners_.size());
    parallel_for(static_cast<std::int64_t>(learners_.size()), thread_count(options_.threads),
                 [&](std::int64_t a) {
                   const Learner& learner = learners_[static_cast<std::size_t>(a)];
                   trained[static_cast<std::size_t>(a)] =
                       fit(learner, learner.from == LearnFrom::kAll ? all : held_out, "attacker");
                 });

    SuiteResult result;
    for (const Trained& t : trained) {
      if (!t.failure.empty()) result.failures.push_back(fmt::format("{}: {}", t.learner.name(), t.failure));
    }
    std::erase_if(trained, [](const Trained& t) { return !t.failure.empty(); });
    if (trained.empty())
      throw Error(ErrorCode::kInternal,
                  fmt::format("no attacker could be trained: {}", result.failures.front()));
    result.prior = task_.prior;
    const Vector<double> base = log_share(test_.x, target_.levels);
    result.entropy = -base.mean();
    const double selection_entropy = empirical_entropy(selection_.x, target_.levels);
    const std::size_t single = strongest(trained);
    for (const Trained& t : trained) {
      result.attackers.push_back(
          {t.learner.name(), selection_entropy + t.selection_score,
           lower_bound(scores_of(t.on_test, test_.x) - base, result.entropy,
                       fmt::format("held-out log loss, {}", t.learner.name()), split_.test_unit)});
    }
    take_winner(trained, single, base, selection_entropy, result);
    std::stable_sort(
        result.attackers.begin(), result.attackers.end(),
        [](const AttackerScore& a, const AttackerScore& b) { return a.selection > b.selection; });
    result.learned_rows = static_cast<Index>(rows_of(trained[single].learner.from).size());
    if (options_.learning_curve) learning_curve(trained[single], base, result);
    if (options_.sources) find_sources(trained, base, result);
    return result;
  }

 private:
  // Held-out rows first come first; rows that trained the mechanism are mixed in among them.
  void choose_rows() {
    const auto most = static_cast<std::size_t>(std::min(options_.most_training_rows, most_rows()));
    held_out_rows_ = split_.train;
    held_out_rows_.resize(std::min(held_out_rows_.size(), most));
    all_rows_ = held_out_rows_;
    if (!split_.trained.empty()) {
      const std::size_t more = std::min(split_.trained.size(), most - held_out_rows_.size());
      all_rows_.insert(all_rows_.end(), split_.trained.begin(),
                       split_.trained.begin() + static_cast<std::ptrdiff_t>(more));
      SeededRandom random = random_.fork("learning-order");
      shuffle(random, all_rows_);
    }
  }

  [[nodiscard]] bool counts_by_keys() const {
    const auto& wanted = options_.attackers;
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), AttackerKind::kKeys) != wanted.end();
  }

  // Keys of several columns, for those who count by keys.
  void find_tuples() {
    if (counts_by_keys() && input_.released.coarse.cols() > 1)
      tuples_ = telling_tuples(input_.released.coarse, input_.coarse_values, target_.code, all_rows_,
                               target_.levels, input_.coarse_in_threes);
  }

  // Features and keys of several cells of a row, at the end of the others.
  void find_relations() {
    if (!counts_by_keys() || input_.released.number.cols() + input_.released.keys.cols() == 0) return;
    const RelationInput looked{
        {input_.released.number, input_.released.keys}, input_.number, input_.key_source, input_.key_values};
    relations_ = telling_relations(looked, target_.code, all_rows_, target_.levels, options_.threads);
    for (const Relation& relation : relations_) features_.source.push_back(source_of(relation));
  }

  static FeatureSource source_of(const Relation& relation) {
    return {relation.column, relation.place ? "position" : "relation"};
  }

  void choose_learners() {
    std::vector<AttackerKind> kinds = options_.attackers;
    if (kinds.empty()) {
      // Most expensive first, so that the threads end together.
      kinds = {AttackerKind::kLargeMlp,   AttackerKind::kTrees,      AttackerKind::kForest,
               AttackerKind::kNeighbours, AttackerKind::kExtraTrees, AttackerKind::kSmallMlp,
               AttackerKind::kKeys,       AttackerKind::kLogistic,   AttackerKind::kDiscriminant,
               AttackerKind::kLookup,     AttackerKind::kPrior};
      if (target_.continuous) kinds.insert(kinds.begin() + 2, AttackerKind::kDensity);
    }
    if (!target_.continuous) std::erase(kinds, AttackerKind::kDensity);
    if (input_.key_values.empty() && tuples_.empty() && relations_.empty())
      std::erase(kinds, AttackerKind::kKeys);
    for (const AttackerKind kind : kinds) {
      learners_.push_back({kind, LearnFrom::kAll});
      const bool cheap = kind == AttackerKind::kTrees || kind == AttackerKind::kLogistic ||
                         kind == AttackerKind::kForest || kind == AttackerKind::kKeys ||
                         kind == AttackerKind::kDiscriminant;
      if (!split_.trained.empty() && cheap && options_.held_out_learners)
        learners_.push_back({kind, LearnFrom::kHeldOut});
    }
  }

  [[nodiscard]] const std::vector<std::int32_t>& rows_of(LearnFrom from) const {
    return from == LearnFrom::kAll ? all_rows_ : held_out_rows_;
  }

  // Whoever knows nothing wins ties.
  static std::size_t strongest(const std::vector<Trained>& trained) {
    std::size_t single = 0;
    for (std::size_t a = 0; a < trained.size(); ++a) {
      if (trained[a].learner.kind == AttackerKind::kPrior) single = a;
    }
    for (std::size_t a = 0; a < trained.size(); ++a) {
      if (trained[a].selection_score > trained[single].selection_score) single = a;
    }
    return single;
  }

  [[nodiscard]] AttackRows rows_from(const AttackFeatures& features,
                                     std::span<const std::int32_t> rows) const {
    AttackRows part = attack_rows(features, target_.code, scores_.row, rows, features_.kept);
    const Index keys = part.keys.cols();
    const auto tuples = static_cast<Index>(tuples_.size());
    if (tuples_.empty() && relations_.empty()) return part;
    part.keys.conservativeResize(Eigen::NoChange, keys + tuples + static_cast<Index>(relations_.size()));
    for (std::size_t t = 0; t < tuples_.size(); ++t) {
      for (std::size_t i = 0; i < rows.size(); ++i)
        part.keys(static_cast<Index>(i), keys + static_cast<Index>(t)) =
            tuples_[t].code(features.coarse, input_.coarse_values, rows[i]);
    }
    const Index values = part.data.cols();
    part.data.conservativeResize(Eigen::NoChange, values + static_cast<Index>(relations_.size()));
    for (std::size_t r = 0; r < relations_.size(); ++r) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double value = relations_[r].value({features.number, features.keys}, rows[i]);
        part.data(static_cast<Index>(i), values + static_cast<Index>(r)) = relations_[r].feature(value);
        part.keys(static_cast<Index>(i), keys + tuples + static_cast<Index>(r)) = relations_[r].bin(value);
      }
    }
    return part;
  }

  // Rows that there is room for, every release counted.
  [[nodiscard]] Index most_rows() const {
    return std::min(options_.most_releases,
                    room_for_rows(options_, static_cast<Index>(features_.kept.size())));
  }

  // The first of `parts` parts of the rows, in every release that there is room for.
  AttackRows training(LearnFrom from, std::size_t parts) const {
    const std::vector<std::int32_t>& rows = rows_of(from);
    const std::span<const std::int32_t> part(rows.data(), rows.size() / parts);
    const Index room = most_rows() / std::max<Index>(1, static_cast<Index>(part.size())) - 1;
    const std::size_t further =
        std::min(input_.again.size(), static_cast<std::size_t>(std::max<Index>(0, room)));
    AttackRows first = rows_from(input_.released, part);
    if (further == 0) return first;
    // Of a wide table every copy counts: room for all releases at once.
    const Index count = first.rows();
    const auto all = static_cast<Index>(further + 1) * count;
    first.data.conservativeResize(all, Eigen::NoChange);
    first.keys.conservativeResize(all, Eigen::NoChange);
    if (first.score.size() > 0) first.score.conservativeResize(all);
    for (std::size_t r = 0; r < further; ++r) {
      const AttackRows more = rows_from(input_.again[r], part);
      const Index begin = static_cast<Index>(r + 1) * count;
      first.data.middleRows(begin, count) = more.data;
      first.keys.middleRows(begin, count) = more.keys;
      if (more.score.size() > 0) first.score.segment(begin, count) = more.score;
      first.cell.insert(first.cell.end(), more.cell.begin(), more.cell.end());
      first.x.insert(first.x.end(), more.x.begin(), more.x.end());
    }
    return first;
  }

  AttackTask make_task() const {
    AttackTask task;
    task.levels = target_.levels;
    // Held-out rows alone say how frequent the levels are: the others need not be of the same distribution.
    task.prior = Vector<double>::Constant(target_.levels, 0.5);
    for (const std::int32_t row : held_out_rows_)
      task.prior[target_.code[static_cast<std::size_t>(row)]] += 1;
    task.prior /= task.prior.sum();
    task.cells = input_.released.cells;
    task.values = features_.values;
    task.key_values = input_.key_values;
    for (const KeyTuple& tuple : tuples_) task.key_values.push_back(tuple.values);
    for (const Relation& relation : relations_) task.key_values.push_back(relation.bins());
    task.score_edge = scores_.edge;
    task.missing_level = target_.missing_level;
    task.effort = options_.effort;
    return task;
  }

  // A failing attacker is left out: what the others find is worth having.
  Trained fit(const Learner& learner, const AttackRows& train, std::string_view stream) const {
    Trained t;
    t.learner = learner;
    try {
      t.attacker = make_attacker(learner.kind, task_);
      SeededRandom random = random_.fork(
          stream, static_cast<std::uint64_t>(learner.kind) + 100 * static_cast<std::uint64_t>(learner.from));
      t.attacker->fit(train, selection_, random);
      t.on_selection = t.attacker->log_probability(selection_);
      t.on_test = t.attacker->log_probability(test_);
    } catch (const Error& error) {
      t.failure = error.what();
      return t;
    }
    t.calibration = calibrate(t.on_selection, selection_.x, task_.prior);
    t.calibration.apply(task_.prior, t.on_selection);
    t.calibration.apply(task_.prior, t.on_test);
    t.selection_score = mean_score(t.on_selection, selection_.x);
    return t;
  }

  void take_winner(const std::vector<Trained>& trained, std::size_t single, const Vector<double>& base,
                   double selection_entropy, SuiteResult& result) const {
    result.winner = trained[single].learner.name();
    result.log_probability = trained[single].on_test;
    std::size_t chosen = single;
    double most = trained[single].selection_score;
    const auto compete = [&](const char* name, Together together, double margin) {
      if (together.on_test.rows() == 0) return;
      const Estimate leakage =
          lower_bound(scores_of(together.on_test, test_.x) - base, result.entropy,
                      fmt::format("held-out log loss, {} of attackers", name), split_.test_unit);
      result.attackers.push_back(
          {name, selection_entropy + together.selection_score, leakage, /*combined=*/true});
      if (together.selection_score <= most + margin) return;
      most = together.selection_score;
      chosen = result.attackers.size() - 1;
      result.winner = fmt::format("{} ({})", name, together.parts);
      result.log_probability = std::move(together.on_test);
    };
    if (trained.size() > 1) {
      // The mixture has as many parameters as parts; it must beat the best of them by more than they can buy.
      const double margin =
          static_cast<double>(trained.size() - 1) / (2 * static_cast<double>(selection_.rows()));
      compete("mixture", mixture(trained), margin);
      compete("pool", pool(trained, single), 0);
    }
    result.attackers[chosen].chosen = true;
    result.score = scores_of(result.log_probability, test_.x);
    result.gain = result.score - base;
  }

  // Several attackers as one.
  struct Together {
    Matrix<float> on_test;  // none: no rows
    double selection_score = 0;
    std::string parts;
  };

  [[nodiscard]] Together mixture(const std::vector<Trained>& trained) const {
    std::vector<Vector<double>> score;
    for (const Trained& t : trained) score.push_back(scores_of(t.on_selection, selection_.x));
    const std::vector<double> weight = mixture_weights(score);
    Together out;
    out.on_test =
        Matrix<float>::Constant(test_.rows(), target_.levels, -std::numeric_limits<float>::infinity());
    for (Index i = 0; i < score.front().size(); ++i) {
      double sum = 0;
      for (std::size_t a = 0; a < trained.size(); ++a) sum += weight[a] * std::exp(score[a][i]);
      out.selection_score += std::log(sum) / static_cast<double>(score.front().size());
    }
    std::vector<std::pair<double, std::string>> parts;
    for (std::size_t a = 0; a < trained.size(); ++a) {
      if (weight[a] < 1e-6) continue;
      const double log_weight = std::log(weight[a]);
      for (Index k = 0; k < out.on_test.size(); ++k) {
        out.on_test.data()[k] =
            static_cast<float>(log_add(static_cast<double>(out.on_test.data()[k]),
                                       log_weight + static_cast<double>(trained[a].on_test.data()[k])));
      }
      if (weight[a] >= 0.05) parts.emplace_back(weight[a], trained[a].learner.name());
    }
    std::sort(parts.rbegin(), parts.rend());
    for (std::size_t p = 0; p < parts.size(); ++p)
      out.parts += fmt::format("{}{} {:.0f} %", p == 0 ? "" : ", ", parts[p].second, 100 * parts[p].first);
    return out;
  }

  [[nodiscard]] Together pool(const std::vector<Trained>& trained, std::size_t single) const {
    std::vector<const Matrix<float>*> on_selection;
    std::vector<const Matrix<float>*> on_test;
    for (const Trained& t : trained) {
      on_selection.push_back(&t.on_selection);
      on_test.push_back(&t.on_test);
    }
    // Whoever knows nothing has no evidence to begin with.
    if (trained[single].learner.kind == AttackerKind::kPrior) return {};
    const AttackerPool pooled = pool_attackers(on_selection, selection_.x, task_.prior, single);
    if (pooled.part.empty()) return {};
    Together out{pooled.apply(on_test, task_.prior), pooled.score, {}};
    // A wrong certainty of several attackers at once must not hide what was found elsewhere.
    Matrix<float> again = pooled.apply(on_selection, task_.prior);
    const Calibration calibration = calibrate(again, selection_.x, task_.prior);
    calibration.apply(task_.prior, again);
    calibration.apply(task_.prior, out.on_test);
    out.selection_score = mean_score(again, selection_.x);
    for (const AttackerPool::Part& part : pooled.part)
      out.parts += fmt::format("{}{:.2f} {}", out.parts.empty() ? "" : " + ", part.weight,
                               trained[part.attacker].learner.name());
    return out;
  }

  void learning_curve(const Trained& best, const Vector<double>& base, SuiteResult& result) const {
    constexpr std::array<std::size_t, 3> kParts{8, 4, 2};
    const Vector<double> full = scores_of(best.on_test, test_.x) - base;
    const auto rows = rows_of(best.learner.from).size();
    if (best.learner.kind != AttackerKind::kPrior) {
      std::array<Trained, kParts.size()> part;
      parallel_for(static_cast<std::int64_t>(kParts.size()), thread_count(options_.threads),
                   [&](std::int64_t p) {
                     const std::size_t at = kParts.size() - 1 - static_cast<std::size_t>(p);
                     part[at] = fit(best.learner, training(best.learner.from, kParts[at]), "learning-curve");
                   });
      std::vector<Index> learned;
      std::vector<Vector<double>> gain;
      for (std::size_t p = 0; p < kParts.size(); ++p) {
        if (!part[p].failure.empty()) continue;
        learned.push_back(static_cast<Index>(rows / kParts[p]));
        gain.push_back(scores_of(part[p].on_test, test_.x) - base);
        result.learning.push_back({learned.back(), mean_rate(gain.back(), split_.test_unit)});
      }
      learned.push_back(static_cast<Index>(rows));
      gain.push_back(full);
      if (gain.size() > 1) result.still_rising = rises(full, gain[gain.size() - 2], result.entropy);
      // What several attackers find beyond the strongest of them they are taken to find with any number of
      // rows.
      for (Vector<double>& g : gain) g += result.gain - full;
      result.forecast = forecast_learning(learned, gain, result.entropy, split_.test_unit);
    }
    result.learning.push_back({static_cast<Index>(rows), mean_rate(full, split_.test_unit)});
  }

  // The same test rows under both, so the difference is far less noisy than either.
  [[nodiscard]] bool rises(const Vector<double>& full, const Vector<double>& half, double entropy) const {
    const Rate rise = mean_rate(full - half, split_.test_unit);
    const Rate found = mean_rate(full, split_.test_unit);
    return rise.interval95.low > 0 && found.interval95.low > 0 &&
           rise.value > std::max(kRiseNats, kRiseShare * found.value) &&
           found.value < kNearEverything * entropy;
  }

  // Shuffles one side of one column at a time among the test rows and sees what the attacker loses.
  void find_sources(std::vector<Trained>& trained, const Vector<double>& base, SuiteResult& result) const {
    Trained* best = names_sources(trained);
    if (best == nullptr) return;
    const Rate found = mean_rate(scores_of(best->on_test, test_.x) - base, split_.test_unit);
    if (found.interval95.low <= 0) return;
    const auto rows = static_cast<std::size_t>(std::min(kMostSourceRows, test_.rows()));
    AttackRows part = rows_from(input_.released, std::span<const std::int32_t>(split_.test.data(), rows));
    const Vector<double> whole = scores_of(best->on_test.topRows(static_cast<Index>(rows)), part.x);
    const bool by_keys = best->learner.kind == AttackerKind::kKeys;
    // Features by where they come from.
    std::vector<std::pair<FeatureSource, std::vector<Index>>> groups;
    const std::vector<FeatureSource> sources = by_keys ? key_sources() : features_.source;
    for (std::size_t f = 0; f < sources.size(); ++f) {
      auto at =
          std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == sources[f]; });
      if (at == groups.end()) at = groups.insert(groups.end(), {sources[f], {}});
      at->second.push_back(static_cast<Index>(f));
    }
    SeededRandom random = random_.fork("sources");
    const auto loss_of = [&](const std::vector<Index>& shuffled) {
      return by_keys ? shuffled_loss(*best, shuffled, whole, random, part.keys, part)
                     : shuffled_loss(*best, shuffled, whole, random, part.data, part);
    };
    for (const std::size_t g : worth_shuffling(groups, loss_of)) {
      const Rate loss = loss_of(groups[g].second);
      const double deviations = deviations_of(loss);
      if (loss.value > kSourceShare * found.value && deviations > kClearSource)
        result.sources.push_back({groups[g].first, loss.value, deviations});
    }
    std::sort(result.sources.begin(), result.sources.end(),
              [](const LeakSource& a, const LeakSource& b) { return a.nats > b.nats; });
  }

  // Who says where a leak is. Keys say it less well than features do: the first digits of a number are its
  // value. So does a discriminant: it leans on everything that says the same at once, and shuffling one of
  // several costs it nothing.
  Trained* names_sources(std::vector<Trained>& trained) const {
    constexpr double kClearlyMore = 1.25;
    const double entropy = empirical_entropy(selection_.x, target_.levels);
    Trained* best = nullptr;
    Trained* other = nullptr;
    for (Trained& t : trained) {
      const AttackerKind kind = t.learner.kind;
      // Neighbours see values only.
      if (kind == AttackerKind::kPrior || kind == AttackerKind::kLookup || kind == AttackerKind::kNeighbours)
        continue;
      Trained*& own = kind == AttackerKind::kKeys || kind == AttackerKind::kDiscriminant ? other : best;
      if (own == nullptr || t.selection_score > own->selection_score) own = &t;
    }
    const bool by_other =
        other != nullptr && (best == nullptr || entropy + other->selection_score >
                                                    kClearlyMore * (entropy + best->selection_score));
    return by_other ? other : best;
  }

  // Of every key, those of several columns at the end.
  [[nodiscard]] std::vector<FeatureSource> key_sources() const {
    std::vector<FeatureSource> out = input_.key_source;
    for (const KeyTuple& tuple : tuples_) {
      std::string columns;
      for (const Index p : tuple.part)
        columns += (columns.empty() ? "" : " and ") + input_.coarse_column[static_cast<std::size_t>(p)];
      out.push_back({columns, "together"});
    }
    for (const Relation& relation : relations_) out.push_back(source_of(relation));
    return out;
  }

  static double deviations_of(const Rate& loss) {
    const double error = (loss.interval95.high - loss.value) / normal_multiple();
    return error > 0 ? loss.value / error : 0;
  }

  // What an attacker loses, nats, when these features of `data`, which is in `part`, are shuffled among the
  // rows, all in the same way.
  template <typename Data>
  Rate shuffled_loss(Trained& attacker, const std::vector<Index>& features, const Vector<double>& whole,
                     RandomSource& random, Data& data, AttackRows& part) const {
    std::vector<std::int32_t> order(static_cast<std::size_t>(part.rows()));
    std::iota(order.begin(), order.end(), 0);
    shuffle(random, order);
    std::vector<Eigen::Matrix<typename Data::Scalar, Eigen::Dynamic, 1>> kept;
    for (const Index column : features) {
      kept.emplace_back(data.col(column));
      for (Index i = 0; i < part.rows(); ++i)
        data(i, column) = kept.back()[order[static_cast<std::size_t>(i)]];
    }
    Matrix<float> shuffled = attacker.attacker->log_probability(part);
    attacker.calibration.apply(task_.prior, shuffled);
    for (std::size_t k = 0; k < features.size(); ++k) data.col(features[k]) = kept[k];
    return mean_rate(whole - scores_of(shuffled, part.x));
  }

  // Each shuffle costs an attack, so many groups are first shuffled block by block; those of the blocks that
  // cost the attacker most are looked at one by one.
  template <typename Groups, typename LossOf>
  static std::vector<std::size_t> worth_shuffling(const Groups& groups, const LossOf& loss_of) {
    std::vector<std::size_t> out(groups.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    if (out.size() <= kMostShuffled) return out;
    const std::size_t size = (groups.size() + kBlocks - 1) / kBlocks;
    std::vector<std::pair<double, std::size_t>> blocks;  // minus the loss, first group
    for (std::size_t first = 0; first < groups.size(); first += size) {
      std::vector<Index> features;
      for (std::size_t g = first; g < std::min(first + size, groups.size()); ++g)
        features.insert(features.end(), groups[g].second.begin(), groups[g].second.end());
      blocks.emplace_back(-loss_of(features).value, first);
    }
    std::sort(blocks.begin(), blocks.end());
    out.clear();
    for (const auto& [loss, first] : blocks) {
      if (loss >= 0) break;
      for (std::size_t g = first; g < std::min(first + size, groups.size()); ++g) {
        if (out.size() < kMostShuffled) out.push_back(g);
      }
    }
    return out;
  }

  const SuiteInput& input_;
  Screened features_;
  const AttackTarget& target_;
  const AttackSplit& split_;
  const SuiteOptions& options_;
  SeededRandom random_;
  std::vector<KeyTuple> tuples_;
  std::vector<Relation> relations_;
  std::vector<Learner> learners_;
  std::vector<std::int32_t> held_out_rows_;
  std::vector<std::int32_t> all_rows_;
  NormalScores scores_;
  AttackRows selection_;
  AttackRows test_;
  AttackTask task_;
};

}  // namespace

Problems SuiteOptions::check() const {
  ProblemList list;
  list.add("effort", effort.check());
  list.require_at_least("most_training_rows", static_cast<double>(most_training_rows), 1);
  list.require_at_least("most_releases", static_cast<double>(most_releases), 1);
  list.require_at_least("most_cells", static_cast<double>(most_cells), 1);
  list.require_at_least("threads", threads, 0);
  return list.take();
}

AttackSplit make_split(Index rows, std::uint64_t seed, const Units& unit, Index trained_rows) {
  std::vector<std::vector<std::int32_t>> members;
  std::unordered_map<std::int32_t, std::size_t> known;
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(unit.size()); ++row) {
    const auto [at, added] = known.try_emplace(unit[static_cast<std::size_t>(row)], members.size());
    if (added) members.emplace_back();
    members[at->second].push_back(row);
  }
  const bool alone = unit.empty();
  std::vector<std::int32_t> order(alone ? static_cast<std::size_t>(rows) : members.size());
  std::iota(order.begin(), order.end(), 0);
  SeededRandom random = SeededRandom(seed).fork("split");
  shuffle(random, order);
  const double train_share = trained_rows >= rows ? kTrainShareBesideTrained : kTrainShare;
  const auto train = static_cast<std::size_t>(train_share * static_cast<double>(rows));
  const auto selection = static_cast<std::size_t>(kSelectionShare * static_cast<double>(rows));
  AttackSplit split;
  split.trained.resize(static_cast<std::size_t>(trained_rows));
  std::iota(split.trained.begin(), split.trained.end(), static_cast<std::int32_t>(rows));
  shuffle(random, split.trained);
  for (const std::int32_t next : order) {
    auto& part = split.train.size() < train           ? split.train
                 : split.selection.size() < selection ? split.selection
                                                      : split.test;
    if (alone) {
      part.push_back(next);
      continue;
    }
    const auto& own = members[static_cast<std::size_t>(next)];
    part.insert(part.end(), own.begin(), own.end());
  }
  if (alone) return split;
  // Where rows are taken from the front, as for learning curves, they are not to be those of a few units.
  for (auto* part : {&split.train, &split.selection, &split.test}) shuffle(random, *part);
  for (const std::int32_t row : split.test) split.test_unit.push_back(unit[static_cast<std::size_t>(row)]);
  return split;
}

Index room_for_rows(const SuiteOptions& options, Index features) {
  return std::max(kLeastLearned, options.most_cells / std::max<Index>(1, features));
}

SuiteInput suite_input(const FeatureMap& map, const AuditTable& released) {
  return {map.apply(released),    {},
          map.source(),           map.values(),
          map.key_values(),       map.key_source(),
          map.coarse_values(),    map.coarse_column(),
          map.coarse_in_threes(), map.numbers()};
}

void add_known(SuiteInput& input, const AttackTarget& known) {
  const auto extend = [&](AttackFeatures& features) {
    const Index first = features.data.cols();
    features.data.conservativeResize(Eigen::NoChange, first + known.levels);
    features.data.rightCols(known.levels).setZero();
    for (std::size_t i = 0; i < known.code.size(); ++i) {
      features.data(static_cast<Index>(i), first + known.code[i]) = 2;
      if (features.cell[i] >= 0) features.cell[i] = features.cell[i] * known.levels + known.code[i];
    }
    features.cells *= known.levels;
  };
  // Cells of the pair must fit; a table of that many would be empty anyway.
  if (std::int64_t{input.released.cells} * known.levels > std::numeric_limits<std::int32_t>::max()) {
    std::fill(input.released.cell.begin(), input.released.cell.end(), -1);
    input.released.cells = 0;
    for (AttackFeatures& again : input.again) {
      std::fill(again.cell.begin(), again.cell.end(), -1);
      again.cells = 0;
    }
  }
  for (std::int32_t l = 0; l < known.levels; ++l) {
    input.values.push_back(input.released.data.cols() + l);
    input.source.push_back({known.name, "known"});
  }
  extend(input.released);
  for (AttackFeatures& again : input.again) extend(again);
}

SuiteResult attack(const SuiteInput& input, const AttackTarget& target, const AttackSplit& split,
                   const SuiteOptions& options) {
  require_none(options.check(), "these options of the attack suite cannot be used:");
  return Suite(input, target, split, options).run();
}

NormalScores normal_scores(const AttackTarget& target, std::span<const std::int32_t> training) {
  std::vector<double> sorted;
  for (const std::int32_t row : training) {
    if (!std::isnan(target.value[row])) sorted.push_back(target.value[row]);
  }
  std::sort(sorted.begin(), sorted.end());
  const auto total = static_cast<double>(sorted.size()) + 1;
  // Of the share below, in steps of half a row.
  std::vector<float> table(2 * sorted.size() + 2, std::numeric_limits<float>::quiet_NaN());
  const auto at = [&](std::ptrdiff_t half_rows) {
    float& known = table[static_cast<std::size_t>(half_rows)];
    if (std::isnan(known))
      known = static_cast<float>(normal_quantile((static_cast<double>(half_rows) + 1) / (2 * total)));
    return known;
  };
  NormalScores scores;
  scores.row.setConstant(target.value.size(), std::numeric_limits<float>::quiet_NaN());
  for (Index i = 0; i < target.value.size(); ++i) {
    if (std::isnan(target.value[i])) continue;
    const auto low = std::lower_bound(sorted.begin(), sorted.end(), target.value[i]);
    const auto high = std::upper_bound(low, sorted.end(), target.value[i]);
    scores.row[i] = at((low - sorted.begin()) + (high - sorted.begin()));
  }
  for (const double edge : target.edge) {
    scores.edge.push_back(
        static_cast<double>(at(2 * (std::lower_bound(sorted.begin(), sorted.end(), edge) - sorted.begin()))));
  }
  return scores;
}

AttackRows attack_rows(const AttackFeatures& features, const Symbols& x, const Vector<float>& score,
                       std::span<const std::int32_t> rows, std::span<const Index> kept) {
  AttackRows part;
  const auto count = static_cast<Index>(rows.size());
  part.data.resize(count, static_cast<Index>(kept.size()));
  for (Index f = 0; f < part.data.cols(); ++f) {
    const float* column = features.data.col(kept[static_cast<std::size_t>(f)]).data();
    float* out = part.data.col(f).data();
    for (Index i = 0; i < count; ++i) out[i] = column[rows[static_cast<std::size_t>(i)]];
  }
  part.keys.resize(count, features.keys.cols());
  for (Index k = 0; k < features.keys.cols(); ++k) {
    for (Index i = 0; i < count; ++i) part.keys(i, k) = features.keys(rows[static_cast<std::size_t>(i)], k);
  }
  for (const std::int32_t row : rows) {
    part.cell.push_back(features.cell[static_cast<std::size_t>(row)]);
    part.x.push_back(x[static_cast<std::size_t>(row)]);
  }
  if (score.size() > 0) {
    part.score.resize(count);
    for (Index i = 0; i < count; ++i) part.score[i] = score[rows[static_cast<std::size_t>(i)]];
  }
  return part;
}

AttackRows attack_rows(const AttackFeatures& features, const Symbols& x, const Vector<float>& score,
                       std::span<const std::int32_t> rows) {
  std::vector<Index> all(static_cast<std::size_t>(features.data.cols()));
  std::iota(all.begin(), all.end(), Index{0});
  return attack_rows(features, x, score, rows, all);
}

std::vector<AttackerKind> quick_attackers(bool continuous) {
  std::vector<AttackerKind> kinds{AttackerKind::kTrees,  AttackerKind::kForest,   AttackerKind::kSmallMlp,
                                  AttackerKind::kKeys,   AttackerKind::kLogistic, AttackerKind::kDiscriminant,
                                  AttackerKind::kLookup, AttackerKind::kPrior};
  if (continuous) kinds.insert(kinds.begin(), AttackerKind::kDensity);
  return kinds;
}

}  // namespace ppan
