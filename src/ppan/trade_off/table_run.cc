#include "ppan/trade_off/table_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <system_error>
#include <utility>

#include "ppan/audit/surrogate_slack.h"
#include "ppan/core/file.h"
#include "ppan/core/random.h"
#include "ppan/core/thresholds.h"
#include "ppan/open/address.h"
#include "ppan/report/claims.h"
#include "ppan/report/group_warnings.h"
#include "ppan/report/html.h"
#include "ppan/trade_off/audit_run.h"
#include "ppan/trade_off/model_audit.h"
#include "ppan/trade_off/task_columns.h"
#include "ppan/trade_off/training_record.h"

namespace ppan {
namespace {

constexpr const char* kSeries = "ppan/table";
constexpr std::string_view kUpperLow = "leakage_upper_low";
constexpr std::string_view kUpperMethod = "leakage_upper_method";
constexpr std::string_view kUpperAnyDistribution = "leakage_upper_any_distribution";
constexpr std::size_t kHistogramBins = 24;

ReleaseModel model_of(const TableModel& table, const MeasuredRelease& measured, const CurveRun& run) {
  ReleaseModel out{.table = table,
                   .format = table_format(run.job.table.csv),
                   .unknown = run.job.table.unknown,
                   .order = release_order(table.schema(), run.names),
                   .origin = {},
                   .audit = findings_of(measured.audit, run.data_fingerprint),
                   .checksum = {}};
  out.origin.program = "ppan " + run.version;
  out.origin.title = run.job.title;
  out.origin.label = measured.label;
  out.origin.budget = measured.budget;
  out.origin.distortion = measured.change.distortion;
  out.origin.changed = measured.change.changed;
  out.origin.columns = measured.change.columns;
  out.origin.leakage = measured.audit.leakage();
  out.origin.upper_end = measured.audit.upper_end();
  out.origin.power = measured.audit.power();
  out.origin.inconclusive = measured.audit.inconclusive();
  out.origin.task = task_text(measured.task);
  out.origin.seed = run.job.table.curve.seed;
  out.origin.test_rows = measured.audit.leakage().samples;
  out.origin.data_fingerprint = run.data_fingerprint;
  out.origin.settings = given_settings(run.job);
  return out;
}

CurveRow row_of(const MeasuredRelease& measured) {
  CurveRow row;
  row.series = measured.series;
  row.budget = measured.budget;
  row.distortion = measured.change.distortion;
  row.set_leakage(measured.audit.leakage());
  if (measured.upper) {
    row.set(curve_column::kUpperBound, measured.upper->nats);
    if (measured.upper->interval95) {
      row.set(kUpperLow, measured.upper->interval95->low);
      row.set(curve_column::kUpperBoundHigh, measured.upper->interval95->high);
    }
    row.set(kUpperMethod, measured.upper->method);
  }
  row.set(curve_column::kUpperEnd, measured.audit.upper_end());
  if (const auto power = measured.audit.power()) row.set(curve_column::kPower, *power);
  const AttributeAudit& first = measured.audit.attributes.front();
  if (measured.audit.attributes.size() == 1 && first.forecast) {
    row.set(curve_column::kForecast, first.forecast->ten_times.nats);
    row.set(curve_column::kForecastLow, first.forecast->ten_times.interval95->low);
    row.set(curve_column::kForecastHigh, first.forecast->ten_times.interval95->high);
  }
  row.set(curve_column::kInconclusive, measured.audit.inconclusive() ? "yes" : "no");
  const std::vector<Estimate>& uppers =
      measured.audit.joint ? measured.audit.joint->upper : measured.audit.attributes.front().upper;
  for (const Estimate& upper : uppers) {
    if (upper.method.ends_with("for every distribution")) row.set(kUpperAnyDistribution, upper.nats);
  }
  set_measures(measured.audit, row);
  set_task(measured.task, row);
  if (measured.recipient) {
    row.set("associations", measured.recipient->associations);
    row.set("spikes", measured.recipient->spikes);
    row.set("copied", measured.recipient->copied);
    row.set("copied_original", measured.recipient->copied_original);
  }
  row.set("changed", measured.change.changed);
  row.set("label", measured.label);
  return row;
}

std::string list(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string hidden_text(const Schema& schema) {
  std::string text = schema.everything_observed ? std::string(kEverythingObserved) : list(schema.sensitive);
  if (!schema.surrogate.empty()) {
    if (!text.empty()) text += "; ";
    text += list(schema.surrogate) + " as a surrogate";
  }
  return text;
}

// Shares of the rows with each level.
std::vector<double> shares(const Symbols& code, std::size_t levels) {
  std::vector<double> out(levels, 0);
  for (const std::int32_t c : code) out[static_cast<std::size_t>(c)] += 1 / static_cast<double>(code.size());
  return out;
}

std::vector<double> present_values(const EncodedColumn& column, const ColumnEncoding& encoding) {
  std::vector<double> out;
  for (std::size_t r = 0; r < column.value.size(); ++r) {
    if (column.code[r] == 0) out.push_back(encoding.decode(column.value[r]));
  }
  return out;
}

std::vector<double> histogram(const std::vector<double>& values, const std::vector<double>& edges,
                              double rows) {
  std::vector<double> out(edges.size() - 1, 0);
  for (const double value : values) {
    const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, value);
    out[static_cast<std::size_t>(above - edges.begin()) - 1] += 1 / rows;
  }
  return out;
}

// Equal bins over the middle 98 % of what was there before; the outer bins take what lies beyond.
std::optional<HistogramPair> histograms(const EncodedColumn& before, const EncodedColumn& after,
                                        const ColumnEncoding& encoding) {
  std::vector<double> values = present_values(before, encoding);
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  const double low = at(0.01);
  const double high = at(0.99);
  if (!(high > low)) return std::nullopt;
  HistogramPair out;
  for (std::size_t i = 0; i <= kHistogramBins; ++i)
    out.edges.push_back(low + (high - low) * static_cast<double>(i) / kHistogramBins);
  const auto rows = static_cast<double>(before.value.size());
  out.before = histogram(values, out.edges, rows);
  out.after = histogram(present_values(after, encoding), out.edges, rows);
  return out;
}

// A column as one number for correlations: v, or which of two levels. Others have none.
std::optional<std::vector<double>> number_of(const EncodedColumn& column, const ColumnEncoding& encoding) {
  if (encoding.numeric()) return column.value;
  if (encoding.levels.size() != 2) return std::nullopt;
  return std::vector<double>(column.code.begin(), column.code.end());
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double mean_a = 0;
  double mean_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean_a += a[i] / n;
    mean_b += b[i] / n;
  }
  double aa = 0;
  double bb = 0;
  double ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? std::clamp(ab / std::sqrt(aa * bb), -1.0, 1.0) : 0.0;
}

std::vector<std::vector<double>> correlations(const std::vector<std::vector<double>>& columns) {
  std::vector<std::vector<double>> out(columns.size(), std::vector<double>(columns.size(), 1));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) out[i][j] = out[j][i] = correlation(columns[i], columns[j]);
  }
  return out;
}

