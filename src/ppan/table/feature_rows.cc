#include "ppan/table/feature_rows.h"

#include <algorithm>
#include <numeric>

#include "ppan/model/codebook.h"

namespace ppan {

FeatureRows::FeatureRows(const EncodedRows& rows, const Encoding& encoding, const Layout& observed_layout,
                         const std::vector<ColumnLevels>& observed)
    : rows_(rows.rows), cols_(codebook_features(observed_layout, observed)) {
  std::vector<Column> columns;
  Index next = observed_layout.width;
  for (std::size_t c = 0; c < observed.size(); ++c) {
    Column& column = columns.emplace_back();
    column.block = observed_layout.blocks[c];
    const EncodedColumn& from = rows.columns[rows.position_of(column.block.column)];
    if (column.block.kind != BlockKind::kNumber) column.code = from.code;
    if (column.block.kind != BlockKind::kCategory) {
      column.value.reserve(from.value.size());
      for (const double v : from.value)
        column.value.push_back(std::clamp(static_cast<float>(v), -kFarthestFeature, kFarthestFeature));
    }
    column.first_spike = next;
    column.spikes = static_cast<std::int32_t>(observed[c].spike.size());
    if (column.spikes > 0) column.level = levels_of(rows, observed[c], encoding);
    next += column.spikes;
  }
  columns_ = std::make_shared<const std::vector<Column>>(std::move(columns));
}

void FeatureRows::gather(std::span<const std::int32_t> which, Matrix<float>& out) const {
  out.setZero(static_cast<Index>(which.size()), cols_);
  if (!columns_) return;
  for (const Column& column : *columns_) {
    const Block& block = column.block;
    for (Index i = 0; i < out.rows(); ++i) {
      const auto r = static_cast<std::size_t>(which[static_cast<std::size_t>(i)]);
      if (block.kind == BlockKind::kCategory) {
        out(i, block.first + column.code[r]) = 1;
        continue;
      }
      out(i, block.first) = column.value[r];
      if (block.kind == BlockKind::kNumberOrMissing)
        out(i, block.first + 1) = static_cast<float>(column.code[r]);
      if (column.spikes > 0 && column.level[r] < column.spikes)
        out(i, column.first_spike + column.level[r]) = 1;
    }
  }
}

Matrix<float> FeatureRows::all() const {
  std::vector<std::int32_t> which(static_cast<std::size_t>(rows_));
  std::iota(which.begin(), which.end(), 0);
  Matrix<float> out;
  gather(which, out);
  return out;
}

}  // namespace ppan
