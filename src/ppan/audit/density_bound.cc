#include "ppan/audit/density_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "ppan/audit/attack_numbers.h"
#include "ppan/core/error.h"
#include "ppan/core/linear_algebra.h"
#include "ppan/core/random.h"
#include "ppan/game/noisy_code_mechanism.h"

namespace ppan {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr double kBroadShare = 0.01;
constexpr Index kMostOwnScales = 2000;

double log_sum(const double* values, Index count) {
  const Eigen::Map<const Eigen::ArrayXd> v(values, count);
  const double most = v.maxCoeff();
  return std::isinf(most) ? most : most + std::log((v - most).exp().sum());
}

// Evaluates log p(c|w_j) for all j at once.
class Evaluator {
 public:
  // `widen` multiplies every scale.
  Evaluator(const ReleaseDensity& density, const std::vector<std::int32_t>& records, double widen)
      : density_(density), records_(records), widen_(widen) {
    const double base = -0.5 * static_cast<double>(density.dimensions()) * std::log(2 * std::numbers::pi) -
                        static_cast<double>(density.dimensions()) * std::log(widen);
    for (const Matrix<double>& scale : density.scale) {
      log_constant_.push_back(base - scale.diagonal().array().abs().log().sum());
    }
    if (density.scale.size() == 1) {
      // One scale for all: compare whitened points instead of solving for each.
      white_.resize(density.components * static_cast<Index>(records.size()), density.dimensions());
      for (Index l = 0; l < density.components; ++l) {
        for (std::size_t j = 0; j < records.size(); ++j) {
          white_.row(l * static_cast<Index>(records.size()) + static_cast<Index>(j)) =
              density.scale[0]
                  .triangularView<Eigen::Lower>()
                  .solve(density.mean.row(l * density.records + records[j]).transpose())
                  .transpose();
        }
      }
      white_norm_ = white_.rowwise().squaredNorm();
    }
  }

  // log p(c|w_j) for the j-th of the records, into `out`.
  void evaluate(const Vector<double>& c, Vector<double>& out) {
    const auto count = static_cast<Index>(records_.size());
    out.setConstant(count, kNone);
    if (density_.scale.size() == 1) {
      const Vector<double> white = density_.scale[0].triangularView<Eigen::Lower>().solve(c);
      distance_ = white_norm_ - 2 * (white_ * white);
      distance_.array() += white.squaredNorm();
      for (Index l = 0; l < density_.components; ++l) {
        for (Index j = 0; j < count; ++j) {
          add(out[j], log_constant_[0] - 0.5 * distance_[l * count + j] / (widen_ * widen_) +
                          density_.log_weight(records_[static_cast<std::size_t>(j)], l));
        }
      }
      return;
    }
    for (Index l = 0; l < density_.components; ++l) {
      for (Index j = 0; j < count; ++j) {
        const std::int32_t record = records_[static_cast<std::size_t>(j)];
        const Index row = l * density_.records + record;
        const Vector<double> u =
            density_.scale[static_cast<std::size_t>(row)].triangularView<Eigen::Lower>().solve(
                c - density_.mean.row(row).transpose());
        add(out[j], log_constant_[static_cast<std::size_t>(row)] - 0.5 * u.squaredNorm() / (widen_ * widen_) +
                        density_.log_weight(record, l));
      }
    }
  }

 private:
  static void add(double& sum, double term) {
    const double most = std::max(sum, term);
    if (std::isinf(most)) return;
    sum = std::isinf(sum) ? term : most + std::log1p(std::exp(-std::abs(sum - term)));
  }

  const ReleaseDensity& density_;
  const std::vector<std::int32_t>& records_;
  double widen_;
  std::vector<double> log_constant_;
  Matrix<double> white_;
  Vector<double> white_norm_;
  Vector<double> distance_;
};

Vector<double> draw(const ReleaseDensity& density, std::int32_t record, RandomSource& random) {
  std::vector<double> weight;
  for (Index l = 0; l < density.components; ++l) weight.push_back(std::exp(density.log_weight(record, l)));
  const Index row = draw_index(random, weight) * density.records + record;
  Matrix<double> u(density.dimensions(), 1);
  fill_normal(random, u);
  const Matrix<double>& scale = density.scale[density.scale.size() == 1 ? 0 : static_cast<std::size_t>(row)];
  return density.mean.row(row).transpose() + scale.triangularView<Eigen::Lower>() * u;
}

std::vector<std::int32_t> some_records(Index records, Index most, RandomSource& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(records));
  std::iota(order.begin(), order.end(), 0);
  shuffle(random, order);
  if (records > most) order.resize(static_cast<std::size_t>(most));
  return order;
}

}  // namespace

