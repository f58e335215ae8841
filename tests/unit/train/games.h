#pragma once

// Small games for the tests of the training stage: one for every kind of mechanism and helper.

#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "ppan/train/match.h"
#include "support/random_values.h"

namespace ppan::testing {

enum class World {
  kGaussian,   ///< X, Y real scalars of unit variance with correlation 0.85, W = Y.
  kDiscrete,   ///< X uniform on 4 symbols, Y = X with probability 0.7, W = Y.
  kImages,     ///< Y = W six pixels in (0, 1), X one of 3 classes.
  kChain,      ///< X = (a symbol of 3, a real), Y = W two noisy numbers about them.
  kTask,       ///< kImages with a second Y: whether the first pixel is bright, with some noise.
  kTaskFirst,  ///< The same with both Y exchanged.
};

template <typename Scalar>
Records<Scalar> sample(World world, Index count, std::uint64_t seed) {
  SeededRandom random(seed);
  Records<Scalar> records;
  switch (world) {
    case World::kGaussian: {
      const auto y = random_matrix<Scalar>(random, count, 1);
      const auto u = random_matrix<Scalar>(random, count, 1);
      records.sensitive.resize(1);
      records.sensitive[0].value = Scalar(0.85) * y + std::sqrt(Scalar(1 - 0.85 * 0.85)) * u;
      records.useful.value = y;
      break;
    }
    case World::kDiscrete: {
      records.sensitive.push_back(random_finite<Scalar>(random, count, 4));
      records.useful = records.sensitive[0];
      for (auto& code : records.useful.code) {
        if (random.uniform() < 0.3) code = (code + 1 + static_cast<std::int32_t>(random.index(3))) % 4;
      }
      break;
    }
    case World::kImages:
    case World::kTask:
    case World::kTaskFirst: {
      records.sensitive.push_back(random_finite<Scalar>(random, count, 3));
      records.useful.value = random_matrix<Scalar>(random, count, 6);
      for (Index i = 0; i < count; ++i) {
        const Index x = records.sensitive[0].code[static_cast<std::size_t>(i)];
        records.useful.value.row(i).segment(2 * x, 2).array() += Scalar(2);
      }
      records.useful.value = records.useful.value.array().logistic().matrix().eval();
      break;
    }
    case World::kChain: {
      records.sensitive = {random_finite<Scalar>(random, count, 3), random_real<Scalar>(random, count, 1)};
      records.useful.value = Scalar(0.4) * random_matrix<Scalar>(random, count, 2);
      for (Index i = 0; i < count; ++i) {
        records.useful.value(i, 0) +=
            static_cast<Scalar>(records.sensitive[0].code[static_cast<std::size_t>(i)]);
      }
      records.useful.value.col(1) += records.sensitive[1].value;
      break;
    }
  }
  records.observed = records.useful;
  if (world == World::kTask || world == World::kTaskFirst) {
    records.second.levels = 2;
    for (Index i = 0; i < count; ++i)
      records.second.code.push_back(
          records.useful.value(i, 0) + Scalar(0.2 * random.uniform()) > Scalar(0.6) ? 1 : 0);
  }
  if (world == World::kTaskFirst) std::swap(records.useful, records.second);
  return records;
}

struct NamedGame {
  std::string name;
  World world;
  GameOptions game;
};
/// For messages of parametrised tests.
inline void PrintTo(const NamedGame& game, std::ostream* out) {
  *out << game.name;
}

inline std::vector<NamedGame> games() {
  using K = MechanismKind;
  constexpr auto kSquared = DistortionKind::kSquared;
  const PosteriorOptions small{.hidden = {5, 5}};
  const BudgetOptions expected{.form = BudgetForm::kExpected, .limit = 0.3, .weight = 10};
  const BudgetOptions dual{.form = BudgetForm::kDual, .limit = 0.3, .weight = 5, .dual_rate = 0.1};
  const BudgetOptions steady{.form = BudgetForm::kDual,
                             .limit = 0.3,
                             .weight = 5,
                             .dual_rate = 0.1,
                             .memory = 0.5,
                             .unit = 0.5,
                             .settle = true};
  const BudgetOptions record{.form = BudgetForm::kRecord, .limit = 0.3, .weight = 5};
  const BudgetOptions record_mean{.form = BudgetForm::kRecordMean, .limit = 0.3, .weight = 5};
  const BudgetOptions weighted{.form = BudgetForm::kWeighted, .weight = 5};
  const MechanismOptions code_of_images{
      .kind = K::kNoisyCode, .released = 6, .hidden = {5}, .decoder = {5}, .sigmoid_output = true};
  GameOptions both{
      code_of_images, small, DistortionKind::kPixelCrossEntropy, {.hidden = {4}, .skip = true}, dual};
  both.code_weight = 0.2;
  both.second = {.price = 0.7};
  GameOptions taught = both;
  taught.utility_frozen = true;
  GameOptions task_first{code_of_images, small, DistortionKind::kInformation, {.hidden = {4}}, weighted};
  task_first.mechanism.draws = 2;
  task_first.second = {.kind = DistortionKind::kPixelCrossEntropy, .price = 1.5};
  // Draws whose weights are learned pay for the task too.
  GameOptions mixed{{.kind = K::kMixture, .released = 6, .hidden = {5}, .components = 2},
                    small,
                    kSquared,
                    {.hidden = {4}},
                    record};
  mixed.second = {.price = 2};
  return {
      {"noise_input",
       World::kGaussian,
       {{.kind = K::kNoiseInput, .hidden = {5, 5}}, small, kSquared, {}, expected}},
      {"noise_input_draws",
       World::kGaussian,
       {{.kind = K::kNoiseInput, .hidden = {5, 5}, .draws = 3}, small, kSquared, {}, record}},
      {"noise_input_draws_averaged",
       World::kGaussian,
       {{.kind = K::kNoiseInput, .hidden = {5, 5}, .draws = 3}, small, kSquared, {}, record_mean}},
      {"finite_record",
       World::kDiscrete,
       {{.kind = K::kFinite, .released = 4}, {}, DistortionKind::kError, {}, record}},
      {"finite_record_averaged",
       World::kDiscrete,
       {{.kind = K::kFinite, .released = 4}, {}, DistortionKind::kError, {}, record_mean}},
      {"mixture_record",
       World::kGaussian,
       {{.kind = K::kMixture, .hidden = {5}}, small, kSquared, {}, record}},
      {"gated_record",
       World::kImages,
       {{.kind = K::kNoisyCode,
         .released = 6,
         .hidden = {5},
         .draws = 2,
         .decoder = {5},
         .gate = {4},
         .sigmoid_output = true},
        small,
        DistortionKind::kPixelCrossEntropy,
        {},
        record}},
      {"finite_alpha",
       World::kDiscrete,
       {{.kind = K::kFinite, .released = 4}, {}, DistortionKind::kError, {}, expected, {}, 0, {}, 2}},
      {"finite_vulnerability",
       World::kDiscrete,
       {{.kind = K::kFinite, .released = 4, .hidden = {5}},
        small,
        DistortionKind::kError,
        {},
        expected,
        {},
        0,
        {},
        std::numeric_limits<double>::infinity()}},
      {"images_alpha",
       World::kImages,
       {{.kind = K::kNoisyCode, .released = 6, .hidden = {5}, .decoder = {5}, .sigmoid_output = true},
        small,
        DistortionKind::kPixelCrossEntropy,
        {},
        weighted,
        {},
        0,
        {},
        8}},
      {"refined",
       World::kGaussian,
       {{.kind = K::kNoiseInput, .hidden = {5}, .skip = true, .noise_inputs = 2},
        {.hidden = {5}, .skip = true, .standardise = true},
        kSquared,
        {},
        dual}},
      {"gaussian", World::kGaussian, {{.kind = K::kGaussian, .hidden = {5}}, small, kSquared, {}, dual}},
      {"steady_budget",
       World::kGaussian,
       {{.kind = K::kGaussian, .hidden = {5}}, small, kSquared, {}, steady}},
      {"gaussian_chain",
       World::kChain,
       {{.kind = K::kGaussian, .released = 2, .hidden = {5}, .draws = 2}, small, kSquared, {}, expected}},
      {"mixture", World::kGaussian, {{.kind = K::kMixture, .hidden = {5}}, small, kSquared, {}, expected}},
      {"mixture_discriminator",
       World::kImages,
       {{.kind = K::kMixture, .released = 6, .hidden = {5}, .components = 2},
        small,
        kSquared,
        {},
        weighted,
        {.weight = 2, .hidden = {4}}}},
      {"finite",
       World::kDiscrete,
       {{.kind = K::kFinite, .released = 4}, {}, DistortionKind::kError, {}, expected}},
      {"finite_tables",
       World::kDiscrete,
       {{.kind = K::kFinite, .released = 4}, {.bias = false}, DistortionKind::kError, {}, dual}},
      {"finite_tables_alpha",
       World::kDiscrete,
       {{.kind = K::kFinite, .released = 4},
        {.bias = false},
        DistortionKind::kError,
        {},
        expected,
        {},
        0,
        {},
        8}},
      {"finite_network",
       World::kDiscrete,
       {{.kind = K::kFinite, .released = 4, .hidden = {5}}, small, DistortionKind::kError, {}, dual}},
      {"bottleneck",
       World::kDiscrete,
       {{.kind = K::kFinite, .released = 4}, {}, DistortionKind::kInformation, {}, weighted}},
      {"gumbel",
       World::kDiscrete,
       {{.kind = K::kGumbel, .released = 4, .hidden = {5}, .draws = 2},
        small,
        DistortionKind::kError,
        {},
        expected}},
      {"noisy_code",
       World::kChain,
       {{.kind = K::kNoisyCode, .released = 2, .hidden = {5}, .code = 2, .decoder = {4}},
        small,
        kSquared,
        {},
        expected}},
      {"noisy_code_information",
       World::kGaussian,
       {{.kind = K::kNoisyCode, .hidden = {5}, .draws = 2},
        small,
        DistortionKind::kInformation,
        {.hidden = {4}},
        weighted,
        {},
        0.3}},
      {"images",
       World::kImages,
       {{.kind = K::kNoiseInput, .released = 6, .hidden = {5}, .noise_inputs = 2, .sigmoid_output = true},
        small,
        DistortionKind::kPixelCrossEntropy,
        {},
        weighted,
        {.weight = 2, .hidden = {4}}}},
      {"noisy_code_images",
       World::kImages,
       {{.kind = K::kNoisyCode, .released = 6, .hidden = {5}, .decoder = {5}, .sigmoid_output = true},
        small,
        DistortionKind::kPixelCrossEntropy,
        {},
        dual,
        {.weight = 0.5, .hidden = {4}},
        0.2}},
      {"gated_images",
       World::kImages,
       {{.kind = K::kNoisyCode,
         .released = 6,
         .hidden = {5},
         .draws = 2,
         .decoder = {5},
         .gate = {4},
         .sigmoid_output = true},
        small,
        DistortionKind::kPixelCrossEntropy,
        {},
        weighted,
        {},
        0.2}},
      {"gated_chain",
       World::kChain,
       {{.kind = K::kNoisyCode, .released = 2, .hidden = {5}, .code = 2, .decoder = {4}, .gate = {4}},
        small,
        kSquared,
        {},
        dual}},
      {"images_and_task", World::kTask, both},
      {"images_and_frozen_task", World::kTask, taught},
      {"task_and_images", World::kTaskFirst, task_first},
      {"mixture_and_task", World::kTask, mixed},
  };
}

}  // namespace ppan::testing
