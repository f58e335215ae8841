#include "ppan/paper/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "ppan/core/file.h"
#include "ppan/core/linear_algebra.h"
#include "ppan/core/suggest.h"
#include "ppan/report/curve_file.h"
#include "ppan/theory/convex_baseline.h"
#include "ppan/theory/gaussian_scalar.h"
#include "ppan/theory/gaussian_vector.h"
#include "ppan/theory/information.h"
#include "ppan/theory/rate_distortion.h"
#include "ppan/worlds/gaussian_worlds.h"
#include "ppan/worlds/sampling.h"
#include "ppan/worlds/symmetric_pair_world.h"

namespace ppan {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::array<std::pair<ObservationKind, std::string_view>, 8> kObservations{{
    {ObservationKind::kUsefulOnly, "useful-only"},
    {ObservationKind::kFullData, "full-data"},
    {ObservationKind::kNoisy, "noisy"},
    {ObservationKind::kPartial, "partial"},
    {ObservationKind::kRateDistortion, "rate-distortion"},
    {ObservationKind::kBottleneck, "bottleneck"},
    {ObservationKind::kFunnel, "funnel"},
    {ObservationKind::kGiven, "given"},
}};

theory::GaussianCovariance covariance_of(const WorldOptions& options) {
  if (options.covariance) return *options.covariance;
  const Index n = options.rho.size();
  return {Matrix<double>::Identity(n, n), Matrix<double>::Identity(n, n), options.rho.asDiagonal()};
}

// Independent components of correlated ones: Y = S axes^T with S of the variances. Squared error is the same
// in both.
struct Rotation {
  Vector<double> variances;
  Matrix<double> axes;
};
Rotation principal_components(const Matrix<double>& covariance) {
  const Index n = covariance.rows();
  if (covariance.isDiagonal(0)) return {covariance.diagonal(), Matrix<double>::Identity(n, n)};
  const SymmetricEigen eigen = symmetric_eigen(covariance);
  return {eigen.values, eigen.vectors};
}

FiniteTableWorld table_of(const WorldOptions& options, const ObservationOptions& observation) {
  const FiniteTableWorld table = options.kind == WorldKind::kSymmetricPair
                                     ? finite_table(theory::joint(options.pair))
                                     : options.table.world;
  switch (observation.kind) {
    case ObservationKind::kUsefulOnly:
    case ObservationKind::kFunnel:
      return see_useful(table);
    case ObservationKind::kFullData:
      return see_all(table);
    case ObservationKind::kNoisy:
      return see_flipped(table, observation.flip);
    case ObservationKind::kPartial:
      return see_erased(table, observation.erase);
    case ObservationKind::kBottleneck:
      return see_sensitive(table);
    case ObservationKind::kRateDistortion:
    case ObservationKind::kGiven:
      return table;
  }
  return table;
}

// I(X;Z) >= I(Y;Z) - H(Y|X) for every release, and some release meets it if H(Y|X) can be told without
// telling X: for W = Y that is so where the part of Y that X does not fix is the same whatever X is, as in an
// erasure.
bool erasure_like(const Matrix<double>& pair) {
  // Each y belongs to one x alone, or says nothing about x.
  const Vector<double> px = pair.rowwise().sum();
  for (Index y = 0; y < pair.cols(); ++y) {
    const double py = pair.col(y).sum();
    if (py <= 0) continue;
    const bool alone = pair.col(y).maxCoeff() >= py * (1 - 1e-12);
    const bool silent = (pair.col(y) / py - px).cwiseAbs().maxCoeff() <= 1e-12;
    if (!alone && !silent) return false;
  }
  // One y of its own for each x, with the same probability of being told.
  for (Index x = 0; x < pair.rows(); ++x) {
    int own = 0;
    for (Index y = 0; y < pair.cols(); ++y) {
      const double py = pair.col(y).sum();
      own += pair(x, y) > 0 && pair(x, y) >= py * (1 - 1e-12) ? 1 : 0;
    }
    if (own > 1) return false;
  }
  return true;
}

void set_information_optimum(const FiniteTableWorld& table, const ObservationOptions& observation,
                             World& world) {
  const Matrix<double> pair = table.pair();
  world.information = true;
  world.useful_entropy = theory::entropy(pair.colwise().sum());
  world.useful_most = theory::mutual_information(table.distribution().wy);
  world.least_budget = world.useful_entropy - world.useful_most;
  world.most_budget = world.useful_entropy;
  if (observation.kind == ObservationKind::kFunnel && erasure_like(pair)) {
    const double given_x = theory::entropy(pair) - theory::entropy(pair.rowwise().sum());
    world.optimum = [=, h = world.useful_entropy](double left) { return std::max(0.0, h - left - given_x); };
  }
  const bool fair_bit = pair.rows() == 2 && pair.cols() == 2 && std::abs(pair(0, 0) - pair(1, 1)) < 1e-12 &&
                        std::abs(pair(0, 1) - pair(1, 0)) < 1e-12;
  if (observation.kind == ObservationKind::kBottleneck && fair_bit) {
    const BottleneckBinaryWorld binary{.p = 2 * pair(0, 1)};
    world.optimum = [=, h = world.useful_entropy](double left) {
      return binary.optimum(std::clamp(h - left, 0.0, binary.mutual_information()));
    };
  }
}

// The exact optimum of a known table at any distortion, by the convex solver.
std::function<double(double)> solved_optimum(const theory::FiniteDistribution& distribution,
                                             const Matrix<double>& distortion) {
  const auto shared = std::make_shared<const theory::FiniteDistribution>(distribution);
  const double least = theory::least_distortion(distribution, distortion);
  return [shared, distortion, least](double d) {
    return theory::solve_convex(*shared, distortion, std::max(d, least), {.gap = 1e-6}).leakage;
  };
}

std::vector<std::string> numbered(Index count) {
  std::vector<std::string> names;
  for (Index i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<std::string> observed_names(const FiniteTableFile& file, ObservationKind kind) {
  std::vector<std::string> names;
  switch (kind) {
    case ObservationKind::kFullData:
      for (const std::string& x : file.x) {
        for (const std::string& y : file.y) names.push_back(x + " " + y);
      }
      return names;
    case ObservationKind::kPartial:
      names = file.y;
      names.emplace_back("erased");
      return names;
    case ObservationKind::kBottleneck:
      return file.x;
    case ObservationKind::kGiven:
    case ObservationKind::kRateDistortion:
      return file.w;
    case ObservationKind::kUsefulOnly:
    case ObservationKind::kNoisy:
    case ObservationKind::kFunnel:
      break;
  }
  return file.y;
}

void name_symbols(const WorldOptions& options, World& world) {
  const Index observed = world.distribution->wx.rows();
  world.observed_names = observed_names(options.table, world.observation.kind);
  if (static_cast<Index>(world.observed_names.size()) != observed) world.observed_names = numbered(observed);
  // With a matrix from a file its columns are what may be released, and have no names.
  const bool like_useful = !world.information && !options.from_file &&
                           static_cast<Index>(options.table.y.size()) == world.released;
  world.released_names = like_useful ? options.table.y : numbered(world.released);
}

World unnamed_finite_world(const WorldOptions& options, const ObservationOptions& observation) {
  const FiniteTableWorld table = table_of(options, observation);
  World world;
  world.observation = observation;
  world.distribution = table.distribution();
  world.pair = table.pair();
  world.sensitive = table.x_levels;
  world.ceiling = table.mutual_information();
  world.sample = [table](Index count, RandomSource& random) { return table.sample(count, random); };
  if (observation.information()) {
    world.released = options.released > 0 ? options.released : table.w_levels;
    set_information_optimum(table, observation, world);
    return world;
  }
  world.distortion =
      options.distortion.size() > 0 ? options.distortion : theory::error_distortion(table.y_levels);
  world.released = world.distortion.cols();
  world.least_budget = theory::least_distortion(*world.distribution, world.distortion);
  // Whatever is released without looking at W leaks nothing.
  world.most_budget = (world.distribution->wy.colwise().sum() * world.distortion).minCoeff();
  const bool by_error = options.distortion.size() == 0;
  const bool closed =
      observation.kind == ObservationKind::kUsefulOnly || observation.kind == ObservationKind::kFullData;
  if (options.kind == WorldKind::kSymmetricPair && by_error && closed) {
    // The sampler of its own draws what it has always drawn.
    const SymmetricPairWorld pair{options.pair, observation.kind == ObservationKind::kFullData
                                                    ? Observation::kFullData
                                                    : Observation::kUsefulOnly};
    world.sample = [pair](Index count, RandomSource& random) { return pair.sample(count, random); };
    world.optimum = [pair](double d) { return pair.optimum(std::max(0.0, d)); };
    world.symmetric = options.pair;
    world.most_budget = 1;
    return world;
  }
  world.optimum = solved_optimum(*world.distribution, world.distortion);
  world.solved = true;
  return world;
}

// W = A (X,Y) + noise for jointly Gaussian X and Y.
struct GaussianView {
  Matrix<double> from_x;
  Matrix<double> from_y;
  double noise = 0;
};

GaussianView view_of(const theory::GaussianCovariance& c, const ObservationOptions& observation) {
  const Index nx = c.x.rows();
  const Index ny = c.y.rows();
  GaussianView view{Matrix<double>::Zero(ny, nx), Matrix<double>::Identity(ny, ny)};
  switch (observation.kind) {
    case ObservationKind::kFullData:
      view.from_x = Matrix<double>::Zero(nx + ny, nx);
      view.from_x.topRows(nx).setIdentity();
      view.from_y = Matrix<double>::Zero(nx + ny, ny);
      view.from_y.bottomRows(ny).setIdentity();
      break;
    case ObservationKind::kNoisy:
      view.noise = observation.noise;
      break;
    case ObservationKind::kPartial: {
      view.from_y = Matrix<double>::Zero(static_cast<Index>(observation.seen.size()), ny);
      for (std::size_t i = 0; i < observation.seen.size(); ++i)
        view.from_y(static_cast<Index>(i), observation.seen[i]) = 1;
      view.from_x = Matrix<double>::Zero(view.from_y.rows(), nx);
      break;
    }
    default:
      break;
  }
  return view;
}

Records<double> sample_gaussian(const theory::GaussianCovariance& c, const GaussianView& view, Index count,
                                RandomSource& random) {
  Matrix<double> whole(c.x.rows() + c.y.rows(), c.x.rows() + c.y.rows());
  whole << c.x, c.xy, c.xy.transpose(), c.y;
  const SymmetricEigen eigen = symmetric_eigen(whole);
  const Matrix<double> root = eigen.vectors * eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal();
  const Matrix<double> both = standard_normal(count, whole.rows(), random) * root.transpose();
  const Matrix<double> x = both.leftCols(c.x.rows());
  const Matrix<double> y = both.rightCols(c.y.rows());
  Matrix<double> w = x * view.from_x.transpose() + y * view.from_y.transpose();
  if (view.noise > 0) w += std::sqrt(view.noise) * standard_normal(count, w.cols(), random);
  return {real(w), {real(x)}, real(y)};
}

// X and Y of W = Y, W = Y + noise or some components of Y: releasing U = E[Y|W] with what is left of the
// budget.
void set_gaussian_optimum(const theory::GaussianCovariance& c, const GaussianView& view, World& world) {
  const Matrix<double> cov_w = view.from_y * c.y * view.from_y.transpose() +
                               view.noise * Matrix<double>::Identity(view.from_y.rows(), view.from_y.rows());
  const Matrix<double> regress = solve_symmetric(cov_w, view.from_y * c.y).transpose();  // U = regress W
  theory::GaussianCovariance seen{c.x, regress * cov_w * regress.transpose(),
                                  c.xy * view.from_y.transpose() * regress.transpose()};
  world.least_budget = std::max(0.0, c.y.trace() - seen.y.trace());
  world.ceiling = theory::mutual_information({c.x, cov_w, c.xy * view.from_y.transpose()});
  world.most_budget = c.y.trace();
  world.solved = true;
  world.optimum = [seen, lost = world.least_budget](double d) {
    return theory::least_leakage(seen, std::max(0.0, d - lost), {.gap = 1e-6}).leakage;
  };
}

// Sees X and Y: a closed form where the components of Y are alike and independent of each other.
void set_full_data_optimum(const theory::GaussianCovariance& c, World& world) {
  if (const auto pairs = theory::canonical_form(c.x, c.y, c.xy).solvable()) {
    world.optimum = [pairs](double d) {
      return theory::least_leakage_full_data(*pairs, std::max(0.0, d)).leakage;
    };
    return;
  }
  world.solved = true;
  world.optimum = [c](double d) {
    return theory::least_leakage_full_data(c, std::max(0.0, d), {.gap = 1e-6}).leakage;
  };
}

World gaussian_world(const WorldOptions& options, const ObservationOptions& observation) {
  World world;
  world.observation = observation;
  if (observation.kind == ObservationKind::kBottleneck) {
    const BottleneckGaussianWorld pair{.rho = options.rho[0]};
    world.sample = [pair](Index count, RandomSource& random) { return pair.sample(count, random); };
    world.information = true;
    world.useful_entropy = 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);
    world.useful_most = pair.mutual_information();
    world.least_budget = world.useful_entropy - world.useful_most;
    world.most_budget = world.useful_entropy;
    world.ceiling = kInfinity;
    world.gaussian_bottleneck = pair;
    world.optimum = [pair, h = world.useful_entropy](double left) {
      return pair.optimum(std::clamp(h - left, 0.0, pair.mutual_information()));
    };
    return world;
  }
  const theory::GaussianCovariance c = covariance_of(options);
  world.released = c.y.rows();
  world.sensitive = c.x.rows();
  if (observation.kind == ObservationKind::kRateDistortion) {
    const Rotation rotation = principal_components(c.y);
    const GaussianRateDistortionWorld source{rotation.variances};
    world.sample = [source, axes = rotation.axes](Index count, RandomSource& random) {
      Records<double> records = source.sample(count, random);
      for (Attribute<double>* one : {&records.observed, &records.sensitive.front(), &records.useful})
        one->value = (one->value * axes.transpose()).eval();
      return records;
    };
    world.optimum = [source](double d) { return source.optimum(std::max(0.0, d)); };
    world.ceiling = kInfinity;
    world.most_budget = c.y.trace();
    world.sensitive = world.released;
    return world;
  }
  const GaussianView view = view_of(c, observation);
  world.sample = [c, view](Index count, RandomSource& random) {
    return sample_gaussian(c, view, count, random);
  };
  world.most_budget = c.y.trace();
  const bool scalar = !options.covariance && options.rho.size() == 1;
  const bool full = observation.kind == ObservationKind::kFullData;
  if (scalar && (full || observation.kind == ObservationKind::kUsefulOnly)) {
    const GaussianScalarWorld pair{options.rho[0], full ? Observation::kFullData : Observation::kUsefulOnly};
    world.sample = [pair](Index count, RandomSource& random) { return pair.sample(count, random); };
    world.optimum = [pair](double d) { return pair.optimum(std::max(0.0, d)); };
    world.ceiling = full ? kInfinity : pair.mutual_information();
    return world;
  }
  if (full) {
    world.ceiling = kInfinity;
    set_full_data_optimum(c, world);
    return world;
  }
  if (!options.covariance && observation.kind == ObservationKind::kUsefulOnly) {
    const GaussianVectorWorld pairs{options.rho};
    world.sample = [pairs](Index count, RandomSource& random) { return pairs.sample(count, random); };
    world.optimum = [pairs](double d) { return pairs.optimum(std::max(0.0, d)); };
    world.ceiling = pairs.mutual_information();
    return world;
  }
  set_gaussian_optimum(c, view, world);
  return world;
}

void check_observation(const WorldOptions& world, const ObservationOptions& o, ProblemList& list) {
  const bool gaussian = world.kind == WorldKind::kGaussian;
  const std::string name(to_string(o.kind));
  switch (o.kind) {
    case ObservationKind::kNoisy:
      if (gaussian) {
        list.require_positive("noise", o.noise);
      } else {
        list.require_between("flip", o.flip, 0, 1);
      }
      break;
    case ObservationKind::kPartial:
      if (!gaussian) {
        list.require_between("erase", o.erase, 0, 1);
        break;
      }
      list.require(!o.seen.empty(), "seen", "at least one component must be seen");
      for (const Index c : o.seen) {
        const Index most = world.covariance ? world.covariance->y.rows() : world.rho.size();
        list.require(c >= 0 && c < most, "seen",
                     fmt::format("component {} does not exist; Y has components 1 to {}", c + 1, most));
      }
      break;
    case ObservationKind::kGiven:
      list.require(world.kind == WorldKind::kFinite && world.table.observation_given, "observation",
                   "'given' needs a table with a column w");
      break;
    case ObservationKind::kRateDistortion:
      list.require(gaussian, "observation",
                   "'rate-distortion' is for Gaussian worlds; a table says it with w = y = x");
      break;
    case ObservationKind::kFunnel:
      list.require(!gaussian, "observation", "'funnel' is for finite worlds");
      break;
    case ObservationKind::kBottleneck:
      list.require(!gaussian || (!world.covariance && world.rho.size() == 1), "observation",
                   "'bottleneck' of Gaussians is for one pair, given by --rho");
      break;
    case ObservationKind::kUsefulOnly:
    case ObservationKind::kFullData:
      break;
  }
}

}  // namespace

std::string_view to_string(WorldKind kind) {
  switch (kind) {
    case WorldKind::kSymmetricPair:
      return "symmetric-pair";
    case WorldKind::kGaussian:
      return "gaussian";
    case WorldKind::kFinite:
      return "finite";
  }
  return "unknown";
}

std::string_view to_string(ObservationKind kind) {
  for (const auto& [k, name] : kObservations) {
    if (k == kind) return name;
  }
  return "unknown";
}

std::vector<std::string> observation_names() {
  std::vector<std::string> names;
  for (const auto& [kind, name] : kObservations) names.emplace_back(name);
  return names;
}

ObservationKind observation_kind(std::string_view name) {
  for (const auto& [kind, n] : kObservations) {
    if (n == name) return kind;
  }
  throw Error(ErrorCode::kUsage, unknown_name("observation", name, observation_names()));
}

namespace {

// Tables over (w,x), (w,y) and (w,z) are held whole, several times over.
constexpr double kMostCells = 4e6;

void check_size(const WorldOptions& world, const ObservationOptions& o, ProblemList& list) {
  if (world.kind == WorldKind::kGaussian) {
    const Index components =
        world.covariance ? world.covariance->x.rows() + world.covariance->y.rows() : 2 * world.rho.size();
    list.require(components <= theory::kMostComponents, world.covariance ? "covariance" : "rho",
                 fmt::format("X and Y have {} components together; {} are allowed", components,
                             theory::kMostComponents));
    return;
  }
  const bool pair = world.kind == WorldKind::kSymmetricPair;
  const double x = pair ? world.pair.m : world.table.world.x_levels;
  const double y = pair ? world.pair.m : world.table.world.y_levels;
  double w = y;
  if (o.kind == ObservationKind::kFullData) w = x * y;
  if (o.kind == ObservationKind::kBottleneck) w = x;
  if (o.kind == ObservationKind::kGiven) w = world.table.world.w_levels;
  const double z = std::max<double>(y, static_cast<double>(world.distortion.cols()));
  list.require(w * std::max({x, y, z}) <= kMostCells, pair ? "m" : "pmf",
               fmt::format("with W of {:.0f}, X of {:.0f}, Y of {:.0f} and Z of {:.0f} symbols ({}) a table "
                           "would have more than "
                           "{:.0f} cells",
                           w, x, y, z, to_string(o.kind), kMostCells));
}

}  // namespace

Problems WorldOptions::check(const std::vector<ObservationOptions>& observations) const {
  ProblemList list;
  const auto take = [&](const Problems& problems) {
    for (const Problem& p : problems) list.require(false, p.field, p.what);
  };
  if (kind == WorldKind::kSymmetricPair) take(pair.check());
  if (kind == WorldKind::kGaussian) {
    if (covariance) {
      take(covariance->check());
    } else {
      take(theory::GaussianVector{rho, 1}.check());
    }
  }
  if (kind == WorldKind::kFinite) take(table.world.check());
  const Index useful = kind == WorldKind::kSymmetricPair ? pair.m : table.world.y_levels;
  if (kind != WorldKind::kGaussian && distortion.size() > 0) {
    list.require(distortion.rows() == useful, "distortion",
                 fmt::format("has {} rows where Y has {} symbols", distortion.rows(), useful));
    list.require(distortion.allFinite() && distortion.minCoeff() >= 0, "distortion",
                 "has an entry that is negative or not finite");
  }
  list.require_between("released", static_cast<double>(released), 0, 1000);
  list.require(!observations.empty(), "observation", "there is none");
  for (const ObservationOptions& o : observations) {
    check_observation(*this, o, list);
    check_size(*this, o, list);
  }
  return list.take();
}

WorldWords world_words(const WorldOptions& world, const std::vector<ObservationOptions>& observations) {
  WorldWords words;
  const bool information = !observations.empty() && observations.front().information();
  if (world.kind == WorldKind::kGaussian) {
    const theory::GaussianCovariance c = covariance_of(world);
    const auto count = [](Index n) {
      return n == 1 ? std::string("a Gaussian number") : fmt::format("{} Gaussian numbers", n);
    };
    words.hidden = "X, " + count(c.x.rows());
    words.useful = "Y, " + count(c.y.rows());
    if (!world.covariance && world.rho.size() == 1)
      words.useful += fmt::format(" with correlation {} to X", world.rho[0]);
    words.distortion_name = "mean squared error";
    words.distortion_unit = c.y.rows() == 1 ? "variances of Y" : "sum over components";
  } else {
    const std::int32_t x =
        world.kind == WorldKind::kSymmetricPair ? world.pair.m : world.table.world.x_levels;
    const std::int32_t y =
        world.kind == WorldKind::kSymmetricPair ? world.pair.m : world.table.world.y_levels;
    words.hidden = fmt::format("X, a symbol of {}", x);
    words.useful = fmt::format("Y, a symbol of {}", y);
    if (world.kind == WorldKind::kSymmetricPair)
      words.useful += fmt::format(" that equals X with probability {}", 1 - world.pair.p);
    words.distortion_name = world.distortion.size() > 0 ? "expected distortion" : "probability of error";
  }
  for (const ObservationOptions& o : observations) {
    if (!words.observed.empty()) words.observed += ", or ";
    switch (o.kind) {
      case ObservationKind::kUsefulOnly:
      case ObservationKind::kFunnel:
        words.observed += "Y alone";
        break;
      case ObservationKind::kFullData:
        words.observed += "X and Y";
        break;
      case ObservationKind::kNoisy:
        words.observed += world.kind == WorldKind::kGaussian
                              ? fmt::format("Y with noise of variance {}", o.noise)
                              : fmt::format("Y, another symbol with probability {}", o.flip);
        break;
      case ObservationKind::kPartial:
        words.observed += world.kind == WorldKind::kGaussian
                              ? "some components of Y"
                              : fmt::format("Y, erased with probability {}", o.erase);
        break;
      case ObservationKind::kRateDistortion:
      case ObservationKind::kBottleneck:
        words.observed += "X itself";
        break;
      case ObservationKind::kGiven:
        words.observed += "W as the table says";
        break;
    }
    if (observations.size() > 1) words.observed += fmt::format(" ({})", to_string(o.kind));
  }
  if (!observations.empty() && observations.front().kind == ObservationKind::kRateDistortion)
    words.useful = "X itself: sensitive and useful are the same";
  if (information) {
    words.useful += ", through the information I(Y;Z) that a release keeps about it";
    words.distortion_name = "H(Y|Z)";
    words.distortion_unit = "nats";
  }
  return words;
}

Matrix<double> finite_distortion(const std::string& name, const FiniteTableFile& table) {
  if (name.empty() || name == "error") return {};
  ProblemList problems;
  if (name == "squared") {
    Vector<double> value(static_cast<Index>(table.y.size()));
    for (std::size_t y = 0; y < table.y.size(); ++y) {
      const std::optional<double> number = parse_shortest(table.y[y]);
      problems.require(number && std::isfinite(*number), "distortion",
                       fmt::format("'squared' needs numbers, and the symbol '{}' of y is none", table.y[y]));
      value[static_cast<Index>(y)] = number.value_or(0);
    }
    require_none(problems.take(), "these symbols have no distance:", ErrorCode::kBadInput);
    return (value.replicate(1, value.size()) - value.transpose().replicate(value.size(), 1)).cwiseAbs2();
  }
  Matrix<double> matrix = parse_matrix(read_file(name), name);
  check_distortion(matrix, table.world.y_levels, name);
  return matrix;
}

void check_distortion(const Matrix<double>& matrix, std::optional<Index> symbols, const std::string& name) {
  ProblemList problems;
  problems.require(!symbols || matrix.rows() == *symbols, "distortion",
                   fmt::format("has {} rows where Y has {} symbols", matrix.rows(), symbols.value_or(0)));
  problems.require(matrix.minCoeff() >= 0, "distortion", "has a negative entry");
  require_none(problems.take(), name + " is not a distortion:", ErrorCode::kBadInput);
}

World make_world(const WorldOptions& options, const ObservationOptions& observation) {
  require_none(options.check({observation}), "this world cannot be made:");
  if (options.kind == WorldKind::kGaussian) return gaussian_world(options, observation);
  World world = unnamed_finite_world(options, observation);
  name_symbols(options, world);
  return world;
}

}  // namespace ppan
