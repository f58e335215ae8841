#include "ppan/audit/feature_column.h"

#include <fmt/format.h>

#include <bit>

namespace ppan {

FeatureMap::Written::Written(const AuditColumn& column) {
  if (column.has_text()) {
    text = column.level;
    code = column.code;
    return;
  }
  std::unordered_map<std::uint64_t, std::int32_t> known;
  for (Index i = 0; i < column.rows(); ++i) {
    const auto [at, added] = known.try_emplace(std::bit_cast<std::uint64_t>(column.number[i]),
                                               static_cast<std::int32_t>(text.size()));
    if (added) text.push_back(fmt::format("{}", column.number[i]));
    code.push_back(at->second);
  }
}

}  // namespace ppan
