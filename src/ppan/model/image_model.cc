#include "ppan/model/image_model.h"

#include <algorithm>
#include <cmath>

namespace ppan {
namespace {

constexpr double kWeightTolerance = 1e-9;
constexpr Index kBlock = 1000;  // images released together: enough for full speed, little memory

Attribute<float> image_shape(Index pixels) {
  Attribute<float> shape;
  shape.value.resize(0, pixels);
  return shape;
}

}  // namespace

Problems ImageModel::check() const {
  ProblemList list;
  list.require_between("height", static_cast<double>(height), 1, static_cast<double>(kMostImageSide));
  list.require_between("width", static_cast<double>(width), 1, static_cast<double>(kMostImageSide));
  list.require(!components.empty(), "components", "there must be at least one");
  double total = 0;
  for (const ImageComponent& c : components) {
    list.require_inside("weight", c.weight, 0, 1 + kWeightTolerance);
    total += c.weight;
    if (c.kind == ComponentKind::kConstant) {
      list.require(
          c.constant.size() == pixels() && (c.constant.array() >= 0).all() && (c.constant.array() <= 1).all(),
          "constant", "must be an image of this size with brightness from 0 to 1");
    }
    if (c.kind != ComponentKind::kTrained) continue;
    const MechanismOptions& m = c.mechanism;
    list.add("mechanism", m.check());
    list.require(m.kind == MechanismKind::kNoiseInput || m.kind == MechanismKind::kNoisyCode,
                 "mechanism.kind", "must be noise-input or noisy-code");
    list.require(m.sigmoid_output && m.released == pixels(), "mechanism.released",
                 "must be the pixels of an image, by a sigmoid");
    list.require(c.parameters.allFinite(), "parameters", "must be finite");
  }
  list.require(std::abs(total - 1) <= kWeightTolerance, "weight", "the weights must sum to 1");
  return list.take();
}

ImageReleaser::ImageReleaser(const ImageModel& model) : model_(model) {
  require_none(model_.check(), "this is not a model for images:", ErrorCode::kBadInput);
  for (const ImageComponent& component : model_.components) {
    mechanism_.emplace_back();
    if (component.kind != ComponentKind::kTrained) continue;
    MechanismOptions options = component.mechanism;
    options.draws = 1;
    mechanism_.back() = make_mechanism(options, image_shape(model_.pixels()));
    if (mechanism_.back()->parameters().size() != component.parameters.size()) {
      throw Error(ErrorCode::kBadInput, "this is not a model for images: a network has " +
                                            std::to_string(component.parameters.size()) +
                                            " parameters instead of " +
                                            std::to_string(mechanism_.back()->parameters().size()));
    }
    mechanism_.back()->parameters() = component.parameters;
  }
}
ImageReleaser::~ImageReleaser() = default;

void ImageReleaser::release(const Matrix<float>& pixels, RandomSource& random, Matrix<float>& released) {
  if (pixels.cols() != model_.pixels()) {
    throw Error(ErrorCode::kBadInput, "the model is for images of " + std::to_string(model_.height) + " x " +
                                          std::to_string(model_.width) + " pixels");
  }
  std::vector<double> weights;
  for (const ImageComponent& c : model_.components) weights.push_back(c.weight);
  std::vector<std::vector<Index>> rows(weights.size());
  for (Index i = 0; i < pixels.rows(); ++i) {
    const std::int64_t pick = weights.size() == 1 ? 0 : draw_index(random, weights);
    rows[static_cast<std::size_t>(pick)].push_back(i);
  }
  released.resize(pixels.rows(), pixels.cols());
  Attribute<float> part;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    const ImageComponent& component = model_.components[c];
    for (std::size_t first = 0; first < rows[c].size(); first += kBlock) {
      const std::vector<Index> block(
          rows[c].begin() + static_cast<std::ptrdiff_t>(first),
          rows[c].begin() + static_cast<std::ptrdiff_t>(std::min(first + kBlock, rows[c].size())));
      switch (component.kind) {
        case ComponentKind::kUnchanged:
          released(block, Eigen::all) = pixels(block, Eigen::all);
          break;
        case ComponentKind::kConstant:
          for (const Index i : block) released.row(i) = component.constant.transpose();
          break;
        case ComponentKind::kTrained:
          part.value = pixels(block, Eigen::all);
          released(block, Eigen::all) = mechanism_[c]->release(part, random).value;
          break;
        case ComponentKind::kCodebook:
        case ComponentKind::kHeads:
          throw Error(ErrorCode::kInternal, "this kind of component releases tables");
      }
    }
  }
}

ImageSet release_images(const ImageModel& model, const ImageSet& set, RandomSource& random) {
  ImageSet out = set;
  ImageReleaser(model).release(set.pixels, random, out.pixels);
  return out;
}

Vector<double> pixel_cross_entropy(const Matrix<float>& y, const Matrix<float>& z) {
  constexpr double kLeast = 1e-7;
  Vector<double> sum = Vector<double>::Zero(y.rows());
  for (Index j = 0; j < y.cols(); ++j) {
    const auto b = y.col(j).cast<double>().array();
    const auto p = z.col(j).cast<double>().array().max(kLeast).min(1 - kLeast);
    sum.array() -= b * p.log() + (1 - b) * (1 - p).log();
  }
  return sum / static_cast<double>(y.cols());
}

}  // namespace ppan
