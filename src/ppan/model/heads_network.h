#pragma once

// P(z|w) as cells drawn one head after the other. With own_h the cell of head h that the row has:
//
//     logit_h(c) = network(w, noise)_h,c + table_h(own_h, c),
//
// softmaxed over those cells that can stand beside what the earlier heads drew (HeadPair). The noise is
// shared by all heads, so that columns can change together; the table is where copying begins.
// Parameters are one flat vector: the network's, then table_h of each head, a column for each own cell.

#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/random.h"
#include "ppan/game/cell_network.h"
#include "ppan/nn/mlp.h"

namespace ppan {

/// Two heads some of whose cells never stand together.
struct HeadPair {
  std::int32_t first = 0;   ///< Drawn before ...
  std::int32_t second = 0;  ///< ... this one.
  Matrix<float> together{};  ///< Cells of `first` x cells of `second`: 1, or 0 for those that never do.
};

struct HeadsShape {
  Index features = 1;
  Index noise_inputs = 0;
  std::vector<Index> hidden;
  std::vector<Index> cells;  ///< Of each head.
  std::vector<HeadPair> pairs;
};

template <typename Scalar>
class HeadsNetwork {
 public:
  HeadsNetwork() = default;
  explicit HeadsNetwork(HeadsShape shape);

  [[nodiscard]] const HeadsShape& shape() const { return shape_; }
  [[nodiscard]] Index parameter_count() const;
  [[nodiscard]] Index cells() const { return cells_; }
  [[nodiscard]] Index first(std::size_t head) const { return first_[head]; }
  [[nodiscard]] Index heads() const { return static_cast<Index>(shape_.cells.size()); }
  /// The network begins at 0 outputs, the tables with `table`, cells x own cells of each head.
  void initialise(RandomSource& random, const std::vector<Matrix<Scalar>>& table,
                  Vector<Scalar>& parameters) const;

  /// Cells drawn for rows with these features (rows x features) and own cells (heads x rows): `noise` is rows x
  /// noise inputs, `uniform` heads x rows, on [0, 1).
  void draw(const Vector<Scalar>& parameters, const Matrix<Scalar>& features, const CellRows& own,
            const Matrix<Scalar>& noise, const Matrix<Scalar>& uniform, CellRows& drawn);
  /// Probabilities that the last draws were made with, cells x rows.
  [[nodiscard]] const Matrix<Scalar>& probability() const { return probability_; }
  /// Gradient in the parameters of sum_i sum_c P(c|w_i) cost(c, i), costs (cells x rows) and what earlier heads
  /// drew held fixed; after draw() with the same arguments. Where a cost is the derivative of a loss in the
  /// indicator of a cell, this is the straight-through gradient of the loss.
  void backward(const Vector<Scalar>& parameters, const CellRows& own, const Matrix<Scalar>& cost,
                Vector<Scalar>& gradient);

 private:
  void draw_row(Index row, const Scalar* uniform, std::int32_t* drawn);

  HeadsShape shape_;
  std::vector<Index> first_;
  std::vector<Index> table_;  // where the table of each head begins
  std::vector<std::vector<std::size_t>> pairs_of_;  // pairs whose second is this head
  Index cells_ = 0;
  Mlp<Scalar> network_;
  MlpWorkspace<Scalar> workspace_;
  Matrix<Scalar> input_;
  Matrix<Scalar> probability_;  // cells x rows
  Matrix<Scalar> d_logit_;      // cells x rows
  Matrix<Scalar> d_output_;     // rows x cells
};

}  // namespace ppan
