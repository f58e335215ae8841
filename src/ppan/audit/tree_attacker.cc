#include "ppan/audit/tree_attacker.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <string_view>

#include "ppan/core/error.h"

namespace ppan {
namespace {

constexpr int kPatience = 15;     // rounds without gain
constexpr int kLeastRounds = 15;  // with many classes the budget of trees is spent soon
constexpr int kMostRounds = 300;
constexpr Index kManyFeatures = 256;
constexpr std::int32_t kManyLevels = 8;  // a tree for each in every round
constexpr Index kFewRows = 20'000;
constexpr int kCoarseBins = 64;

void check(int status) {
  if (status == 0) return;
  // What follows the first line is a stack trace.
  const std::string_view message = XGBGetLastError();
  if (message.find("bad_alloc") != std::string_view::npos) throw std::bad_alloc();
  throw Error(ErrorCode::kInternal, fmt::format("XGBoost failed: {}", message.substr(0, message.find('\n'))));
}

// XGBoost takes a seed of at most 31 bits, as text.
std::string seed_text(std::uint64_t seed) {
  return std::to_string(seed >> 40U ^ (seed & 0x7FFFFFU));
}

// XGBoost registers its thread-local objects when a thread frees its first matrix. The C library ends the
// process if it finds no memory for that, so it is done at once, with a matrix of one cell, not after a
// failed training.
void settle_thread() {
  thread_local bool settled = false;
  if (settled) return;
  const float cell = 0;
  DMatrixHandle handle = nullptr;
  check(XGDMatrixCreateFromMat(&cell, 1, 1, std::numeric_limits<float>::quiet_NaN(), &handle));
  XGDMatrixFree(handle);
  settled = true;
}

// Owner of a data matrix of XGBoost.
class TreeData {
 public:
  explicit TreeData(const Matrix<float>& data) : rows_(data.rows()) {
    const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_row = data;
    check(XGDMatrixCreateFromMat_omp(by_row.data(), static_cast<bst_ulong>(data.rows()),
                                     static_cast<bst_ulong>(data.cols()),
                                     std::numeric_limits<float>::quiet_NaN(), &handle_, 1));
  }
  ~TreeData() { XGDMatrixFree(handle_); }
  TreeData(const TreeData&) = delete;
  TreeData& operator=(const TreeData&) = delete;

  void set(const char* field, const std::vector<float>& values) {
    check(XGDMatrixSetFloatInfo(handle_, field, values.data(), static_cast<bst_ulong>(values.size())));
  }
  void set_labels(const Symbols& x) { set("label", std::vector<float>(x.begin(), x.end())); }
  /// Boosting starts at these log-odds in every row.
  void set_start(const std::vector<float>& margin) {
    std::vector<float> all;
    all.reserve(margin.size() * static_cast<std::size_t>(rows_));
    for (Index i = 0; i < rows_; ++i) all.insert(all.end(), margin.begin(), margin.end());
    set("base_margin", all);
  }
  [[nodiscard]] DMatrixHandle handle() const { return handle_; }

 private:
  Index rows_;
  DMatrixHandle handle_ = nullptr;
};

// Deep trees on part of the rows find interactions; shallow ones that split only where it pays well find a
// leak in few rows that the deep ones lose among accidents.
struct TreeShape {
  const char* depth;
  const char* least_gain;
  const char* rows;
};
constexpr std::array<TreeShape, 2> kShapes{TreeShape{"6", "0", "0.8"}, TreeShape{"3", "4", "1"}};

// The last number of XGBoost's "[3]\tselection-mlogloss:0.123".
double last_number(const char* text) {
  const std::string line(text);
  return std::strtod(line.c_str() + line.rfind(':') + 1, nullptr);
}

// Owner of a model of XGBoost.
class TreeModel {
 public:
  TreeModel(const TreeData& train, const TreeData& selection, int bins) {
    const std::array<DMatrixHandle, 2> data{train.handle(), selection.handle()};
    check(XGBoosterCreate(data.data(), data.size(), &handle_));
    set("verbosity", "0");
    set("nthread", "1");
    set("tree_method", "hist");
    set("min_child_weight", "1");
    // Most of the time goes into looking for the best threshold of every feature in every node.
    set("max_bin", std::to_string(bins));
  }
  ~TreeModel() { XGBoosterFree(handle_); }
  TreeModel(const TreeModel&) = delete;
  TreeModel& operator=(const TreeModel&) = delete;

  void set(const char* name, const std::string& value) {
    check(XGBoosterSetParam(handle_, name, value.c_str()));
  }

  struct Best {
    int rounds = 0;
    double loss = std::numeric_limits<double>::infinity();
  };
  /// Boosts up to `rounds` times; returns when the loss on `selection` was least.
  Best train(const TreeData& data, const TreeData& selection, int rounds) {
    std::array<DMatrixHandle, 1> scored{selection.handle()};
    std::array<const char*, 1> name{"selection"};
    const auto loss = [&](int round) {
      const char* text = nullptr;
      check(XGBoosterEvalOneIter(handle_, round, scored.data(), name.data(), 1, &text));
      return last_number(text);
    };
    Best best;
    for (int round = 0; round < rounds && round - best.rounds < kPatience; ++round) {
      check(XGBoosterUpdateOneIter(handle_, round, data.handle()));
      const double now = loss(round);
      if (now < best.loss) best = {round + 1, now};
    }
    return best;
  }