std::optional<CorrelationDetail> correlations(const EncodedRows& before, const EncodedRows& after,
                                              const Encoding& encoding) {
  CorrelationDetail out;
  std::vector<std::vector<double>> first;
  std::vector<std::vector<double>> second;
  for (const std::int32_t index : after.which) {
    const ColumnEncoding& column = encoding.columns[static_cast<std::size_t>(index)];
    auto a = number_of(before.columns[before.position_of(index)], column);
    auto b = number_of(after.columns[after.position_of(index)], column);
    if (!a || !b) continue;
    out.names.push_back(column.name);
    first.push_back(std::move(*a));
    second.push_back(std::move(*b));
  }
  if (out.names.size() < 2) return std::nullopt;
  out.before = correlations(first);
  out.after = correlations(second);
  return out;
}

std::vector<ColumnDetail> columns_of(const EncodedRows& before, const EncodedRows& after,
                                     const MeasuredRelease& measured, const Encoding& encoding) {
  std::vector<ColumnDetail> out;
  for (const ColumnChange& change : measured.change.columns) {
    const std::int32_t index = encoding.index_of(change.name);
    const ColumnEncoding& column = encoding.columns[static_cast<std::size_t>(index)];
    const EncodedColumn& a = before.columns[before.position_of(index)];
    const EncodedColumn& b = after.columns[after.position_of(index)];
    ColumnDetail detail;
    detail.name = change.name;
    detail.distortion = column.numeric() ? change.rms_error : change.changed;
    detail.distortion_meaning =
        column.numeric() ? "standard deviations (root mean squared error)" : "fraction of cells changed";
    if (column.numeric()) {
      detail.histogram = histograms(a, b, column);
    } else {
      detail.categories = CategoryPair{column.levels, shares(a.code, column.levels.size()),
                                       shares(b.code, column.levels.size())};
    }
    out.push_back(std::move(detail));
  }
  return out;
}

