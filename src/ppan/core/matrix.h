#pragma once

// The one matrix layout of the project: a row per record, a column per feature, column-major. A feature is
// contiguous over the records, so loops vectorise over the batch however narrow a network is.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace ppan {

using Index = Eigen::Index;

template <typename Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <typename Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
template <typename Scalar>
using MatrixRef = Eigen::Ref<const Matrix<Scalar>>;
template <typename Scalar>
using VectorRef = Eigen::Ref<const Vector<Scalar>>;

/// Codes 0..levels-1 of a finite alphabet, one per record.
using Symbols = std::vector<std::int32_t>;

}  // namespace ppan
