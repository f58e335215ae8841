#include "ppan/audit/exact_information.h"

#include <fmt/format.h>

#include <cmath>

#include "ppan/core/error.h"
#include "ppan/theory/information.h"

namespace ppan {
namespace {

void require_pmf(const MatrixRef<double>& joint) {
  if (joint.size() == 0 || !joint.allFinite() || joint.minCoeff() < 0)
    throw Error(ErrorCode::kBadInput, "a joint pmf is empty or has an entry that is negative or not finite");
  if (std::abs(joint.sum() - 1) > 1e-9)
    throw Error(ErrorCode::kBadInput, fmt::format("a joint pmf sums to {}, not to 1", joint.sum()));
}

}  // namespace

Estimate exact_information(const MatrixRef<double>& joint) {
  require_pmf(joint);
  return {theory::mutual_information(joint), std::nullopt, Bound::kExact, "exact", 0};
}

Estimate exact_information(const MatrixRef<double>& joint_wx, const MatrixRef<double>& mechanism) {
  require_pmf(joint_wx);
  if (mechanism.rows() != joint_wx.rows() || mechanism.cols() == 0)
    throw Error(ErrorCode::kBadInput, fmt::format("a mechanism of {} x {} does not fit {} observations",
                                                  mechanism.rows(), mechanism.cols(), joint_wx.rows()));
  if (!mechanism.allFinite() || mechanism.minCoeff() < 0 ||
      ((mechanism.rowwise().sum().array() - 1).abs() > 1e-9).any())
    throw Error(ErrorCode::kBadInput, "a row of the mechanism is not a probability distribution");
  return exact_information(joint_wx.transpose() * mechanism);
}

}  // namespace ppan