std::vector<std::vector<std::string>> text_rows(const EncodedRows& rows, const Encoder& encoder,
                                                std::size_t count) {
  std::vector<std::vector<std::string>> out;
  for (std::size_t r = 0; r < std::min(count, static_cast<std::size_t>(rows.rows)); ++r) {
    auto& cells = out.emplace_back();
    for (std::size_t i = 0; i < rows.columns.size(); ++i) {
      const EncodedColumn& column = rows.columns[i];
      encoder.append_cell(rows.which[i], column.value.empty() ? 0 : column.value[r], column.code[r],
                          cells.emplace_back());
    }
  }
  return out;
}

// Columns `which` of `rows`, in this order.
EncodedRows with_columns(const EncodedRows& rows, const std::vector<std::int32_t>& which) {
  EncodedRows out;
  out.rows = rows.rows;
  out.which = which;
  for (const std::int32_t index : which) out.columns.push_back(rows.columns[rows.position_of(index)]);
  return out;
}

// Columns of curve.csv beyond those that every curve has.
std::vector<std::string> more_columns() {
  namespace column = curve_column;
  std::vector<std::string> out;
  for (const std::string_view name : {column::kPoint,
                                      column::kLeakageLow,
                                      column::kLeakageHigh,
                                      column::kLeakageKind,
                                      column::kLeakageMethod,
                                      column::kUpperEnd,
                                      column::kPower,
                                      column::kForecast,
                                      column::kForecastLow,
                                      column::kForecastHigh,
                                      column::kInconclusive,
                                      column::kUpperBound,
                                      kUpperLow,
                                      curve_column::kUpperBoundHigh,
                                      kUpperMethod,
                                      std::string_view("changed"),
                                      column::kTrainingDistortion,
                                      column::kTrainingBelief,
                                      std::string_view("training_leakage"),
                                      std::string_view("dominated"),
                                      column::kStop,
                                      column::kSeed,
                                      column::kSeconds,
                                      std::string_view("model"),
                                      kAuditColumn,
                                      std::string_view("label"),
                                      kUpperAnyDistribution,
                                      column::kTaskMetric,
                                      column::kTaskScore,
                                      column::kTaskLow,
                                      column::kTaskHigh,
                                      column::kTaskReleased,
                                      column::kTaskLoss,
                                      column::kTasks,
                                      std::string_view("associations"),
                                      std::string_view("spikes"),
                                      std::string_view("copied"),
                                      std::string_view("copied_original")})
    out.emplace_back(name);
  return out;
}

std::string made_by_curve(const AuditReport& report) {
  return fmt::format("by the attackers of 'ppan audit{}', on {} rows that the mechanism was not trained on",
                     report.quick ? " --quick" : "", report.rows);
}

}  // namespace

