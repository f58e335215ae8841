#include "ppan/model/image_release_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ppan/core/error.h"
#include "ppan/core/printable.h"
#include "ppan/game/mechanism_json.h"
#include "ppan/model/model_file.h"

namespace ppan {
namespace {

using nlohmann::json;

constexpr const char* kKind = "images";
constexpr int kPartsVersion = 1;
constexpr std::size_t kMostComponents = 64;
constexpr int kMostClasses = 65536;
constexpr std::array kKinds{ComponentKind::kUnchanged, ComponentKind::kConstant, ComponentKind::kTrained};
[[noreturn]] void malformed(const std::string& what) {
  throw Error(ErrorCode::kBadInput, "the model's description is malformed: " + what);
}

// The member of `all` whose name stands under `key`.
template <typename Enum, std::size_t Count>
Enum named(const std::array<Enum, Count>& all, const json& from, const char* key) {
  const auto name = from.at(key).get<std::string>();
  for (const Enum each : all) {
    if (to_string(each) == name) return each;
  }
  malformed(fmt::format("\"{}\" is \"{}\"", key, name));
}

Index count(const json& from, const char* key, Index most) {
  const json& value = from.at(key);
  if (!value.is_number_integer()) malformed(fmt::format("\"{}\" is not a whole number", key));
  const auto number = value.get<std::int64_t>();
  if (number < 1 || number > most) malformed(fmt::format("\"{}\" is {}", key, number));
  return number;
}

Tensor tensor_of(const Vector<float>& vector) {
  return {{vector.size()}, std::vector<float>(vector.begin(), vector.end())};
}

// The vector of this name, which must have at least (or exactly) so many numbers.
Vector<float> vector_of(const ModelContainer& container, const std::string& name, Index least, bool exactly) {
  const auto at = container.tensors.find(name);
  const auto* values =
      at == container.tensors.end() ? nullptr : std::get_if<std::vector<float>>(&at->second.values);
  if (values == nullptr || at->second.shape.size() != 1)
    malformed(fmt::format("there is no F32 vector '{}'", name));
  const auto size = static_cast<Index>(values->size());
  if (size < least || (exactly && size != least))
    malformed(fmt::format("'{}' holds {} numbers, where {} are needed", name, size, least));
  return Eigen::Map<const Vector<float>>(values->data(), size);
}

std::string tensor_name(std::size_t component) {
  return fmt::format("component-{}", component);
}

ImageModel images_of(const ModelContainer& container) {
  const json& from = container.metadata.at("model");
  if (const auto kind = from.at("kind").get<std::string>(); kind != kKind)
    malformed(fmt::format("it is of kind \"{}\"", kind));
  if (const auto version = from.at("version").get<std::int64_t>(); version != kPartsVersion)
    malformed(fmt::format("version {} of models of images is not known", version));
  ImageModel out{.height = count(from, "height", kMostImageSide),
                 .width = count(from, "width", kMostImageSide),
                 .classes = static_cast<int>(count(from, "classes", kMostClasses))};
  const json& components = from.at("components");
  if (!components.is_array() || components.empty() || components.size() > kMostComponents)
    malformed(fmt::format("\"components\" must be 1 to {}", kMostComponents));
  std::size_t tensors = 0;
  for (std::size_t i = 0; i < components.size(); ++i) {
    const json& each = components[i];
    ImageComponent component{.kind = named(kKinds, each, "kind"),
                             .weight = each.at("weight").get<double>(),
                             .label = each.at("label").get<std::string>()};
    if (component.kind == ComponentKind::kConstant) {
      component.constant = vector_of(container, tensor_name(i), out.pixels(), true);
      ++tensors;
    } else if (component.kind == ComponentKind::kTrained) {
      component.mechanism =
          mechanism_from_json(each.at("mechanism"), {.released = out.pixels(), .sigmoid_output = true});
      component.parameters =
          vector_of(container, tensor_name(i), least_parameters(component.mechanism, out.pixels()), false);
      ++tensors;
    }
    out.components.push_back(std::move(component));
  }
  if (tensors != container.tensors.size()) malformed("it holds tensors that no component uses");
  // Builds each network, and so checks its number of parameters.
  const ImageReleaser usable(out);
  return out;
}

std::string component_text(const ImageComponent& component) {
  const std::string label = component.label.empty() ? "" : fmt::format("; labelled \"{}\"", component.label);
  if (component.kind == ComponentKind::kUnchanged) return "released unchanged" + label;
  if (component.kind == ComponentKind::kConstant)
    return "replaced by one image for everybody (constant)" + label;
  std::string text = fmt::format("a network: {}, {} parameters", to_string(component.mechanism.kind),
                                 component.parameters.size());
  if (component.mechanism.kind == MechanismKind::kNoisyCode)
    text += fmt::format(", code of {} numbers within ±{:g}", component.mechanism.code,
                        component.mechanism.code_radius);
  if (!component.mechanism.gate.empty())
    text += "; a gate releases images unchanged that are expensive to hide";
  return text + label;
}

bool same_images(const ImageReleaseModel& a, const ImageReleaseModel& b) {
  return a.images.height == b.images.height && a.images.width == b.images.width &&
         a.class_names == b.class_names;
}

}  // namespace

ModelContainer to_container(const ImageReleaseModel& model) {
  ModelContainer out;
  json components = json::array();
  for (std::size_t i = 0; i < model.images.components.size(); ++i) {
    const ImageComponent& component = model.images.components[i];
    json each{{"kind", to_string(component.kind)}, {"weight", component.weight}, {"label", component.label}};
    if (component.kind == ComponentKind::kConstant)
      out.tensors.emplace(tensor_name(i), tensor_of(component.constant));
    if (component.kind == ComponentKind::kTrained) {
      each["mechanism"] = mechanism_to_json(component.mechanism);
      out.tensors.emplace(tensor_name(i), tensor_of(component.parameters));
    }
    components.push_back(std::move(each));
  }
  out.metadata = {{"model",
                   {{"kind", kKind},
                    {"version", kPartsVersion},
                    {"height", model.images.height},
                    {"width", model.images.width},
                    {"classes", model.images.classes},
                    {"class_names", model.class_names},
                    {"components", std::move(components)}}},
                  {"origin", to_json(model.origin)}};
  if (model.audit) out.metadata["audit"] = to_json(*model.audit);
  return out;
}

ImageReleaseModel image_model_from_container(const ModelContainer& container, std::string_view name) {
  const auto refuse = [&](std::string_view what) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} is not a usable model file: {}", name, what),
                "fetch the file again, or train the model anew");
  };
  ImageReleaseModel out;
  try {
    out.images = images_of(container);
    out.class_names = container.metadata.at("model").at("class_names").get<std::vector<std::string>>();
    if (out.class_names.size() != static_cast<std::size_t>(out.images.classes))
      malformed(fmt::format("{} classes have {} names", out.images.classes, out.class_names.size()));
    out.origin = origin_from_json(container.metadata.at("origin"));
    if (container.metadata.contains("audit")) out.audit = audit_from_json(container.metadata.at("audit"));
    out.checksum = container.checksum;
    out.signer = container.signer;
  } catch (const json::exception& error) {
    refuse(fmt::format("its description is not that of a model of images ({})", error.what()));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) throw;
    refuse(error.what());
  }
  return out;
}

