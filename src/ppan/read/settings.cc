#include "ppan/read/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ppan/core/suggest.h"

namespace ppan {
namespace {

template <typename Target, typename Value>
using At = std::function<Value&(Target&)>;

// The way to a value inside a part of the job.
template <typename Part, typename Value>
At<JobFile, Value> at(Part JobFile::*part, Value Part::*value) {
  return [=](JobFile& job) -> Value& { return job.*part.*value; };
}
template <typename Target, typename Value>
At<Target, Value> at(Value Target::*value) {
  return [=](Target& target) -> Value& { return target.*value; };
}

std::string text_list(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const auto& value : values) quoted.push_back(toml_quoted(value));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string show_value(const SettingValue& value) {
  struct Show {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return fmt::to_string(v); }
    std::string operator()(double v) const { return fmt::to_string(v); }
    std::string operator()(const std::string& v) const { return toml_quoted(v); }
    std::string operator()(const std::vector<double>& v) const {
      return fmt::format("[{}]", fmt::join(v, ", "));
    }
    std::string operator()(const std::vector<std::string>& v) const { return text_list(v); }
  };
  return std::visit(Show{}, value);
}

std::string not_a(const SettingValue& value, std::string_view type) {
  return fmt::format("{} is not a {}", show_value(value), type);
}

std::string range_text(double least, double most) {
  return std::isfinite(most) ? fmt::format("{} to {}", least, most) : fmt::format("at least {}", least);
}

std::string out_of_range(const SettingValue& value, double least, double most) {
  return fmt::format("{} is not allowed; it must be {}", show_value(value), range_text(least, most));
}

template <typename Target>
BasicSetting<Target> flag(std::string key, std::string help, At<Target, bool> where) {
  return {std::move(key),
          "true or false",
          "",
          std::move(help),
          [where](Target& target, const SettingValue& value) -> std::string {
            const bool* v = std::get_if<bool>(&value);
            if (v == nullptr) return not_a(value, "true or false");
            where(target) = *v;
            return {};
          },
          [where](Target target) { return show_value(where(target)); }};
}

template <typename Target>
BasicSetting<Target> whole(std::string key, std::string help, At<Target, std::int64_t> where,
                           std::int64_t least, std::int64_t most) {
  return {std::move(key),
          "whole number",
          fmt::format("{} to {}", least, most),
          std::move(help),
          [=](Target& target, const SettingValue& value) -> std::string {
            const auto* v = std::get_if<std::int64_t>(&value);
            if (v == nullptr) return not_a(value, "whole number");
            if (*v < least || *v > most)
              return fmt::format("{} is not allowed; it must be {} to {}", *v, least, most);
            where(target) = *v;
            return {};
          },
          [where](Target target) { return show_value(where(target)); }};
}

// A whole number, or a word that leaves the choice open.
template <typename Target>
BasicSetting<Target> whole_or(std::string key, std::string help,
                              At<Target, std::optional<std::int64_t>> where, std::int64_t least,
                              std::int64_t most, std::string word) {
  return {std::move(key),
          fmt::format("whole number or \"{}\"", word),
          fmt::format("{} to {}", least, most),
          std::move(help),
          [=](Target& target, const SettingValue& value) -> std::string {
            if (const auto* text = std::get_if<std::string>(&value); text != nullptr && *text == word) {
              where(target).reset();
              return {};
            }
            const auto* v = std::get_if<std::int64_t>(&value);
            if (v == nullptr)
              return fmt::format("{} is not a whole number or \"{}\"", show_value(value), word);
            if (*v < least || *v > most)
              return fmt::format("{} is not allowed; it must be {} to {}", *v, least, most);
            where(target) = *v;
            return {};
          },
          [=](Target target) {
            const auto& v = where(target);
            return v ? show_value(*v) : toml_quoted(word);
          }};
}

std::optional<double> number_in(const SettingValue& value) {
  if (const auto* v = std::get_if<double>(&value)) return *v;
  if (const auto* v = std::get_if<std::int64_t>(&value)) return static_cast<double>(*v);
  return std::nullopt;
}

template <typename Target>
BasicSetting<Target> real(std::string key, std::string help, At<Target, double> where, double least,
                          double most) {
  return {std::move(key),
          "number",
          range_text(least, most),
          std::move(help),
          [=](Target& target, const SettingValue& value) -> std::string {
            const auto v = number_in(value);
            if (!v) return not_a(value, "number");
            if (!std::isfinite(*v) || *v < least || *v > most) return out_of_range(value, least, most);
            where(target) = *v;
            return {};
          },
          [where](Target target) { return show_value(where(target)); }};
}

template <typename Target>
BasicSetting<Target> real_or(std::string key, std::string help, At<Target, std::optional<double>> where,
                             double least, double most, std::string word) {
  return {std::move(key),
          fmt::format("number or \"{}\"", word),
          range_text(least, most),
          std::move(help),
          [=](Target& target, const SettingValue& value) -> std::string {
            if (const auto* text = std::get_if<std::string>(&value); text != nullptr && *text == word) {
              where(target).reset();
              return {};
            }
            const auto v = number_in(value);
            if (!v) return fmt::format("{} is not a number or \"{}\"", show_value(value), word);
            if (word == "inf" && std::isinf(*v) && *v > 0) {  // TOML has a number for that word
              where(target).reset();
              return {};
            }
            if (!std::isfinite(*v) || *v < least || *v > most) return out_of_range(value, least, most);
            where(target) = *v;
            return {};
          },
          [=](Target target) {
            const auto& v = where(target);
            return v ? show_value(*v) : toml_quoted(word);
          }};
}

template <typename Target>
BasicSetting<Target> text(std::string key, std::string help, At<Target, std::string> where) {
  return {std::move(key),
          "text",
          "",
          std::move(help),
          [where](Target& target, const SettingValue& value) -> std::string {
            const auto* v = std::get_if<std::string>(&value);
            if (v == nullptr) return not_a(value, "text in quotes");
            where(target) = *v;
            return {};
          },
          [where](Target target) { return show_value(where(target)); }};
}

// One of several words, each of which stands for a value.
template <typename Target, typename Value>
BasicSetting<Target> choice(std::string key, std::string help, At<Target, Value> where,
                            std::vector<std::pair<std::string, Value>> words) {
  std::vector<std::string> names;
  for (const auto& word : words) names.push_back(word.first);
  return {std::move(key),
          "text",
          fmt::format("\"{}\"", fmt::join(names, "\", \"")),
          std::move(help),
          [=](Target& target, const SettingValue& value) -> std::string {
            const auto* v = std::get_if<std::string>(&value);
            if (v == nullptr) return not_a(value, "text in quotes");
            for (const auto& [name, meaning] : words) {
              if (*v == name) {
                where(target) = meaning;
                return {};
              }
            }
            return unknown_name("value", *v, names);
          },
          [=](Target target) {
            const auto& current = where(target);
            const auto word =
                std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.second == current; });
            return toml_quoted(word->first);
          }};
}

