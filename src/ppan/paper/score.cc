#include "ppan/paper/score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "ppan/audit/exact_information.h"
#include "ppan/audit/gaussian_information.h"
#include "ppan/audit/ksg.h"
#include "ppan/theory/convex_baseline.h"
#include "ppan/theory/leakage_measures.h"
#include "ppan/theory/least_vulnerability.h"

namespace ppan {
namespace {

// High, medium and low correlation among the five, for the scatter figure.
constexpr std::array<Index, 3> kScatterComponents{2, 0, 3};
constexpr Index kScatterRecords = 4000;

// P(z|w) of a finite mechanism, a row per symbol of w.
Matrix<double> mechanism_matrix(Mechanism<float>& mechanism, std::int32_t levels) {
  Attribute<float> every;
  every.levels = levels;
  for (std::int32_t w = 0; w < levels; ++w) every.code.push_back(w);
  Draws<float> draws;
  Matrix<float> no_noise;
  mechanism.draw(every, no_noise, draws);
  Matrix<double> p = draws.weight.cast<double>();
  for (Index w = 0; w < p.rows(); ++w) p.row(w) /= p.row(w).sum();
  return p;
}

// P(z|w) of a mechanism that can only be sampled (Gumbel-softmax), by its frequencies.
Matrix<double> sampled_matrix(Mechanism<float>& mechanism, std::int32_t levels, RandomSource& random) {
  constexpr Index kDraws = 20000;
  Matrix<double> p = Matrix<double>::Zero(levels, mechanism.options().released);
  Attribute<float> same;
  same.levels = levels;
  for (std::int32_t w = 0; w < levels; ++w) {
    same.code.assign(kDraws, w);
    for (const std::int32_t z : mechanism.release(same, random).code) p(w, z) += 1.0 / kDraws;
  }
  return p;
}

// The bottleneck of two Gaussians with Z = mu(X) + A(X) u, u normal (for a noisy code with a linear decoder
// the code, which says the same as Z): I(X;Z) and I(Y;Z) by quadrature, exact to the grid. The Gaussian
// estimate would not do: with Y - X - Z and Gaussian (X, Y) the correlation of Y and Z is rho times that of X
// and Z for *every* mechanism, so it puts all of them on the optimal curve.
void score_by_quadrature(const BottleneckGaussianWorld& world, double entropy, Mechanism<float>& mechanism,
                         ExperimentPoint& point) {
  constexpr Index kGrid = 1201;
  constexpr double kReach = 6;  // standard deviations
  const Vector<double> x = Vector<double>::LinSpaced(kGrid, -kReach, kReach);
  Attribute<float> observed;
  observed.value = x.cast<float>();
  const auto release_with = [&](float u) {
    Draws<float> draws;
    const Matrix<float> noise = Matrix<float>::Constant(kGrid, 1, u);
    mechanism.draw(observed, noise, draws);
    return Vector<double>(draws.seen().col(0).cast<double>());
  };
  const Vector<double> mean = release_with(0);
  // The noise of a trained mechanism can vanish, in float to nothing.
  const Vector<double> scale = (release_with(1) - mean).cwiseAbs().cwiseMax(1e-9);

  const double low = (mean - kReach * scale).minCoeff();
  const double high = (mean + kReach * scale).maxCoeff();
  const auto bins = static_cast<Index>(std::clamp((high - low) / (0.2 * scale.minCoeff()), 400.0, 20000.0));
  const Vector<double> z = Vector<double>::LinSpaced(bins, low, high);
  const double spacing = z[1] - z[0];
  Matrix<double> z_given_x(kGrid, bins);
  for (Index i = 0; i < kGrid; ++i) {
    if (scale[i] < spacing) {  // too narrow for its density at the bins' centres: the mass of each bin
      const auto below = [&](double edge) {
        return 0.5 * std::erfc((mean[i] - edge) / (scale[i] * std::numbers::sqrt2));
      };
      for (Index b = 0; b < bins; ++b) {
        z_given_x(i, b) = below(z[b] + 0.5 * spacing) - below(z[b] - 0.5 * spacing);
      }
      z_given_x.row(i) /= z_given_x.row(i).sum();
      continue;
    }
    z_given_x.row(i) = (-0.5 * ((z.array() - mean[i]) / scale[i]).square()).exp().matrix().transpose();
    z_given_x.row(i) /= z_given_x.row(i).sum();
  }
  Vector<double> px = (-0.5 * x.array().square()).exp();
  px /= px.sum();
  // P(y|x) on the same grid, then P(y,z) = sum_x P(x) P(y|x) P(z|x).
  const double spread = std::sqrt(1 - world.rho * world.rho);
  Matrix<double> xy(kGrid, kGrid);
  for (Index i = 0; i < kGrid; ++i) {
    xy.row(i) = (-0.5 * ((x.array() - world.rho * x[i]) / spread).square()).exp().matrix().transpose();
    xy.row(i) *= px[i] / xy.row(i).sum();
  }
  point.leakage = exact_information(px.asDiagonal().toDenseMatrix(), z_given_x);
  point.leakage.method = "quadrature of the known density";
  point.distortion = entropy - exact_information(xy, z_given_x).nats;
}

void score_sampled(const World& world, const ExperimentSettings& settings, Mechanism<float>& mechanism,
                   const SeededRandom& random, ExperimentPoint& point) {
  auto data_stream = random.fork("test-data");
  auto noise_stream = random.fork("test-noise");
  const Records<double> test = world.sample(settings.test_records, data_stream);
  const Matrix<double> z = mechanism.release(cast<float>(test.observed), noise_stream).value.cast<double>();
  const Matrix<double>& x = test.sensitive.front().value;
  if (world.information) {  // without a density: nearest neighbours for both
    point.leakage = ksg_information(x, z);
    point.distortion = world.useful_entropy - ksg_information(test.useful.value, z).nats;
    return;
  }
  point.leakage = gaussian_information(x, z);
  point.distortion = (z - test.useful.value).rowwise().squaredNorm().mean();
  if (settings.ksg_records > 0) {
    const Index n = std::min(settings.ksg_records, z.rows());
    point.ksg = ksg_information(x.topRows(n), z.topRows(n));
  }
}

}  // namespace

Matrix<double> channel_of(Mechanism<float>& mechanism, std::int32_t levels, RandomSource& random) {
  return mechanism.options().kind == MechanismKind::kGumbel ? sampled_matrix(mechanism, levels, random)
                                                            : mechanism_matrix(mechanism, levels);
}

void score_channel(const World& world, double alpha, Matrix<double> channel, ExperimentPoint& point) {
  const theory::FiniteDistribution& distribution = *world.distribution;
  point.leakage = exact_information(distribution.wx, channel);
  if (alpha != 1) {
    point.leakage.nats = theory::arimoto_information(theory::released_joint(distribution, channel), alpha);
    point.leakage.method = "exact, Arimoto information of the order of the loss";
  }
  point.distortion = world.information
                         ? world.useful_entropy - theory::useful_information(distribution, channel)
                         : theory::expected_distortion(distribution, channel, world.distortion);
  point.channel = std::move(channel);
}

void score_mechanism(const World& world, const ExperimentSettings& settings, double alpha,
                     Mechanism<float>& mechanism, const SeededRandom& random, ExperimentPoint& point) {
  if (world.finite()) {
    auto stream = random.fork("sampled-matrix");
    const auto levels = static_cast<std::int32_t>(world.distribution->wx.rows());
    score_channel(world, alpha, channel_of(mechanism, levels, stream), point);
    return;
  }
  const MechanismOptions& family = mechanism.options();
  const bool density = family.kind == MechanismKind::kGaussian ||
                       (family.kind == MechanismKind::kNoisyCode && family.decoder.empty());
  if (world.gaussian_bottleneck && density) {
    score_by_quadrature(*world.gaussian_bottleneck, world.useful_entropy, *mechanism.clone(1), point);
  } else {
    score_sampled(world, settings, mechanism, random, point);
  }
}

double optimum_at(const World& world, double alpha, double distortion) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (alpha != 1) {
    if (!world.symmetric && std::isinf(alpha) && world.finite() && !world.information) {
      const double least = theory::least_distortion(*world.distribution, world.distortion);
      return theory::least_vulnerability(*world.distribution, world.distortion, std::max(distortion, least))
          .leakage();
    }
    if (!world.symmetric) return kUnknown;
    return world.observation.kind == ObservationKind::kFullData
               ? theory::least_leakage_full_data(*world.symmetric, std::max(0.0, distortion), alpha)
               : theory::least_leakage_useful_only(*world.symmetric, std::max(0.0, distortion), alpha);
  }
  return world.optimum ? world.optimum(distortion) : kUnknown;
}