void add_surrogate_slack(MeasuredRelease& measured, double slack) {
  if (measured.upper) measured.upper = with_surrogate_slack(*measured.upper, slack);
  add_surrogate_slack(measured.audit, slack);
}

void add_surrogate_slack(TableCurveResult& result, double slack) {
  for (TablePoint& point : result.points) add_surrogate_slack(point.measured, slack);
  for (std::vector<MeasuredRelease>* list : {&result.references, &result.hull}) {
    for (MeasuredRelease& measured : *list) add_surrogate_slack(measured, slack);
  }
  if (result.unchanged) add_surrogate_slack(*result.unchanged, slack);
  if (result.constant) add_surrogate_slack(*result.constant, slack);
  if (result.independent) add_surrogate_slack(*result.independent, slack);
  for (RedrawnRelease& release : result.redrawn) add_surrogate_slack(release.measured, slack);
}

TableCurveResult finish_table(TableCurveResult result, const JobFile& job) {
  add_surrogate_slack(result, job.table.surrogate_slack);
  for (std::string& text : grouped_columns(result)) result.warnings.push_back(std::move(text));
  return result;
}

ReleaseModel point_model(const TablePoint& point, const CurveRun& run) {
  ReleaseModel out = model_of(*point.model, point.measured, run);
  out.origin.label = fmt::format("point {}", point.number);
  out.origin.budget = point.budget;
  record_training(point.training, out.origin);
  out.origin.training_rows = point.training.records;
  return out;
}

ReleaseModel end_model(const TableModel& model, const MeasuredRelease& measured, const CurveRun& run) {
  ReleaseModel out = model_of(model, measured, run);
  out.origin.label = model.components().front().label;
  return out;
}

AlphaPrior hidden_prior(const Table& table, const Schema& schema, double alpha) {
  double entropy = 0;
  std::vector<const Symbols*> codes;
  for (const std::string& name : schema.hidden_columns()) {
    const TableColumn& column = table.at(name);
    if (is_numeric(column.type)) {
      entropy += 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);
    } else {
      codes.push_back(&column.code);
    }
  }
  std::map<std::vector<std::int32_t>, std::int64_t> counts;
  std::vector<std::int32_t> key(codes.size());
  for (std::size_t r = 0; r < static_cast<std::size_t>(table.rows); ++r) {
    for (std::size_t i = 0; i < codes.size(); ++i) key[i] = (*codes[i])[r];
    ++counts[key];
  }
  std::vector<double> shares;
  for (const auto& entry : counts)
    shares.push_back(static_cast<double>(entry.second) / static_cast<double>(table.rows));
  return alpha_prior(shares, alpha, entropy);
}

MetricsLine metrics_of(int point, const EpochReport& epoch, const AlphaPrior& prior) {
  MetricsLine line = make_metrics_line(kSeries, point, epoch, prior.information(epoch.mean.log_likelihood));
  line.multiplier = epoch.multiplier;
  return line;
}

std::string metrics_of(const TableCurveResult& result, const AlphaPrior& prior) {
  std::string out;
  for (const TablePoint& point : result.points) {
    for (const EpochReport& epoch : point.training.epochs)
      out += to_json_line(metrics_of(point.number, epoch, prior));
  }
  return out;
}