// Names of columns: a list, or a single one without brackets.
template <typename Target>
BasicSetting<Target> names(std::string key, std::string type, std::string help,
                           At<Target, std::vector<std::string>> where) {
  return {std::move(key),
          std::move(type),
          "",
          std::move(help),
          [where](Target& target, const SettingValue& value) -> std::string {
            if (const auto* one = std::get_if<std::string>(&value)) {
              where(target) = {*one};
            } else if (const auto* many = std::get_if<std::vector<std::string>>(&value)) {
              where(target) = *many;
            } else {
              return not_a(value, "list of texts");
            }
            return {};
          },
          [where](Target target) { return text_list(where(target)); }};
}

bool is_empty_list(const SettingValue& value) {
  const auto* texts = std::get_if<std::vector<std::string>>(&value);
  return texts != nullptr && texts->empty();
}

Setting sensitive_setting() {
  Setting s = names<JobFile>("roles.sensitive", "list of columns, or \"everything observed\"",
                             "columns that must not be learned from the release",
                             at(&JobFile::schema, &Schema::sensitive));
  s.set = [plain = s.set](JobFile& job, const SettingValue& value) -> std::string {
    const auto* word = std::get_if<std::string>(&value);
    job.schema.everything_observed = word != nullptr && *word == kEverythingObserved;
    if (job.schema.everything_observed) {
      job.schema.sensitive.clear();
      return {};
    }
    return plain(job, value);
  };
  s.show = [plain = s.show](JobFile job) {
    return job.schema.everything_observed ? toml_quoted(kEverythingObserved) : plain(job);
  };
  return s;
}