void save_model(const std::filesystem::path& path, const ImageReleaseModel& model, const SigningKey* key) {
  require_none(model.images.check(), "this model cannot be saved", ErrorCode::kInternal);
  write_model(path, to_container(model), key);
}

ImageReleaseModel mix_models(const ImageReleaseModel& first, const ImageReleaseModel& second,
                             double second_weight) {
  if (second_weight == 0) return first;
  if (second_weight == 1) return second;
  if (!same_images(first, second))
    throw Error(ErrorCode::kUsage, "the two models are for different images", "mix points of one run");
  ImageReleaseModel out = first;
  out.audit.reset();
  out.checksum.clear();
  out.signer.clear();
  for (ImageComponent& component : out.images.components) component.weight *= 1 - second_weight;
  for (ImageComponent component : second.images.components) {
    component.weight *= second_weight;
    out.images.components.push_back(std::move(component));
  }
  out.origin = mix_origins(first.origin, second.origin, second_weight);
  return out;
}

std::string describe(const ImageReleaseModel& model, InformationUnit unit) {
  const ModelOrigin& origin = model.origin;
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) out += fmt::format("{:<11}{}\n", name, printable(text));
  };
  line("model", origin.title.empty() ? origin.label : fmt::format("{}, {}", origin.title, origin.label));
  line("images",
       fmt::format("{} x {} pixels (height x width), grey", model.images.height, model.images.width));
  constexpr std::size_t kShown = 12;
  const auto shown = std::min(model.class_names.size(), kShown);
  line("sensitive",
       fmt::format("the label, one of {}: {}{}", model.images.classes,
                   fmt::join(model.class_names.begin(),
                             model.class_names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                   shown < model.class_names.size() ? ", ..." : ""));
  for (const ImageComponent& component : model.images.components)
    line("mechanism",
         fmt::format("{:.4g} % of the images: {}", 100 * component.weight, component_text(component)));
  if (origin.budget) line("budget", fmt::format("{:.4g}", *origin.budget));
  if (origin.distortion)
    line("distortion",
         fmt::format("{:.4g} nats per pixel on held-out images (cross-entropy)", *origin.distortion));
  for (const auto& [name, text] : origin_lines(origin, "images", unit)) line(name, text);
  for (const auto& [name, text] : audit_lines(model.audit, "images", unit)) line(name, text);
  line("checksum", model.checksum.empty() ? "" : "sha256 " + model.checksum);
  line("signed", model.signer.empty() ? "no" : "with the key " + model.signer);
  return out;
}

json to_json(const ImageReleaseModel& model) {
  json out = to_container(model).metadata;
  out["audited"] = model.audit.has_value();
  out["checksum"] = model.checksum;
  out["signer"] = model.signer;
  return out;
}

ImageSet release_images(const ImageReleaseModel& model, const ImageSet& set, RandomSource& random,
                        std::string_view name) {
  if (set.height != model.images.height || set.width != model.images.width)
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}: images of {} x {} pixels (height x width), but the model is for {} x {}",
                            name, set.height, set.width, model.images.height, model.images.width),
                "scale the images, or train a model for this size");
  ImageSet out{.height = set.height, .width = set.width, .files = set.files};
  ImageReleaser(model.images).release(set.pixels, random, out.pixels);
  return out;
}

const std::string& signer_of(const AnyModel& model) {
  return std::visit([](const auto& each) -> const std::string& { return each.signer; }, model);
}

AnyModel any_model_from_container(const ModelContainer& container, std::string_view name) {
  const auto model = container.metadata.find("model");
  const bool images =
      model != container.metadata.end() && model->is_object() && model->value("kind", json()) == kKind;
  if (images) return image_model_from_container(container, name);
  return from_container(container, name);
}

AnyModel load_any_model(const std::filesystem::path& path) {
  return any_model_from_container(read_model(path), path.string());
}

std::string describe(const AnyModel& model, InformationUnit unit) {
  return std::visit([&](const auto& one) { return describe(one, unit); }, model);
}

std::string json_text(const AnyModel& model) {
  return std::visit([](const auto& one) { return to_json(one).dump(2) + "\n"; }, model);
}

}  // namespace ppan
