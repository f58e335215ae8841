#include "ppan/table/table_distortion.h"

#include <cmath>

namespace ppan {
namespace {

// Probabilities below this count as this in the cross-entropy.
constexpr double kLeastProbability = 1e-9;

template <typename Scalar>
Scalar sigmoid(Scalar x) {
  return Scalar(1) / (Scalar(1) + std::exp(-x));
}

// One category over all rows: adds weight * cost to `value` and writes weight * slope into `slope`.
template <typename Scalar>
void category_cost(const Eigen::Ref<const Matrix<Scalar>>& logits, const Matrix<Scalar>& useful, Index first,
                   Scalar weight, CategoryCost cost, Index records, Eigen::Ref<Vector<Scalar>> value,
                   Eigen::Ref<Matrix<Scalar>> slope) {
  const Index rows = logits.rows();
  const Index levels = logits.cols();
  // Column by column, so that the loops run over the rows.
  Eigen::Array<Scalar, Eigen::Dynamic, 1> most = logits.col(0).array();
  for (Index l = 1; l < levels; ++l) most = most.max(logits.col(l).array());
  Eigen::Array<Scalar, Eigen::Dynamic, 1> sum = Eigen::Array<Scalar, Eigen::Dynamic, 1>::Zero(rows);
  Eigen::Array<Scalar, Eigen::Dynamic, 1> right = sum;  // p(y)
  for (Index l = 0; l < levels; ++l) {
    slope.col(l).array() = (logits.col(l).array() - most).exp();
    sum += slope.col(l).array();
  }
  for (Index l = 0; l < levels; ++l) {
    slope.col(l).array() /= sum;
    for (Index k = 0; k < rows; k += records) {
      right.segment(k, records) += slope.col(l).segment(k, records).array() * useful.col(first + l).array();
    }
  }
  // d p(y) / d l_j = p(y) (1(j = y) - p_j)
  if (cost == CategoryCost::kError) {
    value.array() += weight * (Scalar(1) - right);
    for (Index l = 0; l < levels; ++l) {
      for (Index k = 0; k < rows; k += records) {
        slope.col(l).segment(k, records).array() =
            weight * right.segment(k, records) *
            (slope.col(l).segment(k, records).array() - useful.col(first + l).array());
      }
    }
    return;
  }
  value.array() -= weight * right.max(static_cast<Scalar>(kLeastProbability)).log();
  for (Index l = 0; l < levels; ++l) {
    for (Index k = 0; k < rows; k += records) {
      slope.col(l).segment(k, records).array() =
          weight * (slope.col(l).segment(k, records).array() - useful.col(first + l).array());
    }
  }
}

}  // namespace

Layout with_unit_weights(Layout layout) {
  double total = 0;
  for (const Block& block : layout.blocks) total += block.weight;
  for (Block& block : layout.blocks) block.weight /= total;
  return layout;
}

template <typename Scalar>
TableDistortion<Scalar>::TableDistortion(Layout layout, CategoryCost cost)
    : layout_(with_unit_weights(std::move(layout))), cost_(cost) {}

template <typename Scalar>
void TableDistortion<Scalar>::evaluate(const Draws<Scalar>& draws, const Attribute<Scalar>& useful,
                                       Matrix<Scalar>& value) {
  const Matrix<Scalar>& out = draws.released;
  const Index records = draws.records;
  value.setZero(records, draws.per_record);
  slope_.resize(out.rows(), out.cols());
  // Draw k of record i is row k * records + i, so the values read column by column are in the order of the
  // rows.
  Eigen::Map<Vector<Scalar>> flat(value.data(), value.size());
  for (const Block& block : layout_.blocks) {
    const auto weight = static_cast<Scalar>(block.weight);
    if (block.kind == BlockKind::kCategory) {
      category_cost<Scalar>(out.middleCols(block.first, block.width), useful.value, block.first, weight,
                            cost_, records, flat, slope_.middleCols(block.first, block.width));
      continue;
    }
    if (block.kind == BlockKind::kNumber) {
      for (Index k = 0; k < draws.per_record; ++k) {
        const auto v = out.col(block.first).segment(k * records, records).array();
        const auto error = v - useful.value.col(block.first).array();
        value.col(k).array() += weight * error.square();
        slope_.col(block.first).segment(k * records, records).array() = Scalar(2) * weight * error;
      }
      continue;
    }
    for (Index k = 0; k < draws.per_record; ++k) {
      for (Index i = 0; i < records; ++i) {
        const Index row = k * records + i;
        const bool missing = useful.value(i, block.first + 1) > Scalar(0.5);
        const Scalar q = sigmoid(out(row, block.first + 1));
        const Scalar error = out(row, block.first) - useful.value(i, block.first);
        Scalar cost = 0;
        Scalar d_value = 0;
        Scalar d_logit = 0;
        if (cost_ == CategoryCost::kError) {
          const Scalar q_slope = q * (Scalar(1) - q);
          cost = missing ? Scalar(1) - q : (Scalar(1) - q) * error * error + q;
          d_value = missing ? Scalar(0) : Scalar(2) * (Scalar(1) - q) * error;
          d_logit = missing ? -q_slope : q_slope * (Scalar(1) - error * error);
        } else {
          const Scalar likely = missing ? q : Scalar(1) - q;
          cost = -std::log(std::max(likely, static_cast<Scalar>(kLeastProbability)));
          d_logit = missing ? q - Scalar(1) : q;
          if (!missing) {
            cost += error * error;
            d_value = Scalar(2) * error;
          }
        }
        value(i, k) += weight * cost;
        slope_(row, block.first) = weight * d_value;
        slope_(row, block.first + 1) = weight * d_logit;
      }
    }
  }
}

template <typename Scalar>
void TableDistortion<Scalar>::backward(const Draws<Scalar>& draws, const Attribute<Scalar>& /*useful*/,
                                       const Matrix<Scalar>& d_value, DrawsGradient<Scalar>& gradient) {
  if (!gradient.has_released) gradient.released.setZero(draws.released.rows(), draws.released.cols());
  gradient.has_released = true;
  const Eigen::Map<const Vector<Scalar>> flat(d_value.data(), d_value.size());
  for (Index c = 0; c < slope_.cols(); ++c)
    gradient.released.col(c).array() += flat.array() * slope_.col(c).array();
}

template <typename Scalar>
void CellDistortion<Scalar>::evaluate(const Draws<Scalar>& draws, const Attribute<Scalar>& useful,
                                      Matrix<Scalar>& value) {
  value.resize(draws.records, distortion_.cols());
  for (Index z = 0; z < distortion_.cols(); ++z) {
    for (Index i = 0; i < draws.records; ++i)
      value(i, z) = distortion_(useful.code[static_cast<std::size_t>(i)], z);
  }
}

template <typename Scalar>
Matrix<Scalar> cell_distortion(const Encoding& encoding, std::span<const std::int32_t> columns) {
  const auto cells = static_cast<Index>(joint_levels(encoding, columns).value());
  Symbols every(static_cast<std::size_t>(cells));
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::int32_t>(i);
  EncodedRows rows;
  split_codes(every, encoding, columns, rows);
  const Layout layout = with_unit_weights(make_layout(encoding, columns));
  Matrix<Scalar> out = Matrix<Scalar>::Zero(cells, cells);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Symbols& code = rows.columns[c].code;
    const auto weight = static_cast<Scalar>(layout.blocks[c].weight);
    for (Index z = 0; z < cells; ++z) {
      for (Index y = 0; y < cells; ++y) {
        if (code[static_cast<std::size_t>(y)] != code[static_cast<std::size_t>(z)]) out(y, z) += weight;
      }
    }
  }
  return out;
}

template class TableDistortion<float>;
template class CellDistortion<float>;
template Matrix<float> cell_distortion(const Encoding&, std::span<const std::int32_t>);
template Matrix<double> cell_distortion(const Encoding&, std::span<const std::int32_t>);
#ifdef PPAN_DOUBLE_TRAINING
template class TableDistortion<double>;
template class CellDistortion<double>;
#endif

}  // namespace ppan