std::vector<ScatterCloud> scatter_clouds(const World& world, const Vector<double>& rho,
                                         Mechanism<float>& mechanism, const SeededRandom& random) {
  auto data_stream = random.fork("scatter-data");
  auto noise_stream = random.fork("scatter-noise");
  const Records<double> test = world.sample(kScatterRecords, data_stream);
  const Matrix<double> z = mechanism.release(cast<float>(test.observed), noise_stream).value.cast<double>();
  const auto line = [](const Vector<double>& from, const Vector<double>& to, double& slope,
                       double& intercept) {
    const Vector<double> f = from.array() - from.mean();
    slope = f.dot(to) / f.squaredNorm();
    intercept = to.mean() - slope * from.mean();
  };
  const auto values = [](const Vector<double>& v) { return std::vector<double>(v.begin(), v.end()); };
  std::vector<ScatterCloud> panels;
  for (const Index c : kScatterComponents) {
    const Vector<double> y = test.useful.value.col(c);
    const Vector<double> x = test.sensitive.front().value.col(c);
    ScatterCloud panel{.rho = rho[c], .y = values(y), .x = values(x), .z = values(z.col(c))};
    line(y, x, panel.slope_x, panel.intercept_x);
    line(y, z.col(c), panel.slope_z, panel.intercept_z);
    panels.push_back(std::move(panel));
  }
  return panels;
}

}  // namespace ppan
