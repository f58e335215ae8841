#include "ppan/encode/layout.h"

namespace ppan {
namespace {

void start(std::size_t columns, Index rows, EncodedRows& out) {
  out.rows = rows;
  out.which.resize(columns);
  out.columns.resize(columns);
  out.faults.clear();
  out.bad.assign(static_cast<std::size_t>(rows), 0);
  out.replaced = 0;
}

}  // namespace

Layout make_layout(const Encoding& encoding, std::span<const std::int32_t> columns) {
  Layout layout;
  for (const std::int32_t index : columns) {
    const ColumnEncoding& column = encoding.columns[static_cast<std::size_t>(index)];
    BlockKind kind = BlockKind::kCategory;
    if (column.numeric()) kind = column.may_be_missing ? BlockKind::kNumberOrMissing : BlockKind::kNumber;
    layout.blocks.push_back({index, kind, layout.width, column.width(), column.weight});
    layout.width += column.width();
  }
  return layout;
}

template <typename Scalar>
void to_matrix(const EncodedRows& rows, const Layout& layout, Matrix<Scalar>& out) {
  out.resize(rows.rows, layout.width);
  for (const Block& block : layout.blocks) {
    const EncodedColumn& from = rows.columns[rows.position_of(block.column)];
    if (block.kind == BlockKind::kCategory) {
      out.middleCols(block.first, block.width).setZero();
      for (Index r = 0; r < rows.rows; ++r) out(r, block.first + from.code[static_cast<std::size_t>(r)]) = 1;
      continue;
    }
    for (Index r = 0; r < rows.rows; ++r)
      out(r, block.first) = static_cast<Scalar>(from.value[static_cast<std::size_t>(r)]);
    if (block.kind == BlockKind::kNumber) continue;
    for (Index r = 0; r < rows.rows; ++r)
      out(r, block.first + 1) = static_cast<Scalar>(from.code[static_cast<std::size_t>(r)]);
  }
}

template <typename Scalar>
void from_matrix(const MatrixRef<Scalar>& matrix, const Layout& layout, EncodedRows& out) {
  start(layout.blocks.size(), matrix.rows(), out);
  const auto rows = static_cast<std::size_t>(matrix.rows());
  for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
    const Block& block = layout.blocks[i];
    EncodedColumn& to = out.columns[i];
    out.which[i] = block.column;
    to.code.assign(rows, 0);
    to.value.resize(block.kind == BlockKind::kCategory ? 0 : rows);
    for (Index r = 0; r < matrix.rows(); ++r) {
      const auto row = static_cast<std::size_t>(r);
      switch (block.kind) {
        case BlockKind::kCategory:
          for (Index level = 1; level < block.width; ++level) {
            if (matrix(r, block.first + level) > matrix(r, block.first + to.code[row]))
              to.code[row] = static_cast<std::int32_t>(level);
          }
          break;
        case BlockKind::kNumberOrMissing:
          to.code[row] = matrix(r, block.first + 1) > Scalar{0.5} ? 1 : 0;
          to.value[row] = to.code[row] == 1 ? 0.0 : static_cast<double>(matrix(r, block.first));
          break;
        case BlockKind::kNumber:
          to.value[row] = static_cast<double>(matrix(r, block.first));
          break;
      }
    }
  }
}

template <typename Scalar>
Attribute<Scalar> to_attribute(const EncodedRows& rows, const Encoding& encoding, std::int32_t column) {
  Attribute<Scalar> out;
  const ColumnEncoding& c = encoding.columns[static_cast<std::size_t>(column)];
  if (c.numeric()) {
    to_matrix(rows, make_layout(encoding, std::span(&column, 1)), out.value);
  } else {
    out.code = rows.columns[rows.position_of(column)].code;
    out.levels = c.width();
  }
  return out;
}