Setting group_setting() {
  return {"roles.group",
          "column, or \"\" for none",
          "",
          "rows with the same value here (one person, many rows) stay together when the table is split",
          [](JobFile& job, const SettingValue& value) -> std::string {
            const auto* name = std::get_if<std::string>(&value);
            if (name == nullptr) return not_a(value, "name of one column");
            job.schema.group.reset();
            if (!name->empty()) job.schema.group = *name;
            return {};
          },
          [](const JobFile& job) { return toml_quoted(job.schema.group.value_or("")); }};
}

Setting delimiter_setting() {
  return {"read.delimiter",
          "text",
          "\"auto\", \"tab\" or one character",
          "what separates the fields of a row",
          [](JobFile& job, const SettingValue& value) -> std::string {
            const auto* v = std::get_if<std::string>(&value);
            if (v == nullptr) return not_a(value, "text in quotes");
            if (*v == "auto") {
              job.csv.delimiter.reset();
              return {};
            }
            const std::string one = *v == "tab" ? "\t" : *v;
            const std::string_view never = "\"\n\r";
            if (one.size() != 1 || never.find(one[0]) != std::string_view::npos ||
                static_cast<unsigned char>(one[0]) >= 0x80 || one[0] == '\0')
              return fmt::format("{} is not \"auto\", \"tab\" or one character", toml_quoted(*v));
            job.csv.delimiter = one[0];
            return {};
          },
          [](const JobFile& job) {
            return toml_quoted(job.csv.delimiter ? delimiter_name(*job.csv.delimiter) : "auto");
          }};
}

Setting hidden_setting() {
  return {"mechanism.hidden",
          "list of whole numbers",
          "up to 8 widths, 1 to 4096 each",
          "widths of the hidden layers of the mechanism's networks",
          [](JobFile& job, const SettingValue& value) -> std::string {
            const auto* list = std::get_if<std::vector<double>>(&value);
            if (list == nullptr && !is_empty_list(value)) return not_a(value, "list of whole numbers");
            std::vector<std::int64_t> widths;
            for (const double width : list != nullptr ? *list : std::vector<double>{}) {
              if (!(width >= 1 && width <= 4096) || width != std::floor(width))
                return fmt::format("{} is not allowed; widths are whole numbers from 1 to 4096", width);
              widths.push_back(static_cast<std::int64_t>(width));
            }
            if (widths.size() > 8)
              return fmt::format("{} layers are not allowed; at most 8 are", widths.size());
            job.mechanism.hidden = std::move(widths);
            return {};
          },
          [](const JobFile& job) { return fmt::format("[{}]", fmt::join(job.mechanism.hidden, ", ")); }};
}

// Increasing numbers from 0 to `most`, one for each point.
Setting point_numbers(std::string key, std::string help, double most, std::string word,
                      At<JobFile, std::vector<double>> where) {
  return {std::move(key),
          "list of numbers",
          fmt::format("0 to {} each, increasing", most),
          std::move(help),
          [=](JobFile& job, const SettingValue& value) -> std::string {
            const auto* list = std::get_if<std::vector<double>>(&value);
            if (list == nullptr && !is_empty_list(value)) return not_a(value, "list of numbers");
            const std::vector<double> numbers = list != nullptr ? *list : std::vector<double>{};
            for (std::size_t i = 0; i < numbers.size(); ++i) {
              if (!(numbers[i] >= 0 && numbers[i] <= most))
                return fmt::format("{} is not allowed; {} are 0 to {}", numbers[i], word, most);
              if (i > 0 && numbers[i] <= numbers[i - 1]) return fmt::format("{} must increase", word);
            }
            if (numbers.size() > 200)
              return fmt::format("{} points are not allowed; at most 200 are", numbers.size());
            where(job) = numbers;
            return {};
          },
          [where](JobFile job) { return fmt::format("[{}]", fmt::join(where(job), ", ")); }};
}

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

