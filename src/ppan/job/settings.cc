#include "ppan/job/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "ppan/job/setting_kinds.h"

namespace ppan {
namespace {

using setting_kind::Choice;
using setting_kind::Delimiter;
using setting_kind::Flag;
using setting_kind::Names;
using setting_kind::OneColumn;
using setting_kind::PointNumbers;
using setting_kind::Range;
using setting_kind::Real;
using setting_kind::Sensitive;
using setting_kind::Text;
using setting_kind::Whole;
using setting_kind::Widths;

// Where a job holds a value, and which part of it says so.
template <typename Value>
struct Place {
  JobPart part;
  std::function<Value&(JobFile&)> at;
  std::function<const Value&(const JobFile&)> seen;
};
template <typename Path>
auto place(JobPart part, Path path) {
  using Value = std::remove_reference_t<decltype(path(std::declval<JobFile&>()))>;
  return Place<Value>{part, path, path};
}

template <typename Value>
auto every(Value JobFile::*value) {
  return place(
      JobPart::kEvery, [=](auto& job) -> auto& { return job.*value; });
}
template <typename Value>
auto table(Value TableJob::*value) {
  return place(
      JobPart::kTable, [=](auto& job) -> auto& { return job.table.*value; });
}
template <typename Value>
auto csv(Value CsvOptions::*value) {
  return place(
      JobPart::kTable, [=](auto& job) -> auto& { return job.table.csv.*value; });
}
template <typename Value>
auto schema(Value Schema::*value) {
  return place(
      JobPart::kTable, [=](auto& job) -> auto& { return job.table.schema.*value; });
}
template <typename Value>
auto encoding(Value EncodingOptions::*value) {
  return place(
      JobPart::kTable, [=](auto& job) -> auto& { return job.table.encoding.*value; });
}
template <typename Value>
auto curve(Value TableCurveOptions::*value) {
  return place(
      JobPart::kTable, [=](auto& job) -> auto& { return job.table.curve.*value; });
}
template <typename Value>
auto networks(Value TableTrainingOptions::*value) {
  return place(
      JobPart::kNetworks, [=](auto& job) -> auto& { return job.table.curve.training.*value; });
}
template <typename Value>
auto codebook(Value CodebookOptions::*value) {
  return place(
      JobPart::kCodebook, [=](auto& job) -> auto& { return job.table.curve.codebook.*value; });
}
template <typename Value>
auto heads(Value HeadsOptions::*value) {
  return place(
      JobPart::kHeads, [=](auto& job) -> auto& { return job.table.curve.heads.*value; });
}
template <typename Value>
auto images(Value ImageJob::*value) {
  return place(
      JobPart::kImages, [=](auto& job) -> auto& { return job.image.*value; });
}
template <typename Value>
auto image_curve(Value ImageCurveOptions::*value) {
  return place(
      JobPart::kImages, [=](auto& job) -> auto& { return job.image.curve.*value; });
}
template <typename Value>
auto image_code(Value CodeImageOptions::*value) {
  return place(
      JobPart::kImages, [=](auto& job) -> auto& { return job.image.curve.code.*value; });
}
template <typename Value>
auto label_columns(Value LabelColumns::*value) {
  return place(
      JobPart::kImages, [=](auto& job) -> auto& { return job.image.columns.*value; });
}

// A key that stands for all of these places. All take a value over, since a job may name its family, or its
// images, further down; the first that is in use shows it, and where none is, the first.
template <typename Kind, typename... Values>
Setting setting(std::string key, std::string help, Kind kind, Place<Values>... places) {
  Setting out;
  out.key = std::move(key);
  out.type = kind.type();
  out.range = kind.range();
  out.help = std::move(help);
  out.set = [=](JobFile& job, const SettingValue& value) {
    std::string fault;
    static_cast<void>(((fault = kind.take(value, places.at(job))).empty() && ...));
    return fault;
  };
  out.show = [=](const JobFile& job) {
    std::string first;
    std::string used;
    const auto look = [&](const auto& each) {
      if (first.empty()) first = kind.show(each.seen(job));
      if (used.empty() && in_use(each.part, job)) used = kind.show(each.seen(job));
    };
    (look(places), ...);
    return used.empty() ? first : used;
  };
  out.parts = {places.part...};
  return out;
}

std::vector<Setting> data_settings() {
  return {
      setting("data.source",
              "table to learn from: a file, or another address (docs/sources.md); relative to this file",
              Text{}, table(&TableJob::source)),
      setting("data.fingerprint_key",
              "file with a secret of at least 16 bytes: models and reports then hold a fingerprint "
              "of the data that only holders of the secret can check; empty: none",
              Text{}, every(&JobFile::fingerprint_key)),
      setting("data.images",
              "images to learn from instead of a table: an IDX file, or a directory of PNG files of one size",
              Text{}, images(&ImageJob::images)),
      setting("data.labels",
              "label of each image, which is to be hidden: an IDX file, or a CSV table for a "
              "directory",
              Text{}, images(&ImageJob::labels)),
      setting("data.file_column", "column of that table with the name of a PNG file", Text{},
              label_columns(&LabelColumns::file)),
      setting("data.label_column", "column of that table with its label", Text{},
              label_columns(&LabelColumns::label)),
      setting("data.task_labels",
              "what a recipient wants to predict from a released image: an IDX file, or a CSV table "
              "for a directory; the mechanism never sees it",
              Text{}, images(&ImageJob::task_labels)),
      setting("data.task_column",
              "column with that label, in that table or, without one, in the table of data.labels", Text{},
              images(&ImageJob::task_column)),
  };
}

std::vector<Setting> read_settings() {
  return {
      setting("read.delimiter", "what separates the fields of a row", Delimiter{},
              csv(&CsvOptions::delimiter)),
      setting("read.header", "the first row holds the names; otherwise they are column1, column2, ...",
              Flag{}, csv(&CsvOptions::header)),
      setting("read.decimal", "decimal mark of numbers", Choice<char>{{{".", '.'}, {",", ','}}},
              csv(&CsvOptions::decimal)),
      setting("read.trim", "drop spaces around fields that are not in quotes", Flag{},
              csv(&CsvOptions::trim)),
      setting("read.missing", "cells that mean \"no value\"", Names{"list of texts"},
              csv(&CsvOptions::missing)),
  };
}

std::vector<Setting> role_settings() {
  return {
      setting("roles.sensitive", "columns that must not be inferred from the release", Sensitive{},
              table(&TableJob::schema)),
      setting("roles.useful", "columns to release, changed as little as possible", Names{},
              schema(&Schema::useful)),
      setting("roles.observed", "columns the mechanism sees; empty: the useful ones", Names{},
              schema(&Schema::observed)),
      setting("roles.keep", "columns copied into the release unchanged", Names{}, schema(&Schema::keep)),
      setting("roles.task",
              "columns that a recipient wants to predict from the release; the mechanism never sees "
              "them",
              Names{}, schema(&Schema::task)),
      setting("roles.side", "columns an attacker is assumed to know; used by audits", Names{},
              schema(&Schema::side)),
      setting("roles.surrogate",
              "columns that stand in for a sensitive attribute that the table does not hold", Names{},
              schema(&Schema::surrogate)),
      setting("roles.group",
              "rows with the same value here (one person, many rows) stay together when the table "
              "is split",
              OneColumn{}, schema(&Schema::group)),
  };
}

std::vector<Setting> encode_settings() {
  return {
      setting("encode.max_levels", "levels kept of a category; rarer ones are grouped", Whole{2, 4096},
              encoding(&EncodingOptions::max_levels)),
      setting("encode.min_rows",
              "least number of rows behind every level, every end of a range and every other value "
              "of the table that a model holds; rarer levels are grouped",
              Whole{1, 1000000}, encoding(&EncodingOptions::min_rows)),
      setting("encode.grid_cost",
              "what rounding a number to its automatic grid may cost, as a share of the column's variance",
              Real{0, 0.1}, encoding(&EncodingOptions::grid_cost)),
      setting("encode.other", "text of a released cell of the grouped level", Text{},
              encoding(&EncodingOptions::other)),
  };
}

std::vector<Setting> mechanism_settings() {
  using Family = MechanismFamily;
  const auto family = place(
      JobPart::kTable, [](auto& job) -> auto& { return job.table.curve.training.family; });
  return {
      setting("mechanism.family",
              "finite: exact, for few combinations of categories; noise-input: a network with noise "
              "among its inputs; noisy-code: a short code plus noise, then a decoder; codebook: "
              "one of finitely many codewords, then a row drawn for it, with an upper bound for "
              "every attacker; heads: each column divided into cells, which a network keeps or "
              "replaces; auto: finite where possible, otherwise heads",
              Choice<Family>{{{"auto", Family::kAuto},
                              {"finite", Family::kFinite},
                              {"noise-input", Family::kNoiseInput},
                              {"noisy-code", Family::kNoisyCode},
                              {"codebook", Family::kCodebook},
                              {"heads", Family::kHeads}}},
              family, images(&ImageJob::family)),
      setting("mechanism.hidden", "widths of the hidden layers of the mechanism's networks", Widths{},
              networks(&TableTrainingOptions::hidden), codebook(&CodebookOptions::hidden),
              heads(&HeadsOptions::hidden), image_code(&CodeImageOptions::encoder)),
      setting("mechanism.code_size", "numbers in the code of a noisy-code mechanism", Whole{1, 512, "auto"},
              networks(&TableTrainingOptions::code_size), images(&ImageJob::code_size)),
      setting("mechanism.code_radius",
              "largest magnitude of each number of the code; its noise has standard deviation 1",
              Real{0.1, 100}, networks(&TableTrainingOptions::code_radius),
              image_code(&CodeImageOptions::radius)),
      setting("mechanism.noise_inputs", "noise inputs of a noise-input mechanism and of heads", Whole{1, 512},
              networks(&TableTrainingOptions::noise_inputs), heads(&HeadsOptions::noise_inputs)),
      setting("mechanism.codewords", "codewords of a codebook; auto: one for 64 training rows, 8 to 512",
              Whole{2, 4096, "auto"}, codebook(&CodebookOptions::codewords)),
  };
}

// What a release stays useful for, and how.
std::vector<Setting> usefulness_settings() {
  const auto usefulness = [](JobPart part) {
    return place(
        part, [](auto& job) -> auto& { return job.table.usefulness; });
  };
  return {
      setting(
          "privacy.usefulness",
          "what the release preserves: columns: each column (for images: each pixel) stays "
          "close to the original; task: what predicts the task; both: weighted, if there is a "
          "task",
          Choice<Usefulness>{
              {{"columns", Usefulness::kColumns}, {"task", Usefulness::kTask}, {"both", Usefulness::kBoth}}},
          usefulness(JobPart::kCodebook), usefulness(JobPart::kHeads), images(&ImageJob::usefulness)),
      setting("privacy.task_weight",
              "weight of a nat of lost information about a task: for tables relative to a "
              "distortion of 1, for images relative to a nat of leakage",
              Real{0, 1000}, codebook(&CodebookOptions::task_weight), heads(&HeadsOptions::task_weight),
              images(&ImageJob::task_weight)),
      setting("privacy.row_weight",
              "heads: weight of the network that distinguishes released from original rows, "
              "relative to a distortion of 1",
              Real{0, 1000}, heads(&HeadsOptions::row_weight)),
      setting("privacy.budget_form",
              "dual: a multiplier is adjusted until the budget is met; expected: penalty on the "
              "mean distortion; record: penalty on the distortion of each record",
              Choice<BudgetForm>{{{"dual", BudgetForm::kDual},
                                  {"expected", BudgetForm::kExpected},
                                  {"record", BudgetForm::kRecord}}},
              networks(&TableTrainingOptions::budget_form)),
  };
}

std::vector<Setting> privacy_settings() {
  const auto redrawn = place(
      JobPart::kHeads, [](auto& job) -> auto& { return job.table.curve.redrawn; });
  std::vector<Setting> out{
      setting("privacy.points", "points of the trade-off curve", Whole{1, 200},
              curve(&TableCurveOptions::points), images(&ImageJob::points)),
      setting("privacy.budgets",
              "distortion budgets of the points, instead of privacy.points spread automatically",
              PointNumbers{1000, "budgets"}, curve(&TableCurveOptions::budgets),
              image_curve(&ImageCurveOptions::targets)),
      setting("privacy.leakages",
              "leakages that the points of a codebook aim at, in nats, instead of privacy.points spread "
              "automatically",
              PointNumbers{100, "leakages"}, curve(&TableCurveOptions::leakages)),
      setting("privacy.redrawn",
              "heads: largest number of additional releases that redraw some columns from the "
              "others, which stay unchanged",
              Whole{0, 12}, redrawn),
  };
  for (Setting& each : usefulness_settings()) out.push_back(std::move(each));
  out.push_back(setting("privacy.alpha",
                        "order of the adversary's loss in the game: 1: log-loss, which hides mutual "
                        "information; above: the alpha-loss, which hides alpha-leakage; inf: the probability "
                        "of a correct guess; for sensitive categories",
                        Real{1, 1000, "inf"}, networks(&TableTrainingOptions::alpha)));
  out.push_back(setting("privacy.surrogate_slack",
                        "nats that the release may reveal about the attribute beyond its surrogate; added to "
                        "every bound",
                        Real{}, table(&TableJob::surrogate_slack)));
  out.push_back(setting("privacy.unit", "unit in which information is shown",
                        Choice<bool>{{{"nats", false}, {"bits", true}}}, every(&JobFile::bits)));
  return out;
}

std::vector<Setting> train_settings() {
  using T = TableTrainingOptions;
  const auto restarts_of_heads = place(
      JobPart::kHeads, [](auto& job) -> auto& { return job.table.curve.training.restarts; });
  return {
      setting("train.epochs", "passes over the training rows for each point", Whole{1, 1000000, "auto"},
              networks(&T::epochs), codebook(&CodebookOptions::epochs), heads(&HeadsOptions::epochs),
              image_curve(&ImageCurveOptions::epochs)),
      setting("train.batch", "rows in a mini-batch", Whole{1, 65536}, networks(&T::batch),
              heads(&HeadsOptions::batch), image_code(&CodeImageOptions::batch)),
      setting("train.adversary_steps", "adversary updates for each update of the mechanism", Whole{1, 100},
              networks(&T::adversary_steps), heads(&HeadsOptions::adversary_steps),
              image_code(&CodeImageOptions::adversary_steps)),
      setting("train.learning_rate", "step size of Adam", Real{1e-7, 1}, networks(&T::rate),
              heads(&HeadsOptions::rate), image_code(&CodeImageOptions::rate)),
      setting("train.restarts", "independent training runs of each point, of which the best is kept",
              Whole{1, 100}, networks(&T::restarts), restarts_of_heads),
      setting("train.seed", "determines every random draw of training; releases use secure noise instead",
              Whole{0, std::numeric_limits<std::int64_t>::max()}, curve(&TableCurveOptions::seed),
              image_curve(&ImageCurveOptions::seed)),
      setting("train.threads", "number of threads; \"all\" uses one for each core", Whole{1, 1024, "all"},
              curve(&TableCurveOptions::threads), image_curve(&ImageCurveOptions::threads)),
  };
}

std::vector<Setting> split_settings() {
  return {
      setting("split.validation", "share of the rows used to select among training runs and to stop them",
              Real{0, 0.9}, curve(&TableCurveOptions::validation)),
      setting("split.test", "share of the rows the mechanism never sees, on which it is measured",
              Real{0.01, 0.9}, curve(&TableCurveOptions::test), images(&ImageJob::test)),
  };
}

std::vector<Setting> release_settings() {
  return {
      setting("release.unknown",
              "a record that cannot be released: fail: stop; reject: omit it and list it; nearest: "
              "take the grouped level or the mean",
              Choice<UnknownRow>{{{"fail", UnknownRow::kFail},
                                  {"reject", UnknownRow::kReject},
                                  {"nearest", UnknownRow::kNearest}}},
              table(&TableJob::unknown)),
      setting("release.task", "task columns: keep: released unchanged; drop: not released",
              Choice<bool>{{{"keep", true}, {"drop", false}}}, schema(&Schema::task_kept)),
      setting("release.constraints",
              "conditions that hold in every released row: \"age >= 17\", \"end >= start\"",
              Names{"list of texts"}, schema(&Schema::constraints)),
  };
}

std::vector<Setting> audit_settings() {
  const auto quick = place(
      JobPart::kTable, [](auto& job) -> auto& { return job.table.curve.leakage.quick; });
  return {
      setting("audit.quick", "smaller attackers: faster, and less able to find a leak", Flag{}, quick,
              images(&ImageJob::quick)),
      setting("audit.limit",
              "largest leakage allowed for a table, in nats, judged by the upper end of the "
              "interval; if no trained point is within it, the command ends with status 6",
              Real{.word = "none"}, every(&JobFile::limit)),
  };
}

std::vector<Setting> report_settings() {
  return {
      setting("report.title", "title of the report; empty: the name of the table", Text{},
              every(&JobFile::title)),
      setting("report.show_examples", "show some records before and after, useful columns only", Flag{},
              every(&JobFile::show_examples)),
      setting("report.examples", "number of such records", Whole{1, 1000}, table(&TableJob::examples)),
  };
}

// In the order of the documentation.
std::vector<Setting> make_settings() {
  std::vector<Setting> all;
  for (const auto part :
       {data_settings, read_settings, role_settings, encode_settings, mechanism_settings, privacy_settings,
        train_settings, split_settings, release_settings, audit_settings, report_settings}) {
    for (Setting& each : part()) all.push_back(std::move(each));
  }
  return all;
}

template <typename Kind, typename Value>
ColumnSetting column_setting(std::string key, std::string help, Kind kind, Value ColumnSpec::*at) {
  return {std::move(key),
          kind.type(),
          kind.range(),
          std::move(help),
          [=](ColumnSpec& column, const SettingValue& value) { return kind.take(value, column.*at); },
          [=](const ColumnSpec& column) { return kind.show(column.*at); }};
}

std::vector<ColumnSetting> make_column_settings() {
  using C = ColumnSpec;
  return {
      column_setting("type",
                     "integer and real are numbers; category is one of several levels; identifier names a "
                     "record and is never modelled; date (2024-01-31) and timestamp (2024-01-31 12:30:00) "
                     "are numbers of days and of microseconds",
                     Choice<ColumnType>{{{"integer", ColumnType::kInteger},
                                         {"real", ColumnType::kReal},
                                         {"category", ColumnType::kCategory},
                                         {"identifier", ColumnType::kIdentifier},
                                         {"date", ColumnType::kDate},
                                         {"timestamp", ColumnType::kTimestamp}}},
                     &C::type),
      column_setting("encoding",
                     "numbers as seen by the networks: standard: in standard deviations from the mean; rank: "
                     "normal scores of ranks; auto: rank for heavy tails",
                     Choice<NumericEncoding>{{{"auto", NumericEncoding::kAuto},
                                              {"standard", NumericEncoding::kStandard},
                                              {"rank", NumericEncoding::kRank}}},
                     &C::encoding),
      column_setting("weight", "importance of the column in the distortion, relative to others",
                     Real{1e-6, 1e6}, &C::weight),
      column_setting("missing", "further cells of this column that mean \"no value\"", Names{"list of texts"},
                     &C::missing),
      column_setting("max_levels", "as encode.max_levels, for this column", Whole{2, 4096, "default"},
                     &C::max_levels),
      column_setting(
          "grid",
          "released numbers are multiples of this; auto: the coarsest of 1, 2, 5 x 10^k that costs at most "
          "encode.grid_cost",
          Real{1e-12, 1e15, "auto"}, &C::grid),
      column_setting("range",
                     "smallest and largest number that is released; empty: where at least encode.min_rows "
                     "rows lie beyond",
                     Range{}, &C::range),
      column_setting("derived_from",
                     "category or number that determines this column; in every release the column is "
                     "looked up again from the released value",
                     Text{}, &C::derived_from),
  };
}

std::string in_a_cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

template <typename Target, typename Default>
std::string documentation_of(const std::vector<Target>& list, const Default& default_of) {
  std::string out = "| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const auto& s : list) {
    const std::string range = s.range.empty() ? "" : ": " + s.range;
    out += fmt::format("| `{}` | {} | {} | {} |\n", s.key, in_a_cell(s.type + range), default_of(s),
                       in_a_cell(s.help));
  }
  return out;
}

std::string default_of(const Setting& setting) {
  const std::string of_tables = in_a_cell(setting.show({}));
  JobFile images;
  images.image.images = "images";
  const std::string of_images = in_a_cell(setting.show(images));
  // Which job it is, is said by the setting itself.
  if (setting.key == "data.images" || of_images == of_tables) return fmt::format("`{}`", of_tables);
  return fmt::format("`{}`; for images `{}`", of_tables, of_images);
}

bool any_in_use(const std::vector<JobPart>& parts, const JobFile& job) {
  return std::any_of(parts.begin(), parts.end(), [&](JobPart part) { return in_use(part, job); });
}

}  // namespace

