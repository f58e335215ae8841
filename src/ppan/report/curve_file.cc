#include "ppan/report/curve_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/source/csv.h"
#include "ppan/source/csv_writer.h"

namespace ppan {
namespace {

constexpr std::size_t kNumbers = kCurveColumns.size() - 1;

// The six numbers of a row, in the order of the columns behind "series".
template <typename Row>
auto numbers_of(Row& row) {
  return std::array{&row.budget, &row.weight, &row.distortion, &row.leakage, &row.optimum, &row.excess};
}

std::vector<std::string> further_columns(const CurveTable& table) {
  std::vector<std::string> columns = table.more_columns;
  std::set<std::string, std::less<>> unlisted;
  for (const CurveRow& row : table.rows) {
    for (const auto& [name, text] : row.more) unlisted.insert(name);
  }
  for (const std::string& name : columns) unlisted.erase(name);
  columns.insert(columns.end(), unlisted.begin(), unlisted.end());
  return columns;
}

Bound bound_from(std::string_view text) {
  for (const Bound bound : {Bound::kLower, Bound::kUpper, Bound::kExact}) {
    if (text == to_string(bound)) return bound;
  }
  return Bound::kEstimate;
}

}  // namespace

std::string shortest(double value) {
  if (std::isnan(value)) return {};
  std::array<char, 32> text{};
  // -0 would read back as another double, but nobody means it.
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value == 0 ? 0.0 : value).ptr;
  return {text.data(), end};
}

std::optional<double> parse_shortest(std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || std::isnan(value)) return {};
  return value;
}

void CurveRow::set(std::string_view column, double value) {
  more.insert_or_assign(std::string(column), shortest(value));
}

void CurveRow::set(std::string_view column, std::string_view text) {
  more.insert_or_assign(std::string(column), std::string(text));
}

void CurveRow::set_leakage(const Estimate& estimate) {
  leakage = estimate.nats;
  if (estimate.interval95) {
    set(curve_column::kLeakageLow, estimate.interval95->low);
    set(curve_column::kLeakageHigh, estimate.interval95->high);
  }
  set(curve_column::kLeakageKind, to_string(estimate.bound));
  set(curve_column::kLeakageMethod, estimate.method);
}

std::string_view CurveRow::text(std::string_view column) const {
  const auto found = more.find(column);
  return found == more.end() ? std::string_view{} : std::string_view{found->second};
}

std::optional<double> CurveRow::number(std::string_view column) const {
  return parse_shortest(text(column));
}

std::optional<Estimate> CurveRow::leakage_estimate() const {
  if (!leakage) return {};
  Estimate estimate{.nats = *leakage, .bound = bound_from(text(curve_column::kLeakageKind))};
  estimate.method = text(curve_column::kLeakageMethod);
  if (estimate.method.empty()) estimate.method = "method not stated";
  const auto low = number(curve_column::kLeakageLow);
  const auto high = number(curve_column::kLeakageHigh);
  if (low && high) estimate.interval95 = Interval{*low, *high};
  return estimate;
}

std::vector<std::string> series_of(const CurveTable& table) {
  std::vector<std::string> names;
  for (const CurveRow& row : table.rows) {
    if (std::find(names.begin(), names.end(), row.series) == names.end()) names.push_back(row.series);
  }
  return names;
}

std::vector<int> point_numbers(const CurveTable& table) {
  std::vector<int> numbers;
  std::map<std::string, int> position;
  for (const CurveRow& row : table.rows) {
    const int here = ++position[row.series];
    const auto written = row.number(curve_column::kPoint);
    const bool usable = written && *written >= 1 && *written <= 1e9 && *written == std::floor(*written);
    numbers.push_back(usable ? static_cast<int>(*written) : here);
  }
  return numbers;
}

std::string to_csv(const CurveTable& table) {
  const std::vector<std::string> further = further_columns(table);
  std::vector<std::string> fields(kCurveColumns.begin(), kCurveColumns.end());
  fields.insert(fields.end(), further.begin(), further.end());
  std::string out;
  append_row(fields, ',', out);
  for (const CurveRow& row : table.rows) {
    fields.assign(1, row.series);
    for (const auto* number : numbers_of(row)) fields.push_back(*number ? shortest(**number) : std::string());
    for (const std::string& name : further) fields.emplace_back(row.text(name));
    append_row(fields, ',', out);
  }
  return out;
}

CurveTable from_csv(const std::string& text, const std::string& name) {
  CsvOptions options;
  options.delimiter = ',';
  CsvReader reader(memory_source(text, name), options);
  const std::vector<std::string>& names = reader.names();
  if (names.size() < kCurveColumns.size() ||
      !std::equal(kCurveColumns.begin(), kCurveColumns.end(), names.begin())) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is not a curve: its columns do not begin with {}", name,
                            fmt::join(kCurveColumns, ",")),
                "give the directory of a run of this program");
  }
  CurveTable table;
  table.more_columns.assign(names.begin() + kCurveColumns.size(), names.end());
  CsvChunk chunk;
  while (reader.next(chunk)) {
    for (std::int64_t i = 0; i < chunk.rows(); ++i) {
      CurveRow row;
      row.series = chunk.cell(i, 0);
      const auto numbers = numbers_of(row);
      for (std::size_t k = 0; k < kNumbers; ++k) {
        const std::string_view cell = chunk.cell(i, k + 1);
        if (cell.empty()) continue;
        *numbers[k] = parse_shortest(cell);
        if (!*numbers[k]) {
          throw Error(ErrorCode::kBadInput,
                      fmt::format("{} line {}, column \"{}\": {} is not a number", name, chunk.line(i),
                                  kCurveColumns[k + 1], quoted_text(cell)),
                      "leave the cell empty where the value is unknown");
        }
      }
      for (std::size_t k = kCurveColumns.size(); k < names.size(); ++k) {
        const std::string_view cell = chunk.cell(i, k);
        if (!cell.empty()) row.more.emplace(names[k], cell);
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace ppan