std::vector<Setting> data_settings() {
  using J = JobFile;
  return {
      text<J>("data.source", "table to learn from: a file, or another address (docs/sources.md); relative to this file",
              at(&J::source)),
      text<J>("data.fingerprint_key",
              "file with a secret of at least 16 bytes: models and reports then hold a fingerprint of the data that only "
              "holders of the secret can check; empty: none",
              at(&J::fingerprint_key)),
      text<J>("data.images",
              "images to learn from instead of a table: an IDX file, or a directory of PNG files of one size",
              at(&J::images, &ImageSource::images)),
      text<J>("data.labels", "what each image must not tell: an IDX file, or a CSV table for a directory",
              at(&J::images, &ImageSource::labels)),
      text<J>("data.file_column", "column of that table with the name of a PNG file",
              at(&J::images, &ImageSource::file_column)),
      text<J>("data.label_column", "column of that table with its label",
              at(&J::images, &ImageSource::label_column)),
      text<J>("data.task_labels",
              "what a recipient wants to predict from a released image: an IDX file, or a CSV table for a directory; "
              "the mechanism never looks at it",
              at(&J::images, &ImageSource::task_labels)),
      text<J>("data.task_column", "column of that table, or else of the one in data.labels, with that label",
              at(&J::images, &ImageSource::task_column)),
  };
}

std::vector<Setting> read_settings() {
  using J = JobFile;
  return {
      delimiter_setting(),
      flag<J>("read.header", "the first row holds the names; otherwise they are column1, column2, ...",
              at(&J::csv, &CsvOptions::header)),
      choice<J, char>("read.decimal", "decimal mark of numbers", at(&J::csv, &CsvOptions::decimal),
                      {{".", '.'}, {",", ','}}),
      flag<J>("read.trim", "drop spaces around fields that are not in quotes",
              at(&J::csv, &CsvOptions::trim)),
      names<J>("read.missing", "list of texts", "cells that stand for \"no value\"",
               at(&J::csv, &CsvOptions::missing)),
  };
}

std::vector<Setting> role_settings() {
  using J = JobFile;
  const auto role = [](std::string name, std::vector<std::string> Schema::*list, std::string help) {
    return names<J>("roles." + name, "list of columns", std::move(help), at(&J::schema, list));
  };
  return {
      sensitive_setting(),
      role("useful", &Schema::useful, "columns to release, changed as little as possible"),
      role("observed", &Schema::observed, "columns the mechanism looks at; empty: the useful ones"),
      role("keep", &Schema::keep, "columns copied into the release untouched"),
      role("task", &Schema::task,
           "columns that a recipient wants to predict from the release; the mechanism never looks at them"),
      role("side", &Schema::side, "columns an attacker is assumed to know; used by audits"),
      role("surrogate", &Schema::surrogate,
           "columns that stand for a sensitive attribute the table does not hold"),
      group_setting(),
  };
}

std::vector<Setting> encode_settings() {
  using J = JobFile;
  return {
      whole<J>("encode.max_levels", "levels kept of a category; rarer ones are grouped",
               at(&J::encode, &EncodeSettings::max_levels), 2, 4096),
      whole<J>(
          "encode.min_rows",
          "rows that must stand behind every level, every end of a range and every other value of the table "
          "that a model holds; rarer levels are grouped",
          at(&J::encode, &EncodeSettings::min_rows), 1, 1000000),
      real<J>("encode.grid_cost",
              "what rounding a number to its automatic grid may cost, as a share of the column's variance",
              at(&J::encode, &EncodeSettings::grid_cost), 0, 0.1),
      text<J>("encode.other", "what a released cell of the grouped level says",
              at(&J::encode, &EncodeSettings::other)),
  };
}

