#include "ppan/read/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ppan/core/suggest.h"
#include "ppan/read/constraint.h"
#include "ppan/read/profile.h"

namespace ppan {
namespace {

constexpr std::array<std::string_view, 6> kTypeNames{"integer",    "real", "category",
                                                     "identifier", "date", "timestamp"};
constexpr std::array<std::string_view, 3> kEncodingNames{"auto", "standard", "rank"};

template <typename Enum, std::size_t n>
std::optional<Enum> by_name(const std::array<std::string_view, n>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

struct Role {
  std::string_view name;
  const std::vector<std::string>* columns;
  bool modelled;  // needs a type, and cannot be an identifier
};

std::array<Role, 7> roles_of(const Schema& s) {
  return {{{"sensitive", &s.sensitive, true},
           {"surrogate", &s.surrogate, true},
           {"useful", &s.useful, true},
           {"observed", &s.observed, true},
           {"task", &s.task, true},
           {"side", &s.side, true},
           {"keep", &s.keep, false}}};
}

struct Conflict {
  std::string_view first;
  std::string_view second;
  std::string_view why;
};
constexpr std::array<Conflict, 12> kConflicts{{
    {"sensitive", "useful",
     "a column cannot be hidden and released; to hide all that is released, write sensitive = \"everything "
     "observed\""},
    {"sensitive", "keep", "a kept column is copied into the release, which would reveal the attribute"},
    {"sensitive", "side", "an attacker who knows the attribute has nothing left to learn"},
    {"sensitive", "surrogate", "a surrogate stands for an attribute that no column holds"},
    {"surrogate", "useful", "a column cannot be hidden and released"},
    {"surrogate", "keep", "a kept column is copied into the release, which would reveal the attribute"},
    {"surrogate", "side", "an attacker who knows the attribute has nothing left to learn"},
    {"useful", "keep", "a column is released either changed or unchanged"},
    {"sensitive", "task", "a column cannot be hidden and predicted"},
    {"surrogate", "task", "a column cannot be hidden and predicted"},
    {"useful", "task", "the mechanism would see the answer and could write it into other columns"},
    {"observed", "task", "the mechanism would see the answer and could write it into other columns"},
}};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Counting stops at kMostDistinct; a column whose every value was new until then is taken to go on like that.
bool names_records(const ColumnProfile& column) {
  return column.distinct == column.rows ||
         (column.distinct >= kMostDistinct && column.distinct == column.counted);
}

std::string field_of(std::string_view role) {
  return fmt::format("roles.{}", role);
}

// Derived columns and constraints.
void check_rules(const Schema& schema, ProblemList& problems) {
  for (const ColumnSpec& column : schema.columns) {
    if (column.derived_from.empty()) continue;
    const std::string field = fmt::format("columns.{}.derived_from", column.name);
    const ColumnSpec* source = schema.find(column.derived_from);
    problems.require(source != nullptr && source != &column && source->type != ColumnType::kIdentifier, field,
                     fmt::format("'{}' is not another category or number of the table", column.derived_from));
    problems.require(
        source == nullptr || source == &column || source->derived_from.empty(), field,
        fmt::format("'{}' is derived itself; derive from what it is derived from", column.derived_from));
    problems.require(contains(schema.useful, column.name) && contains(schema.useful, column.derived_from),
                     field, "a derived column and its source must both be useful");
  }
  for (const std::string& text : schema.constraints) {
    const auto rule = parse_constraint(text);
    problems.require(rule.has_value(), "release.constraints",
                     fmt::format("'{}' is not like \"age >= 17\" or \"end >= start\"", text));
    if (!rule) continue;
    for (const std::string& name : {rule->left, rule->right}) {
      if (name.empty()) continue;
      const ColumnSpec* column = schema.find(name);
      problems.require(column != nullptr && is_numeric(column->type) && contains(schema.useful, name),
                       "release.constraints",
                       fmt::format("'{}' in '{}' is not a useful column of numbers", name, text));
      const ColumnSpec* source =
          column == nullptr || column->derived_from.empty() ? nullptr : schema.find(column->derived_from);
      problems.require(source == nullptr || !is_numeric(source->type), "release.constraints",
                       fmt::format("'{}' in '{}' follows from '{}'; say what holds for that", name, text,
                                   source == nullptr ? "" : source->name));
    }
  }
}

}  // namespace

std::string_view to_string(ColumnType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}
std::optional<ColumnType> column_type(std::string_view name) {
  return by_name<ColumnType>(kTypeNames, name);
}
std::string_view to_string(NumericEncoding encoding) {
  return kEncodingNames[static_cast<std::size_t>(encoding)];
}
std::optional<NumericEncoding> numeric_encoding(std::string_view name) {
  return by_name<NumericEncoding>(kEncodingNames, name);
}

const ColumnSpec* Schema::find(std::string_view name) const {
  const auto at = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
  return at == columns.end() ? nullptr : &*at;
}

const std::vector<std::string>& Schema::observed_columns() const {
  return observed.empty() ? useful : observed;
}

std::vector<std::string> Schema::hidden_columns() const {
  std::vector<std::string> hidden = everything_observed ? observed_columns() : sensitive;
  for (const auto& name : surrogate) {
    if (!contains(hidden, name)) hidden.push_back(name);
  }
  return hidden;
}

std::vector<std::string> Schema::kept_columns() const {
  std::vector<std::string> kept = keep;
  for (const std::string& name : task) {
    if (task_kept && !contains(kept, name)) kept.push_back(name);
  }
  return kept;
}

std::vector<std::string> Schema::modelled_columns() const {
  std::vector<std::string> names;
  for (const ColumnSpec& column : columns) {
    for (const Role& role : roles_of(*this)) {
      if (role.modelled && contains(*role.columns, column.name)) {
        names.push_back(column.name);
        break;
      }
    }
  }
  return names;
}

std::vector<std::string> Schema::dropped_columns(std::span<const std::string> names) const {
  std::vector<std::string> dropped;
  for (const std::string& name : names) {
    const auto roles = roles_of(*this);
    const bool used = std::any_of(roles.begin(), roles.end(),
                                  [&](const Role& role) { return contains(*role.columns, name); });
    if (!used && group != name) dropped.push_back(name);
  }
  return dropped;
}

Schema Schema::in_order_of(std::span<const std::string> names) const {
  std::unordered_map<std::string_view, std::size_t> place;
  for (std::size_t i = 0; i < names.size(); ++i) place.emplace(names[i], i);
  const auto at = [&](const std::string& name) {
    const auto found = place.find(name);
    return found == place.end() ? names.size() : found->second;
  };
  const auto by_place = [&](const std::string& a, const std::string& b) { return at(a) < at(b); };
  Schema sorted = *this;
  std::stable_sort(sorted.columns.begin(), sorted.columns.end(),
                   [&](const ColumnSpec& a, const ColumnSpec& b) { return at(a.name) < at(b.name); });
  for (auto* list : {&sorted.sensitive, &sorted.useful, &sorted.observed, &sorted.keep, &sorted.task,
                     &sorted.side, &sorted.surrogate})
    std::stable_sort(list->begin(), list->end(), by_place);
  return sorted;
}

Problems Schema::check() const {
  ProblemList problems;
  std::vector<std::string> known;
  std::unordered_set<std::string_view> seen_columns;
  for (const ColumnSpec& column : columns) {
    const std::string field = fmt::format("columns.{}", column.name);
    const bool is_new = seen_columns.insert(column.name).second;
    problems.require(is_new, field, "is described twice");
    problems.require_positive(field + ".weight", column.weight);
    if (column.max_levels) {
      problems.require(column.type == ColumnType::kCategory, field + ".max_levels",
                       fmt::format("a column of type {} has no levels", to_string(column.type)));
      problems.require_between(field + ".max_levels", static_cast<double>(*column.max_levels), 2, 4096);
    }
    problems.require(is_numeric(column.type) || column.encoding == NumericEncoding::kAuto,
                     field + ".encoding",
                     fmt::format("a column of type {} has no numeric encoding", to_string(column.type)));
    if (is_new) known.push_back(column.name);
  }

  problems.require(!sensitive.empty() || everything_observed || !surrogate.empty(), "roles.sensitive",
                   "names nothing to hide; list at least one column, or write \"everything observed\"");
  problems.require(!useful.empty(), "roles.useful", "names nothing to release; list at least one column");
  problems.require(sensitive.empty() || !everything_observed, "roles.sensitive",
                   "is both a list of columns and everything observed");

  for (const Role& role : roles_of(*this)) {
    std::unordered_set<std::string_view> seen;
    for (const std::string& name : *role.columns) {
      problems.require(seen.insert(name).second, field_of(role.name),
                       fmt::format("'{}' is listed twice", name));
      if (!role.modelled) continue;
      const ColumnSpec* column = find(name);
      if (column == nullptr) {
        problems.require(false, field_of(role.name),
                         known.empty()
                             ? fmt::format("'{}' has no type; write [columns] {} = \"category\"", name, name)
                             : unknown_name("column", name, known) + "; its type belongs under [columns]");
      } else {
        problems.require(column->type != ColumnType::kIdentifier, field_of(role.name),
                         fmt::format("'{}' is an identifier, which can only be kept or group rows", name));
      }
    }
  }
  for (const Problem& problem : check_conflicts()) problems.require(false, problem.field, problem.what);
  check_rules(*this, problems);
  return problems.take();
}

Problems Schema::check_conflicts() const {
  ProblemList problems;
  for (const Conflict& conflict : kConflicts) {
    const std::vector<std::string>* first = nullptr;
    const std::vector<std::string>* second = nullptr;
    for (const Role& role : roles_of(*this)) {
      if (role.name == conflict.first) first = role.columns;
      if (role.name == conflict.second) second = role.columns;
    }
    for (const std::string& name : std::set<std::string>(first->begin(), first->end())) {
      problems.require(!contains(*second, name), field_of(conflict.second),
                       fmt::format("'{}' is also {}: {}", name, conflict.first, conflict.why));
    }
  }
  return problems.take();
}

Problems Schema::check_names(std::span<const std::string> names) const {
  ProblemList problems;
  const auto require_known = [&](const std::string& field, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      problems.require(false, field, "the table has no such column: " + unknown_name("column", name, names));
  };
  for (const Role& role : roles_of(*this)) {
    for (const std::string& name : *role.columns) require_known(field_of(role.name), name);
  }
  if (group) require_known("roles.group", *group);
  const std::vector<std::string> modelled = modelled_columns();
  for (const ColumnSpec& column : columns) {
    if (!contains(modelled, column.name)) require_known("columns", column.name);
  }
  return problems.take();
}

Problems check_data(const Schema& schema, const TableProfile& table) {
  ProblemList problems;
  for (const std::string& name : schema.hidden_columns()) {
    const ColumnProfile* column = table.find(name);
    const ColumnSpec* spec = schema.find(name);
    if (column == nullptr || spec == nullptr) continue;
    const std::string field = field_of(
        contains(schema.surrogate, name) && !contains(schema.sensitive, name) ? "surrogate" : "sensitive");
    const std::int64_t values = column->distinct + (column->missing > 0 ? 1 : 0);
    problems.require(values > 1, field,
                     fmt::format("'{}' has one value in every row, so there is nothing to hide", name));
    problems.require(spec->type != ColumnType::kCategory || column->rows < 2 || !names_records(*column),
                     field,
                     fmt::format("'{}' has a different value in every row, so it names the record; choose an "
                                 "attribute that rows share",
                                 name));
  }
  for (const std::string& name : schema.task) {
    const ColumnProfile* column = table.find(name);
    if (column == nullptr) continue;
    problems.require(column->distinct + (column->missing > 0 ? 1 : 0) > 1, field_of("task"),
                     fmt::format("'{}' has one value in every row, so there is nothing to predict", name));
  }
  problems.require(table.rows > 0, "data.source", "the table has a header but no rows");
  return problems.take();
}

std::vector<std::string> notices(const Schema& schema, const TableProfile& table) {
  std::vector<std::string> notes;
  std::vector<std::string> names;
  for (const ColumnProfile& column : table.columns) names.push_back(column.name);
  const auto dropped = schema.dropped_columns(names);
  if (!dropped.empty())
    notes.push_back(fmt::format("dropped, because no role names {}: {}", dropped.size() == 1 ? "it" : "them",
                                fmt::join(dropped, ", ")));
  for (const std::string& name : schema.useful) {
    const ColumnProfile* column = table.find(name);
    if (column != nullptr && column->distinct + (column->missing > 0 ? 1 : 0) <= 1)
      notes.push_back(fmt::format("useful column '{}' has one value in every row", name));
  }
  return notes;
}

}  // namespace ppan