Problems DensityBoundOptions::check() const {
  ProblemList list;
  list.require_between("draws", static_cast<double>(draws), 100, 1'000'000);
  list.require_at_least("records", static_cast<double>(records), 100);
  return list.take();
}

std::optional<ReleaseDensity> release_density(Mechanism<double>& mechanism,
                                              const Attribute<double>& observed) {
  const Index n = observed.rows();
  const MechanismOptions& options = mechanism.options();
  ReleaseDensity density;
  density.records = n;
  if (options.kind == MechanismKind::kNoisyCode) {
    density.mean = dynamic_cast<NoisyCodeMechanism<double>&>(mechanism).center(observed);
    density.scale.push_back(Matrix<double>::Identity(options.code, options.code));
    density.log_weight.setZero(n, 1);
    return density;
  }
  if (options.kind != MechanismKind::kGaussian && options.kind != MechanismKind::kMixture)
    return std::nullopt;

  // Noise is an argument of draw(), so the distribution is read off with chosen noise: none gives the means,
  // a unit vector in coordinate k adds column k of each scale.
  const auto single = mechanism.clone(1);
  const Index d = options.released;
  const Index m = options.kind == MechanismKind::kMixture ? options.components : 1;
  Matrix<double> noise = Matrix<double>::Zero(n, m * d);
  Draws<double> draws;
  single->draw(observed, noise, draws);
  density.components = m;
  density.mean = draws.released;
  density.log_weight = m == 1 ? Matrix<double>::Zero(n, 1) : Matrix<double>(draws.weight.array().log());
  density.scale.assign(static_cast<std::size_t>(n * m), Matrix<double>::Zero(d, d));
  for (Index k = 0; k < d; ++k) {
    noise.setZero();
    for (Index l = 0; l < m; ++l) noise.col(l * d + k).setOnes();
    single->draw(observed, noise, draws);
    for (Index row = 0; row < n * m; ++row) {
      density.scale[static_cast<std::size_t>(row)].col(k) =
          (draws.released.row(row) - density.mean.row(row)).transpose();
    }
  }
  return density;
}

Matrix<double> release_distribution(Mechanism<double>& mechanism, const Attribute<double>& observed) {
  if (mechanism.options().kind != MechanismKind::kFinite) {
    throw Error(ErrorCode::kUsage,
                "only a finite mechanism has a distribution that can be written down as a matrix");
  }
  Draws<double> draws;
  mechanism.draw(observed, Matrix<double>(observed.rows(), 0), draws);
  return draws.weight;
}

Estimate finite_upper_bound(const Matrix<double>& distribution, const Symbols& x, std::int32_t levels) {
  if (distribution.rows() != static_cast<Index>(x.size()) || distribution.rows() < 2) {
    throw Error(ErrorCode::kBadInput,
                "the distribution of the release must have a row for each of at least 2 records");
  }
  Matrix<double> given = Matrix<double>::Zero(levels, distribution.cols());
  Vector<double> rows = Vector<double>::Zero(levels);
  for (Index i = 0; i < distribution.rows(); ++i) {
    given.row(x[static_cast<std::size_t>(i)]) += distribution.row(i);
    rows[x[static_cast<std::size_t>(i)]] += 1;
  }
  const Vector<double> overall = distribution.colwise().mean();
  Matrix<double> ratio = Matrix<double>::Zero(levels, distribution.cols());
  for (Index l = 0; l < levels; ++l) {
    for (Index z = 0; z < distribution.cols(); ++z) {
      if (given(l, z) > 0) ratio(l, z) = std::log(given(l, z) / rows[l] / overall[z]);
    }
  }
  Vector<double> part(distribution.rows());
  for (Index i = 0; i < distribution.rows(); ++i)
    part[i] = distribution.row(i).dot(ratio.row(x[static_cast<std::size_t>(i)]));
  const Rate mean = mean_rate(part);
  const double most = empirical_entropy(x, levels);
  const auto clip = [&](double v) { return std::clamp(v, 0.0, most); };
  return {.nats = clip(mean.value),
          .interval95 = Interval{clip(mean.interval95.low), clip(mean.interval95.high)},
          .bound = Bound::kUpper,
          .method = "known distribution of the release, empirical distribution of the records",
          .samples = distribution.rows()};
}

