#include "ppan/table/task_measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ppan/audit/tree_attacker.h"
#include "ppan/encode/layout.h"

namespace ppan {
namespace {

constexpr double kNormal95 = 1.959963984540054;
constexpr std::size_t kSelectionShare = 5;  // one row in so many chooses when to stop

Matrix<float> rows_of(const Matrix<float>& from, const std::vector<std::int32_t>& which) {
  Matrix<float> out(static_cast<Index>(which.size()), from.cols());
  for (Index c = 0; c < from.cols(); ++c) {
    for (std::size_t i = 0; i < which.size(); ++i) out(static_cast<Index>(i), c) = from(which[i], c);
  }
  return out;
}

Symbols codes_of(const Symbols& from, const std::vector<std::int32_t>& which) {
  Symbols out;
  for (const std::int32_t row : which) out.push_back(from[static_cast<std::size_t>(row)]);
  return out;
}

Vector<float> numbers_of(const std::vector<double>& from, const std::vector<std::int32_t>& which) {
  Vector<float> out(static_cast<Index>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i)
    out[static_cast<Index>(i)] = static_cast<float>(from[static_cast<std::size_t>(which[i])]);
  return out;
}

// What is learned from, and what it is tested on.
struct Learner {
  Matrix<float> train;  // released
  Matrix<float> original;
  Matrix<float> released;
  std::vector<std::int32_t> learn;  // rows of `train`
  std::vector<std::int32_t> selection;
};

TaskScore score_category(const Learner& learner, const Symbols& train, const Symbols& test,
                         std::int32_t levels, const TaskOptions& options) {
  TaskScore out;
  out.metric = task_metric(levels);
  AttackTask task;
  task.levels = levels;
  task.prior = Vector<double>::Ones(levels);
  for (const std::int32_t row : learner.learn) task.prior[train[static_cast<std::size_t>(row)]] += 1;
  task.prior /= task.prior.sum();
  task.effort.trees = options.trees * (levels == 2 ? 1 : levels);
  TreeAttacker trees(task);
  SeededRandom random = SeededRandom(options.seed).fork("task-trees");
  const auto part = [&](const std::vector<std::int32_t>& which) {
    AttackRows rows;
    rows.data = rows_of(learner.train, which);
    rows.x = codes_of(train, which);
    return rows;
  };
  trees.fit(part(learner.learn), part(learner.selection), random);
  const auto rate = [&](const Matrix<float>& data) {
    AttackRows rows;
    rows.data = data;
    return task_rate(trees.log_probability(rows), test, levels);
  };
  out.original = rate(learner.original);
  out.released = rate(learner.released);
  return out;
}

// 1 - squared error / squared deviation, with the interval of a ratio of means.
Rate r_squared(const Vector<float>& predicted, const Vector<float>& truth) {
  const Eigen::ArrayXd y = truth.cast<double>().array();
  const Eigen::ArrayXd error = (predicted.cast<double>().array() - y).square();
  const Eigen::ArrayXd spread = (y - y.mean()).square();
  const double variance = std::max(spread.mean(), 1e-12);
  const double ratio = error.mean() / variance;
  const Eigen::ArrayXd influence = (error - ratio * spread) / variance;
  const double deviation = std::sqrt(influence.square().mean() / static_cast<double>(y.size()));
  return {1 - ratio, {1 - ratio - kNormal95 * deviation, 1 - ratio + kNormal95 * deviation}};
}

TaskScore score_number(const Learner& learner, const std::vector<double>& train,
                       const std::vector<double>& test, const TaskOptions& options) {
  TaskScore out;
  out.metric = TaskMetric::kR2;
  Matrix<float> both(learner.original.rows() + learner.released.rows(), learner.original.cols());
  both << learner.original, learner.released;
  RegressionTrees trees;
  trees.fit(rows_of(learner.train, learner.learn), numbers_of(train, learner.learn),
            rows_of(learner.train, learner.selection), numbers_of(train, learner.selection), options.trees,
            SeededRandom(options.seed).fork("task-trees").next() >> 40U);
  const Vector<float> guess = trees.predict(both);
  std::vector<std::int32_t> every(test.size());
  std::iota(every.begin(), every.end(), 0);
  const Vector<float> truth = numbers_of(test, every);
  out.original = r_squared(guess.head(truth.size()), truth);
  out.released = r_squared(guess.tail(truth.size()), truth);
  return out;
}

}  // namespace

Problems TaskOptions::check() const {
  ProblemList list;
  list.require_at_least("trees", trees, 1);
  list.require_at_least("most_rows", static_cast<double>(most_rows), 20);
  return list.take();
}

std::vector<TaskScore> measure_tasks(const TaskRows& rows, const Schema& schema, const Encoding& encoding,
                                     const TaskOptions& options) {
  require_none(options.check(), "a task cannot be measured:");
  std::vector<TaskScore> out;
  if (schema.task.empty()) return out;
  const Layout layout = make_layout(encoding, encoding.indices_of(schema.useful));
  Learner learner;
  to_matrix(rows.released_train, layout, learner.train);
  to_matrix(rows.test, layout, learner.original);
  to_matrix(rows.released_test, layout, learner.released);
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows.train.rows));
  std::iota(order.begin(), order.end(), 0);
  SeededRandom random = SeededRandom(options.seed).fork("task-rows");
  shuffle(random, order);
  order.resize(std::min(order.size(), static_cast<std::size_t>(options.most_rows)));
  const std::size_t chosen = std::max<std::size_t>(1, order.size() / kSelectionShare);
  learner.selection.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(chosen));
  learner.learn.assign(order.begin() + static_cast<std::ptrdiff_t>(chosen), order.end());
  for (const std::int32_t column : encoding.indices_of(schema.task)) {
    const ColumnEncoding& how = encoding.columns[static_cast<std::size_t>(column)];
    const EncodedColumn& train = rows.train.columns[rows.train.position_of(column)];
    const EncodedColumn& test = rows.test.columns[rows.test.position_of(column)];
    TaskScore score = how.numeric() ? score_number(learner, train.value, test.value, options)
                                    : score_category(learner, train.code, test.code, how.width(), options);
    score.task = how.name;
    out.push_back(std::move(score));
  }
  return out;
}

}  // namespace ppan
