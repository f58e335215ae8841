#include "ppan/audit/attack_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

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
constexpr double kSourceShare = 0.01;
constexpr Index kMostSourceRows = 4000;

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

// One attacker after fitting and calibration.
struct Trained {
  AttackerKind kind{};
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
      : input_(input), target_(target), split_(split), options_(options), random_(options.seed) {
    train_rows_ = split.train;
    if (static_cast<Index>(train_rows_.size()) > options.most_training_rows) {
      train_rows_.resize(static_cast<std::size_t>(options.most_training_rows));
    }
    if (target.continuous) scores_ = normal_scores(target, train_rows_);
    selection_ = attack_rows(input.released, target.code, scores_.row, split.selection);
    test_ = attack_rows(input.released, target.code, scores_.row, split.test);
    kinds_ = options.attackers;
    if (kinds_.empty()) {
      // Dearest first, so that the threads end together.
      kinds_ = {AttackerKind::kLargeMlp, AttackerKind::kTrees,    AttackerKind::kNeighbours,
                AttackerKind::kSmallMlp, AttackerKind::kLogistic, AttackerKind::kLookup,
                AttackerKind::kPrior};
      if (target.continuous) kinds_.insert(kinds_.begin() + 2, AttackerKind::kDensity);
    }
    if (!target.continuous) std::erase(kinds_, AttackerKind::kDensity);
  }

  SuiteResult run() {
    const AttackRows train = training(train_rows_.size());
    task_ = task_for(train);
    std::vector<Trained> trained(kinds_.size());
    parallel_for(
        static_cast<std::int64_t>(kinds_.size()), thread_count(options_.threads), [&](std::int64_t a) {
          trained[static_cast<std::size_t>(a)] = fit(kinds_[static_cast<std::size_t>(a)], train, "attacker");
        });

    SuiteResult result;
    result.prior = task_.prior;
    const Vector<double> base = log_share(test_.x, target_.levels);
    result.entropy = -base.mean();
    const double selection_entropy = empirical_entropy(selection_.x, target_.levels);
    // Whoever knows nothing wins ties.
    std::size_t single = static_cast<std::size_t>(
                             std::find(kinds_.begin(), kinds_.end(), AttackerKind::kPrior) - kinds_.begin()) %
                         kinds_.size();
    for (std::size_t a = 0; a < trained.size(); ++a) {
      if (trained[a].selection_score > trained[single].selection_score) single = a;
      result.attackers.push_back(
          {std::string(to_string(trained[a].kind)), selection_entropy + trained[a].selection_score,
           lower_bound(scores_of(trained[a].on_test, test_.x) - base, result.entropy,
                       fmt::format("held-out log loss, {}", to_string(trained[a].kind)), split_.test_unit)});
    }
    take_winner(trained, single, base, selection_entropy, result);
    std::stable_sort(
        result.attackers.begin(), result.attackers.end(),
        [](const AttackerScore& a, const AttackerScore& b) { return a.selection > b.selection; });
    if (options_.learning_curve) learning_curve(trained[single], base, result);
    if (options_.sources) find_sources(trained, base, result);
    return result;
  }

 private:
  AttackRows training(std::size_t rows) const {
    const std::span<const std::int32_t> part(train_rows_.data(), rows);
    AttackRows first = attack_rows(input_.released, target_.code, scores_.row, part);
    for (const AttackFeatures& again : input_.again) {
      const AttackRows more = attack_rows(again, target_.code, scores_.row, part);
      Matrix<float> joined(first.rows() + more.rows(), first.data.cols());
      joined << first.data, more.data;
      first.data = std::move(joined);
      first.cell.insert(first.cell.end(), more.cell.begin(), more.cell.end());
      first.x.insert(first.x.end(), more.x.begin(), more.x.end());
      Vector<float> score(first.score.size() + more.score.size());
      score << first.score, more.score;
      first.score = std::move(score);
    }
    return first;
  }

  AttackTask task_for(const AttackRows& train) const {
    AttackTask task;
    task.levels = target_.levels;
    task.prior = Vector<double>::Constant(target_.levels, 0.5);
    for (const std::int32_t code : train.x) task.prior[code] += 1;
    task.prior /= task.prior.sum();
    task.cells = input_.released.cells;
    task.values = input_.values;
    task.score_edge = scores_.edge;
    task.missing_level = target_.missing_level;
    task.effort = options_.effort;
    return task;
  }

