#pragma once

// A network over rows of drawn cells. A row is one cell of each of several groups (the columns of a table)
// and some numbers; as a matrix that would be mostly zeros, so the first layer adds one column of weights for
// each cell instead. In addition to the layers there is a direct linear path from the cells and numbers to
// the outputs. Parameters are one flat vector: weights of the cells ((units + outputs) x cells), of the
// numbers ((units + outputs) x numbers), biases (units + outputs), then the layers behind (nn/mlp.h).

#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/random.h"
#include "ppan/nn/mlp.h"

namespace ppan {

/// A cell of each group: groups x rows.
using CellRows = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic>;

struct CellNetworkShape {
  std::vector<Index> cells;   ///< Of each group. At least 1 each.
  Index numbers = 0;          ///< At least 0.
  std::vector<Index> hidden;  ///< Units of the hidden layers; at least one layer.
  Index outputs = 1;          ///< At least 1.
};

template <typename Scalar>
class CellNetwork {
 public:
  CellNetwork() = default;
  explicit CellNetwork(CellNetworkShape shape);

  [[nodiscard]] const CellNetworkShape& shape() const { return shape_; }
  [[nodiscard]] Index parameter_count() const;
  /// Cells of all groups.
  [[nodiscard]] Index cells() const { return cells_; }
  /// First cell of a group among all cells.
  [[nodiscard]] Index first(std::size_t group) const { return first_[group]; }
  /// The direct path and the last layer begin at 0.
  void initialise(RandomSource& random, Vector<Scalar>& parameters) const;

  /// Outputs, rows x outputs, held until the next call. `numbers` is numbers x rows.
  const Matrix<Scalar>& forward(const Vector<Scalar>& parameters, const CellRows& rows,
                                const Matrix<Scalar>& numbers);
  /// After forward() with the same arguments: gradient in the parameters, and in the indicators of the cells
  /// (cells x rows) and the numbers (numbers x rows); either may be null.
  void backward(const Vector<Scalar>& parameters, const CellRows& rows, const Matrix<Scalar>& numbers,
                const Matrix<Scalar>& d_output, Vector<Scalar>* gradient, Matrix<Scalar>* d_cells,
                Matrix<Scalar>* d_numbers);

 private:
  [[nodiscard]] Index width() const { return units_ + shape_.outputs; }

  CellNetworkShape shape_;
  std::vector<Index> first_;
  Index cells_ = 0;
  Index units_ = 0;
  Mlp<Scalar> layers_;
  MlpWorkspace<Scalar> workspace_;
  Matrix<Scalar> sum_;          // width x rows: before the first activation, and the direct path
  Matrix<Scalar> first_layer_;  // rows x units
  Matrix<Scalar> output_;
  Matrix<Scalar> d_first_;
  Matrix<Scalar> d_sum_;
};

}  // namespace ppan
