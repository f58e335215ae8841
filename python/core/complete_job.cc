#include "complete_job.h"

#include <algorithm>
#include <span>
#include <utility>

namespace ppan::python {
namespace {

bool listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// With infinite cells: not left out as a column of one value, nor taken for levels, so that whoever reads it
// refuses it.
bool is_infinite(const ColumnProfile& column) {
  return column.storage == CellStorage::kReal && column.numbers < column.present();
}

// Whoever gives numbers a role of their own does not take them for names of records, and a frame's texts stay
// texts though they may look like numbers.
ColumnType type_of(const ColumnProfile& column, const Schema& schema) {
  const TypeGuess guess = guess_type(column);
  if (is_infinite(column)) return ColumnType::kReal;
  const bool role = schema.dropped_columns(std::span(&column.name, 1)).empty() &&
                    !listed(schema.keep, column.name) && schema.group != column.name;
  const bool numbers = column.storage != CellStorage::kText && column.meaning == CellMeaning::kPlain;
  if (guess.type != ColumnType::kIdentifier) {
    if (column.storage == CellStorage::kText) return ColumnType::kCategory;
    return numbers && guess.constant ? ColumnType::kReal : guess.type;
  }
  if (!role) return ColumnType::kIdentifier;
  if (!numbers) return ColumnType::kCategory;
  return column.whole == column.numbers ? ColumnType::kInteger : ColumnType::kReal;
}

}  // namespace

void complete_job(const TableProfile& profile, JobFile& job) {
  Schema& schema = job.table.schema;
  const bool choose_useful = schema.useful.empty();
  std::vector<ColumnSpec> specs;
  for (const ColumnProfile& column : profile.columns) {
    ColumnSpec spec;
    spec.name = column.name;
    spec.type = type_of(column, schema);
    if (const ColumnSpec* given = schema.find(column.name)) {
      const ColumnType guessed = spec.type;
      spec = *given;
      if (job.given.erase(untyped_key(column.name)) > 0) spec.type = guessed;
      if (!is_numeric(spec.type) && spec.type == guessed)
        spec.range.clear();  // said of a number, which it is not
    }
    const bool elsewhere = listed(schema.sensitive, spec.name) || listed(schema.surrogate, spec.name) ||
                           listed(schema.keep, spec.name) || listed(schema.side, spec.name) ||
                           listed(schema.task, spec.name) || schema.group == spec.name;
    const bool constant = guess_type(column).constant && !is_infinite(column);
    if (choose_useful && !elsewhere && !constant && spec.type != ColumnType::kIdentifier)
      schema.useful.push_back(spec.name);
    specs.push_back(std::move(spec));
  }
  for (const ColumnSpec& given : schema.columns) {  // no such column: whoever opens the frame will say so
    if (std::none_of(specs.begin(), specs.end(), [&](const ColumnSpec& s) { return s.name == given.name; }))
      specs.push_back(given);
  }
  schema.columns = std::move(specs);
  if (job.table.source.empty()) job.table.source = "a frame in memory";
  // Written out as said, so that the job file of a curve can be run by the command once its source is a file.
  for (const char* key : {"data.source", "roles.useful"}) job.given.try_emplace(key, 0);
}

}  // namespace ppan::python
