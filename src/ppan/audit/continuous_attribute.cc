#include "ppan/audit/continuous_attribute.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ppan/audit/gaussian_information.h"
#include "ppan/audit/ksg.h"
#include "ppan/audit/network_attacker.h"
#include "ppan/audit/tree_attacker.h"
#include "ppan/core/linear_algebra.h"
#include "ppan/core/parallel.h"

namespace ppan {
namespace {

constexpr Index kMostKsgRows = 10'000;
constexpr Index kMostKsgColumns = 8;
constexpr Index kMostLinearFeatures = 600;
constexpr Index kMostTrainingRows = 20'000;

// R^2 = 1 - E e^2 / Var y, with the interval of the delta method over the rows.
Rate r_squared(const Vector<float>& y, const Vector<float>& guess, const Units& unit) {
  const Vector<double> truth = y.cast<double>();
  const double mean = truth.mean();
  const double variance = (truth.array() - mean).square().mean();
  if (variance <= 0) return {0, {0, 0}};
  const Eigen::ArrayXd error = (truth - guess.cast<double>()).array().square();
  const double value = 1 - error.mean() / variance;
  const Vector<double> influence =
      (value - error / variance + error.mean() / (variance * variance) * (truth.array() - mean).square())
          .matrix();
  const Rate spread = mean_rate(influence, unit);
  const double half = spread.interval95.high - spread.value;
  return {value, {value - half, std::min(1.0, value + half)}};
}

AttackRows known_rows(const AttackRows& rows, const std::vector<std::int32_t>& from,
                      const Vector<double>& value, Vector<float>& y) {
  std::vector<std::int32_t> known;
  for (Index i = 0; i < rows.rows(); ++i) {
    if (!std::isnan(rows.score[i])) known.push_back(static_cast<std::int32_t>(i));
  }
  AttackFeatures features{rows.data, rows.keys, {}, {}, rows.cell, 0};
  y.resize(static_cast<Index>(known.size()));
  for (std::size_t i = 0; i < known.size(); ++i) {
    y[static_cast<Index>(i)] = static_cast<float>(value[from[static_cast<std::size_t>(known[i])]]);
  }
  return attack_rows(features, rows.x, rows.score, known);
}

// Standardised by the training rows, so that neither trees nor floats meet salaries in the millions.
Vector<double> standardised(const Vector<double>& value, const std::vector<std::int32_t>& train_rows) {
  double mean = 0;
  double square = 0;
  double count = 0;
  for (const std::int32_t row : train_rows) {
    if (std::isnan(value[row])) continue;
    count += 1;
    const double step = value[row] - mean;
    mean += step / count;
    square += step * (value[row] - mean);
  }
  return (value.array() - mean) / std::sqrt(std::max(square / count, 1e-300));
}

// Rows whose value is known, with what they are to be told by.
struct ValueRows {
  AttackRows rows{};
  Vector<float> y{};  // standardised values
};

struct ValueSplit {
  ValueRows train{};
  ValueRows selection{};
  ValueRows test{};
  Units unit{};  // of the test rows
};

ValueSplit split_values(const SuiteInput& suite_in, const AttackTarget& target, const AttackSplit& split,
                        const NormalScores& scores, const std::vector<std::int32_t>& train_rows) {
  const Vector<double> value = standardised(target.value, train_rows);
  const auto part = [&](const std::vector<std::int32_t>& rows) {
    ValueRows out;
    out.rows = known_rows(attack_rows(suite_in.released, target.code, scores.row, rows), rows, value, out.y);
    return out;
  };
  ValueSplit out{part(train_rows), part(split.selection), part(split.test), {}};
  for (std::size_t i = 0; i < split.test_unit.size(); ++i) {
    if (!std::isnan(scores.row[split.test[i]])) out.unit.push_back(split.test_unit[i]);
  }
  return out;
}

// What the density gains over the standard normal, ln q(s|z) - ln n(s), for each test row.
Vector<double> density_gain(DensityAttacker& density, const AttackRows& test) {
  const Matrix<float> predicted = density.predict(test);
  Vector<double> gain(test.rows());
  for (Index i = 0; i < test.rows(); ++i) {
    const double s = test.score[i];
    const double log_variance = std::clamp(static_cast<double>(predicted(i, 1)), -30.0, 30.0);
    const double error = s - static_cast<double>(predicted(i, 0));
    gain[i] = 0.5 * (s * s - log_variance - error * error * std::exp(-log_variance));
  }
  return gain;
}

// The better of trees and a line, by the selection rows.
void add_regressor(const ValueSplit& split, const RegressionTrees& trees, AttributeAudit& out) {
  const auto& [train, selection, test, unit] = split;
  out.regressor = "boosted trees";
  out.r_squared = r_squared(test.y, trees.predict(test.rows.data), unit);
  if (train.rows.data.cols() > kMostLinearFeatures) return;
  const Matrix<double> a = train.rows.data.cast<double>();
  Matrix<double> gram = a.transpose() * a;
  gram.diagonal().array() += 1e-3 * static_cast<double>(a.rows());
  const float mean = train.y.mean();
  const Vector<double> centred = train.y.cast<double>().array() - static_cast<double>(mean);
  const Vector<float> weight = solve_symmetric(gram, a.transpose() * centred).cast<float>();
  const Vector<float> chosen = (selection.rows.data * weight).array() + mean;
  const Vector<float> by_trees = trees.predict(selection.rows.data);
  if ((chosen - selection.y).squaredNorm() >= (by_trees - selection.y).squaredNorm()) return;
  out.regressor = "linear regression";
  out.r_squared = r_squared(test.y, (test.rows.data * weight).array() + mean, unit);
}

// Estimators on the numbers alone: rows without gaps, numeric columns. X by its normal scores, which change
// no information and make the plug-in, meant for Gaussian X, a lower bound.
void add_estimators(const AuditInput& input, const AttackTarget& target, const NormalScores& scores,
                    const AuditOptions& options, AttributeAudit& out) {
  std::vector<const AuditColumn*> numeric;
  for (const AuditColumn& column : input.released.columns) {
    if (column.numeric()) numeric.push_back(&column);
  }
  if (numeric.empty()) return;
  std::vector<Index> rows;
  for (Index i = 0; i < input.held_out_rows(); ++i) {
    bool whole = !std::isnan(target.value[i]);
    for (const AuditColumn* column : numeric) whole = whole && !std::isnan(column->number[i]);
    if (whole) rows.push_back(i);
  }
  const auto width = static_cast<Index>(numeric.size());
  if (static_cast<Index>(rows.size()) < std::max<Index>(100, 2 * width + 10)) return;
  Matrix<double> x(static_cast<Index>(rows.size()), 1);
  Matrix<double> z(static_cast<Index>(rows.size()), width);
  for (Index k = 0; k < x.rows(); ++k) {
    x(k, 0) = static_cast<double>(scores.row[rows[static_cast<std::size_t>(k)]]);
    for (Index c = 0; c < width; ++c)
      z(k, c) = numeric[static_cast<std::size_t>(c)]->number[rows[static_cast<std::size_t>(k)]];
  }
  const auto add = [&](Estimate estimate, const char* method) {
    estimate.method = method;
    if (std::isfinite(estimate.nats)) out.others.push_back(std::move(estimate));
  };
  add(gaussian_information(x, z), "Gaussian plug-in on normal scores and the numeric columns");
  if (width > kMostKsgColumns) return;
  const Index used =
      std::min(x.rows(), kMostKsgRows);  // row order is no order in distribution, so any rows will do
  add(ksg_information(x.topRows(used), z.topRows(used), {.seed = options.seed, .threads = options.threads}),
      "nearest neighbours (KSG) on the numeric columns");
}

}  // namespace

void add_continuous(const AuditInput& input, const SuiteInput& suite_in, const AttackTarget& target,
                    const AttackSplit& split, const SuiteOptions& suite, const AuditOptions& options,
                    AttributeAudit& out) {
  std::vector<std::int32_t> train_rows = split.train;
  const Index most_rows = std::min<Index>(suite.most_training_rows, kMostTrainingRows);
  if (static_cast<Index>(train_rows.size()) > most_rows)
    train_rows.resize(static_cast<std::size_t>(most_rows));
  const NormalScores scores = normal_scores(target, train_rows);
  const ValueSplit values = split_values(suite_in, target, split, scores, train_rows);

  AttackTask task;
  task.levels = target.levels;
  task.prior = Vector<double>::Constant(target.levels, 1.0 / target.levels);
  task.score_edge = scores.edge;
  task.effort = suite.effort;
  DensityAttacker density(task);
  RegressionTrees trees;
  SeededRandom random = SeededRandom(options.seed).fork("density");
  parallel_for(2, thread_count(options.threads), [&](std::int64_t job) {
    if (job == 0) {
      density.fit(values.train.rows, values.selection.rows, random);
    } else {
      trees.fit(values.train.rows.data, values.train.y, values.selection.rows.data, values.selection.y,
                suite.effort.trees, options.seed);
    }
  });
  const Vector<double> gain = density_gain(density, values.test.rows);
  out.others.push_back(lower_bound(
      gain, std::log(static_cast<double>(gain.size())),
      "density network on normal scores (a lower bound but for the fit of their distribution)", values.unit));
  add_regressor(values, trees, out);
  add_estimators(input, target, scores, options, out);
}

}  // namespace ppan
