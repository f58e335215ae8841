#include "ppan/worlds/bottleneck_worlds.h"

#include <cmath>
#include <utility>

#include "ppan/worlds/sampling.h"

namespace ppan {

Problems BottleneckGaussianWorld::check() const {
  return theory::BottleneckGaussian{rho}.check();
}

double BottleneckGaussianWorld::mutual_information() const {
  return theory::mutual_information(theory::BottleneckGaussian{rho});
}

double BottleneckGaussianWorld::optimum(double useful) const {
  return least_rate(theory::BottleneckGaussian{rho}, useful);
}

double BottleneckGaussianWorld::greatest_useful(double rate) const {
  return theory::greatest_useful(theory::BottleneckGaussian{rho}, rate);
}

Records<double> BottleneckGaussianWorld::sample(Index count, RandomSource& random) const {
  require_none(check(), "Gaussian bottleneck world");
  const Matrix<double> x = standard_normal(count, 1, random);
  const Matrix<double> y = rho * x + std::sqrt(1 - rho * rho) * standard_normal(count, 1, random);
  return {real(x), {real(x)}, real(y)};
}

Problems BottleneckBinaryWorld::check() const {
  return theory::BottleneckBinary{p}.check();
}

double BottleneckBinaryWorld::mutual_information() const {
  return theory::mutual_information(theory::BottleneckBinary{p});
}

double BottleneckBinaryWorld::optimum(double useful) const {
  return least_rate(theory::BottleneckBinary{p}, useful);
}

double BottleneckBinaryWorld::greatest_useful(double rate) const {
  return theory::greatest_useful(theory::BottleneckBinary{p}, rate);
}

theory::FiniteDistribution BottleneckBinaryWorld::distribution() const {
  Matrix<double> pair(2, 2);
  pair << (1 - p) / 2, p / 2, p / 2, (1 - p) / 2;
  return theory::distribution_of_pair(pair, Observation::kBottleneck);
}

Records<double> BottleneckBinaryWorld::sample(Index count, RandomSource& random) const {
  require_none(check(), "binary bottleneck world");
  Symbols x(static_cast<std::size_t>(count));
  Symbols y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<std::int32_t>(random.index(2));
    y[i] = random.uniform() < p ? 1 - x[i] : x[i];
  }
  Symbols w = x;
  return {finite(std::move(w), 2), {finite(std::move(x), 2)}, finite(std::move(y), 2)};
}

}  // namespace ppan
