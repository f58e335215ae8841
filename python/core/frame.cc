#include "frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ppan/core/error.h"
#include "ppan/core/suggest.h"
#include "ppan/model/model_file.h"
#include "ppan/read/number.h"

namespace ppan {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A schema and its arrays, released when they go.
struct StreamGuard {
  ArrowArrayStream& stream;
  ArrowSchema schema{};
  explicit StreamGuard(ArrowArrayStream& s) : stream(s) {}
  ~StreamGuard() {
    if (schema.release != nullptr) schema.release(&schema);
    if (stream.release != nullptr) stream.release(&stream);
  }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  void require(int status) const {
    if (status == 0) return;
    const char* why = stream.get_last_error == nullptr ? nullptr : stream.get_last_error(&stream);
    throw Error(ErrorCode::kBadInput, fmt::format("the frame could not be read: {}", why == nullptr ? "unknown error" : why));
  }
};
struct ArrayGuard {
  ArrowArray array{};
  ~ArrayGuard() {
    if (array.release != nullptr) array.release(&array);
  }
};

/// Codes of texts, in order of first appearance.
class Levels {
 public:
  std::int32_t code_of(std::string_view text, std::vector<std::string>& level) {
    const auto known = codes_.find(text);
    if (known != codes_.end()) return known->second;
    const auto code = static_cast<std::int32_t>(level.size());
    level.emplace_back(text);
    codes_.emplace(std::string(text), code);
    return code;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> codes_;
};

struct Builder {
  FrameColumn column;
  ArrowType type;
  Levels levels;

  void add_numbers(const ArrowColumnView& view, std::int64_t rows, std::int64_t before) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const double value = view.missing(row) ? kMissing : view.number(row);
      if (std::isinf(value)) {
        throw Error(ErrorCode::kBadInput,
                    fmt::format("row {}, column \"{}\": {} is not a finite number", before + row + 1, column.name, value),
                    "replace it by a number, or by a missing value");
      }
      if (std::isnan(value)) ++column.missing;
      column.number.push_back(value);
    }
  }

  void add_texts(const ArrowColumnView& view, std::int64_t rows) {
    for (std::int64_t row = 0; row < rows; ++row) {
      if (view.missing(row)) {
        ++column.missing;
        column.code.push_back(kMissingCode);
      } else {
        column.code.push_back(levels.code_of(view.text(row), column.level));
      }
    }
  }

  void add_dictionary(const ArrowColumnView& view, std::int64_t rows) {
    std::vector<std::int32_t> known(static_cast<std::size_t>(view.entries()), kMissingCode);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t entry = view.code(row);
      if (entry < 0) {
        ++column.missing;
        column.code.push_back(kMissingCode);
        continue;
      }
      std::int32_t& code = known[static_cast<std::size_t>(entry)];
      if (code == kMissingCode) code = levels.code_of(view.entry(entry), column.level);
      column.code.push_back(code);
    }
  }

  void add(const ArrowArray& array, std::int64_t rows, std::int64_t offset, std::int64_t before) {
    const ArrowColumnView view(type, array, offset);
    if (type.dictionary) {
      add_dictionary(view, rows);
    } else if (type.numeric()) {
      add_numbers(view, rows, before);
    } else {
      add_texts(view, rows);
    }
  }
};

std::vector<Builder> builders_of(const ArrowSchema& schema) {
  if (schema.format == nullptr || std::string_view(schema.format) != "+s")
    throw Error(ErrorCode::kBadInput, "this is not a table: a frame with named columns is needed");
  std::vector<Builder> builders(static_cast<std::size_t>(schema.n_children));
  std::set<std::string> names;
  for (std::size_t c = 0; c < builders.size(); ++c) {
    const ArrowSchema& child = *schema.children[c];
    Builder& builder = builders[c];
    builder.column.name = child.name == nullptr ? "" : child.name;
    builder.type = arrow_type(child);
    builder.column.kind = builder.type.dictionary ? ArrowKind::kText : builder.type.kind;
    if (!names.insert(builder.column.name).second)
      throw Error(ErrorCode::kBadInput, fmt::format("two columns are called \"{}\"", builder.column.name),
                  "rename one of them");
  }
  if (builders.empty()) throw Error(ErrorCode::kBadInput, "the frame has no columns");
  return builders;
}

