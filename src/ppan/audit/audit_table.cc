#include "ppan/audit/audit_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "ppan/audit/written_date.h"
#include "ppan/core/error.h"
#include "ppan/source/calendar.h"
#include "ppan/source/csv.h"
#include "ppan/source/number.h"

namespace ppan {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kNumericShare = 0.95;

// Collects cells of one column; levels in order of first appearance.
class ColumnBuilder {
 public:
  void add(std::string_view cell) { column_.code.push_back(code_of(cell)); }

  void add(const RowColumn& type, const RowCells& cells, std::size_t rows) {
    typed_ = type.storage != CellStorage::kText;
    typed_form_ = type.meaning == CellMeaning::kDate ? NumberForm::kDate
                  : type.meaning == CellMeaning::kTimestamp || type.meaning == CellMeaning::kInstant
                      ? NumberForm::kTimestamp
                      : NumberForm::kNumber;
    if (cells.code != nullptr) translated_.resize(cells.levels->size(), -1);
    for (std::size_t r = 0; r < rows; ++r) {
      if (cells.is_missing(r)) {
        add_missing(type.missing_text);
      } else if (cells.code != nullptr) {
        std::int32_t& code = translated_[static_cast<std::size_t>(cells.code[r])];
        if (code < 0) code = code_of(cells.text_at(r));
        column_.code.push_back(code);
      } else if (!typed_) {
        add(cells.text_at(r));
      } else if (type.storage == CellStorage::kReal && std::isnan(cells.real[r])) {
        add_missing(type.missing_text);
      } else {
        scratch_.clear();
        append_text(type, cells, r, scratch_);
        add(scratch_);
        set_at(level_number_, kMissing, number_at(type, cells, r));
      }
    }
  }

  AuditColumn finish(std::string name, std::span<const std::string> markers, char mark, CellKind kind) {
    column_.name = std::move(name);
    column_.category = kind == CellKind::kCategory;
    level_number_.resize(column_.level.size(), kMissing);
    level_missing_.resize(column_.level.size(), 0);
    std::vector<Index> count(column_.level.size(), 0);
    for (const std::int32_t code : column_.code) ++count[static_cast<std::size_t>(code)];
    Index present = 0;
    for (std::size_t l = 0; l < column_.level.size(); ++l) {
      if (is_missing(column_.level[l], markers)) level_missing_[l] = 1;
      present += level_missing_[l] != 0 ? 0 : count[l];
    }
    column_.missing.reserve(column_.code.size());
    for (const std::int32_t code : column_.code)
      column_.missing.push_back(level_missing_[static_cast<std::size_t>(code)] != 0);
    const auto rows_read = [&](const std::vector<double>& value) {
      Index read = 0;
      for (std::size_t l = 0; l < value.size(); ++l) read += std::isnan(value[l]) ? 0 : count[l];
      return read;
    };
    for (const NumberForm form : forms_to_try(kind)) {
      const std::vector<double> value = numbers(form, mark);
      const Index read = rows_read(value);
      const bool most = static_cast<double>(read) >= kNumericShare * static_cast<double>(present);
      // What is known to be a number stays one where every cell happens to be missing.
      if (kind == CellKind::kGuess && (read == 0 || !most)) continue;
      take_numbers(value, typed_ ? typed_form_ : form);
      break;
    }
    for (const DateOrder order : {DateOrder::kDayFirst, DateOrder::kMonthFirst, DateOrder::kYearFirst}) {
      if (kind != CellKind::kGuess || typed_ || column_.numeric() || present == 0) break;
      NumberForm form = NumberForm::kDate;
      const std::vector<double> value = written_dates(order, form);
      if (static_cast<double>(rows_read(value)) >= kNumericShare * static_cast<double>(present))
        take_numbers(value, form);
    }
    position_.clear();
    return std::move(column_);
  }

