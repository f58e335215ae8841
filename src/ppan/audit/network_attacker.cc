#include "ppan/audit/network_attacker.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "ppan/audit/regression_attacker.h"
#include "ppan/game/posterior.h"
#include "ppan/game/softmax.h"
#include "ppan/nn/adam.h"

namespace ppan {
namespace {

constexpr Index kBatch = 256;
constexpr Index kSteps = 1500;       // fewer than this many steps in all would leave a small table unlearned
constexpr Index kMostScored = 6000;  // selection rows looked at after every epoch
constexpr int kHalvings = 3;
constexpr double kLeastGain = 2e-4;  // nats per epoch that are worth another one

void take_rows(const AttackRows& from, const std::int32_t* rows, Index count, AttackRows& to) {
  to.data.resize(count, from.data.cols());
  to.x.resize(static_cast<std::size_t>(count));
  if (from.score.size() > 0) to.score.resize(count);
  for (Index f = 0; f < from.data.cols(); ++f) {
    const float* column = from.data.col(f).data();
    float* out = to.data.col(f).data();
    for (Index i = 0; i < count; ++i) out[i] = column[rows[i]];
  }
  for (Index i = 0; i < count; ++i) {
    to.x[static_cast<std::size_t>(i)] = from.x[static_cast<std::size_t>(rows[i])];
    if (from.score.size() > 0) to.score[i] = from.score[rows[i]];
  }
}

// The common loop: `gradient` of minus the mean score over a batch, `score` on the selection rows.
void train(const AttackRows& rows, const AttackEffort& effort, double rate, double decay,
           RandomSource& random, Vector<float>& parameters,
           const std::function<void(const AttackRows&, Vector<float>&)>& gradient_of,
           const std::function<double()>& score) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows.rows()));
  std::iota(order.begin(), order.end(), 0);
  const Index batch = std::min(kBatch, rows.rows());
  const Index steps = std::max<Index>(1, rows.rows() / batch);
  const Index epochs = std::max<Index>(effort.epochs, std::min<Index>(5 * effort.epochs, kSteps / steps));
  Adam<float> adam;
  Vector<float> best = parameters;
  Vector<float> gradient;
  AttackRows part;
  double best_score = score();
  int without_gain = 0;
  int halvings = 0;
  for (Index epoch = 0; epoch < epochs && halvings < kHalvings; ++epoch) {
    shuffle(random, order);
    for (Index s = 0; s < steps; ++s) {
      take_rows(rows, order.data() + s * batch, batch, part);
      gradient_of(part, gradient);
      adam.step(rate, gradient, parameters);
      parameters *= static_cast<float>(1 - rate * decay);
    }
    const double now = score();
    const bool gained = now > best_score + kLeastGain;
    if (now > best_score) {
      best_score = now;
      best = parameters;
    }
    if (best_score > -kLeastGain) break;  // everything is known
    without_gain = gained ? 0 : without_gain + 1;
    if (without_gain >= effort.patience) {
      rate /= 2;
      ++halvings;
      without_gain = 0;
      parameters = best;
    }
  }
  parameters = best;
}

AttackRows scored_part(const AttackRows& selection) {
  std::vector<std::int32_t> first(static_cast<std::size_t>(std::min(kMostScored, selection.rows())));
  std::iota(first.begin(), first.end(), 0);
  AttackRows part;
  take_rows(selection, first.data(), static_cast<Index>(first.size()), part);
  return part;
}

}  // namespace

void NetworkAttacker::fit(const AttackRows& rows, const AttackRows& selection, RandomSource& random) {
  network_ = Mlp<float>({.inputs = rows.data.cols(), .hidden = options_.hidden, .outputs = task_.levels});
  parameters_.setZero(network_.parameter_count());
  network_.initialise(random, parameters_.data());
  if (options_.hidden.empty()) parameters_.setZero();
  // The last bias starts at the prior: what is learned from the first step on is what the release adds.
  parameters_.tail(task_.levels) = task_.prior.array().log().matrix().cast<float>();
  const AttackRows scored = scored_part(selection);
  MlpWorkspace<float> workspace;
  Matrix<float> p;
  train(
      rows, task_.effort, options_.rate, options_.decay, random, parameters_,
      [&](const AttackRows& batch, Vector<float>& gradient) {
        softmax_rows(network_.forward(parameters_.data(), batch.data, workspace), p);
        for (Index i = 0; i < batch.rows(); ++i) p(i, batch.x[static_cast<std::size_t>(i)]) -= 1;
        p /= static_cast<float>(batch.rows());
        gradient.resize(parameters_.size());
        network_.backward(parameters_.data(), batch.data, p, workspace, gradient.data(), nullptr);
      },
      [&] { return mean_score(log_probability(scored), scored.x); });
}

Matrix<float> NetworkAttacker::log_probability(const AttackRows& rows) {
  MlpWorkspace<float> workspace;
  Matrix<float> out;
  log_softmax_rows(network_.forward(parameters_.data(), rows.data, workspace), out);
  return out;
}

void DensityAttacker::fit(const AttackRows& rows, const AttackRows& selection, RandomSource& random) {
  const auto with_value = [](const AttackRows& from) {
    std::vector<std::int32_t> known;
    for (Index i = 0; i < from.rows(); ++i) {
      if (!std::isnan(from.score[i])) known.push_back(static_cast<std::int32_t>(i));
    }
    AttackRows part;
    take_rows(from, known.data(), static_cast<Index>(known.size()), part);
    return part;
  };
  const AttackRows known = with_value(rows);
  const AttackRows scored = scored_part(with_value(selection));
  const PosteriorOptions shape{.hidden = {64, 64}};
  std::vector<Attribute<float>> like(1);
  like[0].value.resize(1, 1);
  Posterior<float> posterior(shape, known.data.cols(), like);
  posterior.initialise(random);
  // The same network, to read its outputs with.
  network_ = Mlp<float>({.inputs = known.data.cols(), .hidden = shape.hidden, .outputs = 2});
  std::vector<Attribute<float>> x(1);
  Matrix<float> d_score;
  train(
      known, task_.effort, 0.002, 1, random, posterior.parameters(),
      [&](const AttackRows& batch, Vector<float>& gradient) {
        x[0].value = batch.score;
        posterior.score(batch.data, false, 1, x);
        d_score.setConstant(batch.rows(), 1, -1.0F / static_cast<float>(batch.rows()));
        posterior.backward(batch.data, false, 1, x, d_score, &gradient, nullptr);
      },
      [&] {
        x[0].value = scored.score;
        return static_cast<double>(posterior.score(scored.data, false, 1, x).mean());
      });
  parameters_ = posterior.parameters();
}

Matrix<float> DensityAttacker::predict(const AttackRows& rows) {
  MlpWorkspace<float> workspace;
  return network_.forward(parameters_.data(), rows.data, workspace);
}

Matrix<float> DensityAttacker::log_probability(const AttackRows& rows) {
  return bin_log_probability(task_, predict(rows));
}

}  // namespace ppan