std::vector<Setting> mechanism_settings() {
  using J = JobFile;
  return {
      choice<J, MechanismFamily>(
          "mechanism.family",
          "finite: exact, for few category cells; noise-input: a network fed with noise; "
          "noisy-code: a short code plus noise, then a decoder; codebook: one of finitely many codewords, "
          "then "
          "a row drawn for it, with an upper bound for every attacker; heads: each column cut into cells, of "
          "which a network draws one; auto: chosen by the table",
          at(&J::mechanism, &MechanismSettings::family),
          {{"auto", MechanismFamily::kAuto},
           {"finite", MechanismFamily::kFinite},
           {"noise-input", MechanismFamily::kNoiseInput},
           {"noisy-code", MechanismFamily::kNoisyCode},
           {"codebook", MechanismFamily::kCodebook},
           {"heads", MechanismFamily::kHeads}}),
      hidden_setting(),
      whole_or<J>("mechanism.code_size", "numbers in the code of a noisy-code mechanism",
                  at(&J::mechanism, &MechanismSettings::code_size), 1, 512, "auto"),
      real<J>("mechanism.code_radius",
              "largest magnitude of each number of the code; its noise has deviation 1",
              at(&J::mechanism, &MechanismSettings::code_radius), 0.1, 100),
      whole<J>("mechanism.noise_inputs", "noise inputs of a noise-input mechanism and of heads",
               at(&J::mechanism, &MechanismSettings::noise_inputs), 1, 512),
      whole_or<J>("mechanism.codewords", "codewords of a codebook; auto: one for 64 training rows, 8 to 512",
                  at(&J::mechanism, &MechanismSettings::codewords), 2, 4096, "auto"),
  };
}

std::vector<Setting> privacy_settings() {
  using J = JobFile;
  return {
      whole<J>("privacy.points", "points of the trade-off curve", at(&J::privacy, &PrivacySettings::points),
               1, 200),
      point_numbers("privacy.budgets",
                    "distortion budgets of the points, instead of privacy.points spread automatically", 1000,
                    "budgets", at(&J::privacy, &PrivacySettings::budgets)),
      point_numbers(
          "privacy.leakages",
          "leakages that the points of a codebook aim at, in nats, instead of privacy.points spread "
          "automatically",
          100, "leakages", at(&J::privacy, &PrivacySettings::leakages)),
      choice<J, Usefulness>(
          "privacy.usefulness",
          "what the release stays useful for: columns: each (of images: each pixel) stays close to the original; "
          "task: what predicts the task is kept; both: weighted, if there is a task",
          at(&J::privacy, &PrivacySettings::usefulness),
          {{"columns", Usefulness::kColumns}, {"task", Usefulness::kTask}, {"both", Usefulness::kBoth}}),
      real<J>("privacy.task_weight",
              "what a nat of lost information about a task weighs: of tables against a distortion of 1, of images "
              "against a nat of leakage",
              at(&J::privacy, &PrivacySettings::task_weight), 0, 1000),
      real<J>("privacy.row_weight",
              "heads: what a network that tells released rows from original ones weighs against a distortion of 1",
              at(&J::privacy, &PrivacySettings::row_weight), 0, 1000),
      choice<J, BudgetChoice>(
          "privacy.budget_form",
          "dual: a multiplier is moved until the budget is met; expected: penalty on the mean "
          "distortion; record: penalty on each record's",
          at(&J::privacy, &PrivacySettings::budget_form),
          {{"dual", BudgetChoice::kDual},
           {"expected", BudgetChoice::kExpected},
           {"record", BudgetChoice::kRecord}}),
      real_or<J>("privacy.alpha",
                 "order of the adversary's loss in the game: 1: log-loss, which hides mutual information; "
                 "above: the alpha-loss, which hides alpha-leakage; inf: the chance of a right guess; for "
                 "sensitive categories",
                 at(&J::privacy, &PrivacySettings::alpha), 1, 1000, "inf"),
      real<J>("privacy.surrogate_slack",
              "nats that the release may tell about the attribute beyond its surrogate; added to every bound",
              at(&J::privacy, &PrivacySettings::surrogate_slack), 0, kNoEnd),
      choice<J, bool>("privacy.unit", "unit in which information is shown",
                      at(&J::privacy, &PrivacySettings::bits), {{"nats", false}, {"bits", true}}),
  };
}