CurveTable curve_of(const TableCurveResult& result) {
  namespace column = curve_column;
  CurveTable out;
  out.more_columns = more_columns();
  const auto set_loss = [&](const std::vector<TaskScore>& scores, CurveRow& row) {
    if (result.unchanged) set_task_loss(result.unchanged->task, scores, row);
  };
  for (const TablePoint& point : result.points) {
    CurveRow row = row_of(point.measured);
    row.series = kSeries;
    row.budget = point.budget;
    row.set(column::kPoint, std::to_string(point.number));
    row.set(column::kTrainingDistortion, point.training_distortion);
    row.set(column::kTrainingBelief, point.training_belief);
    row.optimum = point.optimum;
    row.excess = point.excess;
    row.set("training_leakage", point.training_leakage.nats);
    row.set("dominated", point.dominated ? "yes" : "no");
    record_training(point.training, row);
    row.set(column::kSeed, std::to_string(result.given.seed));
    row.set(column::kSeconds, point.seconds);
    row.set("model", model_name(point.number));
    row.set("label", fmt::format("point {}", point.number));
    set_loss(point.measured.task, row);
    row.set(kAuditColumn, audit_text(point.measured.audit));
    out.rows.push_back(std::move(row));
  }
  const auto add = [&](const MeasuredRelease& measured, std::string_view model) -> CurveRow& {
    CurveRow row = row_of(measured);
    set_loss(measured.task, row);
    if (!model.empty()) {
      row.set("model", model);
      row.set(kAuditColumn, audit_text(measured.audit));
    }
    return out.rows.emplace_back(std::move(row));
  };
  for (std::size_t i = 0; i < result.redrawn.size(); ++i)
    add(result.redrawn[i].measured, redrawn_name(static_cast<int>(i) + 1))
        .set("dominated", result.redrawn[i].dominated ? "yes" : "no");
  if (result.unchanged) add(*result.unchanged, kUnchangedModel);
  if (result.constant) add(*result.constant, kConstantModel);
  if (result.independent) add(*result.independent, kIndependentModel);
  for (const MeasuredRelease& reference : result.references) add(reference, "");
  for (const MeasuredRelease& vertex : result.hull) add(vertex, "");
  return out;
}

RunSummary make_run_summary(const TableCurveResult& result, const CurveRun& run) {
  const std::string source = short_name(parse_address(run.job.table.source));
  RunSummary out = start_run_summary(run, source);
  out.description = fmt::format(
      "Release mechanisms for {}, each trained to reveal as little as possible at its distortion, and "
      "attacked "
      "afterwards on rows it never saw.",
      source);
  if (result.given.training.alpha != 1) {
    out.description += fmt::format(
        " The adversary of the training minimised the alpha-loss of order {}, so the mechanisms hide the "
        "alpha-leakage of that order; the leakage shown is mutual information, as the attackers find it.",
        result.given.training.alpha);
  }
  out.hidden = hidden_text(result.schema);
  out.observed = list(result.schema.observed_columns());
  out.useful = list(result.schema.useful);
  out.distortion_name = "distortion";
  out.distortion_unit = "fraction of cells changed, variances of numbers";
  if (!result.points.empty()) out.leakage_ceiling = result.points.front().measured.audit.entropy();
  out.seed = result.given.seed;
  out.facts = {{"rows", std::to_string(result.rows)},
               {"training rows", std::to_string(result.split.train.size())},
               {"validation rows", std::to_string(result.split.validation.size())},
               {"held-out rows", std::to_string(result.split.test.size())},
               {"mechanism", result.mechanism},
               {"distortion of the constant release", shortest(result.most_distortion)}};
  if (!run.data_fingerprint.empty()) out.facts.emplace_back("fingerprint of the table", run.data_fingerprint);
  out.status = result.interrupted ? RunStatus::kInterrupted : RunStatus::kComplete;
  for (const TablePoint& point : result.points) {
    PointSummary summary;
    summary.series = kSeries;
    summary.number = point.number;
    summary.budget = point.budget;
    summary.distortion = point.measured.change.distortion;
    record_training(point.training, summary);
    summary.seconds = point.seconds;
    summary.leakage = point.measured.audit.leakage();
    if (point.measured.upper) summary.estimates.push_back({"upper bound", *point.measured.upper});
    summary.estimates.push_back({"on the training rows", point.training_leakage});
    summary.training_belief = point.training_belief;
    summary.model = model_name(point.number);
    summary.warnings = point.warnings;
    if (point.dominated) summary.warnings.emplace_back(kDominatedWarning);
    out.points.push_back(std::move(summary));
  }
  for (int number = 1; number <= result.planned; ++number) {
    const auto there = [&](const TablePoint& point) { return point.number == number; };
    if (std::none_of(result.points.begin(), result.points.end(), there))
      out.missing.push_back(
          {kSeries, number, std::nullopt, result.interrupted ? "interrupted" : "not finished"});
  }
  out.warnings = group_warnings(result.warnings);
  for (const std::string& notice : result.notices) out.warnings.push_back(notice);
  out.claimed = claims::of_rows();
  out.not_claimed = claims::not_of_rows();
  return out;
}

