#include "ppan/audit/attack_power.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "ppan/core/parallel.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

// Of the entropy. Each is about two and a half times the one before.
constexpr std::array kShares{0.0005, 0.00125, 0.003, 0.008, 0.02, 0.05, 0.12, 0.3, 0.7};
// Of the first: parts of equal size are so hard to see that on few rows nothing could be said of any table.
constexpr float kSecondPart = 0.5F;
constexpr double kDetected = 1.959963984540054 + 1.2815515655446004;  // standard errors above 0
constexpr double kNothingSeen = 0.5;  // standard errors: the next larger leak will not be clear either

struct Score {
  const char* name;
  Vector<float> value;
};

// A random combination of the features of each column, as ranks about 0.
Vector<float> column_score(const SuiteInput& input, const std::vector<Index>& features,
                           RandomSource& random) {
  Matrix<float> weight(static_cast<Index>(features.size()), 1);
  fill_normal(random, weight);
  Vector<float> sum = Vector<float>::Zero(input.released.data.rows());
  for (std::size_t f = 0; f < features.size(); ++f)
    sum += weight(static_cast<Index>(f), 0) * input.released.data.col(features[f]);
  return sum;
}

Vector<float> centred_ranks(const Vector<float>& value) {
  std::vector<Index> order(static_cast<std::size_t>(value.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return value[a] < value[b]; });
  Vector<float> rank(value.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && value[order[end]] == value[order[i]]) ++end;
    const float middle = static_cast<float>(i + end) / static_cast<float>(2 * order.size()) - 0.5F;
    for (; i < end; ++i) rank[order[i]] = middle;
  }
  return rank;
}

std::vector<Score> make_scores(const SuiteInput& input, RandomSource& random) {
  std::vector<std::pair<std::string, std::vector<Index>>> columns;
  for (const Index f : input.values) {
    const std::string& name = input.source[static_cast<std::size_t>(f)].column;
    if (columns.empty() || columns.back().first != name) columns.emplace_back(name, std::vector<Index>{});
    columns.back().second.push_back(f);
  }
  std::vector<Score> scores;
  if (columns.empty()) return scores;
  std::vector<Vector<float>> single;
  Vector<float> sum = Vector<float>::Zero(input.released.data.rows());
  for (const auto& [name, features] : columns) {
    single.push_back(centred_ranks(column_score(input, features, random)));
    sum += single.back();
  }
  scores.push_back({"all columns", sum});
  // Columns that vary most: where nearly all rows are alike, little can be hidden.
  std::sort(single.begin(), single.end(),
            [](const Vector<float>& a, const Vector<float>& b) { return a.squaredNorm() > b.squaredNorm(); });
  if (single.size() < 2 || single[1].squaredNorm() == 0) return scores;
  Vector<float> product = single[0].cwiseProduct(single[1]);
  // A leak of two parts is harder to see than either.
  Vector<float> second;
  if (single.size() > 3) second = single[2].cwiseProduct(single[3]);
  const bool four = second.squaredNorm() > 0;
  if (four) product += second * (kSecondPart * product.norm() / second.norm());
  scores.push_back({four ? "two pairs of columns" : "two columns", std::move(product)});
  return scores;
}

// Rows in order of their score, equal ones in random order.
std::vector<std::int32_t> order_by(const Vector<float>& score, RandomSource& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(score.size()));
  std::iota(order.begin(), order.end(), 0);
  shuffle(random, order);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return score[a] < score[b]; });
  return order;
}

// P(v) q_v(x) of the score: which levels the rows of each of its values stand for.
Matrix<double> level_shares(const Vector<float>& score, const std::vector<std::int32_t>& order,
                            const std::vector<Index>& level_rows) {
  std::vector<Vector<double>> columns;
  std::size_t level = 0;
  Index left = level_rows[0];
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || score[order[i]] != score[order[i - 1]])
      columns.push_back(Vector<double>::Zero(static_cast<Index>(level_rows.size())));
    while (left == 0) left = level_rows[++level];
    columns.back()[static_cast<Index>(level)] += 1 / static_cast<double>(order.size());
    --left;
  }
  Matrix<double> out(static_cast<Index>(level_rows.size()), static_cast<Index>(columns.size()));
  for (std::size_t v = 0; v < columns.size(); ++v) out.col(static_cast<Index>(v)) = columns[v];
  return out;
}

// Which released row each record is given.
std::vector<std::int32_t> plant(const std::vector<std::int32_t>& by_score, const Symbols& x,
                                std::int32_t levels, double s, RandomSource& random) {
  std::vector<std::int32_t> by_level;
  for (std::int32_t l = 0; l < levels; ++l) {
    std::vector<std::int32_t> members;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == l) members.push_back(static_cast<std::int32_t>(i));
    }
    shuffle(random, members);
    by_level.insert(by_level.end(), members.begin(), members.end());
  }
  std::vector<std::int32_t> given(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) given[static_cast<std::size_t>(by_level[i])] = by_score[i];
  std::vector<std::int32_t> others;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (random.uniform() >= s) others.push_back(static_cast<std::int32_t>(i));
  }
  std::vector<std::int32_t> rows;
  for (const std::int32_t i : others) rows.push_back(given[static_cast<std::size_t>(i)]);
  shuffle(random, rows);
  for (std::size_t k = 0; k < others.size(); ++k) given[static_cast<std::size_t>(others[k])] = rows[k];
  return given;
}