// How the shortest text of a number is written: decimals, or none when it has an exponent.
std::optional<int> decimals_of(double value) {
  if (std::nearbyint(value) == value) return std::abs(value) < 1e15 ? std::optional(0) : std::nullopt;
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  const std::string_view written(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
  if (written.find('e') != std::string_view::npos) return std::nullopt;
  const std::size_t point = written.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(written.size() - point - 1);
}

NumberFormat format_of(const FrameColumn& column) {
  NumberFormat format;
  int most = 0;
  bool any = false;
  for (const double value : column.number) {
    if (std::isnan(value)) continue;
    const auto decimals = decimals_of(value);
    if (!decimals || *decimals > kMostDecimals) return format;
    most = std::max(most, *decimals);
    any = true;
  }
  if (any) format.decimals = most;
  format.fixed = any && most == 0;
  return format;
}

ColumnProfile profile_of(const FrameColumn& column, std::int64_t rows) {
  ColumnProfile out;
  out.name = column.name;
  out.rows = rows;
  out.missing = column.missing;
  if (!column.numeric()) {
    out.distinct = std::min<std::int64_t>(static_cast<std::int64_t>(column.level.size()), kMostDistinct);
    out.counted = rows - column.missing;
    // Words that look like numbers stay words here: somebody has typed the column.
    out.more_words = true;
    return out;
  }
  std::unordered_set<double> seen;
  double last = 0;
  for (const double value : column.number) {
    if (std::isnan(value)) continue;
    if (out.numbers == 0) {
      out.least = out.most = value;
    } else {
      out.increasing = out.increasing && value > last;
      out.least = std::min(out.least, value);
      out.most = std::max(out.most, value);
    }
    last = value;
    ++out.numbers;
    if (std::nearbyint(value) == value) ++out.whole;
    if (out.distinct < kMostDistinct) {
      ++out.counted;
      if (seen.insert(value).second) ++out.distinct;
    }
  }
  return out;
}

bool listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_role(const Schema& schema, const std::string& name) {
  return schema.dropped_columns(std::span(&name, 1)).empty();
}

// The type of a column follows from its data type; numbers that name records are found out as in text.
ColumnType type_of(const FrameColumn& column, const ColumnProfile& profile, bool role) {
  const TypeGuess guess = guess_type(profile);
  if (!column.numeric()) return guess.type == ColumnType::kIdentifier && !role ? ColumnType::kIdentifier : ColumnType::kCategory;
  const bool whole = profile.whole == profile.numbers;
  if (guess.type == ColumnType::kIdentifier && !role) return ColumnType::kIdentifier;
  if (column.kind == ArrowKind::kInteger || column.kind == ArrowKind::kDate) return ColumnType::kInteger;
  return whole ? ColumnType::kInteger : ColumnType::kReal;
}

std::string number_text(double value, const NumberFormat& format) {
  std::string text;
  append_number(value, format, text);
  return text;
}

// A number column as levels, or a column of levels as it is.
void take_levels(const FrameColumn& from, TableColumn& to) {
  if (!from.numeric()) {
    to.code = from.code;
    to.level = from.level;
    return;
  }
  NumberFormat format = format_of(from);
  Levels levels;
  for (const double value : from.number)
    to.code.push_back(std::isnan(value) ? kMissingCode : levels.code_of(number_text(value, format), to.level));
}

void take_numbers(const FrameColumn& from, const ColumnSpec& spec, TableColumn& to) {
  if (!from.numeric() && from.kind != ArrowKind::kNothing) {
    for (const std::int32_t code : from.code) {
      if (code == kMissingCode) {
        to.number.push_back(kMissing);
        continue;
      }
      const std::string& cell = from.level[static_cast<std::size_t>(code)];
      const ParsedNumber number = parse_number(cell);
      if (!number.ok())
        throw Error(ErrorCode::kBadInput,
                    fmt::format("row {}, column \"{}\": {}", to.number.size() + 1, from.name,
                                cell_fault(cell, number.fault, spec.type)),
                    fmt::format("make the column numeric, or give columns={{\"{}\": \"category\"}}", from.name));
      to.number.push_back(number.value);
    }
    to.format.decimals = std::nullopt;
    return;
  }
  to.number = from.number;
  if (spec.type == ColumnType::kInteger) {
    for (std::size_t row = 0; row < to.number.size(); ++row) {
      const double value = to.number[row];
      if (!std::isnan(value) && std::nearbyint(value) != value)
        throw Error(ErrorCode::kBadInput,
                    fmt::format("row {}, column \"{}\": {} is not a whole number", row + 1, from.name, value),
                    fmt::format("give columns={{\"{}\": \"real\"}}", from.name));
    }
  }
  to.format = format_of(from);
}

TableColumn column_of(const FrameColumn& from, const ColumnSpec& spec) {
  TableColumn to;
  to.name = from.name;
  to.type = spec.type;
  to.missing = from.missing;
  if (is_numeric(spec.type)) {
    take_numbers(from, spec, to);
  } else {
    take_levels(from, to);
  }
  return to;
}

// The contents, so that two runs on the same frame can be told to be so.
std::string fingerprint(const Frame& frame) {
  std::string all;
  for (const FrameColumn& column : frame.columns) {
    std::string bytes = column.name;
    bytes.append(reinterpret_cast<const char*>(column.number.data()), column.number.size() * sizeof(double));
    bytes.append(reinterpret_cast<const char*>(column.code.data()), column.code.size() * sizeof(std::int32_t));
    for (const std::string& level : column.level) bytes.append(level).push_back('\0');
    all += sha256(bytes);
  }
  return sha256(all);
}

const FrameColumn& column_named(const Frame& frame, const std::string& name) {
  for (const FrameColumn& column : frame.columns) {
    if (column.name == name) return column;
  }
  throw Error(ErrorCode::kBadInput, unknown_name("column", name, frame.names()));
}

}  // namespace