std::optional<std::int32_t> joint_levels(const Encoding& encoding, std::span<const std::int32_t> columns) {
  std::int64_t cells = 1;
  for (const std::int32_t index : columns) {
    const ColumnEncoding& column = encoding.columns[static_cast<std::size_t>(index)];
    if (column.numeric()) return std::nullopt;
    cells *= column.width();
    if (cells > (std::int64_t{1} << 30U)) return std::nullopt;
  }
  return static_cast<std::int32_t>(cells);
}

Symbols join_codes(const EncodedRows& rows, const Encoding& encoding, std::span<const std::int32_t> columns) {
  Symbols joint(static_cast<std::size_t>(rows.rows), 0);
  for (const std::int32_t index : columns) {
    const std::int32_t levels = encoding.columns[static_cast<std::size_t>(index)].width();
    const Symbols& code = rows.columns[rows.position_of(index)].code;
    for (std::size_t r = 0; r < joint.size(); ++r) joint[r] = joint[r] * levels + code[r];
  }
  return joint;
}

void split_codes(const Symbols& joint, const Encoding& encoding, std::span<const std::int32_t> columns,
                 EncodedRows& out) {
  start(columns.size(), static_cast<Index>(joint.size()), out);
  Symbols rest = joint;
  for (std::size_t i = columns.size(); i-- > 0;) {
    const std::int32_t levels = encoding.columns[static_cast<std::size_t>(columns[i])].width();
    out.which[i] = columns[i];
    out.columns[i].value.clear();
    out.columns[i].code.resize(joint.size());
    for (std::size_t r = 0; r < joint.size(); ++r) {
      out.columns[i].code[r] = rest[r] % levels;
      rest[r] /= levels;
    }
  }
}

template void to_matrix(const EncodedRows&, const Layout&, Matrix<float>&);
template void to_matrix(const EncodedRows&, const Layout&, Matrix<double>&);
template void from_matrix<float>(const MatrixRef<float>&, const Layout&, EncodedRows&);
template void from_matrix<double>(const MatrixRef<double>&, const Layout&, EncodedRows&);
template Attribute<float> to_attribute(const EncodedRows&, const Encoding&, std::int32_t);
template Attribute<double> to_attribute(const EncodedRows&, const Encoding&, std::int32_t);

template <typename Scalar>
void read_heads(const MatrixRef<Scalar>& output, const Layout& layout, EncodedRows& out) {
  const auto rows = static_cast<std::size_t>(output.rows());
  out.rows = output.rows();
  out.which.resize(layout.blocks.size());
  out.columns.resize(layout.blocks.size());
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const Block& block = layout.blocks[b];
    EncodedColumn& to = out.columns[b];
    out.which[b] = block.column;
    to.code.assign(rows, 0);
    if (block.kind == BlockKind::kCategory) {
      to.value.clear();
      Eigen::Array<Scalar, Eigen::Dynamic, 1> most = output.col(block.first).array();
      for (Index l = 1; l < block.width; ++l) {
        const Scalar* logit = output.col(block.first + l).data();
        for (std::size_t r = 0; r < rows; ++r) {
          Scalar& best = most[static_cast<Index>(r)];
          const bool more = logit[r] > best;
          best = more ? logit[r] : best;
          to.code[r] = more ? static_cast<std::int32_t>(l) : to.code[r];
        }
      }
      continue;
    }
    to.value.resize(rows);
    const Scalar* value = output.col(block.first).data();
    for (std::size_t r = 0; r < rows; ++r) to.value[r] = static_cast<double>(value[r]);
    if (block.kind == BlockKind::kNumber) continue;
    const Scalar* logit = output.col(block.first + 1).data();
    for (std::size_t r = 0; r < rows; ++r) {
      to.code[r] = logit[r] > 0 ? 1 : 0;
      if (to.code[r] == 1) to.value[r] = 0;
    }
  }
}

template void read_heads(const MatrixRef<float>&, const Layout&, EncodedRows&);
template void read_heads(const MatrixRef<double>&, const Layout&, EncodedRows&);

}  // namespace ppan
