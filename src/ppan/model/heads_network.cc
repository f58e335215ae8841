#include "ppan/model/heads_network.h"

#include <algorithm>
#include <limits>

namespace ppan {

template <typename Scalar>
HeadsNetwork<Scalar>::HeadsNetwork(HeadsShape shape) : shape_(std::move(shape)) {
  for (const Index count : shape_.cells) {
    first_.push_back(cells_);
    cells_ += count;
  }
  network_ = Mlp<Scalar>(
      {.inputs = shape_.features + shape_.noise_inputs, .hidden = shape_.hidden, .outputs = cells_});
  Index next = network_.parameter_count();
  for (const Index count : shape_.cells) {
    table_.push_back(next);
    next += count * count;
  }
  pairs_of_.resize(shape_.cells.size());
  for (std::size_t p = 0; p < shape_.pairs.size(); ++p)
    pairs_of_[static_cast<std::size_t>(shape_.pairs[p].second)].push_back(p);
}

template <typename Scalar>
Index HeadsNetwork<Scalar>::parameter_count() const {
  Index count = network_.parameter_count();
  for (const Index cells : shape_.cells) count += cells * cells;
  return count;
}

template <typename Scalar>
void HeadsNetwork<Scalar>::initialise(RandomSource& random, const std::vector<Matrix<Scalar>>& table,
                                      Vector<Scalar>& parameters) const {
  parameters.resize(parameter_count());
  network_.initialise(random, parameters.data());
  const Index last = shape_.hidden.empty() ? network_.shape().inputs : shape_.hidden.back();
  parameters.segment(network_.parameter_count() - (last + 1) * cells_, (last + 1) * cells_).setZero();
  for (std::size_t h = 0; h < table.size(); ++h)
    Eigen::Map<Matrix<Scalar>>(parameters.data() + table_[h], shape_.cells[h], shape_.cells[h]) = table[h];
}

template <typename Scalar>
void HeadsNetwork<Scalar>::draw(const Vector<Scalar>& parameters, const Matrix<Scalar>& features,
                                const CellRows& own, const Matrix<Scalar>& noise,
                                const Matrix<Scalar>& uniform, CellRows& drawn) {
  const Index rows = features.rows();
  input_.resize(rows, features.cols() + noise.cols());
  input_.leftCols(features.cols()) = features;
  input_.rightCols(noise.cols()) = noise;
  probability_ = network_.forward(parameters.data(), input_, workspace_).transpose();
  drawn.resize(heads(), rows);
  for (Index i = 0; i < rows; ++i) {
    for (std::size_t h = 0; h < first_.size(); ++h) {
      const Index count = shape_.cells[h];
      probability_.col(i).segment(first_[h], count) += Eigen::Map<const Vector<Scalar>>(
          parameters.data() + table_[h] + own(static_cast<Index>(h), i) * count, count);
    }
    draw_row(i, uniform.col(i).data(), drawn.col(i).data());
  }
}

template <typename Scalar>
void HeadsNetwork<Scalar>::draw_row(Index row, const Scalar* uniform, std::int32_t* drawn) {
  constexpr Scalar kNever = -std::numeric_limits<Scalar>::infinity();
  constexpr Scalar kOut = -80;
  constexpr auto kLeast = Scalar(1e-30);
  for (std::size_t h = 0; h < first_.size(); ++h) {
    auto p = probability_.col(row).segment(first_[h], shape_.cells[h]);
    // A cell that cannot stand beside all that was drawn is left out, unless none is left.
    for (const std::size_t number : pairs_of_[h]) {
      const HeadPair& pair = shape_.pairs[number];
      const std::int32_t before = drawn[pair.first];
      bool any = false;
      for (Index c = 0; c < p.size() && !any; ++c) any = p[c] > kNever && pair.together(before, c) > 0;
      if (!any) continue;
      for (Index c = 0; c < p.size(); ++c) {
        if (pair.together(before, c) <= 0) p[c] = kNever;
      }
    }
    const Scalar most = p.maxCoeff();
    for (Index c = 0; c < p.size(); ++c) {
      if (p[c] == kNever) p[c] = most + kOut;
    }
    p = (p.array() - most).exp();
    // What was left out is exactly 0: vectorised exponentials end at the least normal number.
    p = (p.array() < kLeast).select(Scalar(0), p);
    p /= p.sum();
    Scalar left = uniform[h];
    std::int32_t cell = -1;
    for (Index c = 0; c < p.size(); ++c) {
      if (p[c] <= 0) continue;
      cell = static_cast<std::int32_t>(c);
      left -= p[c];
      if (left < 0) break;
    }
    drawn[h] = cell;
  }
}

template <typename Scalar>
void HeadsNetwork<Scalar>::backward(const Vector<Scalar>& parameters, const CellRows& own,
                                    const Matrix<Scalar>& cost, Vector<Scalar>& gradient) {
  const Index rows = probability_.cols();
  gradient.setZero(parameter_count());
  d_logit_ = cost;
  for (Index i = 0; i < rows; ++i) {
    for (std::size_t h = 0; h < first_.size(); ++h) {
      const Index count = shape_.cells[h];
      const auto p = probability_.col(i).segment(first_[h], count);
      auto d = d_logit_.col(i).segment(first_[h], count);
      const Scalar mean = p.dot(d);
      d = p.array() * (d.array() - mean);
      Eigen::Map<Vector<Scalar>>(gradient.data() + table_[h] + own(static_cast<Index>(h), i) * count, count) +=
          d;
    }
  }
  d_output_ = d_logit_.transpose();
  network_.backward(parameters.data(), input_, d_output_, workspace_, gradient.data(), nullptr);
}

template class HeadsNetwork<float>;
template class HeadsNetwork<double>;

}  // namespace ppan
