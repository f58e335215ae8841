#include "ppan/model/model_origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ppan/core/error.h"

namespace ppan {
namespace {

using nlohmann::json;

template <typename Value>
void put(json& to, const char* key, const std::optional<Value>& value) {
  if (value) to[key] = *value;
}

template <typename Value>
void take(const json& from, const char* key, std::optional<Value>& value) {
  if (from.contains(key)) value = from.at(key).get<Value>();
}

constexpr std::array kBounds{Bound::kLower, Bound::kUpper, Bound::kExact, Bound::kEstimate};

Bound bound_of(const json& text) {
  const auto name = text.get<std::string>();
  for (const Bound each : kBounds) {
    if (to_string(each) == name) return each;
  }
  throw Error(ErrorCode::kBadInput, fmt::format("unknown word '{}'", name));
}

Estimate estimate_of(const json& from) {
  Estimate out{.nats = from.at("nats").get<double>(),
               .interval95 = std::nullopt,
               .bound = bound_of(from.at("kind")),
               .method = from.at("method").get<std::string>(),
               .samples = from.at("samples").get<std::int64_t>()};
  if (from.contains("low"))
    out.interval95 = Interval{from.at("low").get<double>(), from.at("high").get<double>()};
  return out;
}

json json_of(const ColumnChange& change) {
  json out{{"name", change.name},
           {"numeric", change.numeric},
           {"weight", change.weight},
           {"changed", change.changed},
           {"distortion", change.distortion}};
  if (change.numeric) out["rms_error"] = change.rms_error;
  return out;
}

ColumnChange change_of(const json& from) {
  return {.name = from.at("name").get<std::string>(),
          .numeric = from.at("numeric").get<bool>(),
          .weight = from.at("weight").get<double>(),
          .changed = from.at("changed").get<double>(),
          .distortion = from.at("distortion").get<double>(),
          .rms_error = from.value("rms_error", 0.0)};
}

std::optional<double> between(const std::optional<double>& a, const std::optional<double>& b, double weight) {
  if (!a || !b) return std::nullopt;
  return *a + (*b - *a) * weight;
}

// What was measured of the two parts says of their mixture.
std::optional<Estimate> between(const std::optional<Estimate>& a, const std::optional<Estimate>& b,
                                double weight) {
  if (!a || !b) return std::nullopt;
  Estimate out = *a;
  out.nats = *between(std::optional(a->nats), std::optional(b->nats), weight);
  out.bound = Bound::kEstimate;
  out.method = "on the line between the two parts, which the mixture does not exceed; " +
               (a->method == b->method ? "each part: " + a->method : a->method + "; " + b->method);
  out.samples = std::min(a->samples, b->samples);
  out.interval95.reset();
  if (a->interval95 && b->interval95) {
    out.interval95 = Interval{a->interval95->low + (b->interval95->low - a->interval95->low) * weight,
                              a->interval95->high + (b->interval95->high - a->interval95->high) * weight};
  }
  return out;
}

// How far the finding can be trusted.
std::string upper_end_text(double upper_end, const std::optional<double>& power, InformationUnit unit) {
  std::string out = fmt::format("upper end {:.4f} {}", from_nats(upper_end, unit), to_string(unit));
  if (power)
    out += fmt::format("; this audit finds {:.4f} and more with probability 0.9", from_nats(*power, unit));
  return out;
}

std::vector<ColumnChange> between(const std::vector<ColumnChange>& a, const std::vector<ColumnChange>& b,
                                  double weight) {
  if (a.size() != b.size()) return {};
  std::vector<ColumnChange> out = a;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (a[i].name != b[i].name) return {};
    out[i].changed += (b[i].changed - a[i].changed) * weight;
    out[i].distortion += (b[i].distortion - a[i].distortion) * weight;
    // Squared errors are what mixes.
    out[i].rms_error =
        std::sqrt(a[i].rms_error * a[i].rms_error * (1 - weight) + b[i].rms_error * b[i].rms_error * weight);
  }
  return out;
}

}  // namespace

json estimate_to_json(const Estimate& estimate) {
  json out{{"nats", estimate.nats},
           {"kind", to_string(estimate.bound)},
           {"method", estimate.method},
           {"samples", estimate.samples}};
  if (estimate.interval95) {
    out["low"] = estimate.interval95->low;
    out["high"] = estimate.interval95->high;
  }
  return out;
}

