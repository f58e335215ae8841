#pragma once

// The kinds of values that settings take, independent of the member that holds them. Each kind describes its
// values in words, stores a value or says what is wrong with it, and shows the stored value as TOML. A word
// such as "auto" may mean that the value is left open: an absent value where the member is optional,
// otherwise 0 for whole numbers and infinity for others.

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ppan/job/settings.h"

namespace ppan {

/// A value as TOML.
std::string show_value(const SettingValue& value);

namespace setting_kind {

// Shared by the kinds, without templates. Each returns what is wrong, or nothing.
std::string take_whole(const SettingValue& value, std::int64_t least, std::int64_t most,
                       const std::string& word, std::optional<std::int64_t>& to);
std::string take_real(const SettingValue& value, double least, double most, const std::string& word,
                      std::optional<double>& to);
std::string range_text(double least, double most);

template <typename Value>
void hold(std::optional<Value> value, std::optional<Value>& to) {
  to = value;
}
inline void hold(std::optional<double> value, double& to) {
  to = value.value_or(std::numeric_limits<double>::infinity());
}
template <std::integral Held>
void hold(std::optional<std::int64_t> value, Held& to) {
  to = static_cast<Held>(value.value_or(0));
}
template <std::integral Held>
requires(!std::same_as<Held, std::int64_t>) void hold(std::optional<std::int64_t> value,
                                                      std::optional<Held>& to) {
  to.reset();
  if (value) to = static_cast<Held>(*value);
}
template <typename Held>
std::optional<Held> held(const std::optional<Held>& value) {
  return value;
}
inline std::optional<double> held(double value) {
  return std::isinf(value) ? std::nullopt : std::optional(value);
}
template <std::integral Held>
std::optional<std::int64_t> held(Held value) {
  return static_cast<std::int64_t>(value);
}

struct Flag {
  [[nodiscard]] std::string type() const { return "true or false"; }
  [[nodiscard]] std::string range() const { return {}; }
  [[nodiscard]] std::string take(const SettingValue& value, bool& to) const;
  [[nodiscard]] std::string show(bool value) const { return show_value(value); }
};

struct Text {
  [[nodiscard]] std::string type() const { return "text"; }
  [[nodiscard]] std::string range() const { return {}; }
  [[nodiscard]] std::string take(const SettingValue& value, std::string& to) const;
  [[nodiscard]] std::string show(const std::string& value) const { return show_value(value); }
};

/// A whole number, or the word for one that is left open.
struct Whole {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::string word{};  ///< Empty: it cannot be left open.

  [[nodiscard]] std::string type() const;
  [[nodiscard]] std::string range() const;
  template <typename Held>
  [[nodiscard]] std::string take(const SettingValue& value, Held& to) const {
    std::optional<std::int64_t> number;
    std::string fault = take_whole(value, least, most, word, number);
    if (fault.empty()) hold(number, to);
    return fault;
  }
  template <typename Held>
  [[nodiscard]] std::string show(const Held& value) const {
    const auto number = held(value);
    const bool open = !number || (!word.empty() && *number < least);
    return open ? toml_quoted(word) : show_value(static_cast<std::int64_t>(*number));
  }
};

/// A number, or the word for one that is left open.
struct Real {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  std::string word{};  ///< Empty: it cannot be left open.

  [[nodiscard]] std::string type() const;
  [[nodiscard]] std::string range() const { return range_text(least, most); }
  template <typename Held>
  [[nodiscard]] std::string take(const SettingValue& value, Held& to) const {
    std::optional<double> number;
    std::string fault = take_real(value, least, most, word, number);
    if (fault.empty()) hold(number, to);
    return fault;
  }
  template <typename Held>
  [[nodiscard]] std::string show(const Held& value) const {
    const std::optional<double> number = held(value);
    return number ? show_value(*number) : toml_quoted(word);
  }
};

/// What is wrong with a value that is none of these words.
std::string not_among(const SettingValue& value, const std::vector<std::string>& words);

/// One of several words, each of which denotes a value.
template <typename Value>
struct Choice {
  std::vector<std::pair<std::string, Value>> words;

