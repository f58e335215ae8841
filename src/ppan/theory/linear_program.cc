#include "ppan/theory/linear_program.h"

#include <cmath>
#include <limits>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/linear_algebra.h"

namespace ppan::theory {
namespace {

constexpr double kImproves = 1e-11;  // reduced costs above minus this do not
constexpr double kPivot = 1e-9;      // smaller elements would blow rounding up
constexpr double kFeasible = 1e-9;
constexpr int kPatience = 60;  // steps without gain until Bland's rule

// B^-1 (A | b) and the reduced costs below it, with B the columns of the basis.
class Tableau {
 public:
  Tableau(const LinearProgram& program, std::vector<Index> basis) : basis_(std::move(basis)) {
    const Index m = program.rows.rows();
    const Index n = program.rows.cols();
    Matrix<double> whole(m, n + 1);
    whole << program.rows, program.right;
    const Matrix<double> columns = program.rows(Eigen::all, basis_);
    table_.resize(m + 1, n + 1);
    table_.topRows(m) = solve_square(columns, whole);
    if (!table_.topRows(m).allFinite() ||
        (columns * table_.topRows(m) - whole).cwiseAbs().maxCoeff() > 1e-6 ||
        table_.col(n).head(m).minCoeff() < -kFeasible)
      throw Error(ErrorCode::kUsage, "this basis does not give a feasible solution of the linear program");
    Eigen::RowVectorXd bottom(n + 1);
    bottom << program.cost.transpose(), 0;
    for (Index r = 0; r < m; ++r) bottom -= program.cost[basis_[static_cast<std::size_t>(r)]] * table_.row(r);
    table_.row(m) = bottom;
  }

  // The column to enter, or -1 at the optimum.
  [[nodiscard]] Index entering(bool bland) const {
    const Index n = table_.cols() - 1;
    const Index m = table_.rows() - 1;
    Index best = -1;
    for (Index c = 0; c < n; ++c) {
      if (table_(m, c) >= -kImproves || (best >= 0 && table_(m, c) >= table_(m, best))) continue;
      best = c;
      if (bland) break;
    }
    return best;
  }

  // The row to leave, or -1 if nothing bounds the column. Ties go to the basic column of the lowest number.
  [[nodiscard]] Index leaving(Index column) const {
    const Index m = table_.rows() - 1;
    const Index n = table_.cols() - 1;
    Index best = -1;
    double least = std::numeric_limits<double>::infinity();
    for (Index r = 0; r < m; ++r) {
      if (table_(r, column) <= kPivot) continue;
      const double ratio = std::max(0.0, table_(r, n)) / table_(r, column);
      const bool tie = best >= 0 && ratio <= least && basis(r) < basis(best);
      if (ratio < least || tie) {
        least = ratio;
        best = r;
      }
    }
    return best;
  }

  void pivot(Index row, Index column) {
    table_.row(row) /= table_(row, column);
    Vector<double> factor = table_.col(column);
    factor[row] = 0;
    const Eigen::RowVectorXd pivot_row = table_.row(row);
    table_.noalias() -= factor * pivot_row;
    basis_[static_cast<std::size_t>(row)] = column;
  }

  [[nodiscard]] double value() const { return -table_(table_.rows() - 1, table_.cols() - 1); }

  void read(LinearSolution& out) const {
    const Index m = table_.rows() - 1;
    const Index n = table_.cols() - 1;
    out.x.setZero(n);
    for (Index r = 0; r < m; ++r) out.x[basis(r)] = std::max(0.0, table_(r, n));
    out.reduced = table_.row(m).head(n).transpose();
  }

 private:
  [[nodiscard]] Index basis(Index row) const { return basis_[static_cast<std::size_t>(row)]; }

  Matrix<double> table_;
  std::vector<Index> basis_;
};

}  // namespace

LinearSolution solve_linear(const LinearProgram& program, std::vector<Index> basis, int most_pivots) {
  const Index m = program.rows.rows();
  if (program.right.size() != m || program.cost.size() != program.rows.cols() ||
      static_cast<Index>(basis.size()) != m)
    throw Error(ErrorCode::kUsage, "the parts of this linear program do not fit together");
  for (const Index c : basis) {
    if (c < 0 || c >= program.rows.cols())
      throw Error(ErrorCode::kUsage, "a column of the basis does not exist");
  }
  Tableau tableau(program, std::move(basis));
  LinearSolution out;
  int without_gain = 0;
  while (out.pivots < most_pivots) {
    const Index column = tableau.entering(without_gain > kPatience);
    out.optimal = column < 0;
    if (out.optimal) break;
    const Index row = tableau.leaving(column);
    if (row < 0) break;
    const double before = tableau.value();
    tableau.pivot(row, column);
    ++out.pivots;
    without_gain = tableau.value() < before - 1e-13 ? 0 : without_gain + 1;
  }
  tableau.read(out);
  return out;
}

}  // namespace ppan::theory
