#include "ppan/audit/gaussian_information.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ppan/core/error.h"
#include "ppan/core/linear_algebra.h"

namespace ppan {
namespace {

/// Directions of a covariance with less than this share of the largest variance are noise of the arithmetic.
constexpr double kRankTolerance = 1e-12;

/// Rows of `centred` in coordinates of unit, uncorrelated sample variance; degenerate directions are dropped.
Matrix<double> whiten(const Matrix<double>& centred) {
  const Matrix<double> covariance = centred.transpose() * centred / static_cast<double>(centred.rows());
  const SymmetricEigen eigen = symmetric_eigen(covariance);
  const double least = kRankTolerance * eigen.values.maxCoeff();
  Index rank = 0;
  while (rank < covariance.rows() && eigen.values[covariance.rows() - 1 - rank] > std::max(least, 0.0))
    ++rank;
  const Vector<double> scale = eigen.values.tail(rank).cwiseSqrt().cwiseInverse();
  return centred * (eigen.vectors.rightCols(rank) * scale.asDiagonal());
}

/// Columns centred and divided by their deviation, so that the rank tolerance does not depend on units.
Matrix<double> standardise(const MatrixRef<double>& values) {
  Matrix<double> result = values.rowwise() - values.colwise().mean();
  for (Index j = 0; j < result.cols(); ++j) {
    const double deviation = std::sqrt(result.col(j).squaredNorm() / static_cast<double>(result.rows()));
    const double size = values.col(j).cwiseAbs().maxCoeff();
    // A constant column leaves only the rounding of its mean.
    if (deviation <= 1e-14 * size)
      result.col(j).setZero();
    else
      result.col(j) /= deviation;
  }
  return result;
}

void require_usable(const MatrixRef<double>& x, const MatrixRef<double>& z) {
  if (x.rows() != z.rows())
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} sensitive and {} released rows do not match", x.rows(), z.rows()));
  const Index least = x.cols() + z.cols() + 2;
  if (x.cols() == 0 || z.cols() == 0 || x.rows() < least)
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} rows of {} sensitive and {} released columns are too few for a covariance",
                            x.rows(), x.cols(), z.cols()),
                fmt::format("give at least {} rows", least));
  if (!x.allFinite() || !z.allFinite())
    throw Error(ErrorCode::kBadInput, "a sensitive or released value is not finite");
}

}  // namespace

Estimate gaussian_information(const MatrixRef<double>& x, const MatrixRef<double>& z) {
  require_usable(x, z);
  const auto n = static_cast<double>(x.rows());
  const Matrix<double> white_x = whiten(standardise(x));
  const Matrix<double> white_z = whiten(standardise(z));
  if (white_x.cols() < x.cols())
    throw Error(ErrorCode::kBadInput, "the covariance of the sensitive columns is singular",
                "leave out sensitive columns that are constant or follow from the others");
  Estimate estimate{0, std::nullopt, Bound::kLower, "gaussian plug-in", x.rows()};

  // In white coordinates Sx and Sz are identities, and det Sx|z / det Sx = det(1 - C C^T) with C = Sxz.
  const Matrix<double> cross = white_x.transpose() * white_z / n;
  const Matrix<double> conditional = Matrix<double>::Identity(x.cols(), x.cols()) - cross * cross.transpose();
  const SymmetricEigen eigen = symmetric_eigen(conditional);
  if (eigen.values.minCoeff() <= kRankTolerance) {
    estimate.nats = std::numeric_limits<double>::infinity();
    estimate.interval95 = Interval{estimate.nats, estimate.nats};
    return estimate;
  }
  estimate.nats = std::max(0.0, -0.5 * eigen.values.array().log().sum());

  // u^T Su^+ u = z^T Sz^+ z + e^T Sx|z^-1 e with e = x - Sxz Sz^+ z, so the record's term is 1/2 (|x|^2 -
  // |e|^2_Sx|z).
  const Matrix<double> inverse_root =
      eigen.vectors * eigen.values.cwiseSqrt().cwiseInverse().asDiagonal() * eigen.vectors.transpose();
  const Matrix<double> rest = (white_x - white_z * cross.transpose()) * inverse_root;
  const Vector<double> term = 0.5 * (white_x.rowwise().squaredNorm() - rest.rowwise().squaredNorm());
  const double variance = (term.array() - term.mean()).square().sum() / (n - 1);
  const auto freedom = static_cast<double>(white_x.cols() * white_z.cols());
  const double bias = freedom / (2 * n);
  const double error = std::sqrt(variance / n + freedom / (2 * n * n));
  estimate.interval95 = Interval{std::max(0.0, estimate.nats - bias - 1.96 * error),
                                 std::max(estimate.nats, estimate.nats - bias + 1.96 * error)};
  return estimate;
}

}  // namespace ppan