  [[nodiscard]] std::string type() const { return "text"; }
  [[nodiscard]] std::string range() const {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "\"" : ", \"") + word.first + '"';
    return out;
  }
  [[nodiscard]] std::string take(const SettingValue& value, Value& to) const {
    std::vector<std::string> names;
    for (const auto& [name, meaning] : words) {
      const auto* text = std::get_if<std::string>(&value);
      if (text != nullptr && *text == name) {
        to = meaning;
        return {};
      }
      names.push_back(name);
    }
    return not_among(value, names);
  }
  [[nodiscard]] std::string show(const Value& value) const {
    for (const auto& [name, meaning] : words) {
      if (meaning == value) return toml_quoted(name);
    }
    return toml_quoted("");  // a value that no word denotes
  }
};

/// Names of columns, or other texts: a list, or a single one without brackets.
struct Names {
  std::string what = "list of columns";

  [[nodiscard]] std::string type() const { return what; }
  [[nodiscard]] std::string range() const { return {}; }
  [[nodiscard]] std::string take(const SettingValue& value, std::vector<std::string>& to) const;
  [[nodiscard]] std::string show(const std::vector<std::string>& value) const { return show_value(value); }
};

/// Widths of hidden layers.
struct Widths {
  [[nodiscard]] std::string type() const { return "list of whole numbers"; }
  [[nodiscard]] std::string range() const { return "up to 8 widths, 1 to 4096 each"; }
  [[nodiscard]] std::string take(const SettingValue& value, std::vector<Index>& to) const;
  [[nodiscard]] std::string show(const std::vector<Index>& value) const;
};

/// Increasing numbers from 0 to `most`, one for each point.
struct PointNumbers {
  double most = 0;
  std::string what;

  [[nodiscard]] std::string type() const { return "list of numbers"; }
  [[nodiscard]] std::string range() const;
  [[nodiscard]] std::string take(const SettingValue& value, std::vector<double>& to) const;
  [[nodiscard]] std::string show(const std::vector<double>& value) const { return show_value(value); }
};

/// Smallest and largest number, or neither.
struct Range {
  [[nodiscard]] std::string type() const { return "list of two numbers"; }
  [[nodiscard]] std::string range() const { return {}; }
  [[nodiscard]] std::string take(const SettingValue& value, std::vector<double>& to) const;
  [[nodiscard]] std::string show(const std::vector<double>& value) const { return show_value(value); }
};

/// What separates the fields of a row; absent: detected.
struct Delimiter {
  [[nodiscard]] std::string type() const { return "text"; }
  [[nodiscard]] std::string range() const { return "\"auto\", \"tab\" or one character"; }
  [[nodiscard]] std::string take(const SettingValue& value, std::optional<char>& to) const;
  [[nodiscard]] std::string show(const std::optional<char>& value) const;
};

/// One column, or none.
struct OneColumn {
  [[nodiscard]] std::string type() const { return "column, or \"\" for none"; }
  [[nodiscard]] std::string range() const { return {}; }
  [[nodiscard]] std::string take(const SettingValue& value, std::optional<std::string>& to) const;
  [[nodiscard]] std::string show(const std::optional<std::string>& value) const {
    return toml_quoted(value.value_or(""));
  }
};

/// Sensitive columns, or the words that say: everything observed.
struct Sensitive {
  [[nodiscard]] std::string type() const { return "list of columns, or \"everything observed\""; }
  [[nodiscard]] std::string range() const { return {}; }
  [[nodiscard]] std::string take(const SettingValue& value, Schema& to) const;
  [[nodiscard]] std::string show(const Schema& value) const;
};

}  // namespace setting_kind
}  // namespace ppan
