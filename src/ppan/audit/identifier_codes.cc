// Single characters of identifiers as coarse codes.

#include <algorithm>

#include "ppan/audit/feature_column.h"

namespace ppan {
namespace {

// Identifiers: nearly all different and of one length. Their characters are counted by in pairs.
constexpr std::size_t kMostCharacterCodes = 24;  // of all columns
constexpr std::size_t kLeastIdentifier = 4;      // characters
constexpr std::size_t kMostIdentifier = 24;
constexpr double kOneLength = 0.95;          // share of the rows
constexpr std::size_t kMostCharacters = 16;  // different ones in a place

}  // namespace

// What stands in each place of identifiers.
void FeatureMap::learn_characters(const Written& written, Index rows, Column& column) {
  std::array<Index, kMostIdentifier + 1> lengths{};
  for (const std::int32_t code : written.code) {
    const std::size_t length = written.text[static_cast<std::size_t>(code)].size();
    if (length <= kMostIdentifier) ++lengths[length];
  }
  const auto most = std::max_element(lengths.begin(), lengths.end());
  const auto length = static_cast<std::size_t>(most - lengths.begin());
  if (length < kLeastIdentifier || static_cast<double>(*most) < kOneLength * static_cast<double>(rows))
    return;
  column.first_character_code = static_cast<Index>(coarse_values_.size());
  for (std::size_t place = 0; place < length && character_codes_ < kMostCharacterCodes; ++place) {
    Column::Character character{.place = place};
    std::int32_t different = 0;
    for (const std::string& text : written.text) {
      if (text.size() != length) continue;
      std::int32_t& code = character.code[static_cast<unsigned char>(text[place])];
      if (code == 0) code = ++different;
    }
    if (different < 2 || static_cast<std::size_t>(different) > kMostCharacters) continue;
    ++character_codes_;
    add_coarse(static_cast<std::size_t>(different) + 1, column.name, false);
    column.characters.push_back(character);
  }
}

void FeatureMap::write_characters(const Column& column, const AuditColumn& from, KeyMatrix& coarse) {
  if (column.characters.empty()) return;
  const Written written(from);
  for (std::size_t p = 0; p < column.characters.size(); ++p) {
    const Column::Character& character = column.characters[p];
    Symbols code;
    for (const std::string& text : written.text)
      code.push_back(character.place < text.size()
                         ? character.code[static_cast<unsigned char>(text[character.place])]
                         : 0);
    for (Index i = 0; i < from.rows(); ++i)
      coarse(i, column.first_character_code + static_cast<Index>(p)) =
          code[static_cast<std::size_t>(written.code[static_cast<std::size_t>(i)])];
  }
}

}  // namespace ppan