RunDetails details_of(const TableCurveResult& result, const Table& table, const CurveRun& run) {
  const Encoder encoder(result.encoding, run.job.table.csv.decimal);
  std::vector<std::int32_t> all(result.encoding.columns.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  EncodedRows encoded;
  encoder.encode(table, all, UnknownRow::kNearest, encoded);
  const EncodedRows test = take_rows(encoded, result.split.test);

  RunDetails out;
  const auto add = [&](const std::string& series, int number, const TableModel& model,
                       const MeasuredRelease& measured) {
    PointDetails details;
    details.series = series;
    details.number = number;
    SeededRandom random = SeededRandom(result.given.seed).fork("details", static_cast<std::uint64_t>(number));
    EncodedRows released;
    TableReleaser(model).release(test, random, released);
    details.columns = columns_of(test, released, measured, result.encoding);
    details.correlation = correlations(test, released, result.encoding);
    details.audits = audit_details(measured.audit, made_by_curve(measured.audit));
    if (run.job.show_examples) {
      ExampleTable examples;
      for (const std::int32_t column : released.which)
        examples.columns.push_back(result.encoding.columns[static_cast<std::size_t>(column)].name);
      const auto count = static_cast<std::size_t>(run.job.table.examples);
      examples.released = text_rows(released, encoder, count);
      examples.original = text_rows(with_columns(test, released.which), encoder, count);
      details.examples = std::move(examples);
    }
    out.points.push_back(std::move(details));
  };
  for (const TablePoint& point : result.points) add(kSeries, point.number, *point.model, point.measured);
  return out;
}

std::vector<std::string> grouped_columns(const TableCurveResult& result) {
  constexpr double kNoticeable = 0.1;
  std::vector<std::string> out;
  for (const ColumnEncoding& column : result.encoding.columns) {
    if (!column.other_level) continue;
    const auto other = static_cast<std::size_t>(*column.other_level);
    if (column.share[other] < kNoticeable) continue;
    out.push_back(
        fmt::format("column '{}': {:.3g} % of the rows have one of many levels that are grouped as \"{}\"",
                    column.name, 100 * column.share[other], column.levels[other]));
  }
  return out;
}

std::filesystem::path write_table_run(const std::filesystem::path& directory, const TableCurveResult& result,
                                      const Table& table, const CurveRun& run) {
  for (const TablePoint& point : result.points)
    save_model(directory / model_name(point.number), point_model(point, run));
  for (std::size_t i = 0; i < result.redrawn.size(); ++i)
    save_model(directory / redrawn_name(static_cast<int>(i) + 1),
               end_model(result.redrawn[i].model.value(), result.redrawn[i].measured, run));
  if (result.unchanged)
    save_model(directory / kUnchangedModel,
               end_model(unchanged_model(result.schema, result.encoding), *result.unchanged, run));
  if (result.constant)
    save_model(directory / kConstantModel, end_model(result.constant_model.value(), *result.constant, run));
  if (result.independent)
    save_model(directory / kIndependentModel,
               end_model(result.independent_model.value(), *result.independent, run));
  // In the order of the points, whatever the order in which they were trained.
  write_file(directory / "metrics.jsonl",
             metrics_of(result, hidden_prior(table, result.schema, result.given.training.alpha)));
  write_file(directory / "columns.json", to_json(details_of(result, table, run)));
  write_file(directory / "summary.json", to_json(make_run_summary(result, run)));
  write_file(directory / "curve.csv", to_csv(curve_of(result)));
  return write_report(directory);
}

}  // namespace ppan
