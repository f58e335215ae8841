#pragma once

// P(z|w) as cells drawn one head after the other. With own_h the cell of head h that the row has and z_g what
// the earlier heads drew:
//
//     P_h(c) = keep_h [c = own_h] + (1 - keep_h) ( r_h [c = own_h] + (1 - r_h) S_h(c) )
//     keep_h = logistic(kGateScale (network(w, noise)_h + gate_h(own_h)))
//     r_h    = R_h(own_h),  R_h(c) = softmax(base_h(c) + sum_g link_gh(c, z_g))
//     S_h(c) = softmax over the other cells of
//                base_h(c) + sum_g link_gh(c, z_g) + network(w, noise)_h,c + table_h(own_h, c),
//
// over those cells that are compatible with what the earlier heads drew (HeadPair). R is a model of the
// column given those drawn before (HeadLink), fitted once. With network and table 0, a head that keeps
// nothing redraws its column from the other released columns, which reveals nothing new. Only the gate
// decides whether the own cell stays: when S could also draw it, S learned to do so while distortion was
// expensive, and the gate became useless. The noise is shared by all heads, so that columns can change
// together. Parameters are one flat vector: the network's (outputs: all cells, then a gate for each head),
// then table_h of each head, a column for each own cell, then gate_h of each head.

#include <utility>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/random.h"
#include "ppan/game/cell_network.h"
#include "ppan/nn/mlp.h"

namespace ppan {

/// Two heads some of whose cells never occur together.
struct HeadPair {
  std::int32_t first = 0;    ///< Drawn before ...
  std::int32_t second = 0;   ///< ... this one.
  Matrix<float> together{};  ///< Cells of `first` x cells of `second`: 1, or 0 for pairs that never occur.
};

/// What a drawn cell adds to the logits of a later head. Fitted once, and not trained.
struct HeadLink {
  std::int32_t first = 0;   ///< Drawn before ...
  std::int32_t second = 0;  ///< ... this one.
  Matrix<float> logit{};    ///< Cells of `second` x cells of `first`.
};

struct HeadsShape {
  Index features = 1;
  Index noise_inputs = 0;
  std::vector<Index> hidden;
  std::vector<Index> cells;  ///< Of each head.
  std::vector<HeadPair> pairs;
  std::vector<HeadLink> links;
  std::vector<Vector<float>> base;  ///< Of each head; empty: 0.
};

/// Gates must travel far between keeping and redrawing, in steps that suit the weights of a network.
inline constexpr double kGateScale = 3;
/// Gates are clipped here: from farther away they could not return in time.
inline constexpr double kMostGate = 6;
/// Values that no training reaches: gates that never keep and gates that always keep.
inline constexpr double kNeverKept = -100;
inline constexpr double kAlwaysKept = 100;

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
  /// table_h, cells x own cells, and gate_h of a head.
  [[nodiscard]] Eigen::Map<const Matrix<Scalar>> table(std::size_t head,
                                                       const Vector<Scalar>& parameters) const;
  [[nodiscard]] Eigen::Map<const Vector<Scalar>> gate(std::size_t head,
                                                      const Vector<Scalar>& parameters) const;
  /// The heads that a head depends on, in their order.
  [[nodiscard]] std::vector<std::int32_t> drawn_before(std::size_t head) const;
  /// log R of a head, up to a constant, given the cells of those; minus infinity for incompatible cells.
  void model(std::size_t head, const std::int32_t* drawn, Vector<Scalar>& out) const;
  /// Whether a cell is compatible with those drawn. An incompatible own cell may still stay where no cell is
  /// compatible.
  [[nodiscard]] bool fits(std::size_t head, std::int32_t cell, const std::int32_t* drawn) const;
  /// The network begins at 0 outputs, the tables with `table`, cells x own cells of each head, the gates with
  /// `gate`.
  void initialise(RandomSource& random, const std::vector<Matrix<Scalar>>& table, Scalar gate,
                  Vector<Scalar>& parameters) const;
  /// Sets the gates of one head, and its table to 0.
  void set_head(std::size_t head, Scalar gate, Vector<Scalar>& parameters) const;
  /// Makes a head keep nothing and ignore the row: it draws from R alone.
  void forget_row(std::size_t head, Vector<Scalar>& parameters) const;
  /// Whether a head does so.
  [[nodiscard]] bool forgets_row(std::size_t head, const Vector<Scalar>& parameters) const;
  /// Makes a head keep its cell in every row where it is compatible with what was drawn before.
  void keep_row(std::size_t head, Vector<Scalar>& parameters) const;
  [[nodiscard]] bool keeps_row(std::size_t head, const Vector<Scalar>& parameters) const;

