#include "ppan/job/setting_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ppan/core/suggest.h"

namespace ppan {
namespace {

std::string not_a(const SettingValue& value, std::string_view type) {
  return fmt::format("{} is not a {}", show_value(value), type);
}

std::string with_word(std::string_view type, const std::string& word) {
  return word.empty() ? std::string(type) : fmt::format("{} or \"{}\"", type, word);
}

bool is_word(const SettingValue& value, const std::string& word) {
  const auto* text = std::get_if<std::string>(&value);
  return !word.empty() && text != nullptr && *text == word;
}

// A list of numbers; an empty one may have been read as one of texts.
std::optional<std::vector<double>> numbers_in(const SettingValue& value) {
  if (const auto* list = std::get_if<std::vector<double>>(&value)) return *list;
  const auto* texts = std::get_if<std::vector<std::string>>(&value);
  if (texts != nullptr && texts->empty()) return std::vector<double>{};
  return std::nullopt;
}

std::optional<double> number_in(const SettingValue& value) {
  if (const auto* v = std::get_if<double>(&value)) return *v;
  if (const auto* v = std::get_if<std::int64_t>(&value)) return static_cast<double>(*v);
  return std::nullopt;
}

}  // namespace

std::string show_value(const SettingValue& value) {
  struct Show {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return fmt::to_string(v); }
    std::string operator()(double v) const { return fmt::to_string(v); }
    std::string operator()(const std::string& v) const { return toml_quoted(v); }
    std::string operator()(const std::vector<double>& v) const {
      return fmt::format("[{}]", fmt::join(v, ", "));
    }
    std::string operator()(const std::vector<std::string>& v) const {
      std::vector<std::string> quoted;
      for (const auto& each : v) quoted.push_back(toml_quoted(each));
      return fmt::format("[{}]", fmt::join(quoted, ", "));
    }
  };
  return std::visit(Show{}, value);
}

namespace setting_kind {

std::string range_text(double least, double most) {
  return std::isfinite(most) ? fmt::format("{} to {}", least, most) : fmt::format("at least {}", least);
}

std::string take_whole(const SettingValue& value, std::int64_t least, std::int64_t most,
                       const std::string& word, std::optional<std::int64_t>& to) {
  to.reset();
  if (is_word(value, word)) return {};
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr) return not_a(value, with_word("whole number", word));
  if (*number < least || *number > most)
    return fmt::format("{} is not allowed; it must be {} to {}", *number, least, most);
  to = *number;
  return {};
}

std::string take_real(const SettingValue& value, double least, double most, const std::string& word,
                      std::optional<double>& to) {
  to.reset();
  if (is_word(value, word)) return {};
  const std::optional<double> number = number_in(value);
  if (!number) return not_a(value, with_word("number", word));
  if (word == "inf" && std::isinf(*number) && *number > 0) return {};  // TOML has a number for that word
  if (!std::isfinite(*number) || *number < least || *number > most)
    return fmt::format("{} is not allowed; it must be {}", show_value(value), range_text(least, most));
  to = *number;
  return {};
}

std::string not_among(const SettingValue& value, const std::vector<std::string>& words) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? not_a(value, "text in quotes") : unknown_name("value", *text, words);
}

std::string Flag::take(const SettingValue& value, bool& to) const {
  const bool* given = std::get_if<bool>(&value);
  if (given == nullptr) return not_a(value, "true or false");
  to = *given;
  return {};
}

std::string Text::take(const SettingValue& value, std::string& to) const {
  const auto* given = std::get_if<std::string>(&value);
  if (given == nullptr) return not_a(value, "text in quotes");
  to = *given;
  return {};
}

std::string Whole::type() const {
  return with_word("whole number", word);
}

std::string Whole::range() const {
  return fmt::format("{} to {}", least, most);
}

std::string Real::type() const {
  return with_word("number", word);
}