bool in_use(JobPart part, const JobFile& job) {
  if (part == JobPart::kEvery) return true;
  if (part == JobPart::kImages || job.about_images()) return (part == JobPart::kImages) == job.about_images();
  if (part == JobPart::kTable) return true;
  switch (job.table.curve.training.family) {
    case MechanismFamily::kCodebook:
      return part == JobPart::kCodebook;
    case MechanismFamily::kHeads:
      return part == JobPart::kHeads;
    case MechanismFamily::kAuto:  // which of them is known with the table
      return part == JobPart::kNetworks || part == JobPart::kHeads;
    case MechanismFamily::kFinite:
    case MechanismFamily::kNoiseInput:
    case MechanismFamily::kNoisyCode:
      break;
  }
  return part == JobPart::kNetworks;
}

bool Setting::of(JobPart part) const {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

bool Setting::applies(const JobFile& job) const {
  return any_in_use(parts, job);
}

std::string Setting::refusal(const JobFile& job) const {
  if (applies(job)) return {};
  if (job.about_images()) return std::string(kOnlyForTables);
  const auto only_images = [](JobPart part) { return part == JobPart::kImages; };
  if (std::all_of(parts.begin(), parts.end(), only_images))
    return show(job) == show({}) ? "" : "is for images; data.images is missing";
  if (of(JobPart::kNetworks))
    return fmt::format("is not for mechanism.family = {}", find_setting("mechanism.family")->show(job));
  std::vector<std::string> families;
  if (of(JobPart::kCodebook)) families.push_back(toml_quoted("codebook"));
  if (of(JobPart::kHeads)) families.push_back(toml_quoted("heads"));
  return fmt::format("is for mechanism.family = {} only", fmt::join(families, " or "));
}

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

const Setting* find_setting(std::string_view key) {
  const auto& all = settings();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Setting& s) { return s.key == key; });
  return found == all.end() ? nullptr : &*found;
}

const std::vector<ColumnSetting>& column_settings() {
  static const std::vector<ColumnSetting> table = make_column_settings();
  return table;
}

std::string settings_documentation() {
  const auto of_column = [](const ColumnSetting& s) { return fmt::format("`{}`", in_a_cell(s.show({}))); };
  return documentation_of(settings(), default_of) +
         "\nUnder `[columns]` each column is `name = \"type\"`, or `name = { type = \"real\", ... }` with "
         "these "
         "keys:\n\n" +
         documentation_of(column_settings(), of_column);
}

}  // namespace ppan