  Trained fit(AttackerKind kind, const AttackRows& train, std::string_view stream) const {
    Trained t;
    t.kind = kind;
    t.attacker = make_attacker(kind, task_);
    SeededRandom random = random_.fork(stream, static_cast<std::uint64_t>(kind));
    t.attacker->fit(train, selection_, random);
    t.on_selection = t.attacker->log_probability(selection_);
    t.calibration = calibrate(t.on_selection, selection_.x, task_.prior);
    t.calibration.apply(task_.prior, t.on_selection);
    t.on_test = t.attacker->log_probability(test_);
    t.calibration.apply(task_.prior, t.on_test);
    t.selection_score = mean_score(t.on_selection, selection_.x);
    return t;
  }

  void take_winner(const std::vector<Trained>& trained, std::size_t single, const Vector<double>& base,
                   double selection_entropy, SuiteResult& result) const {
    result.winner = to_string(trained[single].kind);
    result.log_probability = trained[single].on_test;
    if (trained.size() > 1) {
      std::vector<Vector<double>> score;
      for (const Trained& t : trained) score.push_back(scores_of(t.on_selection, selection_.x));
      const std::vector<double> weight = mixture_weights(score);
      Matrix<float> mixed =
          Matrix<float>::Constant(test_.rows(), target_.levels, -std::numeric_limits<float>::infinity());
      double selection_score = 0;
      for (Index i = 0; i < score.front().size(); ++i) {
        double sum = 0;
        for (std::size_t a = 0; a < trained.size(); ++a) sum += weight[a] * std::exp(score[a][i]);
        selection_score += std::log(sum) / static_cast<double>(score.front().size());
      }
      std::vector<std::pair<double, std::string>> parts;
      for (std::size_t a = 0; a < trained.size(); ++a) {
        if (weight[a] < 1e-6) continue;
        const double log_weight = std::log(weight[a]);
        for (Index k = 0; k < mixed.size(); ++k) {
          mixed.data()[k] =
              static_cast<float>(log_add(static_cast<double>(mixed.data()[k]),
                                         log_weight + static_cast<double>(trained[a].on_test.data()[k])));
        }
        if (weight[a] >= 0.05) parts.emplace_back(weight[a], to_string(trained[a].kind));
      }
      const Estimate leakage = lower_bound(scores_of(mixed, test_.x) - base, result.entropy,
                                           "held-out log loss, mixture of attackers", split_.test_unit);
      result.attackers.push_back({"mixture", selection_entropy + selection_score, leakage});
      // The mixture has as many parameters as parts; it must beat the best of them by more than they can buy.
      const double margin =
          static_cast<double>(trained.size() - 1) / (2 * static_cast<double>(selection_.rows()));
      if (selection_score > trained[single].selection_score + margin) {
        std::sort(parts.rbegin(), parts.rend());
        result.winner = "mixture (";
        for (std::size_t p = 0; p < parts.size(); ++p) {
          result.winner +=
              fmt::format("{}{} {:.0f} %", p == 0 ? "" : ", ", parts[p].second, 100 * parts[p].first);
        }
        result.winner += ")";
        result.log_probability = std::move(mixed);
      }
    }
    result.score = scores_of(result.log_probability, test_.x);
    result.gain = result.score - base;
  }

  void learning_curve(const Trained& best, const Vector<double>& base, SuiteResult& result) const {
    const Vector<double> full = scores_of(best.on_test, test_.x);
    if (best.kind != AttackerKind::kPrior) {
      constexpr std::array<std::size_t, 3> kParts{8, 4, 2};
      std::array<Vector<double>, kParts.size()> score;
      parallel_for(
          static_cast<std::int64_t>(kParts.size()), thread_count(options_.threads), [&](std::int64_t p) {
            const std::size_t rows =
                train_rows_.size() / kParts[kParts.size() - 1 - static_cast<std::size_t>(p)];
            const Trained part = fit(best.kind, training(rows), "learning-curve");
            score[kParts.size() - 1 - static_cast<std::size_t>(p)] = scores_of(part.on_test, test_.x);
          });
      for (std::size_t p = 0; p < kParts.size(); ++p) {
        result.learning.push_back({static_cast<Index>(train_rows_.size() / kParts[p]),
                                   mean_rate(score[p] - base, split_.test_unit)});
      }
      // The same test rows under both, so the difference is far less noisy than either.
      const Rate rise = mean_rate(full - score.back(), split_.test_unit);
      const Rate found = mean_rate(full - base, split_.test_unit);
      result.still_rising = rise.interval95.low > 0 && found.interval95.low > 0 &&
                            rise.value > std::max(kRiseNats, kRiseShare * found.value) &&
                            found.value < kNearEverything * result.entropy;
    }
    result.learning.push_back(
        {static_cast<Index>(train_rows_.size()), mean_rate(full - base, split_.test_unit)});
  }

