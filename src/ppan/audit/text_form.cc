#include "ppan/audit/text_form.h"

#include <cctype>

namespace ppan {

std::string folded(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  std::string low(text);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low;
}

TextForm form_of(const std::string& text) {
  float upper = 0;
  float digits = 0;
  float last = 0;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isupper(u)) upper += 1;
    if (std::isdigit(u)) {
      digits += 1;
      last = static_cast<float>((c - '0') % 2);
    }
  }
  const auto edge_space = [&](char c) { return std::isspace(static_cast<unsigned char>(c)) ? 1.0F : 0.0F; };
  const std::size_t mark = text.find_first_of(".,");
  TextForm form;
  form.value = {upper,
                !text.empty() && std::isupper(static_cast<unsigned char>(text.front())) ? 1.0F : 0.0F,
                static_cast<float>(text.size()),
                text.empty() ? 0.0F : edge_space(text.front()) + 2 * edge_space(text.back()),
                digits,
                mark == std::string::npos ? 0.0F : static_cast<float>(text.size() - mark),
                text.find_first_of("+eE") == std::string::npos ? 0.0F : 1.0F,
                last};
  return form;
}

std::vector<TextForm> forms_of(const AuditColumn& column) {
  std::vector<TextForm> forms;
  for (const std::string& text : column.level) forms.push_back(form_of(text));
  return forms;
}

}  // namespace ppan