  /// Cells drawn for rows with these features (rows x features) and own cells (heads x rows): `noise` is rows
  /// x noise inputs, `uniform` 2 heads x rows, on [0, 1): for each head whether its cell stays, and its
  /// replacement.
  void draw(const Vector<Scalar>& parameters, const Matrix<Scalar>& features, const CellRows& own,
            const Matrix<Scalar>& noise, const Matrix<Scalar>& uniform, CellRows& drawn);
  /// The same draws without probabilities and gradients. Most cells stay, and a replacement is computed only
  /// where one does not.
  void draw_only(const Vector<Scalar>& parameters, const Matrix<Scalar>& features, const CellRows& own,
                 const Matrix<Scalar>& noise, const Matrix<Scalar>& uniform, CellRows& drawn);
  /// Whether the gate of a head kept the own cell in the last draw. The own cell can be drawn again by
  /// chance. Its original number must then not be kept, because it would identify the row.
  [[nodiscard]] bool stays(std::size_t head, Index row) const {
    return stays_(static_cast<Index>(head), row);
  }
  /// Probabilities that the last draw() was made with, cells x rows.
  [[nodiscard]] const Matrix<Scalar>& probability() const { return probability_; }
  /// Gradient in the parameters of sum_i sum_c P(c|w_i) cost(c, i), costs (cells x rows) and what earlier
  /// heads drew held fixed; after draw() with the same arguments. Where a cost is the derivative of a loss in
  /// the indicator of a cell, this is the straight-through gradient of the loss.
  void backward(const Vector<Scalar>& parameters, const CellRows& own, const Matrix<Scalar>& cost,
                Vector<Scalar>& gradient);

 private:
  void set_and_close(std::size_t head, Scalar gate, Vector<Scalar>& parameters) const;
  void prepare(const Vector<Scalar>& parameters, const Matrix<Scalar>& features, const CellRows& own,
               const Matrix<Scalar>& noise, CellRows& drawn);
  // What is drawn if a cell is not kept: `s`, which begins as the logits of the network, becomes S; returns
  // r, and whether the own cell may stay.
  template <typename Cells>
  std::pair<Scalar, bool> redraw(const Vector<Scalar>& parameters, std::size_t head, std::int32_t own,
                                 const std::int32_t* drawn, Cells& s);
  template <typename Cells>
  static std::int32_t choose(const Cells& s, Scalar keep, Scalar again, std::int32_t own,
                             const Scalar* uniform);
  // `count` outputs of the network from `first` on, for rows of its last hidden layer; rows x count.
  void outputs(const Vector<Scalar>& parameters, const Matrix<Scalar>& hidden, Index first, Index count,
               Matrix<Scalar>& out) const;
  void draw_head(const Vector<Scalar>& parameters, std::size_t head, const Matrix<Scalar>& hidden,
                 const CellRows& own, const Matrix<Scalar>& uniform, CellRows& drawn);

  HeadsShape shape_;
  std::vector<Index> first_;
  std::vector<Index> table_;                        // where the table of each head begins
  std::vector<Index> gate_;                         // and its gates
  std::vector<std::vector<std::size_t>> pairs_of_;  // pairs whose second is this head
  std::vector<std::vector<std::size_t>> links_of_;
  Index cells_ = 0;
  Mlp<Scalar> network_;
  Mlp<Scalar> trunk_;  // its hidden layers alone, whose parameters come first
  MlpWorkspace<Scalar> workspace_;
  Matrix<Scalar> input_;
  Matrix<Scalar> output_;                                      // of the network: cells and gates x rows
  Matrix<Scalar> redrawn_;                                     // S, cells x rows
  Matrix<Scalar> gates_;                                       // logits of the following
  Matrix<Scalar> keep_;                                        // heads x rows
  Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic> stays_;  // heads x rows
  Matrix<Scalar> again_;                                       // r, heads x rows
  Matrix<Scalar> trunk_output_;
  std::vector<Index> picked_;   // rows that draw_only() redraws in a head
  Matrix<Scalar> hidden_;       // of them
  Matrix<Scalar> logit_;        // and of their cells
  Vector<Scalar> chances_;      // S of one of them
  Vector<Scalar> model_;        // log R of a head, up to a constant
  Matrix<Scalar> probability_;  // cells x rows
  Matrix<Scalar> d_logit_;      // cells and gates x rows
  Matrix<Scalar> d_output_;     // rows x cells and gates
};

}  // namespace ppan
