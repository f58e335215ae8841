#pragma once

// A softmax network that learns a label from images, dense or convolutional: an attacker, or a recipient.

#include <optional>
#include <string>
#include <vector>

#include "ppan/core/random.h"
#include "ppan/image/conv_network.h"
#include "ppan/nn/adam.h"
#include "ppan/nn/mlp.h"

namespace ppan {

struct ImageLearning {
  Index images = 0;  ///< Releases learned from so far.
  double nats = 0;   ///< Found then on the selection images: H - log loss.
};

/// Adam's rate after the fraction `along` of a training: it falls to a twentieth along half a cosine.
double falling_rate(double rate, double along);

class ImageLearner {
 public:
  ImageLearner(std::string name, MlpShape shape, SeededRandom random);
  ImageLearner(std::string name, ConvShape shape, SeededRandom random);

  [[nodiscard]] const std::string& name() const { return name_; }

  /// One step of descent of the mean log loss of these labels, each image weighted by `weight`, if given.
  void step(const Matrix<float>& images, const Symbols& labels, double rate,
            const Vector<float>* weight = nullptr);
  /// log Q of each label, a row for each image.
  [[nodiscard]] Matrix<float> log_probability(const Matrix<float>& images);

  /// Keeps the parameters that did best on the selection images, as told after each epoch.
  void epoch_done(Index images, double nats);
  void take_best() { parameters_ = best_; }
  [[nodiscard]] const std::vector<ImageLearning>& learning() const { return learning_; }
  [[nodiscard]] double best_nats() const { return best_nats_; }

 private:
  const Matrix<float>& forward(const Matrix<float>& in);

  std::string name_;
  std::optional<Mlp<float>> dense_;
  std::optional<ConvNetwork<float>> conv_;
  Vector<float> parameters_;
  Vector<float> best_;
  double best_nats_ = 0;
  std::vector<ImageLearning> learning_;
  Adam<float> adam_;
  Vector<float> gradient_;
  Matrix<float> d_output_;
  MlpWorkspace<float> dense_workspace_;
  ConvWorkspace<float> conv_workspace_;
};

}  // namespace ppan