 private:
  static std::vector<NumberForm> forms_to_try(CellKind kind) {
    switch (kind) {
      case CellKind::kCategory:
        return {};
      case CellKind::kNumber:
        return {NumberForm::kNumber};
      case CellKind::kDate:
        return {NumberForm::kDate};
      case CellKind::kTimestamp:
        return {NumberForm::kTimestamp};
      case CellKind::kGuess:
        break;
    }
    return {NumberForm::kNumber, NumberForm::kDate, NumberForm::kTimestamp};
  }
  void take_numbers(const std::vector<double>& of_level, NumberForm form) {
    column_.form = form;
    column_.number.resize(static_cast<Index>(column_.code.size()));
    for (std::size_t i = 0; i < column_.code.size(); ++i)
      column_.number[static_cast<Index>(i)] = of_level[static_cast<std::size_t>(column_.code[i])];
  }
  // Of each level, as a day or, if there is a time behind any, a time; NaN where it is none or missing.
  [[nodiscard]] std::vector<double> written_dates(DateOrder order, NumberForm& form) const {
    std::vector<double> value(column_.level.size(), kMissing);
    for (std::size_t l = 0; l < value.size(); ++l) {
      if (level_missing_[l] != 0) continue;
      const auto date = written_date(column_.level[l], order);
      if (!date) continue;
      value[l] = static_cast<double>(date->microseconds);
      if (date->time) form = NumberForm::kTimestamp;
    }
    if (form == NumberForm::kDate) {
      for (double& v : value) v /= static_cast<double>(kMicrosecondsPerDay);
    }
    return value;
  }
  // Of each level, as a number in this form; NaN where it is none or missing.
  [[nodiscard]] std::vector<double> numbers(NumberForm form, char mark) const {
    std::vector<double> value = typed_ ? level_number_ : std::vector<double>(column_.level.size(), kMissing);
    for (std::size_t l = 0; l < value.size(); ++l) {
      if (level_missing_[l] != 0) {
        value[l] = kMissing;
      } else if (!typed_) {
        const ParsedNumber parsed = parse_value(column_.level[l], form, mark);
        if (parsed.ok()) value[l] = parsed.value;
      }
    }
    return value;
  }
  std::int32_t code_of(std::string_view cell) {
    const auto found =
        position_.try_emplace(std::string(cell), static_cast<std::int32_t>(column_.level.size()));
    if (found.second) column_.level.emplace_back(cell);
    return found.first->second;
  }
  void add_missing(std::string_view text) {
    add(text);
    set_at(level_missing_, std::uint8_t{0}, std::uint8_t{1});
  }
  // What is known of the level that was added last.
  template <typename T>
  void set_at(std::vector<T>& values, T otherwise, T value) {
    values.resize(std::max(values.size(), column_.level.size()), otherwise);
    values[static_cast<std::size_t>(column_.code.back())] = value;
  }

  AuditColumn column_;
  std::unordered_map<std::string, std::int32_t> position_;
  std::vector<std::int32_t> translated_;     // codes of a column that comes as codes
  std::vector<double> level_number_;         // of levels that never were text
  std::vector<std::uint8_t> level_missing_;  // levels that were flagged
  std::string scratch_;
  bool typed_ = false;
  NumberForm typed_form_ = NumberForm::kNumber;
};

}  // namespace

const AuditColumn* AuditTable::find(std::string_view name) const {
  for (const AuditColumn& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

std::vector<std::string> AuditTable::names() const {
  std::vector<std::string> names;
  for (const AuditColumn& column : columns) names.push_back(column.name);
  return names;
}

AuditColumn column_of_cells(std::string name, std::span<const std::string> cells,
                            std::span<const std::string> missing_markers, char decimal_mark, CellKind kind) {
  ColumnBuilder builder;
  for (const std::string& cell : cells) builder.add(cell);
  return builder.finish(std::move(name), missing_markers, decimal_mark, kind);
}

AuditColumn column_of_numbers(std::string name, VectorRef<double> values) {
  AuditColumn column;
  column.name = std::move(name);
  column.number = values;
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isinf(values[i])) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("column \"{}\" row {} is not finite", column.name, i + 1));
    }
    column.missing.push_back(std::isnan(values[i]));
  }
  return column;
}

