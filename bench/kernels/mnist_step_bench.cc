// One iteration of the paper's experiment on MNIST, as `ppan paper mnist --preset paper` and
// bench/peers/mnist_step.py do it: batch 100, one draw, on which the adversary and then the mechanism is
// updated, on random images; and the time of nothing but the matrix products in it, by OpenBLAS, in turns.
// One thread.
//   bench_mnist_step [--iterations N] [--repeats N]
// Prints one JSON object: medians over the repeats, in microseconds for an iteration, of wall-clock time
// (us_per_iteration, sgemm_us) and of processor time (cpu_us_per_iteration, cpu_sgemm_us).

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "ppan/nn/blas.h"
#include "ppan/train/match.h"

namespace {

using ppan::Index;
using ppan::Matrix;
using ppan::SeededRandom;
using ppan::Vector;

constexpr Index kPixels = 784;
constexpr Index kNoise = 20;
constexpr Index kUnits = 1000;
constexpr std::int32_t kDigits = 10;
constexpr Index kBatch = 100;
constexpr Index kImages = 2000;

ppan::GameOptions paper_game() {
  ppan::GameOptions game;
  game.mechanism = {.kind = ppan::MechanismKind::kNoiseInput,
                    .released = kPixels,
                    .hidden = {kUnits, kUnits},
                    .activation = ppan::Activation::kTanh,
                    .noise_inputs = kNoise,
                    .sigmoid_output = true};
  game.adversary = {.hidden = {kUnits, kUnits}, .activation = ppan::Activation::kTanh};
  game.distortion = ppan::DistortionKind::kPixelCrossEntropy;
  game.budget = {.form = ppan::BudgetForm::kWeighted, .weight = 15};
  return game;
}

ppan::Records<float> random_images() {
  SeededRandom random(1);
  ppan::Attribute<float> image;
  image.value.resize(kImages, kPixels);
  fill_uniform(random, 0.0F, 1.0F, image.value);
  ppan::Attribute<float> digit{.levels = kDigits};
  for (Index i = 0; i < kImages; ++i)
    digit.code.push_back(static_cast<std::int32_t>(random.index(static_cast<std::uint64_t>(kDigits))));
  return {image, {digit}, image};
}

class Training {
 public:
  Training() : records_(random_images()), match_(paper_game(), records_), noise_stream_(2) {
    match_.initialise(SeededRandom(3));
    order_.resize(kImages);
    std::iota(order_.begin(), order_.end(), 0);
  }
  double iterate() {
    gather(records_, order_.data() + next_ * kBatch, kBatch, batch_);
    next_ = (next_ + 1) % (kImages / kBatch);
    match_.mechanism().fill_noise(noise_stream_, kBatch, noise_);
    match_.draw(batch_, noise_);
    match_.step_adversary(batch_, 1e-3);
    return match_.step_mechanism(batch_, 1e-3).loss();
  }

