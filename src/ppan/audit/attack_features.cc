#include "ppan/audit/attack_features.h"

#include <algorithm>
#include <cmath>

#include "ppan/audit/feature_column.h"
#include "ppan/audit/row_hash.h"

namespace ppan {
namespace {

// A feature that is set in few rows would otherwise stand far from all others and swamp every distance.
constexpr double kMostScale = 4;

}  // namespace

Problems FeatureOptions::check() const {
  ProblemList list;
  list.require_between("most_levels", most_levels, 2, 1000);
  list.require_at_least("trace_columns", trace_columns, 0);
  list.require_at_least("screened_columns", screened_columns, 0);
  return list.take();
}

FeatureMap::FeatureMap(const AuditTable& released, const FeatureOptions& options, Index trained_rows,
                       const std::vector<bool>& traced)
    : options_(options), trained_rows_(trained_rows), profile_(released) {
  require_none(options.check(), "these options of the attackers' features cannot be used:");
  const bool all = static_cast<std::int32_t>(released.columns.size()) <= options.trace_columns;
  for (std::size_t c = 0; c < released.columns.size(); ++c) {
    const bool given = traced.empty() ? all : traced[c];
    if (given && !released.columns[c].numeric() && released.columns[c].level.size() >= kLeastTexts)
      ++text_columns_;
  }
  for (std::size_t c = 0; c < released.columns.size(); ++c) {
    const AuditColumn& from = released.columns[c];
    auto column = std::make_shared<Column>();
    column->name = from.name;
    column->numeric = from.numeric();
    column->form = from.form;
    column->traced = traced.empty() ? all : traced[c];
    if (from.numeric()) learn_number(from, *column);
    if (from.has_text()) learn_text(from, *column);
    if (column->traced) {
      learn_writing(from, *column);
    } else {
      learn_coarse(from, *column);
      std::vector<double>().swap(column->sorted);
    }
    columns_.push_back(std::move(column));
  }
  learn_alike(released);
  for (const std::uint64_t h : row_hashes(released)) {
    row_cell_.push_back(cell_.try_emplace(h, static_cast<std::int32_t>(cell_.size())).first->second);
    cell_rows_.resize(cell_.size(), 0);
    ++cell_rows_[static_cast<std::size_t>(row_cell_.back())];
  }
  const std::vector<RowTrace> traces = profile_.traces(released);
  for (const RowTrace& trace : traces) {
    trace_values_.push_back(trace.values);
    if (trace.values > 0) add_key(static_cast<std::size_t>(trace.values), trace.column, "pattern");
  }
  learn_row_keys(released.rows() - trained_rows);

  Index at = 0;
  write(released, traces, [&](const RawFeature& raw) {
    const Index position = at++;
    const auto column = raw.data.array();
    const double mean = column.cast<double>().mean();
    const double variance = (column.cast<double>() - mean).square().mean();
    if (variance < 1e-12 * (1 + mean * mean)) return;
    if (raw.value) values_.push_back(width());
    kept_.push_back(position);
    source_.push_back(raw.source);
    mean_.push_back(static_cast<float>(mean));
    scale_.push_back(static_cast<float>(std::min(kMostScale, 1 / std::sqrt(variance))));
  });
}

void FeatureMap::write(const AuditTable& released, const std::vector<RowTrace>& traces,
                       const TakeFeature& take) const {
  const Index rows = released.rows();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = *columns_[c];
    const AuditColumn& from = released.columns[c];
    Raw raw{rows};
    if (column.numeric) write_number(column, from, raw);
    if (column.levels > 0) write_levels(column, from, raw);
    auto& missing = raw.add(column.name, "missing", false);
    for (Index i = 0; i < rows; ++i) missing[i] = from.missing[static_cast<std::size_t>(i)] ? 1.0F : 0.0F;
    if (column.traced) {
      write_digits(column, Written(from), raw);
      if (from.has_text()) write_format(column, from, raw);
      if (column.numeric && column.form != NumberForm::kNumber) write_calendar(column, from, raw);
      for_each_word(column, from, [&](std::size_t, const auto& has) {
        auto& word = raw.add(column.name, "text", false);
        for (Index i = 0; i < rows; ++i) word[i] = has(i) ? 1.0F : 0.0F;
      });
      write_pairs(column, from, raw);
    }
    for (const RawFeature& feature : raw.features) take(feature);
  }
  write_alike(released, take);
  write_row(released, take);
  for (const RowTrace& trace : traces) take({trace.data, {trace.column, "pattern"}, false});
  if (!options_.row_position) return;
  write_place(released, take);
  write_neighbours(released, take);
}

AttackFeatures FeatureMap::apply(const AuditTable& released) const {
  AttackFeatures features;
  features.data.resize(released.rows(), width());
  Index at = 0;
  std::size_t next = 0;
  const std::vector<RowTrace> traces = profile_.traces(released);
  write(released, traces, [&](const RawFeature& raw) {
    const Index position = at++;
    if (next == kept_.size() || kept_[next] != position) return;
    features.data.col(static_cast<Index>(next)).array() = (raw.data.array() - mean_[next]) * scale_[next];
    ++next;
  });
  features.keys.resize(released.rows(), static_cast<Index>(key_values_.size()));
  features.coarse.resize(released.rows(), static_cast<Index>(coarse_values_.size()));
  features.number.resize(released.rows(), static_cast<Index>(numbers_.size()));
  Index number = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    write_coarse(*columns_[c], released.columns[c], features.coarse);
    write_characters(*columns_[c], released.columns[c], features.coarse);
    if (!columns_[c]->traced) continue;
    if (columns_[c]->numeric) features.number.col(number++) = released.columns[c].number;
    write_keys(*columns_[c], released.columns[c], features.keys);
  }
  write_row_keys(traces, features);
  for (const std::uint64_t h : row_hashes(released)) {
    const auto found = cell_.find(h);
    features.cell.push_back(found == cell_.end() ? -1 : found->second);
  }
  features.cells = static_cast<std::int32_t>(cell_.size());
  return features;
}

}  // namespace ppan