SuiteInput with_rows(const SuiteInput& input, const std::vector<std::int32_t>& rows) {
  SuiteInput out;
  AttackRows taken = attack_rows(input.released, Symbols(rows.size(), 0), {}, rows);
  out.released = {std::move(taken.data), std::move(taken.keys), {}, {},
                  std::move(taken.cell), input.released.cells};
  out.source = input.source;
  out.values = input.values;
  out.key_values = input.key_values;
  return out;
}

SuiteOptions light_suite(const SuiteOptions& options) {
  SuiteOptions light = options;
  light.attackers = {AttackerKind::kTrees,    AttackerKind::kRegression, AttackerKind::kSmallMlp,
                     AttackerKind::kForest,   AttackerKind::kLogistic,   AttackerKind::kDiscriminant,
                     AttackerKind::kAdditive, AttackerKind::kPrior};
  light.effort = {.epochs = 10, .patience = 2, .trees = 300, .tree_bins = 64, .neighbours = 1};
  light.most_releases = light.most_training_rows;
  light.learning_curve = false;
  light.sources = false;
  light.screen_traces = true;
  light.threads = 1;
  return light;
}

double share_for(const Matrix<double>& shares, double nats) {
  double low = 0;
  double high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    (planted_leakage(shares, middle) < nats ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double standard_error(const Rate& rate) {
  return (rate.interval95.high - rate.interval95.low) / (2 * normal_multiple());
}

// Standard errors that a finding lies above 0.
double significance(const Rate& rate) {
  const double error = standard_error(rate);
  return error > 0 ? rate.value / error : 0;
}

// The least leakage found with probability 0.9, read off between the planted ones: on a logarithmic scale, to
// which significance is about linear; below the first that was planted it falls as its square root.
std::optional<double> detectable(const std::vector<PlantedLeakage>& planted) {
  for (std::size_t k = 0; k < planted.size(); ++k) {
    const double now = significance(planted[k].found);
    if (now < kDetected) continue;
    if (k == 0) return planted[k].planted * std::max(0.25, (kDetected / now) * (kDetected / now));
    const double before = std::max(0.0, significance(planted[k - 1].found));
    const double part = (kDetected - before) / (now - before);
    return planted[k - 1].planted * std::pow(planted[k].planted / planted[k - 1].planted, part);
  }
  return {};
}

}  // namespace

double planted_leakage(const Matrix<double>& share, double s) {
  const Vector<double> level = share.rowwise().sum();
  double sum = 0;
  for (Index v = 0; v < share.cols(); ++v) {
    const double p = share.col(v).sum();
    for (Index x = 0; x < share.rows(); ++x) {
      const double joint = s * share(x, v) + (1 - s) * p * level[x];
      if (joint > 0) sum += joint * std::log(joint / (p * level[x]));
    }
  }
  return sum;
}

AttackPower attack_power(const SuiteInput& input, const AttackTarget& target, const AttackSplit& split,
                         const SuiteOptions& options) {
  const SeededRandom root = SeededRandom(options.seed).fork("power");
  SeededRandom random = root;
  const std::vector<Score> scores = make_scores(input, random);
  std::vector<Index> level_rows(static_cast<std::size_t>(target.levels), 0);
  for (const std::int32_t code : target.code) ++level_rows[static_cast<std::size_t>(code)];
  const double entropy = empirical_entropy(target.code, target.levels);
  const SuiteOptions light = light_suite(options);
  // A weak leak I has gains of variance 2 I, so that even the best of all attackers needs this much.
  const double least = 2 * kDetected * kDetected / static_cast<double>(split.test.size());
  std::vector<std::vector<PlantedLeakage>> found(scores.size());
  parallel_for(static_cast<std::int64_t>(scores.size()), thread_count(options.threads), [&](std::int64_t at) {
    const Score& score = scores[static_cast<std::size_t>(at)];
    std::vector<PlantedLeakage>& own = found[static_cast<std::size_t>(at)];
    SeededRandom ties = root.fork("ties", static_cast<std::uint64_t>(at));
    const std::vector<std::int32_t> by_score = order_by(score.value, ties);
    const Matrix<double> shares = level_shares(score.value, by_score, level_rows);
    const double most = planted_leakage(shares, 1);
    for (std::size_t k = 0; k < kShares.size(); ++k) {
      const double nats = kShares[k] * most;
      if (k + 1 < kShares.size() && kShares[k + 1] * most < least) continue;
      SeededRandom draw = root.fork(score.name, k);
      const auto rows = plant(by_score, target.code, target.levels, share_for(shares, nats), draw);
      const SuiteResult result = attack(with_rows(input, rows), target, split, light);
      own.push_back({score.name, nats, mean_rate(result.gain, split.test_unit)});
      // The power lies between the last leak that was missed and this one.
      if (significance(own.back().found) >= kDetected) break;
      if (significance(own.back().found) < kNothingSeen && k + 2 < kShares.size()) ++k;
    }
  });
  AttackPower power;
  power.nats = scores.empty() ? entropy : std::min(least, entropy);
  for (std::vector<PlantedLeakage>& own : found) {
    power.nats = std::max(power.nats, detectable(own).value_or(entropy));
    power.planted.insert(power.planted.end(), own.begin(), own.end());
  }
  return power;
}

}  // namespace ppan