Estimate density_upper_bound(const ReleaseDensity& density, const Symbols& x, std::int32_t levels,
                             const DensityBoundOptions& options) {
  require_none(options.check(), "these options of the upper bound cannot be used:");
  if (density.records != static_cast<Index>(x.size()) || density.records < 2) {
    throw Error(ErrorCode::kBadInput, "the density of the release must cover each of at least 2 records");
  }
  SeededRandom random = SeededRandom(options.seed).fork("density-bound");
  const std::vector<std::int32_t> records = some_records(density.records, options.records, random);
  std::vector<double> rows(static_cast<std::size_t>(levels), 0);
  Symbols own;
  for (const std::int32_t r : records) {
    own.push_back(x[static_cast<std::size_t>(r)]);
    rows[static_cast<std::size_t>(own.back())] += 1;
  }
  Evaluator evaluator(density, records, 1);
  const Index draws = options.draws;
  Vector<double> part(draws);
  Vector<double> log_density;
  std::vector<double> same;
  for (Index t = 0; t < draws; ++t) {
    const auto j = static_cast<std::size_t>(t) % records.size();
    evaluator.evaluate(draw(density, records[j], random), log_density);
    same.clear();
    for (std::size_t k = 0; k < records.size(); ++k) {
      if (own[k] == own[j]) same.push_back(log_density[static_cast<Index>(k)]);
    }
    const double given = log_sum(same.data(), static_cast<Index>(same.size())) -
                         std::log(rows[static_cast<std::size_t>(own[j])]);
    const double overall =
        log_sum(log_density.data(), log_density.size()) - std::log(static_cast<double>(records.size()));
    part[t] = given - overall;
  }
  const Rate mean = mean_rate(part);
  const double most = empirical_entropy(x, levels);
  const auto clip = [&](double v) { return std::clamp(v, 0.0, most); };
  return {.nats = clip(mean.value),
          .interval95 = Interval{clip(mean.interval95.low), clip(mean.interval95.high)},
          .bound = Bound::kUpper,
          .method = "known density of the release, empirical distribution of the records",
          .samples = draws};
}