std::vector<Setting> train_settings() {
  using J = JobFile;
  return {
      whole_or<J>("train.epochs", "passes over the training rows for each point",
                  at(&J::train, &TrainSettings::epochs), 1, 1000000, "auto"),
      whole<J>("train.batch", "rows in a mini-batch", at(&J::train, &TrainSettings::batch), 1, 65536),
      whole<J>("train.adversary_steps", "adversary updates for each update of the mechanism",
               at(&J::train, &TrainSettings::adversary_steps), 1, 100),
      real<J>("train.learning_rate", "step size of Adam", at(&J::train, &TrainSettings::learning_rate), 1e-7,
              1),
      whole<J>("train.restarts", "independent trainings of each point, of which the best is kept",
               at(&J::train, &TrainSettings::restarts), 1, 100),
      whole<J>("train.seed", "fixes every draw of the training; releases use secure noise instead",
               at(&J::train, &TrainSettings::seed), 0, std::numeric_limits<std::int64_t>::max()),
      whole_or<J>("train.threads", "threads; \"all\" takes one for each core",
                  at(&J::train, &TrainSettings::threads), 1, 1024, "all"),
  };
}

std::vector<Setting> split_settings() {
  using J = JobFile;
  return {
      real<J>("split.validation", "share of the rows used to choose between trainings and to stop them",
              at(&J::split, &SplitSettings::validation), 0, 0.9),
      real<J>("split.test", "share of the rows the mechanism never sees, on which it is measured",
              at(&J::split, &SplitSettings::test), 0.01, 0.9),
  };
}

std::vector<Setting> release_settings() {
  using J = JobFile;
  return {
      choice<J, UnknownRow>(
          "release.unknown",
          "a record that cannot be released: fail: stop; reject: leave it out and list it; "
          "nearest: take the grouped level or the mean",
          at(&J::release, &ReleaseSettings::unknown),
          {{"fail", UnknownRow::kFail}, {"reject", UnknownRow::kReject}, {"nearest", UnknownRow::kNearest}}),
      choice<J, bool>("release.task", "task columns: keep: released as they are; drop: not released",
                      at(&J::schema, &Schema::task_kept), {{"keep", true}, {"drop", false}}),
      names<J>("release.constraints", "list of texts",
               "what holds in every released row: \"age >= 17\", \"end >= start\"",
               at(&J::schema, &Schema::constraints)),
  };
}

std::vector<Setting> audit_settings() {
  using J = JobFile;
  return {
      flag<J>("audit.quick", "smaller attackers: faster, and less able to find a leak",
              at(&J::audit, &AuditSettings::quick)),
      real_or<J>("audit.limit",
                 "most leakage allowed of a table, in nats, by the upper end of the interval; if no trained "
                 "point keeps "
                 "it, the command ends with status 6",
                 at(&J::audit, &AuditSettings::limit), 0, kNoEnd, "none"),
  };
}

std::vector<Setting> report_settings() {
  using J = JobFile;
  return {
      text<J>("report.title", "title of the report; empty: the name of the table",
              at(&J::report, &ReportSettings::title)),
      flag<J>("report.show_examples", "show some records before and after, useful columns only",
              at(&J::report, &ReportSettings::show_examples)),
      whole<J>("report.examples", "how many such records", at(&J::report, &ReportSettings::examples), 1,
               1000),
  };
}

// In the order of the documentation.
std::vector<Setting> make_settings() {
  std::vector<Setting> all;
  for (const auto part : {data_settings, read_settings, role_settings, encode_settings, mechanism_settings,
                          privacy_settings, train_settings, split_settings, release_settings, audit_settings,
                          report_settings}) {
    for (Setting& setting : part()) all.push_back(std::move(setting));
  }
  return all;
}