 private:
  ppan::Records<float> records_;
  ppan::Match<float> match_;
  SeededRandom noise_stream_;
  std::vector<std::int32_t> order_;
  Index next_ = 0;
  ppan::Records<float> batch_;
  Matrix<float> noise_;
};

// Matrices of one network: every layer has weights, their gradient and an activation of its own, as in
// training, so that the products find as much of them in the cache as they would there.
struct Layers {
  explicit Layers(const std::vector<Index>& widths) {
    SeededRandom random(4);
    for (std::size_t l = 0; l < widths.size(); ++l) {
      fill_normal(random, activation.emplace_back(kBatch, widths[l]));
      gradient.emplace_back(Matrix<float>::Zero(kBatch, widths[l]));
      if (l == 0) continue;
      fill_normal(random, weight.emplace_back(widths[l - 1], widths[l]));
      weight_gradient.emplace_back(Matrix<float>::Zero(widths[l - 1], widths[l]));
    }
  }
  // Z = A W
  void forward() {
    for (std::size_t l = 0; l < weight.size(); ++l)
      sgemm(CblasNoTrans, CblasNoTrans, activation[l], weight[l], gradient[l + 1]);
  }
  // dA = dZ W^T, down to layer `last`
  void input(std::size_t last) {
    for (std::size_t l = weight.size(); l-- > last;)
      sgemm(CblasNoTrans, CblasTrans, gradient[l + 1], weight[l], gradient[l]);
  }
  // dW = A^T dZ
  void weights() {
    for (std::size_t l = weight.size(); l-- > 0;)
      sgemm(CblasTrans, CblasNoTrans, activation[l], gradient[l + 1], weight_gradient[l]);
  }
  static void sgemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, const Matrix<float>& a, const Matrix<float>& b,
                    Matrix<float>& c) {
    const auto inner = ta == CblasNoTrans ? a.cols() : a.rows();
    cblas_sgemm(CblasColMajor, ta, tb, static_cast<int>(c.rows()), static_cast<int>(c.cols()),
                static_cast<int>(inner), 1.0F, a.data(), static_cast<int>(a.rows()), b.data(),
                static_cast<int>(b.rows()), 0.0F, c.data(), static_cast<int>(c.rows()));
  }
  std::vector<Matrix<float>> activation;
  std::vector<Matrix<float>> gradient;
  std::vector<Matrix<float>> weight;
  std::vector<Matrix<float>> weight_gradient;
};

// The products of one iteration, in its order.
struct Products {
  void iterate() {
    mechanism.forward();
    adversary.forward();
    adversary.weights();
    adversary.input(1);  // the adversary's update leaves its input as it is
    adversary.forward();
    adversary.input(0);  // the mechanism's goes through it ...
    mechanism.weights();
    mechanism.input(1);  // ... and stops at the image
  }
  Layers mechanism{{kPixels + kNoise, kUnits, kUnits, kPixels}};
  Layers adversary{{kPixels, kUnits, kUnits, kDigits}};
};

struct Times {
  std::vector<double> wall;
  std::vector<double> processor;
};

// Microseconds for each of `count` calls, added to `times`.
template <typename Job>
void measure(int count, Times& times, const Job& job) {
  const std::clock_t processor = std::clock();
  const auto wall = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) job();
  times.wall.push_back(
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - wall).count() / count);
  times.processor.push_back(1e6 * static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC / count);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

int run(int iterations, int repeats) {
  const ppan::Runtime runtime;
  const ppan::BlasThreads one(1);
  Training training;
  Products products;
  training.iterate();
  products.iterate();
  Times step;
  Times bare;
  double loss = 0;
  for (int r = 0; r < repeats; ++r) {
    measure(iterations, step, [&] { loss = training.iterate(); });
    measure(iterations, bare, [&] { products.iterate(); });
  }
  if (!std::isfinite(loss)) {
    fmt::print(stderr, "bench_mnist_step: the training diverged\n");
    return 1;
  }
  fmt::print(
      "{{\"us_per_iteration\": {}, \"sgemm_us\": {}, \"cpu_us_per_iteration\": {}, \"cpu_sgemm_us\": {}, "
      "\"iterations\": {}, \"repeats\": {}, \"last_loss\": {}, \"blas\": \"{}\"}}\n",
      median(step.wall), median(bare.wall), median(step.processor), median(bare.processor), iterations,
      repeats, loss, ppan::blas_description());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  int iterations = 20;
  int repeats = 3;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = words[i];
    const int value = std::atoi(words[i + 1]);
    if (name == "--iterations") iterations = value;
    if (name == "--repeats") repeats = value;
  }
  if (count % 2 == 0 || iterations < 1 || repeats < 1) {
    fmt::print(stderr, "usage: bench_mnist_step [--iterations N] [--repeats N]\n");
    return 2;
  }
  return run(iterations, repeats);
}