Estimate observed_upper_bound(const ReleaseDensity& density, const DensityBoundOptions& options) {
  require_none(options.check(), "these options of the upper bound cannot be used:");
  if (density.records < 20) throw Error(ErrorCode::kBadInput, "an upper bound needs at least 20 records");
  SeededRandom random = SeededRandom(options.seed).fork("observed-bound");
  const std::vector<std::int32_t> records = some_records(density.records, 2 * options.records, random);
  const auto half = static_cast<std::ptrdiff_t>(records.size() / 2);
  // q is built on the first 9/10 of one half, its width chosen on the rest of that half.
  const auto built = half * 9 / 10;
  const std::vector<std::int32_t> base(records.begin(), records.begin() + built);
  const std::vector<std::int32_t> choice(records.begin() + built, records.begin() + half);
  const std::vector<std::int32_t> test(records.begin() + half, records.end());

  // The broad part: a normal distribution with the moments of c over the base records.
  const Index d = density.dimensions();
  Vector<double> mean = Vector<double>::Zero(d);
  Matrix<double> second = Matrix<double>::Zero(d, d);
  for (const std::int32_t r : base) {
    for (Index l = 0; l < density.components; ++l) {
      const Index row = l * density.records + r;
      const double w = std::exp(density.log_weight(r, l)) / static_cast<double>(base.size());
      const Vector<double> mu = density.mean.row(row).transpose();
      const Matrix<double>& a = density.scale[density.scale.size() == 1 ? 0 : static_cast<std::size_t>(row)];
      mean += w * mu;
      second += w * (mu * mu.transpose() + a * a.transpose());
    }
  }
  Matrix<double> covariance = second - mean * mean.transpose();
  covariance.diagonal().array() += 1e-9 * (1e-300 + covariance.trace() / static_cast<double>(d));
  const Matrix<double> factor = cholesky_factor(covariance);
  const double broad_constant =
      -0.5 * static_cast<double>(d) * std::log(2 * std::numbers::pi) - factor.diagonal().array().log().sum();

  std::vector<std::int32_t> one(1);
  Vector<double> log_density;
  Vector<double> log_own;
  // log p(c|w) - log q(c) for a draw c of the record.
  const auto excess = [&](std::int32_t record, double widen, double broad_share, Evaluator& aggregate) {
    const Vector<double> c = draw(density, record, random);
    one[0] = record;
    Evaluator own(density, one, 1);
    own.evaluate(c, log_own);
    const double broad =
        std::log(broad_share) + broad_constant - 0.5 * solve_lower(factor, c - mean).squaredNorm();
    if (widen == 0) return log_own[0] - (broad - std::log(broad_share));
    aggregate.evaluate(c, log_density);
    const double narrow = std::log1p(-broad_share) + log_sum(log_density.data(), log_density.size()) -
                          std::log(static_cast<double>(base.size()));
    const double most = std::max(broad, narrow);
    return log_own[0] - (most + std::log1p(std::exp(-std::abs(broad - narrow))));
  };
  // Width 0 stands for the broad normal distribution alone, which is exact for Gaussian codes.
  double width = 0;
  double least = std::numeric_limits<double>::infinity();
  const Index tries = std::min<Index>(static_cast<Index>(choice.size()), options.draws / 4);
  for (const double candidate : std::array{0.0, 1.0, 1.15, 1.4, 2.0}) {
    Evaluator aggregate(density, base, candidate == 0 ? 1 : candidate);
    double sum = 0;
    for (Index t = 0; t < tries; ++t)
      sum += excess(choice[static_cast<std::size_t>(t)], candidate, kBroadShare, aggregate);
    if (sum < least) {
      least = sum;
      width = candidate;
    }
  }
  Evaluator aggregate(density, base, width == 0 ? 1 : width);
  Vector<double> part(options.draws);
  for (Index t = 0; t < options.draws; ++t) {
    part[t] = excess(test[static_cast<std::size_t>(t) % test.size()], width, kBroadShare, aggregate);
  }
  const Rate bound = mean_rate(part);
  return {.nats = std::max(0.0, bound.value),
          .interval95 = Interval{std::max(0.0, bound.interval95.low), std::max(0.0, bound.interval95.high)},
          .bound = Bound::kUpper,
          .method = "I(W;C) by a fitted distribution of the code, whatever is sensitive",
          .samples = options.draws};
}

std::vector<Estimate> mechanism_upper_bounds(Mechanism<double>& mechanism, const Attribute<double>& observed,
                                             const Symbols& x, std::int32_t levels, bool whole,
                                             const DensityBoundOptions& options) {
  std::vector<Estimate> bounds;
  if (mechanism.options().kind == MechanismKind::kFinite) {
    if (whole) bounds.push_back(finite_upper_bound(release_distribution(mechanism, observed), x, levels));
    return bounds;
  }
  const std::optional<ReleaseDensity> density = release_density(mechanism, observed);
  if (!density) return bounds;
  DensityBoundOptions affordable = options;
  // A scale of its own for every record costs a triangular solve for each pair of draw and record.
  if (density->scale.size() > 1) affordable.records = std::min(options.records, kMostOwnScales);
  if (whole) bounds.push_back(density_upper_bound(*density, x, levels, affordable));
  bounds.push_back(observed_upper_bound(*density, affordable));
  if (mechanism.options().kind == MechanismKind::kNoisyCode) {
    const double radius = mechanism.options().code_radius;
    bounds.push_back(
        {.nats = 0.5 * static_cast<double>(mechanism.options().code) * std::log1p(radius * radius),
         .interval95 = std::nullopt,
         .bound = Bound::kUpper,
         .method = "size of the code, whatever the records",
         .samples = 0});
  }
  return bounds;
}

}  // namespace ppan
