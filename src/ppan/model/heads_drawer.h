#pragma once

// Draws of a trained HeadsNetwork for releases: the same cells from the same noise and uniform numbers, up to
// the last bits of a sum, in a fraction of the time. Rows are contiguous. Most features are 0 and the others,
// except the numbers, are 1, so the first layer is a sum of weights. The gate is evaluated first, and the
// distribution of the replacement is computed only where it is needed. The model R of a head depends only on
// the cells drawn before and is cached for frequent combinations. Rows are processed in blocks, so that
// intermediate results stay in the caches.

#include <cstdint>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/game/cell_network.h"
#include "ppan/model/heads_network.h"
#include "ppan/nn/cell_draw.h"

namespace ppan {

/// Rows as the network of heads sees them. A feature that is neither a number nor listed in `ones` is 0.
struct HeadsInput {
  Matrix<float> numbers{};                                             ///< Numbers x rows.
  Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic> ones{};  ///< Features that are 1; x rows.
};

class HeadsDrawer {
 public:
  /// `numbers` are the features that HeadsInput::numbers holds.
  HeadsDrawer(HeadsShape shape, const Vector<float>& parameters, const std::vector<Index>& numbers);

  [[nodiscard]] Index heads() const { return network_.heads(); }
  /// Whether any head depends on the rows; otherwise input and noise may be empty.
  [[nodiscard]] bool looks() const { return looks_; }
  /// Filler of HeadsInput::ones.
  [[nodiscard]] std::int32_t no_feature() const {
    return static_cast<std::int32_t>(input_.weight.cols()) - 1;
  }
  /// As HeadsNetwork::draw(), except that `noise` is noise inputs x rows.
  void draw(const HeadsInput& in, const CellRows& own, const Matrix<float>& noise,
            const Matrix<float>& uniform, CellRows& drawn);
  /// As there.
  [[nodiscard]] bool stays(std::size_t head, Index row) const {
    return stays_(static_cast<Index>(head), row);
  }

 private:
  // Outputs x inputs, both padded with 0 for record_layers.h.
  struct Layer {
    Matrix<float> weight;
    Vector<float> bias;
  };
  // R of a head, cached by the cells drawn before.
  struct Models {
    std::vector<std::int32_t> before;    // heads that it depends on
    std::vector<std::int64_t> step;      // of each in the number of a combination
    bool numbered = true;                // false: too many combinations to number
    std::vector<std::int64_t> number;    // of each slot that keeps one; -1: none yet
    std::size_t more = 0;                // further slots, for rows that wait for their cell
    Matrix<float> logarithm;             // cells x slots, as HeadsNetwork::model() has it
    Matrix<float> chance;                // R
    Matrix<float> sums;                  // of R up to each cell
    std::vector<std::int32_t> possible;  // cells that may be drawn at all
  };
  [[nodiscard]] Models start_models(std::size_t head) const;
  static Layer packed(const float* weights, const float* bias, Index inputs, Index outputs, Index all);
  // Rows from `first` on, which are processed together.
  struct Block {
    Index first = 0;
    Index rows = 0;
  };
  void run_network(const HeadsInput& in, const Matrix<float>& noise, Block block);
  void run_gates(const CellRows& own, Block block);
  void draw_head(std::size_t head, const CellRows& own, const Matrix<float>& uniform, Block block,
                 CellRows& drawn);
  void redraw(std::size_t head, Block block, CellRows& drawn);
  std::size_t find_model(std::size_t head, const std::int32_t* drawn);
  void make_model(std::size_t head, const std::int32_t* drawn, std::size_t slot);

  HeadsNetwork<float> network_;
  Layer input_;               // of all features except numbers; the last one is the filler
  Matrix<float> of_numbers_;  // weights
  Matrix<float> of_noise_;
  bool deep_;                         // there is a hidden layer
  std::vector<Layer> hidden_;         // except the first
  Layer gates_;                       // of the last layer
  std::vector<Layer> cells_;          // its part for the cells of each head, without biases
  std::vector<Matrix<float>> table_;  // of each head, with the biases of its cells; see CellDraw
  Vector<float> gate_;                // of all cells
  std::vector<Models> models_;
  std::vector<bool> forgets_;  // of each head, whether it draws from R alone
  bool looks_ = false;
  std::vector<Matrix<float>> layer_;  // units x rows of a block
  Matrix<float> gate_output_;
  Vector<float> keep_;  // heads of the rows of a block, padded
  Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic> stays_;
  std::vector<CellRecord> waiting_;   // rows of the block for which a head draws another cell
  std::vector<std::int32_t> chosen_;  // and those cells
  Vector<float> model_;
};

}  // namespace ppan
