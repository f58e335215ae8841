#include "ppan/theory/finite_distribution.h"

#include <fmt/format.h>

#include <cmath>

#include "ppan/theory/information.h"

namespace ppan::theory {
namespace {

void check_pmf(ProblemList& problems, const char* field, const Matrix<double>& pmf) {
  if (pmf.size() == 0) {
    problems.require(false, field, "is empty");
    return;
  }
  problems.require(pmf.allFinite() && pmf.minCoeff() >= 0, field,
                   "has an entry that is negative or not finite");
  problems.require(std::abs(pmf.sum() - 1) <= 1e-9, field, fmt::format("sums to {}, not to 1", pmf.sum()));
}

void require_mechanism(const FiniteDistribution& distribution, const MatrixRef<double>& mechanism) {
  if (mechanism.rows() != distribution.wx.rows())
    throw Error(ErrorCode::kUsage,
                fmt::format("a mechanism of {} rows does not fit a distribution of {} observations",
                            mechanism.rows(), distribution.wx.rows()));
}

}  // namespace

Problems FiniteDistribution::check() const {
  ProblemList problems;
  check_pmf(problems, "wx", wx);
  check_pmf(problems, "wy", wy);
  const bool same_rows = wx.rows() == wy.rows();
  problems.require(same_rows, "wy", fmt::format("has {} rows where wx has {}", wy.rows(), wx.rows()));
  if (same_rows && wx.size() > 0 && wy.size() > 0) {
    const double difference = (wx.rowwise().sum() - wy.rowwise().sum()).cwiseAbs().maxCoeff();
    problems.require(difference <= 1e-9, "wy",
                     fmt::format("has another P(w) than wx, by up to {}", difference));
  }
  return problems.take();
}

FiniteDistribution distribution_of_pair(const MatrixRef<double>& pair, Observation observation) {
  const Index nx = pair.rows();
  const Index ny = pair.cols();
  FiniteDistribution distribution;
  switch (observation) {
    case Observation::kUsefulOnly:
      distribution.wx = pair.transpose();
      distribution.wy = pair.colwise().sum().asDiagonal();
      break;
    case Observation::kFullData:
      distribution.wx = Matrix<double>::Zero(nx * ny, nx);
      distribution.wy = Matrix<double>::Zero(nx * ny, ny);
      for (Index x = 0; x < nx; ++x)
        for (Index y = 0; y < ny; ++y)
          distribution.wx(x * ny + y, x) = distribution.wy(x * ny + y, y) = pair(x, y);
      break;
    case Observation::kRateDistortion:
      distribution.wx = pair.colwise().sum().asDiagonal();
      distribution.wy = distribution.wx;
      break;
    case Observation::kBottleneck:
      distribution.wx = pair.rowwise().sum().asDiagonal();
      distribution.wy = pair;
      break;
  }
  return distribution;
}

Matrix<double> plug_in_pair(const Records<double>& records, double pseudo_count) {
  if (records.sensitive.empty() || !records.sensitive.front().finite() || !records.useful.finite())
    throw Error(ErrorCode::kBadInput,
                "a pmf can be counted only when the sensitive and useful attributes are finite");
  ProblemList problems;
  problems.require_at_least("pseudo_count", pseudo_count, 0);
  require_none(problems.take(), "the joint pmf cannot be estimated");
  const auto& x = records.sensitive.front();
  const auto& y = records.useful;
  if (x.code.size() != y.code.size() || (x.code.empty() && pseudo_count == 0))
    throw Error(ErrorCode::kBadInput, fmt::format("a pmf cannot be counted from {} values of X and {} of Y",
                                                  x.code.size(), y.code.size()));
  Matrix<double> pair = Matrix<double>::Constant(x.levels, y.levels, pseudo_count);
  for (std::size_t i = 0; i < x.code.size(); ++i) {
    if (x.code[i] < 0 || x.code[i] >= x.levels || y.code[i] < 0 || y.code[i] >= y.levels)
      throw Error(ErrorCode::kBadInput, fmt::format("record {} has a code outside its alphabet", i));
    pair(x.code[i], y.code[i]) += 1;
  }
  return pair / pair.sum();
}

Matrix<double> released_joint(const FiniteDistribution& distribution, const MatrixRef<double>& mechanism) {
  require_mechanism(distribution, mechanism);
  return distribution.wx.transpose() * mechanism;
}

double leakage(const FiniteDistribution& distribution, const MatrixRef<double>& mechanism) {
  return mutual_information(released_joint(distribution, mechanism));
}

double useful_information(const FiniteDistribution& distribution, const MatrixRef<double>& mechanism) {
  require_mechanism(distribution, mechanism);
  return mutual_information(distribution.wy.transpose() * mechanism);
}

double expected_distortion(const FiniteDistribution& distribution, const MatrixRef<double>& mechanism,
                           const MatrixRef<double>& distortion) {
  require_mechanism(distribution, mechanism);
  if (distortion.rows() != distribution.wy.cols() || distortion.cols() != mechanism.cols())
    throw Error(ErrorCode::kUsage,
                fmt::format("a distortion of {} x {} does not fit {} useful values and {} releases",
                            distortion.rows(), distortion.cols(), distribution.wy.cols(), mechanism.cols()));
  return ((distribution.wy * distortion).array() * mechanism.array()).sum();
}

Matrix<double> error_distortion(Index levels) {
  return Matrix<double>::Ones(levels, levels) - Matrix<double>::Identity(levels, levels);
}

}  // namespace ppan::theory
