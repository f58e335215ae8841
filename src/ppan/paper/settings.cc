#include "ppan/paper/settings.h"

namespace ppan {
namespace {

// Hidden layers and noise of the paper's Gaussian networks: 3 dense layers, `units` ReLU units twice.
GameOptions gaussian_game(Index dimensions, Index units, Index noise_inputs, double lambda) {
  GameOptions game;
  game.mechanism = {.kind = MechanismKind::kNoiseInput,
                    .released = dimensions,
                    .hidden = {units, units},
                    .noise_inputs = noise_inputs};
  game.adversary = {.hidden = {units, units}};
  game.distortion = DistortionKind::kSquared;
  game.budget = {.form = BudgetForm::kExpected, .weight = lambda};
  return game;
}

TrainOptions gaussian_training(const GameOptions& game) {
  return {.game = game, .epochs = 250, .batch = 200, .adversary_steps = 5, .redraw = false};
}

// Finite W, X and Z: matrices of logits without bias.
TrainOptions finite_training(Index symbols, DistortionKind distortion, double lambda, int epochs) {
  GameOptions game;
  game.mechanism = {.kind = MechanismKind::kFinite, .released = symbols};
  game.adversary = {.bias = false};
  game.utility = {.bias = false};
  game.distortion = distortion;
  game.budget = {.form = BudgetForm::kExpected, .weight = lambda};
  return {.game = game, .epochs = epochs, .batch = 100, .adversary_steps = 1};
}

ExperimentSettings paper_settings(std::string_view name) {
  ExperimentSettings s;
  if (name == "discrete") {
    s.train_records = 1000;
    s.conventional = true;
    s.series = {{"useful-only", 1.0, finite_training(10, DistortionKind::kError, 500, 2000)},
                {"full-data", 1.0, finite_training(10, DistortionKind::kError, 500, 2500)}};
    return s;
  }
  s.train_records = 8000;
  s.test_records = 4000;
  if (name == "scalar-gaussian") {
    s.ksg_records = 4000;
    s.series = {{"useful-only", 1.0, gaussian_training(gaussian_game(1, 5, 1, 10))},
                {"full-data", 0.8, gaussian_training(gaussian_game(1, 5, 1, 50))}};
  } else if (name == "vector-gaussian") {
    s.series = {{"useful-only", 4.5, gaussian_training(gaussian_game(5, 20, 8, 10))}};
  } else if (name == "scatter") {
    s.series = {{"useful-only", 0.23, gaussian_training(gaussian_game(5, 20, 8, 10))}};
  } else if (name == "rate-distortion") {
    s.series = {{"rate-distortion", 2.5, gaussian_training(gaussian_game(5, 20, 8, 500))}};
  } else if (name == "bottleneck-gaussian") {
    // Not among the paper's figures, but its mutual-information utility. W = X = one Gaussian, and the
    // distortion is -log Q'(y|z); budgets run from h(Y|X) (all information kept) to h(Y) (none).
    GameOptions game = gaussian_game(1, 5, 1, 50);
    game.mechanism.kind = MechanismKind::kGaussian;
    game.distortion = DistortionKind::kInformation;
    game.utility = {.hidden = {5, 5}};
    s.series = {{"bottleneck", 0, gaussian_training(game)}};
    s.test_records = 20000;  // for families without a density, by nearest neighbours
  } else if (name == "bottleneck-binary") {
    s.test_records = 0;
    s.series = {{"bottleneck", 0, finite_training(2, DistortionKind::kInformation, 500, 250)}};
    s.series.front().train.batch = 200;
  }
  return s;
}

// Meets a budget whatever the price of distortion there, from 0.002 to 20 nats per unit; the price itself is
// what the multiplier ends near (docs/decisions/0003-best-preset.md).
BudgetOptions steady_dual() {
  return {.form = BudgetForm::kDual, .weight = 10, .dual_rate = 0.03, .memory = 0.02, .settle = true};
}

// Normal noise and an adversary that standardises what it sees keep non-Gaussian and small-scale leaks out;
// the dual budget replaces a penalty whose fluctuation from batch to batch was most of the excess.
void improve_gaussian(TrainOptions& train) {
  train.game.mechanism.noise = NoiseKind::kNormal;
  train.game.adversary.standardise = true;
  // ReLU units can all die, and the adversary with them: it then believes 0 whatever is released.
  train.game.adversary.activation = Activation::kTanh;
  train.game.budget = steady_dual();
  train.mechanism_rate = {.rate = 0.005, .decay_from = 0.3};
  train.adversary_rate = {.rate = 0.005, .decay_from = 0.3, .final_fraction = 0.1};
}

// What came nearest the optimum (docs/decisions/0003-best-preset.md); sizes of the training data stay the
// paper's, the score is taken on enough fresh data that its own noise does not hide the excess.
void improve(std::string_view name, ExperimentSettings& s) {
  if (s.test_records > 0) s.test_records = 100000;
  if (s.ksg_records > 0) s.ksg_records = 20000;
  for (SeriesSettings& series : s.series) series.train.redraw = true;
  if (name == "discrete") {
    s.pseudo_records = 3;
    TrainOptions& useful_only = s.series[0].train;
    useful_only.epochs = 1000;
    useful_only.weight_decay = 0.1;
    useful_only.mechanism_rate = {.rate = 0.003, .decay_from = 0.5};
    useful_only.adversary_rate = {.rate = 0.003, .decay_from = 0.5, .final_fraction = 0.1};
    TrainOptions& full_data = s.series[1].train;
    full_data.epochs = 1000;
    full_data.weight_decay = 0.01;
    full_data.game.budget = steady_dual();
    full_data.mechanism_rate = {.rate = 0.01, .decay_from = 0.2};
    full_data.adversary_rate = {.rate = 0.01, .decay_from = 0.2, .final_fraction = 0.1};
    return;
  }
  if (name == "bottleneck-binary") {
    // The logits of a matrix go far for a tight budget and are long on their way: a stiffer force and a
    // slower multiplier, or it winds up meanwhile.
    TrainOptions& train = s.series.front().train;
    train.epochs = 500;
    train.game.budget = steady_dual();
    train.game.budget.weight = 30;
    train.game.budget.dual_rate = 0.01;
    train.mechanism_rate = {.rate = 0.005, .decay_from = 0.3};
    train.adversary_rate = {.rate = 0.003, .decay_from = 0.3, .final_fraction = 0.1};
    return;
  }
  for (SeriesSettings& series : s.series) {
    TrainOptions& train = series.train;
    improve_gaussian(train);
    if (name == "scalar-gaussian" || name == "bottleneck-gaussian") {
      // The optimum is linear: start there, move slowly, and watch with a wider adversary.
      train.game.mechanism.skip = true;
      train.game.adversary.skip = true;
      train.game.adversary.activation = Activation::kRelu;
      train.game.adversary.hidden = {16, 16};
      train.mechanism_rate.rate = 0.002;
      train.adversary_rate.rate = 0.002;
    }
    // A mechanism this slow answers a strong force too late, and swings.
    if (name == "scalar-gaussian") train.game.budget.weight = 3;
    if (name == "bottleneck-gaussian") {
      // Noise whose scale cannot depend on x: a gaussian mechanism here learned to make it vanish on one
      // side, 0.5 nats of leakage that its adversary did not see.
      train.game.mechanism.kind = MechanismKind::kNoisyCode;
      train.game.mechanism.hidden = {};
      train.game.mechanism.code = 1;
      train.game.mechanism.code_radius = 30;
    }
  }
}

// A family other than the preset's, sized like it.
void change_mechanism(MechanismKind kind, Preset preset, TrainOptions& train) {
  MechanismOptions& m = train.game.mechanism;
  m.kind = kind;
  if (kind != MechanismKind::kNoisyCode) return;
  m.code = m.released;
  m.code_radius = 10;
  m.decoder = m.hidden;
  if (preset != Preset::kBest || train.game.distortion != DistortionKind::kSquared) return;
  // The optimum of Gaussian worlds is linear, and R must not be felt: it bends the code, and with it no
  // budget below about 1 / R^2 a coordinate can be met. A coordinate that tells little of X is best kept far
  // above the noise, and its gain grows slowly: hence a fast mechanism, many epochs, and a multiplier slow
  // enough not to overshoot from the random start, whose distortion is large. Encoder and decoder must stay
  // inverse to each other while the gain grows, and noise of large steps keeps them from it.
  m.hidden = {};
  m.decoder = {};
  m.skip = false;
  m.code_radius = 200;
  train.game.budget.weight = 2;
  train.game.budget.dual_rate = 0.005;
  train.mechanism_rate = {.rate = 0.02, .decay_from = 0.1};
  if (m.code > 1) train.epochs = 600;
}

}  // namespace

ExperimentSettings settings_of(const ExperimentOptions& options) {
  ExperimentSettings s = paper_settings(options.name);
  if (options.preset == Preset::kBest) improve(options.name, s);
  for (SeriesSettings& series : s.series) {
    if (options.mechanism) change_mechanism(*options.mechanism, options.preset, series.train);
    if (options.epochs) series.train.epochs = *options.epochs;
    BudgetOptions& budget = series.train.game.budget;
    if (options.budget_form && *options.budget_form != budget.form) {
      // lambda of a squared penalty says nothing about the strength of a dual budget
      if (*options.budget_form == BudgetForm::kDual) budget = steady_dual();
      budget.form = *options.budget_form;
    }
  }
  return s;
}

}  // namespace ppan