ColumnSetting range_setting() {
  return {
      "range",
      "list of two numbers",
      "",
      "least and greatest number that is released; empty: where at least encode.min_rows rows lie beyond",
      [](ColumnSpec& column, const SettingValue& value) -> std::string {
        const auto* list = std::get_if<std::vector<double>>(&value);
        if (list == nullptr && !is_empty_list(value)) return not_a(value, "list of two numbers");
        const std::vector<double> ends = list != nullptr ? *list : std::vector<double>{};
        if (!ends.empty() && (ends.size() != 2 || !(ends[0] < ends[1]) || !std::isfinite(ends[1] - ends[0])))
          return fmt::format("{} is not allowed; give the least and the greatest number", show_value(value));
        column.range = ends;
        return {};
      },
      [](const ColumnSpec& column) { return fmt::format("[{}]", fmt::join(column.range, ", ")); }};
}

std::vector<ColumnSetting> make_column_settings() {
  using C = ColumnSpec;
  return {
      choice<C, ColumnType>(
          "type",
          "integer and real are numbers; category one of some levels; identifier names a record and "
          "is never modelled; date (2024-01-31) and timestamp (2024-01-31 12:30:00) are numbers of days and of "
          "microseconds",
          at(&C::type),
          {{"integer", ColumnType::kInteger},
           {"real", ColumnType::kReal},
           {"category", ColumnType::kCategory},
           {"identifier", ColumnType::kIdentifier},
           {"date", ColumnType::kDate},
           {"timestamp", ColumnType::kTimestamp}}),
      choice<C, NumericEncoding>(
          "encoding",
          "numbers as seen by the networks: standard: in standard deviations from the mean; rank: "
          "normal scores of ranks; auto: rank for heavy tails",
          at(&C::encoding),
          {{"auto", NumericEncoding::kAuto},
           {"standard", NumericEncoding::kStandard},
           {"rank", NumericEncoding::kRank}}),
      real<C>("weight", "importance of the column in the distortion, against others", at(&C::weight), 1e-6,
              1e6),
      names<C>("missing", "list of texts", "further cells of this column that stand for \"no value\"",
               at(&C::missing)),
      whole_or<C>("max_levels", "as encode.max_levels, for this column", at(&C::max_levels), 2, 4096,
                  "default"),
      real_or<C>(
          "grid",
          "released numbers are multiples of this; auto: the coarsest of 1, 2, 5 x 10^k that costs at most "
          "encode.grid_cost",
          at(&C::grid), 1e-12, 1e15, "auto"),
      range_setting(),
      text<C>(
          "derived_from",
          "category that this column follows from; in every release it is looked up again from the released "
          "level",
          at(&C::derived_from)),
  };
}

template <typename Target>
std::string documentation_of(const std::vector<BasicSetting<Target>>& list) {
  const auto cell = [](std::string_view text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '|') escaped += '\\';
      escaped += c;
    }
    return escaped;
  };
  std::string out = "| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const auto& s : list) {
    const std::string range = s.range.empty() ? "" : ": " + s.range;
    out += fmt::format("| `{}` | {} | `{}` | {} |\n", s.key, cell(s.type + range), cell(s.show(Target{})),
                       cell(s.help));
  }
  return out;
}

}  // namespace

std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_key(std::string_view key) {
  const auto bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (!key.empty() && std::all_of(key.begin(), key.end(), bare)) return std::string(key);
  return toml_quoted(key);
}

const std::vector<Setting>& settings() {
  static const std::vector<Setting> table = make_settings();
  return table;
}

const std::vector<ColumnSetting>& column_settings() {
  static const std::vector<ColumnSetting> table = make_column_settings();
  return table;
}

std::string settings_documentation() {
  return documentation_of(settings()) +
         "\nUnder `[columns]` each column is `name = \"type\"`, or `name = { type = \"real\", ... }` with "
         "these "
         "keys:\n\n" +
         documentation_of(column_settings());
}

}  // namespace ppan
