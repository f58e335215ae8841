#include "ppan/audit/row_hash.h"

#include <bit>
#include <functional>
#include <string>

namespace ppan {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6U) + (hash >> 2U);
  hash *= 0xFF51AFD7ED558CCDULL;
  return hash ^ (hash >> 33U);
}

}  // namespace

std::vector<std::uint64_t> row_hashes(const AuditTable& table) {
  std::vector<std::uint64_t> hash(static_cast<std::size_t>(table.rows()), 0);
  for (const AuditColumn& column : table.columns) {
    std::vector<std::uint64_t> text;
    for (const std::string& level : column.level) text.push_back(std::hash<std::string>{}(level));
    for (std::size_t i = 0; i < hash.size(); ++i) {
      hash[i] = mix(hash[i], column.has_text()
                                 ? text[static_cast<std::size_t>(column.code[i])]
                                 : std::bit_cast<std::uint64_t>(column.number[static_cast<Index>(i)]));
    }
  }
  return hash;
}

}  // namespace ppan