std::vector<std::string> Frame::names() const {
  std::vector<std::string> out;
  for (const FrameColumn& column : columns) out.push_back(column.name);
  return out;
}

Frame read_frame(ArrowArrayStream& stream) {
  StreamGuard guard(stream);
  guard.require(stream.get_schema(&stream, &guard.schema));
  std::vector<Builder> builders = builders_of(guard.schema);
  Frame frame;
  for (;;) {
    ArrayGuard batch;
    guard.require(stream.get_next(&stream, &batch.array));
    if (batch.array.release == nullptr) break;
    for (std::size_t c = 0; c < builders.size(); ++c)
      builders[c].add(*batch.array.children[c], batch.array.length, batch.array.offset, frame.rows);
    frame.rows += batch.array.length;
  }
  for (Builder& builder : builders) frame.columns.push_back(std::move(builder.column));
  return frame;
}

TableProfile profile_of(const Frame& frame) {
  TableProfile out;
  out.rows = frame.rows;
  for (const FrameColumn& column : frame.columns) out.columns.push_back(profile_of(column, frame.rows));
  return out;
}

void complete_job(const Frame& frame, JobFile& job) {
  const TableProfile profile = profile_of(frame);
  Schema& schema = job.schema;
  const bool choose_useful = schema.useful.empty();
  std::vector<ColumnSpec> specs;
  for (std::size_t c = 0; c < frame.columns.size(); ++c) {
    const FrameColumn& column = frame.columns[c];
    const ColumnProfile& seen = profile.columns[c];
    ColumnSpec spec;
    spec.name = column.name;
    spec.type = type_of(column, seen, has_role(schema, column.name) && !listed(schema.keep, column.name) &&
                                          schema.group != column.name);
    if (const ColumnSpec* given = schema.find(column.name)) spec = *given;
    const bool elsewhere = listed(schema.sensitive, spec.name) || listed(schema.surrogate, spec.name) ||
                           listed(schema.keep, spec.name) || listed(schema.side, spec.name) ||
                           listed(schema.task, spec.name) || schema.group == spec.name;
    if (choose_useful && !elsewhere && !guess_type(seen).constant && spec.type != ColumnType::kIdentifier)
      schema.useful.push_back(spec.name);
    specs.push_back(std::move(spec));
  }
  for (const ColumnSpec& given : schema.columns) {  // of no such column: check_names() will say so
    if (std::none_of(specs.begin(), specs.end(), [&](const auto& s) { return s.name == given.name; }))
      specs.push_back(given);
  }
  schema.columns = std::move(specs);
}

Dataset dataset_of(const Frame& frame, const JobFile& job) {
  Dataset out;
  out.names = frame.names();
  require_none(job.schema.check_names(out.names), "the job does not fit the frame");
  const TableProfile profile = profile_of(frame);
  require_none(check_data(job.schema, profile), "the frame cannot be used", ErrorCode::kBadInput);
  out.notices = notices(job.schema, profile);
  out.schema = job.schema.in_order_of(out.names);
  Table table;
  table.rows = frame.rows;
  std::set<std::string> taken;
  for (const std::string& name : out.schema.modelled_columns()) {
    taken.insert(name);
    table.columns.push_back(column_of(column_named(frame, name), *out.schema.find(name)));
  }
  std::vector<std::string> as_text = out.schema.kept_columns();
  if (out.schema.group) as_text.push_back(*out.schema.group);
  for (const std::string& name : as_text) {
    if (!taken.insert(name).second) continue;
    ColumnSpec spec;
    spec.name = name;
    spec.type = ColumnType::kIdentifier;
    table.columns.push_back(column_of(column_named(frame, name), spec));
  }
  out.table = std::make_shared<const Table>(std::move(table));
  out.sha256 = fingerprint(frame);
  return out;
}

AuditTable audit_table_of(const Frame& frame) {
  AuditTable out;
  for (const FrameColumn& column : frame.columns) {
    AuditColumn to;
    if (column.numeric()) {
      to = column_of_numbers(column.name, Eigen::Map<const Vector<double>>(column.number.data(), static_cast<Index>(column.number.size())));
    } else {
      to.name = column.name;
      to.level = column.level;
      to.category = true;
      to.level.emplace_back();  // what a missing cell says
      for (const std::int32_t code : column.code) {
        to.missing.push_back(code == kMissingCode);
        to.code.push_back(code == kMissingCode ? static_cast<std::int32_t>(column.level.size()) : code);
      }
    }
    out.columns.push_back(std::move(to));
  }
  return out;
}

}  // namespace ppan