json to_json(const ModelOrigin& origin) {
  json out{{"program", origin.program},     {"title", origin.title},
           {"label", origin.label},         {"stop", origin.stop},
           {"epochs", origin.epochs},       {"iterations", origin.iterations},
           {"seed", origin.seed},           {"training_rows", origin.training_rows},
           {"test_rows", origin.test_rows}, {"settings", json::object()}};
  if (!origin.data_fingerprint.empty()) out["data_fingerprint"] = origin.data_fingerprint;
  put(out, "budget", origin.budget);
  put(out, "distortion", origin.distortion);
  put(out, "changed", origin.changed);
  if (origin.leakage) out["leakage"] = estimate_to_json(*origin.leakage);
  put(out, "upper_end", origin.upper_end);
  put(out, "power", origin.power);
  if (origin.inconclusive) out["inconclusive"] = true;
  out["columns"] = json::array();
  for (const ColumnChange& change : origin.columns) out["columns"].push_back(json_of(change));
  for (const auto& [key, value] : origin.settings) out["settings"][key] = value;
  if (!origin.task.empty()) out["task"] = origin.task;
  return out;
}

ModelOrigin origin_from_json(const json& from) {
  ModelOrigin out;
  out.program = from.at("program").get<std::string>();
  out.title = from.at("title").get<std::string>();
  out.label = from.at("label").get<std::string>();
  out.stop = from.at("stop").get<std::string>();
  if (from.contains("task")) out.task = from.at("task").get<std::string>();
  out.epochs = from.at("epochs").get<int>();
  out.iterations = from.at("iterations").get<std::int64_t>();
  out.seed = from.at("seed").get<std::uint64_t>();
  out.training_rows = from.at("training_rows").get<std::int64_t>();
  out.test_rows = from.at("test_rows").get<std::int64_t>();
  if (from.contains("data_fingerprint"))
    out.data_fingerprint = from.at("data_fingerprint").get<std::string>();
  take(from, "budget", out.budget);
  take(from, "distortion", out.distortion);
  take(from, "changed", out.changed);
  if (from.contains("leakage")) out.leakage = estimate_of(from.at("leakage"));
  take(from, "upper_end", out.upper_end);
  take(from, "power", out.power);
  out.inconclusive = from.value("inconclusive", false);
  for (const json& change : from.at("columns")) out.columns.push_back(change_of(change));
  for (const auto& [key, value] : from.at("settings").items())
    out.settings.emplace_back(key, value.get<std::string>());
  return out;
}

json to_json(const ModelAudit& audit) {
  json out{{"rows", audit.rows}, {"quick", audit.quick}};
  if (!audit.data_fingerprint.empty()) out["data_fingerprint"] = audit.data_fingerprint;
  out["attributes"] = json::array();
  for (const AuditFinding& finding : audit.attributes) {
    json one{{"name", finding.name}, {"leakage", estimate_to_json(finding.leakage)}};
    put(one, "accuracy", finding.accuracy);
    put(one, "prior_accuracy", finding.prior_accuracy);
    if (finding.upper) one["upper"] = estimate_to_json(*finding.upper);
    put(one, "upper_end", finding.upper_end);
    put(one, "power", finding.power);
    if (finding.forecast) one["forecast"] = estimate_to_json(*finding.forecast);
    if (finding.inconclusive) one["inconclusive"] = true;
    out["attributes"].push_back(std::move(one));
  }
  return out;
}

ModelAudit audit_from_json(const json& from) {
  ModelAudit out;
  out.rows = from.at("rows").get<std::int64_t>();
  out.quick = from.at("quick").get<bool>();
  if (from.contains("data_fingerprint"))
    out.data_fingerprint = from.at("data_fingerprint").get<std::string>();
  for (const json& one : from.at("attributes")) {
    AuditFinding finding;
    finding.name = one.at("name").get<std::string>();
    finding.leakage = estimate_of(one.at("leakage"));
    take(one, "accuracy", finding.accuracy);
    take(one, "prior_accuracy", finding.prior_accuracy);
    if (one.contains("upper")) finding.upper = estimate_of(one.at("upper"));
    take(one, "upper_end", finding.upper_end);
    take(one, "power", finding.power);
    if (one.contains("forecast")) finding.forecast = estimate_of(one.at("forecast"));
    finding.inconclusive = one.value("inconclusive", false);
    out.attributes.push_back(std::move(finding));
  }
  return out;
}

