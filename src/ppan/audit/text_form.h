#pragma once

// How a text is written, apart from what it says: capitals, spaces, digits, decimals.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/audit/audit_table.h"

namespace ppan {

/// A text without spaces at its ends, in lower case: what it says, however it is written.
std::string folded(std::string_view text);

/// The same numbers for every text.
struct TextForm {
  /// Capitals, capital first, length, space at the ends, digits, decimals, sign or exponent, parity of the
  /// last digit.
  std::array<float, 8> value{};
};
TextForm form_of(const std::string& text);
/// Of each level of a column.
std::vector<TextForm> forms_of(const AuditColumn& column);

}  // namespace ppan