AuditColumn column_of_codes(std::string name, Symbols codes, std::int32_t levels) {
  AuditColumn column;
  column.name = std::move(name);
  for (const std::int32_t code : codes) {
    if (code < 0 || code >= levels) {
      throw Error(ErrorCode::kBadInput, fmt::format("column \"{}\" holds the code {}, outside 0 .. {}",
                                                    column.name, code, levels - 1));
    }
  }
  for (std::int32_t l = 0; l < levels; ++l) column.level.push_back(fmt::format("{}", l));
  column.missing.assign(codes.size(), false);
  column.code = std::move(codes);
  return column;
}

template <typename Scalar>
std::vector<AuditColumn> columns_of(const Attribute<Scalar>& attribute, const std::string& name) {
  if (attribute.finite()) return {column_of_codes(name, attribute.code, attribute.levels)};
  std::vector<AuditColumn> columns;
  for (Index d = 0; d < attribute.value.cols(); ++d) {
    const Vector<double> values = attribute.value.col(d).template cast<double>();
    columns.push_back(column_of_numbers(d == 0 ? name : fmt::format("{}.{}", name, d + 1), values));
  }
  return columns;
}

template std::vector<AuditColumn> columns_of(const Attribute<float>&, const std::string&);
template std::vector<AuditColumn> columns_of(const Attribute<double>&, const std::string&);

AuditTable table_of_rows(RowSource& source, const std::map<std::string, CellKind>& kinds) {
  const std::vector<RowColumn>& columns = source.columns();
  std::vector<ColumnBuilder> builders(columns.size());
  RowChunk chunk;
  while (source.next(chunk)) {
    for (std::size_t c = 0; c < builders.size(); ++c)
      builders[c].add(columns[c], chunk.cells(c), static_cast<std::size_t>(chunk.rows()));
  }
  AuditTable table;
  for (std::size_t c = 0; c < builders.size(); ++c) {
    const auto known = kinds.find(columns[c].name);
    table.columns.push_back(builders[c].finish(columns[c].name, source.style().missing,
                                               source.style().decimal,
                                               known == kinds.end() ? CellKind::kGuess : known->second));
  }
  return table;
}

AuditColumn take_rows(const AuditColumn& column, std::span<const std::int32_t> which) {
  AuditColumn out;
  out.name = column.name;
  out.level = column.level;
  out.category = column.category;
  out.form = column.form;
  out.missing.reserve(which.size());
  if (column.has_text()) out.code.reserve(which.size());
  if (column.numeric()) out.number.resize(static_cast<Index>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto row = static_cast<std::size_t>(which[i]);
    out.missing.push_back(column.missing[row]);
    if (column.has_text()) out.code.push_back(column.code[row]);
    if (column.numeric()) out.number[static_cast<Index>(i)] = column.number[which[i]];
  }
  return out;
}

void append_rows(AuditColumn& column, const AuditColumn& more) {
  if (column.numeric() != more.numeric() || column.has_text() != more.has_text())
    throw Error(ErrorCode::kBadInput,
                fmt::format("column \"{}\" holds numbers in one table and texts in the other", column.name),
                "say what it is: --type COLUMN=number or COLUMN=category");
  std::unordered_map<std::string, std::int32_t> position;
  for (std::size_t l = 0; l < column.level.size(); ++l)
    position.emplace(column.level[l], static_cast<std::int32_t>(l));
  Symbols translated;
  for (const std::string& level : more.level) {
    const auto [at, added] = position.try_emplace(level, static_cast<std::int32_t>(column.level.size()));
    if (added) column.level.push_back(level);
    translated.push_back(at->second);
  }
  for (const std::int32_t code : more.code) column.code.push_back(translated[static_cast<std::size_t>(code)]);
  if (more.numeric()) {
    Vector<double> joined(column.number.size() + more.number.size());
    joined << column.number, more.number;
    column.number = std::move(joined);
  }
  column.missing.insert(column.missing.end(), more.missing.begin(), more.missing.end());
}

void append_rows(AuditTable& table, const AuditTable& more) {
  for (AuditColumn& column : table.columns) {
    const AuditColumn* other = more.find(column.name);
    if (other == nullptr)
      throw Error(ErrorCode::kInternal, fmt::format("column \"{}\" is not in both tables", column.name));
    append_rows(column, *other);
  }
}

}  // namespace ppan