ModelOrigin mix_origins(const ModelOrigin& first, const ModelOrigin& second, double second_weight) {
  ModelOrigin out = first;
  out.label = fmt::format("mixture of {} ({:.4g} %) and {} ({:.4g} %)", first.label,
                          100 * (1 - second_weight), second.label, 100 * second_weight);
  out.budget = std::nullopt;
  out.distortion = between(first.distortion, second.distortion, second_weight);
  out.changed = between(first.changed, second.changed, second_weight);
  out.columns = between(first.columns, second.columns, second_weight);
  out.leakage = between(first.leakage, second.leakage, second_weight);
  out.upper_end = between(first.upper_end, second.upper_end, second_weight);
  if (first.power || second.power) out.power = std::max(first.power.value_or(0), second.power.value_or(0));
  out.inconclusive = first.inconclusive || second.inconclusive;
  out.epochs = std::max(first.epochs, second.epochs);
  out.iterations = std::max(first.iterations, second.iterations);
  out.training_rows = std::max(first.training_rows, second.training_rows);
  if (first.task != second.task) out.task.clear();  // of a mixture it was not measured
  if (first.stop.empty()) {
    out.stop = second.stop;  // of parts that were not trained there is nothing to tell
  } else if (!second.stop.empty() && first.stop != second.stop) {
    out.stop = fmt::format("{}; {}", first.stop, second.stop);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> origin_lines(const ModelOrigin& origin, std::string_view of,
                                                              InformationUnit unit) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (origin.leakage) {
    lines.emplace_back("leakage",
                       estimate_text(*origin.leakage, unit) +
                           (origin.inconclusive ? "; INCONCLUSIVE, more rows would find more" : ""));
    lines.emplace_back("", "  " + origin.leakage->method);
    if (origin.upper_end)
      lines.emplace_back("", "  " + upper_end_text(*origin.upper_end, origin.power, unit));
  }
  if (!origin.task.empty()) lines.emplace_back("recipient", origin.task);
  if (origin.epochs > 0) {
    lines.emplace_back(
        "training", fmt::format("{} epochs, {} steps, {} {}, seed {}; {}", origin.epochs, origin.iterations,
                                origin.training_rows, of, origin.seed, origin.stop));
  }
  lines.emplace_back("program", origin.program);
  lines.emplace_back("data", origin.data_fingerprint.empty() ? "" : "fingerprint " + origin.data_fingerprint);
  return lines;
}

std::vector<std::pair<std::string, std::string>> audit_lines(const std::optional<ModelAudit>& audit,
                                                             std::string_view of, InformationUnit unit) {
  if (!audit) return {{"audit", "UNAUDITED: 'ppan audit' attacks it with the whole suite"}};
  std::vector<std::pair<std::string, std::string>> lines{
      {"audit", fmt::format("{} {}{}", audit->rows, of, audit->quick ? ", quick" : "")}};
  for (const AuditFinding& finding : audit->attributes) {
    lines.emplace_back("",
                       fmt::format("  {:<24} {}{}", finding.name, estimate_text(finding.leakage, unit),
                                   finding.inconclusive ? "; INCONCLUSIVE, more rows would find more" : ""));
    if (finding.upper_end)
      lines.emplace_back(
          "", fmt::format("  {:<24} {}", "", upper_end_text(*finding.upper_end, finding.power, unit)));
    if (finding.forecast)
      lines.emplace_back("", fmt::format("  {:<24} with ten times the rows: {}", "",
                                         estimate_text(*finding.forecast, unit)));
    if (finding.upper) {
      lines.emplace_back("", fmt::format("  {:<24} {}", "", estimate_text(*finding.upper, unit)));
      lines.emplace_back("", fmt::format("  {:<24} {}", "", "  " + finding.upper->method));
    }
  }
  return lines;
}

std::string estimate_text(const Estimate& estimate, InformationUnit unit) {
  std::string out = fmt::format("{:.4f} {}", from_nats(estimate.nats, unit), to_string(unit));
  if (estimate.interval95) {
    out += fmt::format(" (95 % interval {:.4f} to {:.4f})", from_nats(estimate.interval95->low, unit),
                       from_nats(estimate.interval95->high, unit));
  }
  return out + fmt::format(", {}", to_string(estimate.bound));
}

}  // namespace ppan
