#include "ppan/audit/attack_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace ppan {
namespace {

constexpr double kNormal95 = 1.959963984540054;
constexpr Index kLeastRows = 5;
constexpr double kLeastPasses = 10;

// Mean of x over the rows before, tied values counting half: for each value of `a`, the share of `b` below
// it.
std::vector<double> placements(const std::vector<float>& a, std::vector<float> b) {
  std::sort(b.begin(), b.end());
  std::vector<double> place;
  place.reserve(a.size());
  for (const float v : a) {
    const auto low = std::lower_bound(b.begin(), b.end(), v);
    const auto high = std::upper_bound(low, b.end(), v);
    place.push_back(0.5 * static_cast<double>((low - b.begin()) + (high - b.begin())) /
                    static_cast<double>(b.size()));
  }
  return place;
}

// Scores to rank rows by. A matrix product rounds equal rows differently, by their position in a batch, so
// scores within kRounding (nats) of the lowest of a group are one score: a release that says nothing ranks
// nobody.
Vector<float> ranked_scores(const Matrix<float>& log_probability, std::int32_t level) {
  constexpr float kRounding = 1e-6F;
  Vector<float> score = log_probability.col(level);
  std::vector<Index> order(static_cast<std::size_t>(score.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return score[a] < score[b]; });
  float lowest = -std::numeric_limits<float>::infinity();
  for (const Index i : order) {
    if (std::isfinite(lowest) && score[i] - lowest <= kRounding * std::max(1.0F, std::abs(lowest))) {
      score[i] = lowest;
    } else {
      lowest = score[i];
    }
  }
  return score;
}

double variance_of_mean(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double square = 0;
  for (const double v : values) square += (v - mean) * (v - mean);
  return values.size() < 2 ? 0 : square / (n - 1) / n;
}

// Variance of the sum of `influence`, whose mean is 0.
double variance_of_sum(const VectorRef<double>& influence, const Units& unit) {
  std::unordered_map<std::int32_t, double> sum;
  for (Index i = 0; i < influence.size(); ++i) sum[unit[static_cast<std::size_t>(i)]] += influence[i];
  if (sum.size() < 2) return std::numeric_limits<double>::infinity();
  double square = 0;
  for (const auto& [name, value] : sum) square += value * value;
  const auto units = static_cast<double>(sum.size());
  return square * units / (units - 1);
}

// 1 for the rows whose likeliest level is the true one.
Vector<double> recognised(const Matrix<float>& log_probability, const Symbols& x) {
  Vector<double> hit(log_probability.rows());
  for (Index i = 0; i < hit.size(); ++i) {
    Index guess = 0;
    log_probability.row(i).maxCoeff(&guess);
    hit[i] = guess == x[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  return hit;
}

Rate wilson(double p, double n) {
  const double z2 = kNormal95 * kNormal95;
  const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = kNormal95 / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return {p, {std::max(0.0, middle - half), std::min(1.0, middle + half)}};
}

}  // namespace

double normal_quantile(double p) {
  double low = -40;
  double high = 40;
  for (int step = 0; step < 80; ++step) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double normal_multiple(Index comparisons) {
  return comparisons <= 1 ? kNormal95 : normal_quantile(1 - 0.025 / static_cast<double>(comparisons));
}

Rate mean_rate(const VectorRef<double>& values, const Units& unit) {
  const auto n = static_cast<double>(values.size());
  const double mean = values.size() == 0 ? 0 : values.mean();
  if (!unit.empty() && values.size() > 0) {
    const Vector<double> influence = (values.array() - mean) / n;
    const double half = kNormal95 * std::sqrt(variance_of_sum(influence, unit));
    return {mean, {mean - half, mean + half}};
  }
  const double variance = values.size() < 2 ? 0 : (values.array() - mean).square().sum() / (n - 1);
  const double half = values.size() == 0 ? 0 : kNormal95 * std::sqrt(variance / n);
  return {mean, {mean - half, mean + half}};
}

Rate share(Index hits, Index count) {
  if (count == 0) return {0, {0, 1}};
  const auto n = static_cast<double>(count);
  return wilson(static_cast<double>(hits) / n, n);
}

Rate share(const VectorRef<double>& hit, const Units& unit) {
  if (hit.size() == 0) return {0, {0, 1}};
  const auto n = static_cast<double>(hit.size());
  const double p = hit.mean();
  if (unit.empty()) return wilson(p, n);
  const std::unordered_set<std::int32_t> different(unit.begin(), unit.end());
  const auto units = static_cast<double>(different.size());
  const Vector<double> influence = (hit.array() - p) / n;
  const double variance = variance_of_sum(influence, unit);
  const double like = variance > 0 ? p * (1 - p) / variance : units;  // so many independent rows
  return wilson(p, std::clamp(like, 1.0, n));
}

double empirical_entropy(const Symbols& x, std::int32_t levels) {
  return x.empty() ? 0 : -log_share(x, levels).mean();
}

Vector<double> log_share(const Symbols& x, std::int32_t levels) {
  std::vector<double> count(static_cast<std::size_t>(levels), 0);
  for (const std::int32_t code : x) count[static_cast<std::size_t>(code)] += 1;
  Vector<double> out(static_cast<Index>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[static_cast<Index>(i)] =
        std::log(count[static_cast<std::size_t>(x[i])] / static_cast<double>(x.size()));
  }
  return out;
}

Estimate lower_bound(const VectorRef<double>& gain, double entropy, std::string method, const Units& unit) {
  const Rate mean = mean_rate(gain, unit);
  const auto clip = [&](double v) { return std::clamp(v, 0.0, std::max(entropy, 0.0)); };
  // An attacker that did worse than knowing nothing has shown nothing, with as much doubt as its rows leave:
  // its interval does not shrink to a point at 0.
  const double half = mean.interval95.high - mean.value;
  return {.nats = clip(mean.value),
          .interval95 = Interval{clip(mean.interval95.low), clip(std::max(mean.value, 0.0) + half)},
          .bound = Bound::kLower,
          .method = std::move(method),
          .samples = gain.size()};
}

Rate accuracy(const Matrix<float>& log_probability, const Symbols& x, const Units& unit) {
  return share(recognised(log_probability, x), unit);
}

Rate balanced_accuracy(const Matrix<float>& log_probability, const Symbols& x, std::int32_t levels,
                       const Units& unit) {
  std::vector<double> hits(static_cast<std::size_t>(levels), 0);
  std::vector<double> rows(static_cast<std::size_t>(levels), 0);
  const Vector<double> hit = recognised(log_probability, x);
  for (Index i = 0; i < hit.size(); ++i) {
    const auto truth = static_cast<std::size_t>(x[static_cast<std::size_t>(i)]);
    rows[truth] += 1;
    hits[truth] += hit[i];
  }
  double sum = 0;
  double variance = 0;
  double seen = 0;
  for (std::size_t l = 0; l < rows.size(); ++l) {
    if (rows[l] == 0) continue;
    const double p = hits[l] / rows[l];
    // (h + 1)(n - h + 1) / (n + 2)^2: a class that is always or never recognised still has a variance.
    const double smooth = (hits[l] + 1) / (rows[l] + 2);
    sum += p;
    variance += smooth * (1 - smooth) / rows[l];
    seen += 1;
  }
  if (seen == 0) return {0, {0, 1}};
  const double value = sum / seen;
  if (!unit.empty()) {
    Vector<double> influence(hit.size());
    for (Index i = 0; i < hit.size(); ++i) {
      const auto truth = static_cast<std::size_t>(x[static_cast<std::size_t>(i)]);
      influence[i] = (hit[i] - hits[truth] / rows[truth]) / rows[truth];
    }
    variance = std::max(variance, variance_of_sum(influence, unit));
  }
  const double half = kNormal95 * std::sqrt(variance) / seen;
  return {value, {std::max(0.0, value - half), std::min(1.0, value + half)}};
}

Rate area_under_roc(const Matrix<float>& log_probability, const Symbols& x, std::int32_t levels,
                    const Units& unit) {
  double sum = 0;
  double error = 0;
  double used = 0;
  for (std::int32_t l = 0; l < levels; ++l) {
    std::vector<float> own;
    std::vector<float> other;
    const Vector<float> score = ranked_scores(log_probability, l);
    for (Index i = 0; i < score.size(); ++i) {
      (x[static_cast<std::size_t>(i)] == l ? own : other).push_back(score[i]);
    }
    if (static_cast<Index>(std::min(own.size(), other.size())) < kLeastRows) continue;
    const std::vector<double> above = placements(own, other);
    const std::vector<double> below = placements(other, own);
    const double area = std::accumulate(above.begin(), above.end(), 0.0) / static_cast<double>(above.size());
    sum += area;
    if (unit.empty()) {
      error += std::sqrt(variance_of_mean(above) + variance_of_mean(below));
    } else {
      // The area is the mean of `above` and 1 - the mean of `below`: each row pulls it on its own side.
      Vector<double> influence(log_probability.rows());
      std::size_t a = 0;
      std::size_t b = 0;
      for (Index i = 0; i < influence.size(); ++i) {
        influence[i] = x[static_cast<std::size_t>(i)] == l
                           ? (above[a++] - area) / static_cast<double>(above.size())
                           : (1 - below[b++] - area) / static_cast<double>(below.size());
      }
      error += std::sqrt(variance_of_sum(influence, unit));
    }
    used += 1;
    if (levels == 2) break;  // the other level has the same curve, mirrored
  }
  if (used == 0) return {0.5, {0, 1}};
  const double value = sum / used;
  const double half = kNormal95 * error / used;
  return {value, {std::max(0.0, value - half), std::min(1.0, value + half)}};
}

std::vector<LowFalsePositive> low_false_positive(const Matrix<float>& log_probability, const Symbols& x,
                                                 std::int32_t levels, const Units& unit) {
  std::vector<LowFalsePositive> out;
  std::vector<Vector<float>> scores;
  for (std::int32_t l = 0; l < levels; ++l) scores.push_back(ranked_scores(log_probability, l));
  for (const double rate : std::array{0.01, 0.001}) {
    LowFalsePositive best{.false_positive_rate = rate, .level = -1, .true_positive_rate = {}};
    for (std::int32_t l = 0; l < levels; ++l) {
      std::vector<float> own;
      std::vector<float> other;
      Units own_unit;
      const Vector<float>& score = scores[static_cast<std::size_t>(l)];
      for (Index i = 0; i < score.size(); ++i) {
        const bool is_own = x[static_cast<std::size_t>(i)] == l;
        (is_own ? own : other).push_back(score[i]);
        if (is_own && !unit.empty()) own_unit.push_back(unit[static_cast<std::size_t>(i)]);
      }
      const double passes = rate * static_cast<double>(other.size());
      if (passes < kLeastPasses || static_cast<Index>(own.size()) < kLeastRows) continue;
      // Strictly above the threshold: at most `passes` of the others.
      const auto position = static_cast<std::ptrdiff_t>(passes);
      std::nth_element(other.begin(), other.begin() + position, other.end(), std::greater<>());
      const float threshold = other[static_cast<std::size_t>(position)];
      const Eigen::Map<const Vector<float>> of_own(own.data(), static_cast<Index>(own.size()));
      const Vector<double> hit = (of_own.array() > threshold).cast<double>();
      const Rate found = share(hit, own_unit);
      if (best.level < 0 || found.value > best.true_positive_rate.value) {
        best.level = l;
        best.true_positive_rate = found;
      }
    }
    if (best.level >= 0) out.push_back(best);
  }
  return out;
}

}  // namespace ppan
