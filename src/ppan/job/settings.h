#pragma once

// The one table of settings: it maps each key of a job file to a member of the options. The parser of the job
// file, the commented file of `ppan init`, the documentation (docs/formats.md) and suggestions for unknown
// keys are all made from it. The default is that of the options; a key is rejected if no options in use have
// the member.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ppan/job/job.h"

namespace ppan {

/// A value as a job file can write it.
using SettingValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<double>, std::vector<std::string>>;

/// One setting of a `Target`.
template <typename Target>
struct BasicSetting {
  std::string key;    ///< "section.name"; for columns the bare name.
  std::string type;   ///< What may be written: "whole number", "text", ...
  std::string range;  ///< Which of these are allowed; empty: all.
  std::string help;   ///< What it does, with its unit. A sentence without a full stop.
  /// Stores the value; returns what is wrong with it, or nothing.
  std::function<std::string(Target&, const SettingValue&)> set;
  /// The value of `target` as TOML.
  std::function<std::string(const Target& target)> show;

  [[nodiscard]] std::string section() const { return key.substr(0, key.find('.')); }
  [[nodiscard]] std::string name() const { return key.substr(key.find('.') + 1); }
};
using ColumnSetting = BasicSetting<ColumnSpec>;

/// The parts of a job that have their own settings.
enum class JobPart {
  kEvery,     ///< Every job.
  kTable,     ///< Every table.
  kNetworks,  ///< TableTrainingOptions: tables by the families finite, noise-input and noisy-code.
  kCodebook,  ///< CodebookOptions: tables by a codebook.
  kHeads,     ///< HeadsOptions: tables by heads.
  kImages,    ///< Images.
};
/// Whether the job uses this part.
bool in_use(JobPart part, const JobFile& job);

/// One setting of a job. It maps to a member of one part, or to corresponding members of several parts.
struct Setting : BasicSetting<JobFile> {
  std::vector<JobPart> parts;

  [[nodiscard]] bool of(JobPart part) const;
  /// Whether a part that is in use has it.
  [[nodiscard]] bool applies(const JobFile& job) const;
  /// Why it cannot be given in this job; empty if it can.
  [[nodiscard]] std::string refusal(const JobFile& job) const;
};
inline constexpr std::string_view kOnlyForTables =
    "is for tables, but data.images makes this a job about images";

/// Settings of the job, section by section.
const std::vector<Setting>& settings();
/// The setting of this key; null if there is none.
const Setting* find_setting(std::string_view key);
/// Settings of one column: the keys of [columns] name = { ... }.
const std::vector<ColumnSetting>& column_settings();

/// Text as TOML writes it, in quotes.
std::string toml_quoted(std::string_view text);
/// A key as TOML writes it, in quotes where it must be.
std::string toml_key(std::string_view key);

/// The tables of docs/formats.md (Markdown).
std::string settings_documentation();

}  // namespace ppan
