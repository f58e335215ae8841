#pragma once

// A finite world given by its table P(x,y,w): any alphabets, any observation W. Observation models turn the
// table of a pair into that of a triple.

#include <string>
#include <vector>

#include "ppan/worlds/known_world.h"

namespace ppan {

/// One cell of the table.
struct FiniteCell {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t w = 0;
  double probability = 0;
};

struct FiniteTableWorld {
  std::vector<FiniteCell> cells;  ///< Probabilities at least 0 that sum to 1 (to 1e-6).
  std::int32_t x_levels = 0;
  std::int32_t y_levels = 0;
  std::int32_t w_levels = 0;

  [[nodiscard]] Problems check() const;
  /// I(X;W): what a release of everything observed would leak.
  [[nodiscard]] double mutual_information() const;
  [[nodiscard]] theory::FiniteDistribution distribution() const;
  [[nodiscard]] Matrix<double> pair() const;  ///< P(x,y), a row per x.
  [[nodiscard]] Records<double> sample(Index count, RandomSource& random) const;
};
static_assert(KnownWorld<FiniteTableWorld> && FiniteWorld<FiniteTableWorld>);

/// The table of a pair P(x,y), a row per x, with W = Y.
FiniteTableWorld finite_table(const MatrixRef<double>& pair);
/// The same X and Y with another observation W.
FiniteTableWorld see_useful(const FiniteTableWorld& world);     ///< W = Y
FiniteTableWorld see_sensitive(const FiniteTableWorld& world);  ///< W = X
FiniteTableWorld see_all(const FiniteTableWorld& world);        ///< W = (X,Y), coded x |Y| + y
/// W = Y, except that with probability `flip` it is another symbol, each equally likely. 0 <= flip <= 1.
FiniteTableWorld see_flipped(const FiniteTableWorld& world, double flip);
/// W = Y, except that with probability `erase` it is erased: an additional symbol, the last. 0 <= erase <= 1.
FiniteTableWorld see_erased(const FiniteTableWorld& world, double erase);

/// Names of the symbols as written in the file.
struct FiniteTableFile {
  FiniteTableWorld world;
  std::vector<std::string> x, y, w;  ///< In order of first appearance.
  bool observation_given = false;    ///< The file has a column w.
};
/// Reads CSV with the columns x, y, probability and, optionally, w (without it W = Y). Rows that repeat a
/// cell are added. Throws Error(kBadInput) listing every problem: a column that is not there or not known, a
/// symbol that is empty or no text, a probability that is not a number or negative, a sum that is not 1.
FiniteTableFile parse_finite_table(const std::string& text, const std::string& name);
/// A matrix as CSV without a header, a line per row. Throws Error(kBadInput) listing every problem: rows of
/// different length, a cell that is not a number.
Matrix<double> parse_matrix(const std::string& text, const std::string& name);

}  // namespace ppan
