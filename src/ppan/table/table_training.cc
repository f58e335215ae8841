#include "ppan/table/table_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ppan/game/alpha_prior.h"
#include "ppan/model/table_model.h"
#include "ppan/table/table_distortion.h"

namespace ppan {
namespace {

constexpr Index kSteps = 8000;       // mechanism updates of one point, when epochs are not given
constexpr int kLeastEpochs = 20;     // however large the table is
constexpr int kMostEpochs = 300;     // however small it is
constexpr double kStartShare = 0.4;  // epochs of the common start, as a share of a point's
constexpr Index kLeastUnits = 8;
constexpr Index kRowsPerUnit = 40;
constexpr Index kLeastBatches = 8;
// Leakage falls by a few nats for each unit of distortion at first, and the multiplier must get there soon.
constexpr double kDualWeight = 30;
constexpr double kDualRate = 0.2;
constexpr double kPenaltyWeight = 100;
// Nats for a unit of distortion, which is a table of unrelated values: below that nothing is worth hiding.
constexpr double kIdlePrice = 0.02;
constexpr float kCopyLogit = 8;  // of the level that is copied, against 0 of the others
// A logit of a table moves by about one rate each time its cell comes up, which is far less often than the
// weights of a network are moved.
constexpr double kTableRate = 10;

std::vector<std::int32_t> indices(const Encoding& encoding, const std::vector<std::string>& names) {
  return encoding.indices_of(names);
}

// Finite where the joint alphabet is small, if the job leaves the choice open.
MechanismKind choose_kind(const Encoding& encoding, const std::vector<std::int32_t>& released,
                          MechanismFamily family) {
  const auto cells = joint_levels(encoding, released);
  const bool finite = cells && *cells >= 2 && *cells <= kMostCells;
  switch (family) {
    case MechanismFamily::kAuto:
      return finite ? MechanismKind::kFinite : MechanismKind::kNoiseInput;
    case MechanismFamily::kNoiseInput:
      return MechanismKind::kNoiseInput;
    case MechanismFamily::kNoisyCode:
      return MechanismKind::kNoisyCode;
    case MechanismFamily::kCodebook:
    case MechanismFamily::kHeads:
      throw Error(ErrorCode::kInternal, "this family is not trained by the game of networks");
    case MechanismFamily::kFinite:
      break;
  }
  if (!finite) {
    throw Error(ErrorCode::kUsage,
                fmt::format("a finite mechanism needs useful columns that are all categories, with 2 to {} "
                            "cells in all",
                            kMostCells),
                "leave mechanism.family at \"auto\", or set encode.max_levels lower");
  }
  return MechanismKind::kFinite;
}

MechanismOptions mechanism_options(const TableGame& game, const TableTrainingOptions& options) {
  MechanismOptions out;
  out.kind = game.kind;
  if (game.kind == MechanismKind::kFinite) {
    out.released = game.cells;
    if (!game.records.observed.finite()) out.hidden = options.hidden;
    return out;
  }
  out.released = game.released.width;
  out.hidden = options.hidden;
  out.skip = true;
  if (game.kind == MechanismKind::kNoiseInput) {
    out.noise_inputs = options.noise_inputs;
    out.noise = NoiseKind::kNormal;
    return out;
  }
  out.code = options.code_size.value_or(std::clamp<Index>(game.released.width, 4, 24));
  out.code_radius = options.code_radius;
  out.decoder = options.hidden;
  return out;
}

// No fewer than a few mini-batches in an epoch, however small the table.
Index batch_for(Index rows, Index batch) {
  return std::clamp<Index>(rows / kLeastBatches, std::min<Index>(batch, 32), batch);
}

TrainOptions train_options(const TableGame& game, const MechanismOptions& mechanism,
                           const TableTrainingOptions& options, std::uint64_t seed) {
  TrainOptions out;
  out.game.mechanism = mechanism;
  out.game.alpha = options.alpha;
  // An adversary with more units than that overfits the rows of a small table, and the mechanism
  // spends its budget on what no other attacker could know.
  std::vector<Index> units = options.hidden;
  for (Index& u : units) u = std::min(u, std::max(kLeastUnits, game.records.rows() / kRowsPerUnit));
  out.game.adversary = {.hidden = std::move(units), .skip = true, .standardise = true};
  if (game.kind == MechanismKind::kFinite) {
    out.game.distortion = DistortionKind::kError;  // replaced; this one may stand beside a finite mechanism
    out.game.adversary = {};                       // an |X| x |Z| matrix says all there is
  }
  out.epochs =
      options.epochs.value_or(epochs_for(game.records.rows(), batch_for(game.records.rows(), options.batch)));
  out.batch = batch_for(game.records.rows(), options.batch);
  out.adversary_steps = options.adversary_steps;
  const bool table = game.kind == MechanismKind::kFinite && game.records.observed.finite();
  const double rate = table ? kTableRate * options.rate : options.rate;
  out.mechanism_rate = {.rate = rate, .decay_from = 0.4, .final_fraction = 0.01};
  out.adversary_rate = {.rate = rate, .decay_from = 0.5, .final_fraction = 0.05};
  out.seed = seed;
  return out;
}

// Makes the direct path of a noise-input mechanism copy the columns that are both observed and released; the
// layers beside it begin at 0. Returns whether that is every released column.
bool start_as_copy(const TableGame& game, const MechanismOptions& options, std::uint64_t seed,
                   Vector<float>& parameters) {
  const auto mechanism = make_mechanism(options, game.records.observed);
  SeededRandom random(seed);
  mechanism->initialise(random);
  parameters = mechanism->parameters();
  // As in Mlp: ..., biases of the last layer, weights of the direct path (a row per input, column-major).
  const Index inputs = game.observed.width + options.noise_inputs;
  const Index outputs = options.released;
  Eigen::Map<Matrix<float>> path(parameters.data() + parameters.size() - inputs * outputs, inputs, outputs);
  Eigen::Map<Vector<float>> bias(parameters.data() + parameters.size() - inputs * outputs - outputs, outputs);
  path.setZero();
  bool every = true;
  for (const Block& to : game.released.blocks) {
    const auto from = std::find_if(game.observed.blocks.begin(), game.observed.blocks.end(),
                                   [&](const Block& block) { return block.column == to.column; });
    if (from == game.observed.blocks.end()) {
      every = false;
      continue;
    }
    if (to.kind == BlockKind::kCategory) {
      for (Index l = 0; l < to.width; ++l) path(from->first + l, to.first + l) = kCopyLogit;
      continue;
    }
    path(from->first, to.first) = 1;
    if (to.kind == BlockKind::kNumber) continue;
    path(from->first + 1, to.first + 1) = 2 * kCopyLogit;
    bias[to.first + 1] = -kCopyLogit;
  }
  return every;
}

double entropy(const Attribute<float>& x) {
  std::vector<double> share(static_cast<std::size_t>(x.levels), 0);
  for (const std::int32_t code : x.code) ++share[static_cast<std::size_t>(code)];
  double sum = 0;
  for (const double s : share) {
    const double p = s / static_cast<double>(x.code.size());
    if (p > 0) sum -= p * std::log(p);
  }
  return sum;
}

// h(X), as far as the parts of the chain rule know it: exact for one finite attribute, for several the sum of
// their entropies (an upper bound), for real ones the entropy of a normal distribution of their variance.
double prior_entropy(const std::vector<Attribute<float>>& sensitive) {
  double sum = 0;
  for (const Attribute<float>& x : sensitive) {
    if (x.finite()) {
      sum += entropy(x);
      continue;
    }
    for (Index c = 0; c < x.value.cols(); ++c) {
      const auto centred = x.value.col(c).array() - x.value.col(c).mean();
      const double variance = std::max(static_cast<double>(centred.square().mean()), 1e-12);
      sum += 0.5 * (1 + std::log(2 * 3.14159265358979323846 * variance));
    }
  }
  return sum;
}

// Of finite attributes, by the shares of their joint levels.
AlphaPrior joint_prior(const std::vector<Attribute<float>>& sensitive, double alpha) {
  std::map<std::vector<std::int32_t>, double> share;
  const Index rows = sensitive.front().rows();
  for (Index i = 0; i < rows; ++i) {
    std::vector<std::int32_t> levels;
    for (const Attribute<float>& x : sensitive) levels.push_back(x.code[static_cast<std::size_t>(i)]);
    share[levels] += 1.0 / static_cast<double>(rows);
  }
  std::vector<double> shares;
  for (const auto& entry : share) shares.push_back(entry.second);
  return alpha_prior(shares, alpha);
}

}  // namespace

std::string_view to_string(MechanismFamily family) {
  switch (family) {
    case MechanismFamily::kAuto:
      return "auto";
    case MechanismFamily::kFinite:
      return "finite";
    case MechanismFamily::kNoiseInput:
      return "noise-input";
    case MechanismFamily::kNoisyCode:
      return "noisy-code";
    case MechanismFamily::kCodebook:
      return "codebook";
    case MechanismFamily::kHeads:
      break;
  }
  return "heads";
}

Problems TableTrainingOptions::check() const {
  ProblemList list;
  for (const Index units : hidden) list.require_between("hidden", static_cast<double>(units), 1, 8192);
  if (code_size) list.require_between("code_size", static_cast<double>(*code_size), 1, 1024);
  list.require_positive("code_radius", code_radius);
  list.require_between("noise_inputs", static_cast<double>(noise_inputs), 1, 1024);
  list.require(alpha >= 1, "alpha", fmt::format("{} is not allowed; it must be at least 1", alpha));
  list.require(budget_form != BudgetForm::kWeighted, "budget_form", "must be one that has a budget");
  if (epochs) list.require_at_least("epochs", *epochs, 1);
  list.require_at_least("batch", static_cast<double>(batch), 1);
  list.require_at_least("adversary_steps", adversary_steps, 1);
  list.require_positive("rate", rate);
  list.require_at_least("restarts", restarts, 1);
  return list.take();
}

int epochs_for(Index rows, Index batch) {
  const Index steps = std::max<Index>(1, rows / std::min(batch, std::max<Index>(rows, 1)));
  return static_cast<int>(std::clamp<Index>(kSteps / steps, kLeastEpochs, kMostEpochs));
}

TableGame make_game(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                    const TableTrainingOptions& options) {
  TableGame game;
  const auto observed = indices(encoding, schema.observed_columns());
  const auto released = indices(encoding, schema.useful);
  game.kind = choose_kind(encoding, released, options.family);
  game.released = make_layout(encoding, released);
  game.observed = make_layout(encoding, observed);
  game.records.observed = observed_attribute(rows, encoding, game.observed, game.kind);
  if (game.kind == MechanismKind::kFinite) {
    game.cells = joint_levels(encoding, released).value();
    game.cell_distortion = cell_distortion<float>(encoding, released);
    game.records.useful.code = join_codes(rows, encoding, released);
    game.records.useful.levels = static_cast<std::int32_t>(game.cells);
  } else {
    to_matrix(rows, game.released, game.records.useful.value);
  }
  for (const std::int32_t column : indices(encoding, schema.hidden_columns()))
    game.records.sensitive.push_back(to_attribute<float>(rows, encoding, column));
  return game;
}

TableStart train_start(const TableGame& game, const TableTrainingOptions& options, std::uint64_t seed,
                       const std::vector<Observer>& observers) {
  TableStart start;
  start.mechanism = mechanism_options(game, options);
  if (game.kind == MechanismKind::kFinite) {
    const Attribute<float>& w = game.records.observed;
    if (!w.finite() || w.levels != game.cells || w.code != game.records.useful.code) return start;
    // What is observed is what is released: begin with releasing it, also for cells that training never saw.
    start.parameters.setZero(game.cells * game.cells);
    for (Index cell = 0; cell < game.cells; ++cell) start.parameters[cell * game.cells + cell] = kCopyLogit;
    return start;
  }
  if (game.kind == MechanismKind::kNoiseInput && start_as_copy(game, start.mechanism, seed, start.parameters))
    return start;
  TrainOptions train_with = train_options(game, start.mechanism, options, seed);
  train_with.epochs = std::max(1, static_cast<int>(std::lround(train_with.epochs * kStartShare)));
  train_with.warm_up = train_with.epochs;
  train_with.adversary_steps = 1;
  train_with.game.adversary = {};  // not felt
  train_with.game.budget = {.form = BudgetForm::kWeighted, .weight = 1};
  auto trained =
      train<float>(game.records, train_with, observers,
                   {std::make_unique<TableDistortion<float>>(game.released, CategoryCost::kCrossEntropy),
                    start.parameters,
                    {}});
  start.parameters = trained.mechanism->parameters();
  return start;
}

TrainedMechanism train_point(const TableGame& game, const TableStart& start, double budget,
                             const TableTrainingOptions& options, std::uint64_t seed,
                             const std::vector<Observer>& observers) {
  TrainOptions train_with = train_options(game, start.mechanism, options, seed);
  // The expected and record forms need a weight that makes a breach of the budget expensive; the dual finds
  // its own.
  train_with.game.budget = {.form = options.budget_form,
                            .limit = budget,
                            .weight = options.budget_form == BudgetForm::kDual ? kDualWeight : kPenaltyWeight,
                            .dual_rate = kDualRate,
                            .idle_price = kIdlePrice};
  std::unique_ptr<Distortion<float>> distortion;
  if (game.kind == MechanismKind::kFinite) {
    distortion = std::make_unique<CellDistortion<float>>(game.cell_distortion);
  } else {
    distortion = std::make_unique<TableDistortion<float>>(game.released);
  }
  auto trained =
      train<float>(game.records, train_with, observers, {std::move(distortion), start.parameters, {}});
  TrainedMechanism out;
  out.mechanism = start.mechanism;
  out.parameters = trained.mechanism->parameters();
  if (!trained.summary.epochs.empty()) {
    const double score = trained.summary.epochs.back().mean.log_likelihood;
    out.belief = std::max(0.0, options.alpha == 1
                                   ? prior_entropy(game.records.sensitive) + score
                                   : joint_prior(game.records.sensitive, options.alpha).information(score));
  }
  out.summary = std::move(trained.summary);
  return out;
}

}  // namespace ppan