std::string Names::take(const SettingValue& value, std::vector<std::string>& to) const {
  if (const auto* one = std::get_if<std::string>(&value)) {
    to = {*one};
  } else if (const auto* many = std::get_if<std::vector<std::string>>(&value)) {
    to = *many;
  } else {
    return not_a(value, "list of texts");
  }
  return {};
}

std::string Widths::take(const SettingValue& value, std::vector<Index>& to) const {
  const auto list = numbers_in(value);
  if (!list) return not_a(value, type());
  std::vector<Index> widths;
  for (const double width : *list) {
    if (!(width >= 1 && width <= 4096) || width != std::floor(width))
      return fmt::format("{} is not allowed; widths are whole numbers from 1 to 4096", width);
    widths.push_back(static_cast<Index>(width));
  }
  if (widths.size() > 8) return fmt::format("{} layers are not allowed; at most 8 are", widths.size());
  to = std::move(widths);
  return {};
}

std::string Widths::show(const std::vector<Index>& value) const {
  return fmt::format("[{}]", fmt::join(value, ", "));
}

std::string PointNumbers::range() const {
  return fmt::format("0 to {} each, increasing", most);
}

std::string PointNumbers::take(const SettingValue& value, std::vector<double>& to) const {
  const auto numbers = numbers_in(value);
  if (!numbers) return not_a(value, type());
  for (std::size_t i = 0; i < numbers->size(); ++i) {
    const double number = (*numbers)[i];
    if (!(number >= 0 && number <= most))
      return fmt::format("{} is not allowed; {} are 0 to {}", number, what, most);
    if (i > 0 && number <= (*numbers)[i - 1]) return fmt::format("{} must increase", what);
  }
  if (numbers->size() > 200)
    return fmt::format("{} points are not allowed; at most 200 are", numbers->size());
  to = *numbers;
  return {};
}

std::string Range::take(const SettingValue& value, std::vector<double>& to) const {
  const auto ends = numbers_in(value);
  if (!ends) return not_a(value, type());
  const bool bad = ends->size() != 2 || !((*ends)[0] < (*ends)[1]) || !std::isfinite((*ends)[1] - (*ends)[0]);
  if (!ends->empty() && bad)
    return fmt::format("{} is not allowed; give the least and the greatest number", show_value(value));
  to = *ends;
  return {};
}

std::string Delimiter::take(const SettingValue& value, std::optional<char>& to) const {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return not_a(value, "text in quotes");
  if (*text == "auto") {
    to.reset();
    return {};
  }
  const std::string one = *text == "tab" ? "\t" : *text;
  const std::string_view never = "\"\n\r";
  if (one.size() != 1 || never.find(one[0]) != std::string_view::npos ||
      static_cast<unsigned char>(one[0]) >= 0x80 || one[0] == '\0')
    return fmt::format("{} is not \"auto\", \"tab\" or one character", toml_quoted(*text));
  to = one[0];
  return {};
}

std::string Delimiter::show(const std::optional<char>& value) const {
  return toml_quoted(value ? delimiter_name(*value) : "auto");
}

std::string OneColumn::take(const SettingValue& value, std::optional<std::string>& to) const {
  const auto* name = std::get_if<std::string>(&value);
  if (name == nullptr) return not_a(value, "name of one column");
  to.reset();
  if (!name->empty()) to = *name;
  return {};
}

std::string Sensitive::take(const SettingValue& value, Schema& to) const {
  const auto* word = std::get_if<std::string>(&value);
  to.everything_observed = word != nullptr && *word == kEverythingObserved;
  if (!to.everything_observed) return Names{}.take(value, to.sensitive);
  to.sensitive.clear();
  return {};
}

std::string Sensitive::show(const Schema& value) const {
  return value.everything_observed ? toml_quoted(kEverythingObserved) : Names{}.show(value.sensitive);
}

}  // namespace setting_kind
}  // namespace ppan