  /// Log-odds (or predictions) after `rounds` rounds, row by row.
  const float* predict(const TreeData& data, int rounds) {
    const std::string config = fmt::format(
        R"({{"type":1,"training":false,"iteration_begin":0,"iteration_end":{},"strict_shape":true}})",
        rounds);
    const bst_ulong* shape = nullptr;
    bst_ulong dimensions = 0;
    const float* out = nullptr;
    check(XGBoosterPredictFromDMatrix(handle_, data.handle(), config.c_str(), &shape, &dimensions, &out));
    return out;
  }

 private:
  BoosterHandle handle_ = nullptr;
};

}  // namespace

struct TreeAttacker::Booster {
  TreeModel model;
  std::vector<float> start;
  Booster(const TreeData& train, const TreeData& selection, int bins) : model(train, selection, bins) {}
};

TreeAttacker::TreeAttacker(const AttackTask& task) : Attacker(task) {}
TreeAttacker::~TreeAttacker() = default;

void TreeAttacker::fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) {
  settle_thread();
  const bool binary = task_.levels == 2;
  std::vector<float> start;
  if (binary) {
    start = {static_cast<float>(std::log(task_.prior[1] / task_.prior[0]))};
  } else {
    for (Index l = 0; l < task_.levels; ++l) start.push_back(static_cast<float>(std::log(task_.prior[l])));
  }
  TreeData a(train.data);
  TreeData b(selection.data);
  a.set_labels(train.x);
  a.set_start(start);
  b.set_labels(selection.x);
  b.set_start(start);
  const int rounds = std::clamp(task_.effort.trees / (binary ? 1 : task_.levels), kLeastRounds, kMostRounds);
  const bool coarse =
      train.data.cols() > kManyFeatures || (task_.levels >= kManyLevels && train.rows() < kFewRows);
  const int bins = coarse ? std::min(kCoarseBins, task_.effort.tree_bins) : task_.effort.tree_bins;
  double least = std::numeric_limits<double>::infinity();
  for (const TreeShape& shape : kShapes) {
    auto booster = std::make_unique<Booster>(a, b, bins);
    booster->start = start;
    TreeModel& model = booster->model;
    model.set("objective", binary ? "binary:logistic" : "multi:softprob");
    model.set("eval_metric", binary ? "logloss" : "mlogloss");
    if (!binary) model.set("num_class", std::to_string(task_.levels));
    model.set("max_depth", shape.depth);
    model.set("gamma", shape.least_gain);
    model.set("subsample", shape.rows);
    model.set("eta", rounds >= 100 ? "0.1" : "0.3");
    model.set("seed", seed_text(random.next()));
    const TreeModel::Best best = model.train(a, b, rounds);
    if (best.loss < least) {
      least = best.loss;
      rounds_ = best.rounds;
      booster_ = std::move(booster);
    }
  }
}

Matrix<float> TreeAttacker::log_probability(const AttackRows& rows) {
  if (rounds_ == 0 || rows.rows() == 0) return prior_rows(rows.rows());
  TreeData data(rows.data);
  data.set_start(booster_->start);
  const float* margin = booster_->model.predict(data, rounds_);
  Matrix<float> out(rows.rows(), task_.levels);
  if (task_.levels == 2) {
    // log sigmoid(-m) and log sigmoid(m), stable for any m.
    for (Index i = 0; i < rows.rows(); ++i) {
      const float m = margin[i];
      const float tail = std::log1p(std::exp(-std::abs(m)));
      out(i, 0) = -std::max(m, 0.0F) - tail;
      out(i, 1) = std::min(m, 0.0F) - tail;
    }
    return out;
  }
  for (Index i = 0; i < rows.rows(); ++i) {
    const Eigen::Map<const Eigen::ArrayXf> logit(margin + i * task_.levels, task_.levels);
    const float most = logit.maxCoeff();
    const float normaliser = most + std::log((logit - most).exp().sum());
    out.row(i) = (logit - normaliser).matrix().transpose();
  }
  return out;
}

struct RegressionTrees::Booster {
  TreeModel model;
  Booster(const TreeData& train, const TreeData& selection, int bins) : model(train, selection, bins) {}
};

RegressionTrees::RegressionTrees() = default;
RegressionTrees::~RegressionTrees() = default;
RegressionTrees::RegressionTrees(RegressionTrees&&) noexcept = default;
RegressionTrees& RegressionTrees::operator=(RegressionTrees&&) noexcept = default;

void RegressionTrees::fit(const Matrix<float>& train, const Vector<float>& y_train,
                          const Matrix<float>& selection, const Vector<float>& y_selection, int trees,
                          std::uint64_t seed) {
  settle_thread();
  TreeData a(train);
  TreeData b(selection);
  a.set("label", {y_train.data(), y_train.data() + y_train.size()});
  b.set("label", {y_selection.data(), y_selection.data() + y_selection.size()});
  booster_ =
      std::make_unique<Booster>(a, b, train.cols() > kManyFeatures ? kCoarseBins : AttackEffort{}.tree_bins);
  TreeModel& model = booster_->model;
  model.set("objective", "reg:squarederror");
  model.set("base_score", fmt::format("{}", y_train.mean()));
  model.set("eta", "0.1");
  model.set("max_depth", "6");
  model.set("subsample", "0.8");
  model.set("seed", seed_text(seed));
  rounds_ = model.train(a, b, std::clamp(trees, kLeastRounds, kMostRounds)).rounds;
}

Vector<float> RegressionTrees::predict(const Matrix<float>& rows) const {
  TreeData data(rows);
  return Eigen::Map<const Vector<float>>(booster_->model.predict(data, rounds_), rows.rows());
}

}  // namespace ppan
