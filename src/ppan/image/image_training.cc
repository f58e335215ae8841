#include "ppan/image/image_training.h"

#include <utility>

namespace ppan {
namespace {

// Weight of distortion in the autoencoder's loss. Adam does not see its scale; the adversary is not felt.
constexpr double kStartWeight = 100;
// The multiplier must travel tens of nats per unit within a few epochs of a few hundred steps, on
// overdraughts of a few hundredths.
constexpr double kDualRate = 4;
constexpr double kDualStrength = 200;
// The same for nats of a task, whose price is of the order of one nat of leakage.
constexpr double kTaskDualRate = 0.2;
constexpr double kTaskDualStrength = 20;
// Nats of leakage for a unit of pixel distortion where the budget is on the task: images stay images, and a
// range of a few tenths buys next to no leakage.
constexpr double kPixelPrice = 1;

void check_layers(ProblemList& list, std::string_view field, const std::vector<Index>& layers) {
  for (const Index units : layers) list.require_at_least(field, static_cast<double>(units), 1);
}

MechanismOptions code_mechanism(const CodeImageOptions& options, Index pixels) {
  MechanismOptions m;
  m.kind = MechanismKind::kNoisyCode;
  m.released = pixels;
  m.hidden = options.encoder;
  m.decoder = options.decoder;
  m.code = options.code;
  m.code_radius = options.radius;
  m.sigmoid_output = true;
  return m;
}

TrainOptions code_common(const CodeImageOptions& options, Index pixels, std::uint64_t seed) {
  require_none(options.check(), "a noisy code for images cannot be trained:");
  TrainOptions train;
  train.game.mechanism = code_mechanism(options, pixels);
  train.game.mechanism.gate = options.gate;
  // The direct path keeps an adversary learning whose ReLUs have all died, which an adversary with little to
  // see for long is prone to.
  train.game.adversary = {.hidden = options.adversary, .skip = true};
  train.game.distortion = DistortionKind::kPixelCrossEntropy;
  train.batch = options.batch;
  train.seed = seed;
  if (options.task_budget) {
    train.game.distortion = DistortionKind::kInformation;
    train.game.second = {.kind = DistortionKind::kPixelCrossEntropy, .price = kPixelPrice};
  } else if (options.task_weight > 0) {
    train.game.second = {.kind = DistortionKind::kInformation, .price = options.task_weight};
  }
  if (options.keeps_task()) {
    train.game.utility = options.teacher.network();
    train.game.utility_frozen = true;
  }
  return train;
}

}  // namespace

Records<float> image_records(const ImageSet& set, Index most, bool task_first) {
  const Index rows = most > 0 ? std::min(most, set.size()) : set.size();
  Records<float> records;
  records.observed.value = set.pixels.topRows(rows);
  records.useful = records.observed;
  records.sensitive.resize(1);
  records.sensitive.front().levels = set.classes;
  records.sensitive.front().code.assign(set.labels.begin(), set.labels.begin() + rows);
  if (!set.task.empty()) records.second = task_attribute(set, most);
  if (task_first) std::swap(records.useful, records.second);
  return records;
}

Problems PaperImageOptions::check() const {
  ProblemList list;
  check_layers(list, "hidden", hidden);
  check_layers(list, "adversary", adversary);
  check_layers(list, "discriminator", discriminator);
  list.require_at_least("noise_inputs", static_cast<double>(noise_inputs), 1);
  list.require_at_least("gamma", gamma, 0);
  list.require_at_least("epochs", epochs, 1);
  list.require_at_least("batch", static_cast<double>(batch), 1);
  list.require_positive("rate", rate);
  list.require(beta1_used() >= 0 && beta1_used() < 1, "beta1", "must be at least 0 and less than 1");
  return list.take();
}

TrainOptions paper_training(const PaperImageOptions& options, Index pixels, double lambda,
                            std::uint64_t seed) {
  require_none(options.check(), "the paper's mechanism cannot be trained:");
  TrainOptions train;
  MechanismOptions& m = train.game.mechanism;
  m.kind = MechanismKind::kNoiseInput;
  m.released = pixels;
  m.hidden = options.hidden;
  m.activation = Activation::kTanh;
  m.noise_inputs = options.noise_inputs;
  m.noise = NoiseKind::kUniform;
  m.sigmoid_output = true;
  train.game.adversary = {.hidden = options.adversary, .activation = Activation::kTanh};
  train.game.distortion = DistortionKind::kPixelCrossEntropy;
  train.game.budget = {.form = BudgetForm::kWeighted, .weight = lambda};
  if (options.gamma > 0) {
    train.game.discriminator = {
        .weight = options.gamma, .hidden = options.discriminator, .activation = Activation::kTanh};
  }
  train.epochs = options.epochs;
  train.batch = options.batch;
  train.redraw = false;  // the draws of a mini-batch serve all its steps, as in the paper
  train.mechanism_rate.rate = options.rate;
  train.adversary_rate.rate = options.rate;
  train.game.adam.beta1 = options.beta1_used();
  train.seed = seed;
  return train;
}

Problems CodeImageOptions::check() const {
  ProblemList list;
  check_layers(list, "encoder", encoder);
  check_layers(list, "decoder", decoder);
  check_layers(list, "adversary", adversary);
  check_layers(list, "gate", gate);
  list.require(!encoder.empty(), "encoder", "there must be at least one layer");
  list.require_at_least("code", static_cast<double>(code), 1);
  list.require_positive("radius", radius);
  list.require_at_least("code_weight", code_weight, 0);
  list.require_at_least("start_epochs", start_epochs, 1);
  list.require_positive("start_rate", start_rate);
  list.require_at_least("epochs", epochs, 1);
  list.require_at_least("batch", static_cast<double>(batch), 1);
  list.require_at_least("adversary_steps", adversary_steps, 1);
  list.require_positive("rate", rate);
  list.require_at_least("task_weight", task_weight, 0);
  list.add("teacher", teacher.check());
  list.require(!keeps_task() || gate.empty(), "gate", "does not go with a task");
  return list.take();
}

TrainOptions code_start_training(const CodeImageOptions& options, Index pixels, std::uint64_t seed) {
  TrainOptions train = code_common(options, pixels, seed);
  train.game.mechanism.gate.clear();  // it would let everything through unchanged
  train.game.budget = {.form = BudgetForm::kWeighted, .weight = kStartWeight};
  if (options.task_budget) {
    train.game.budget.weight = kTaskMultiplier * kStartWeight / kCodeMultiplier;
    train.game.second.price = kStartWeight;
  } else if (options.task_weight > 0) {
    train.game.second.price = options.task_weight * kStartWeight / kCodeMultiplier;
  }
  // As expensive, against distortion, as it is where the points begin.
  train.game.code_weight = options.code_weight * kStartWeight / kCodeMultiplier;
  train.epochs = options.start_epochs;
  train.warm_up = options.start_epochs;
  train.mechanism_rate = {.rate = options.start_rate, .decay_from = 0.3, .final_fraction = 0.05};
  train.adversary_rate = {.rate = options.rate};
  return train;
}

TrainOptions code_training(const CodeImageOptions& options, Index pixels, double budget, std::uint64_t seed) {
  TrainOptions train = code_common(options, pixels, seed);
  train.game.budget = {
      .form = BudgetForm::kDual, .limit = budget, .weight = kDualStrength, .dual_rate = kDualRate};
  if (options.task_budget) {
    train.game.budget.weight = kTaskDualStrength;
    train.game.budget.dual_rate = kTaskDualRate;
  }
  train.game.code_weight = options.code_weight;
  train.epochs = options.epochs;
  train.adversary_steps = options.adversary_steps;
  train.mechanism_rate = {.rate = options.rate, .decay_from = 0.5, .final_fraction = 0.02};
  // An adversary at full rate is a tenth of a nat weaker than one that has come to rest, and the mechanism
  // would meet only the weaker one. So it slows down before the mechanism does.
  train.adversary_rate = {.rate = options.rate, .decay_from = 0.4, .final_fraction = 0.05};
  return train;
}

Vector<float> code_start_parameters(const CodeImageOptions& options, Index pixels,
                                    const Vector<float>& before, bool hiding, std::uint64_t seed) {
  if (options.gate.empty()) return before;
  Attribute<float> shape;
  shape.value.resize(0, pixels);
  MechanismOptions code = code_mechanism(options, pixels);
  const Index code_parameters = make_mechanism(code, shape)->parameters().size();
  code.gate = options.gate;
  const auto mechanism = make_mechanism(code, shape);
  SeededRandom random = SeededRandom(seed).fork("gate");
  mechanism->initialise(random);
  mechanism->parameters().head(code_parameters) = before.head(code_parameters);
  if (hiding) mechanism->parameters().tail(1).setZero();  // the bias of its output
  return mechanism->parameters();
}

ImageModel trained_model(const ImageSet& like, const Mechanism<float>& mechanism, const std::string& label) {
  ImageModel model{.height = like.height, .width = like.width, .classes = like.classes};
  model.components.push_back({.kind = ComponentKind::kTrained,
                              .label = label,
                              .mechanism = mechanism.options(),
                              .parameters = mechanism.parameters()});
  return model;
}

ImageModel unchanged_model(const ImageSet& like) {
  ImageModel model{.height = like.height, .width = like.width, .classes = like.classes};
  model.components.push_back({.kind = ComponentKind::kUnchanged, .label = "unchanged"});
  return model;
}

ImageModel constant_model(const ImageSet& set) {
  ImageModel model{.height = set.height, .width = set.width, .classes = set.classes};
  model.components.push_back({.kind = ComponentKind::kConstant,
                              .label = "constant",
                              .constant = set.pixels.colwise().mean().transpose()});
  return model;
}

}  // namespace ppan
