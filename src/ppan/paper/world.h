#pragma once

// The worlds that experiments run on: the user's description (WorldOptions), what the mechanism observes
// (ObservationOptions), and everything an experiment needs to know (World).

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/theory/gaussian_general.h"
#include "ppan/theory/symmetric_pair.h"
#include "ppan/worlds/bottleneck_worlds.h"
#include "ppan/worlds/finite_table_world.h"

namespace ppan {

enum class WorldKind {
  kSymmetricPair,  ///< X and Y on m symbols, different with probability p.
  kGaussian,       ///< Jointly Gaussian X and Y, squared error.
  kFinite,         ///< Any table P(x,y) or P(x,y,w).
};
std::string_view to_string(WorldKind kind);

enum class ObservationKind {
  kUsefulOnly,      ///< W = Y.
  kFullData,        ///< W = (X,Y).
  kNoisy,           ///< W = Y with symbols flipped, or with Gaussian noise added.
  kPartial,         ///< W = Y with symbols erased, or some of the components of Y.
  kRateDistortion,  ///< W = X = Y.
  kBottleneck,      ///< W = X, usefulness is I(Y;Z).
  kFunnel,          ///< W = Y, usefulness is I(Y;Z).
  kGiven,           ///< W as the table says.
};
std::string_view to_string(ObservationKind kind);
std::vector<std::string> observation_names();
/// Throws Error(kUsage) with the nearest names.
ObservationKind observation_kind(std::string_view name);

struct ObservationOptions {
  ObservationKind kind = ObservationKind::kUsefulOnly;
  double flip = 0.1;   ///< kNoisy, finite: probability that another symbol is seen. 0 to 1.
  double noise = 0.1;  ///< kNoisy, Gaussian: variance of what is added to each component. Greater than 0.
  double erase = 0.2;  ///< kPartial, finite: probability that nothing is seen. 0 to 1.
  std::vector<Index> seen{0};  ///< kPartial, Gaussian: components of Y that are seen, from 0.

  /// Usefulness is mutual information, not a distortion.
  [[nodiscard]] bool information() const {
    return kind == ObservationKind::kBottleneck || kind == ObservationKind::kFunnel;
  }
};

struct WorldOptions {
  WorldKind kind = WorldKind::kSymmetricPair;
  theory::SymmetricPair pair;  ///< kSymmetricPair.
  /// kGaussian: correlation of each of independent pairs of unit variance. Unused where a covariance is
  /// given.
  Vector<double> rho = Vector<double>::Constant(1, 0.85);
  std::optional<theory::GaussianCovariance> covariance;
  FiniteTableFile table;      ///< kFinite.
  Matrix<double> distortion;  ///< kFinite: d(y,z), a row per y; empty: 1(y != z).
  bool from_file = false;     ///< The distortion is a matrix whose columns have no names.
  Index released = 0;         ///< Symbols of Z where usefulness is information; 0: as many as W has.

  /// Together with the observations; every problem at once.
  [[nodiscard]] Problems check(const std::vector<ObservationOptions>& observations) const;
};

/// The description of a world in a report.
struct WorldWords {
  std::string hidden, observed, useful, distortion_name, distortion_unit;
};
WorldWords world_words(const WorldOptions& world, const std::vector<ObservationOptions>& observations);

/// A world with one observation model.
struct World {
  std::function<Records<double>(Index, RandomSource&)> sample;
  /// Least leakage, nats, at a measured distortion (with information as usefulness: at H(Y|Z)); absent where
  /// it is not known.
  std::function<double(double)> optimum;
  bool solved = false;  ///< The optimum comes from a solver, not from a closed form: slower to evaluate.
  double ceiling = 0;   ///< I(X;W): no release leaks more. May be infinite.
  std::optional<theory::FiniteDistribution> distribution;  ///< Finite worlds: scored exactly.
  Matrix<double> distortion;                               ///< Finite worlds with a distortion: d(y,z).
  Matrix<double> pair;                                     ///< Finite worlds: P(x,y).
  std::optional<theory::SymmetricPair> symmetric;  ///< Where closed forms of other measures are known.
  ObservationOptions observation;
  bool information = false;   ///< Usefulness is I(Y;Z); distortion is H(Y|Z).
  double useful_entropy = 0;  ///< H(Y) or h(Y) of such a world.
  double useful_most = 0;     ///< I(Y;W) of such a world.
  double least_budget = 0;    ///< The budgets that make sense: least possible distortion,
  double most_budget = 1;     ///< and one at which nothing need leak.
  Index released = 1;         ///< Symbols or components of Z.
  Index sensitive = 1;        ///< Symbols or components of X.
  std::optional<BottleneckGaussianWorld> gaussian_bottleneck;  ///< Scored by quadrature.
  /// Finite worlds: the symbols of W and Z as the table writes those of X, Y and W they stand for ("x y" for
  /// a pair, "erased" for what is not seen); numbers from 0 where they stand for none.
  std::vector<std::string> observed_names, released_names;

  [[nodiscard]] bool finite() const { return distribution.has_value(); }
};

/// d(y,z) of a table, a row per y: `name` is 'error' (empty: 1(y != z)), 'squared', (y - z)^2 of symbols that
/// are numbers, or a file with a matrix as CSV without header. Throws Error(kBadInput) listing every problem.
Matrix<double> finite_distortion(const std::string& name, const FiniteTableFile& table);
/// Throws Error(kBadInput) unless `matrix`, from the file `name`, is a distortion with a row for each of
/// `symbols` (absent: any number of them).
void check_distortion(const Matrix<double>& matrix, std::optional<Index> symbols, const std::string& name);

/// Throws Error(kUsage) listing every problem.
World make_world(const WorldOptions& options, const ObservationOptions& observation);

}  // namespace ppan
