// Trains a release mechanism from two matrices, releases fresh records with it, and measures what they reveal.

#include <cmath>
#include <cstdio>

#include "ppan/audit/gaussian_information.h"
#include "ppan/theory/gaussian_scalar.h"
#include "ppan/train/train.h"

// Records with a sensitive number x and a useful number y, correlated with coefficient 0.85.
ppan::Records<double> records_of(ppan::Index count, ppan::RandomSource& random) {
  ppan::Matrix<double> x(count, 1);
  ppan::Matrix<double> noise(count, 1);
  ppan::fill_normal(random, x);
  ppan::fill_normal(random, noise);
  const ppan::Matrix<double> y = 0.85 * x + std::sqrt(1 - 0.85 * 0.85) * noise;
  return {.observed = {.value = y}, .sensitive = {{.value = x}}, .useful = {.value = y}};
}

int main() {
  ppan::SeededRandom random(1);
  ppan::TrainOptions options{.epochs = 250, .batch = 200, .adversary_steps = 5};
  options.game.mechanism = {.kind = ppan::MechanismKind::kGaussian, .released = 1, .hidden = {5, 5}};
  options.game.adversary = {.hidden = {5, 5}};
  options.game.budget = {.form = ppan::BudgetForm::kDual, .limit = 0.3, .weight = 10};
  const auto trained = ppan::train(ppan::cast<float>(records_of(8000, random)), options);

  const auto fresh = records_of(20000, random);
  ppan::SecureRandom noise;  // releases are drawn from a source that nobody can replay
  const auto released =
      ppan::cast<double>(trained.mechanism->release(ppan::cast<float>(fresh.observed), noise));
  const double distortion = (fresh.useful.value - released.value).squaredNorm() / 20000;
  const ppan::Estimate leakage = ppan::gaussian_information(fresh.sensitive[0].value, released.value);
  std::printf("distortion %.3f, leakage %.3f nats (between %.3f and %.3f); the least possible is %.3f\n",
              distortion, leakage.nats, leakage.interval95->low, leakage.interval95->high,
              ppan::theory::least_leakage_useful_only({.rho = 0.85}, distortion));
}
