#pragma once

// The one table of settings. The parser of the job file, the commented file of `ppan init`, the documentation
// (docs/formats.md) and suggestions for unknown keys are all made from it.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ppan/read/job.h"

namespace ppan {

/// A value as a job file can write it.
using SettingValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<double>, std::vector<std::string>>;

/// One setting of a `Target`.
template <typename Target>
struct BasicSetting {
  std::string key;    ///< "section.name"; for columns the bare name.
  std::string type;   ///< What may be written: "whole number", "text", ...
  std::string range;  ///< Which of these are allowed; empty when all are.
  std::string help;   ///< What it does, with its unit. A sentence without a full stop.
  /// Takes the value over; returns what is wrong with it, or nothing.
  std::function<std::string(Target&, const SettingValue&)> set;
  /// The value of `target` as TOML.
  std::function<std::string(Target target)> show;

  [[nodiscard]] std::string section() const { return key.substr(0, key.find('.')); }
  [[nodiscard]] std::string name() const { return key.substr(key.find('.') + 1); }
};
using Setting = BasicSetting<JobFile>;
using ColumnSetting = BasicSetting<ColumnSpec>;

/// Settings of the job, section by section.
const std::vector<Setting>& settings();
/// Settings of one column: the keys of [columns] name = { ... }.
const std::vector<ColumnSetting>& column_settings();

/// Text as TOML writes it, in quotes.
std::string toml_quoted(std::string_view text);
/// A key as TOML writes it, in quotes where it must be.
std::string toml_key(std::string_view key);

/// The tables of docs/formats.md (Markdown).
std::string settings_documentation();

}  // namespace ppan
