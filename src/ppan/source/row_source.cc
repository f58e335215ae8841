#include "ppan/source/row_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ppan/core/error.h"

namespace ppan {

std::vector<std::string> RowSource::column_names() const {
  std::vector<std::string> names;
  names.reserve(columns_.size());
  for (const RowColumn& column : columns_) names.push_back(column.name);
  return names;
}

std::optional<std::size_t> RowSource::find(std::string_view name) const {
  const auto at =
      std::find_if(columns_.begin(), columns_.end(), [&](const auto& c) { return c.name == name; });
  if (at == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - columns_.begin());
}

void RowSource::set_columns(std::vector<RowColumn> columns) {
  if (columns.empty()) throw Error(ErrorCode::kBadInput, fmt::format("{} has no columns", name_));
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name.empty())
      throw Error(ErrorCode::kBadInput, fmt::format("{}: column {} has no name", name_, i + 1),
                  "give it one");
    const auto [before, is_new] = seen.emplace(columns[i].name, i);
    if (!is_new)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{}: columns {} and {} are both named \"{}\"", name_, before->second + 1, i + 1,
                              columns[i].name),
                  "rename one of them");
  }
  columns_ = std::move(columns);
}

}  // namespace ppan