  // Shuffles one side of one column at a time among the test rows and sees what the attacker loses.
  void find_sources(std::vector<Trained>& trained, const Vector<double>& base, SuiteResult& result) const {
    Trained* best = nullptr;
    for (Trained& t : trained) {
      // Those that look at every feature; neighbours see values only.
      const bool reads_features = t.kind != AttackerKind::kPrior && t.kind != AttackerKind::kLookup &&
                                  t.kind != AttackerKind::kNeighbours;
      if (reads_features && (best == nullptr || t.selection_score > best->selection_score)) best = &t;
    }
    if (best == nullptr) return;
    const Rate found = mean_rate(scores_of(best->on_test, test_.x) - base, split_.test_unit);
    if (found.interval95.low <= 0) return;
    const auto rows = static_cast<std::size_t>(std::min(kMostSourceRows, test_.rows()));
    AttackRows part = attack_rows(input_.released, target_.code, scores_.row,
                                  std::span<const std::int32_t>(split_.test.data(), rows));
    const double whole = scores_of(best->on_test.topRows(static_cast<Index>(rows)), part.x).mean();
    std::vector<FeatureSource> groups;
    for (const FeatureSource& source : input_.source) {
      if (std::find(groups.begin(), groups.end(), source) == groups.end()) groups.push_back(source);
    }
    SeededRandom random = random_.fork("sources");
    std::vector<std::int32_t> order(rows);
    std::iota(order.begin(), order.end(), 0);
    for (const FeatureSource& group : groups) {
      shuffle(random, order);
      std::vector<std::pair<Index, Vector<float>>> kept;
      for (std::size_t f = 0; f < input_.source.size(); ++f) {
        if (input_.source[f] != group) continue;
        const auto column = static_cast<Index>(f);
        kept.emplace_back(column, part.data.col(column));
        for (std::size_t i = 0; i < rows; ++i) {
          part.data(static_cast<Index>(i), column) = kept.back().second[order[i]];
        }
      }
      Matrix<float> shuffled = best->attacker->log_probability(part);
      best->calibration.apply(task_.prior, shuffled);
      const double loss = whole - mean_score(shuffled, part.x);
      for (const auto& [column, values] : kept) part.data.col(column) = values;
      if (loss > kSourceShare * found.value) result.sources.push_back({group, loss});
    }
    std::sort(result.sources.begin(), result.sources.end(),
              [](const LeakSource& a, const LeakSource& b) { return a.nats > b.nats; });
  }

  const SuiteInput& input_;
  const AttackTarget& target_;
  const AttackSplit& split_;
  const SuiteOptions& options_;
  SeededRandom random_;
  std::vector<AttackerKind> kinds_;
  std::vector<std::int32_t> train_rows_;
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
  list.require_at_least("threads", threads, 0);
  return list.take();
}

AttackSplit make_split(Index rows, std::uint64_t seed, const Units& unit) {
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
  const auto train = static_cast<std::size_t>(kTrainShare * static_cast<double>(rows));
  const auto selection = static_cast<std::size_t>(kSelectionShare * static_cast<double>(rows));
  AttackSplit split;
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

SuiteInput suite_input(const FeatureMap& map, const AuditTable& released,
                       const std::vector<AuditTable>& again) {
  SuiteInput input{map.apply(released), {}, map.source(), map.values()};
  for (const AuditTable& table : again) input.again.push_back(map.apply(table));
  return input;
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
                       std::span<const std::int32_t> rows) {
  AttackRows part;
  const auto count = static_cast<Index>(rows.size());
  part.data.resize(count, features.data.cols());
  for (Index f = 0; f < features.data.cols(); ++f) {
    const float* column = features.data.col(f).data();
    float* out = part.data.col(f).data();
    for (Index i = 0; i < count; ++i) out[i] = column[rows[static_cast<std::size_t>(i)]];
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

std::vector<AttackerKind> quick_attackers(bool continuous) {
  std::vector<AttackerKind> kinds{AttackerKind::kTrees, AttackerKind::kSmallMlp, AttackerKind::kLogistic,
                                  AttackerKind::kLookup, AttackerKind::kPrior};
  if (continuous) kinds.insert(kinds.begin(), AttackerKind::kDensity);
  return kinds;
}

}  // namespace ppan
