#include "ppan/image/image_learner.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "ppan/game/softmax.h"

namespace ppan {
namespace {

constexpr double kFinalRate = 0.05;

}  // namespace

double falling_rate(double rate, double along) {
  return rate * (kFinalRate + (1 - kFinalRate) * 0.5 * (1 + std::cos(std::numbers::pi * along)));
}

ImageLearner::ImageLearner(std::string name, MlpShape shape, SeededRandom random)
    : name_(std::move(name)), dense_(std::move(shape)) {
  parameters_.setZero(dense_->parameter_count());
  dense_->initialise(random, parameters_.data());
}

ImageLearner::ImageLearner(std::string name, ConvShape shape, SeededRandom random)
    : name_(std::move(name)), conv_(std::move(shape)) {
  parameters_.setZero(conv_->parameter_count());
  conv_->initialise(random, parameters_.data());
}

const Matrix<float>& ImageLearner::forward(const Matrix<float>& in) {
  return conv_ ? conv_->forward(parameters_.data(), in, conv_workspace_)
               : dense_->forward(parameters_.data(), in, dense_workspace_);
}

void ImageLearner::step(const Matrix<float>& images, const Symbols& labels, double rate,
                        const Vector<float>* weight) {
  softmax_rows(forward(images), d_output_);
  for (Index i = 0; i < d_output_.rows(); ++i) d_output_(i, labels[static_cast<std::size_t>(i)]) -= 1;
  const auto rows = static_cast<float>(d_output_.rows());
  if (weight) {
    d_output_.array().colwise() *= weight->array() / rows;
  } else {
    d_output_ /= rows;
  }
  gradient_.resize(parameters_.size());
  if (conv_) {
    conv_->backward(parameters_.data(), d_output_, conv_workspace_, gradient_.data());
  } else {
    dense_->backward(parameters_.data(), images, d_output_, dense_workspace_, gradient_.data(), nullptr);
  }
  adam_.step(rate, gradient_, parameters_);
}

Matrix<float> ImageLearner::log_probability(const Matrix<float>& images) {
  constexpr Index kBlock = 1000;
  Matrix<float> out;
  Matrix<float> part;
  for (Index first = 0; first < images.rows(); first += kBlock) {
    const Index rows = std::min(kBlock, images.rows() - first);
    const Matrix<float> block = images.middleRows(first, rows);
    log_softmax_rows(forward(block), part);
    if (first == 0) out.resize(images.rows(), part.cols());
    out.middleRows(first, rows) = part;
  }
  return out;
}

void ImageLearner::epoch_done(Index images, double nats) {
  if (learning_.empty() || nats > best_nats_) {
    best_nats_ = nats;
    best_ = parameters_;
  }
  learning_.push_back({images, nats});
}

}  // namespace ppan
