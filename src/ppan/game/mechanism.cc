#include "ppan/game/mechanism.h"

#include <array>
#include <utility>

#include "ppan/core/suggest.h"
#include "ppan/game/finite_mechanism.h"
#include "ppan/game/gaussian_mechanism.h"
#include "ppan/game/mixture_mechanism.h"
#include "ppan/game/noise_input_mechanism.h"
#include "ppan/game/noisy_code_mechanism.h"

namespace ppan {
namespace {

constexpr std::array<std::pair<MechanismKind, std::string_view>, 6> kNames{{
    {MechanismKind::kFinite, "finite"},
    {MechanismKind::kGumbel, "gumbel"},
    {MechanismKind::kGaussian, "gaussian"},
    {MechanismKind::kMixture, "mixture"},
    {MechanismKind::kNoiseInput, "noise-input"},
    {MechanismKind::kNoisyCode, "noisy-code"},
}};

}  // namespace

std::string_view to_string(MechanismKind kind) {
  for (const auto& [k, name] : kNames) {
    if (k == kind) return name;
  }
  return "unknown";
}

std::vector<std::string> mechanism_names() {
  std::vector<std::string> names;
  for (const auto& [kind, name] : kNames) names.emplace_back(name);
  return names;
}

MechanismKind mechanism_kind(std::string_view name) {
  for (const auto& [kind, n] : kNames) {
    if (n == name) return kind;
  }
  throw Error(ErrorCode::kUsage, unknown_name("mechanism", name, mechanism_names()));
}

Problems MechanismOptions::check() const {
  ProblemList list;
  const auto at_least_one = [&](std::string_view field, Index value) {
    list.require_at_least(field, static_cast<double>(value), 1);
  };
  at_least_one("released", released);
  at_least_one("draws", draws);
  for (const Index units : hidden) at_least_one("hidden", units);
  switch (kind) {
    case MechanismKind::kFinite:
      list.require(released >= 2, "released", "a finite alphabet needs at least 2 symbols");
      break;
    case MechanismKind::kGumbel:
      list.require(released >= 2, "released", "a finite alphabet needs at least 2 symbols");
      list.require_positive("temperature", temperature);
      break;
    case MechanismKind::kGaussian:
      break;
    case MechanismKind::kMixture:
      at_least_one("components", components);
      break;
    case MechanismKind::kNoiseInput:
      at_least_one("noise_inputs", noise_inputs);
      list.require(noise != NoiseKind::kGumbel, "noise", "must be uniform or normal");
      break;
    case MechanismKind::kNoisyCode:
      at_least_one("code", code);
      list.require_positive("code_radius", code_radius);
      for (const Index units : decoder) at_least_one("decoder", units);
      break;
  }
  for (const Index units : gate) at_least_one("gate", units);
  list.require(gate.empty() || kind == MechanismKind::kNoisyCode, "gate", "only a noisy code has a gate");
  return list.take();
}

template <typename Scalar>
void Mechanism<Scalar>::fill_noise(RandomSource& random, Index records, Matrix<Scalar>& noise) const {
  if (noise_width_ == 0) return;
  noise.resize(records * options_.draws, noise_width_);
  switch (noise_kind_) {
    case NoiseKind::kUniform:
      fill_uniform(random, Scalar(-1), Scalar(1), noise);
      break;
    case NoiseKind::kNormal:
      fill_normal(random, noise);
      break;
    case NoiseKind::kGumbel:  // -log(-log u), u in (0, 1)
      fill_uniform(random, Scalar(1e-7), Scalar(1) - Scalar(1e-7), noise);
      noise.array() = -(-noise.array().log()).log();
      break;
  }
}

template <typename Scalar>
Attribute<Scalar> Mechanism<Scalar>::release(const Attribute<Scalar>& observed, RandomSource& random) {
  if (options_.draws != 1) return clone(1)->release(observed, random);
  Matrix<Scalar> noise;
  Draws<Scalar> draws;
  fill_noise(random, observed.rows(), noise);
  draw(observed, noise, draws);
  const bool finite = options_.kind == MechanismKind::kFinite || options_.kind == MechanismKind::kGumbel;
  Attribute<Scalar> out;
  if (finite) {
    out.levels = static_cast<std::int32_t>(options_.released);
    out.code.resize(static_cast<std::size_t>(draws.records));
  } else {
    out.value.resize(draws.records, options_.released);
  }
  std::vector<double> probability(static_cast<std::size_t>(finite ? options_.released : draws.per_record));
  for (Index i = 0; i < draws.records; ++i) {
    if (options_.kind == MechanismKind::kGumbel) {  // the hard version of the soft draw: its largest entry
      Index symbol = 0;
      draws.released.row(i).maxCoeff(&symbol);
      out.code[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(symbol);
      continue;
    }
    Index pick = 0;
    if (draws.per_record > 1) {
      for (Index k = 0; k < draws.per_record; ++k) {
        probability[static_cast<std::size_t>(k)] = static_cast<double>(draws.weight(i, k));
      }
      pick = draw_index(random, probability);
    }
    if (finite) {
      out.code[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(pick);
    } else if (draws.rest_unchanged && random.uniform() >= static_cast<double>(draws.weight(i, 0))) {
      out.value.row(i) = observed.value.row(i);
    } else {
      out.value.row(i) = draws.released.row(pick * draws.records + i);
    }
  }
  return out;
}

template <typename Scalar>
std::unique_ptr<Mechanism<Scalar>> make_mechanism(const MechanismOptions& options,
                                                  const Attribute<Scalar>& observed) {
  require_none(options.check(), "a mechanism with these options cannot be built:");
  switch (options.kind) {
    case MechanismKind::kFinite:
    case MechanismKind::kGumbel:
      return std::make_unique<FiniteMechanism<Scalar>>(options, observed);
    case MechanismKind::kGaussian:
      return std::make_unique<GaussianMechanism<Scalar>>(options, observed);
    case MechanismKind::kMixture:
      return std::make_unique<MixtureMechanism<Scalar>>(options, observed);
    case MechanismKind::kNoiseInput:
      return std::make_unique<NoiseInputMechanism<Scalar>>(options, observed);
    case MechanismKind::kNoisyCode:
      return std::make_unique<NoisyCodeMechanism<Scalar>>(options, observed);
  }
  throw Error(ErrorCode::kInternal, "mechanism kind without a maker");
}

template class Mechanism<float>;
template std::unique_ptr<Mechanism<float>> make_mechanism(const MechanismOptions&, const Attribute<float>&);
template class Mechanism<double>;
template std::unique_ptr<Mechanism<double>> make_mechanism(const MechanismOptions&, const Attribute<double>&);

}  // namespace ppan
