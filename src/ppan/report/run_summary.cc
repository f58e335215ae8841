#include "ppan/report/run_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ppan/core/error.h"
#include "ppan/report/json_fields.h"

namespace ppan {
namespace {

using json_fields::Json;
using json_fields::put;
using json_fields::take;

constexpr int kFormat = 1;

Json point_to_json(const PointSummary& point) {
  Json j;
  j["series"] = point.series;
  j["number"] = point.number;
  put(j, "budget", point.budget);
  put(j, "weight", point.weight);
  put(j, "distortion", point.distortion);
  j["stop"] = point.stop;
  j["message"] = point.message;
  j["epochs"] = point.epochs;
  j["iterations"] = point.iterations;
  j["seconds"] = point.seconds;
  put(j, "leakage", point.leakage);
  if (!point.estimates.empty()) {
    for (const auto& [name, estimate] : point.estimates) {
      Json e;
      e["name"] = name;
      e.update(json_fields::to_json(estimate));
      j["estimates"].push_back(std::move(e));
    }
  }
  put(j, "training_belief", point.training_belief);
  if (!point.model.empty()) j["model"] = point.model;
  if (!point.warnings.empty()) j["warnings"] = point.warnings;
  return j;
}

PointSummary point_from_json(const Json& j) {
  PointSummary point;
  take(j, "series", point.series);
  take(j, "number", point.number);
  take(j, "budget", point.budget);
  take(j, "weight", point.weight);
  take(j, "distortion", point.distortion);
  take(j, "stop", point.stop);
  take(j, "message", point.message);
  take(j, "epochs", point.epochs);
  take(j, "iterations", point.iterations);
  take(j, "seconds", point.seconds);
  take(j, "leakage", point.leakage);
  for (const Json& e : json_fields::list(j, "estimates")) {
    NamedEstimate named;
    take(e, "name", named.name);
    named.estimate = json_fields::estimate_from_json(e);
    point.estimates.push_back(std::move(named));
  }
  take(j, "training_belief", point.training_belief);
  take(j, "model", point.model);
  take(j, "warnings", point.warnings);
  return point;
}

Json settings_to_json(const std::vector<RunSetting>& settings) {
  Json list = Json::array();
  for (const RunSetting& setting : settings) {
    Json j;
    j["name"] = setting.name;
    put(j, "given", setting.given);
    j["used"] = setting.used;
    list.push_back(std::move(j));
  }
  return list;
}

Json missing_to_json(const std::vector<MissingPoint>& missing) {
  Json list = Json::array();
  for (const MissingPoint& point : missing) {
    Json j;
    j["series"] = point.series;
    j["number"] = point.number;
    put(j, "budget", point.budget);
    j["reason"] = point.reason;
    list.push_back(std::move(j));
  }
  return list;
}

MetricsLine metrics_from(const Json& j) {
  MetricsLine line;
  take(j, "series", line.series);
  take(j, "number", line.number);
  take(j, "epoch", line.epoch);
  take(j, "distortion", line.distortion);
  take(j, "leakage", line.leakage);
  take(j, "loss", line.loss);
  take(j, "penalty", line.penalty);
  take(j, "multiplier", line.multiplier);
  take(j, "discriminator", line.discriminator);
  return line;
}

}  // namespace

std::string_view to_string(RunStatus status) {
  return status == RunStatus::kComplete ? "complete" : "interrupted";
}

std::string to_json(const RunSummary& s) {
  Json j;
  j["format"] = kFormat;
  j["program"] = s.program;
  j["version"] = s.version;
  j["command"] = s.command;
  j["name"] = s.name;
  j["description"] = s.description;
  j["hidden"] = s.hidden;
  j["observed"] = s.observed;
  j["useful"] = s.useful;
  j["distortion_name"] = s.distortion_name;
  j["distortion_unit"] = s.distortion_unit;
  put(j, "leakage_ceiling", s.leakage_ceiling);
  j["status"] = to_string(s.status);
  j["seed"] = s.seed;
  j["seconds"] = s.seconds;
  j["settings"] = settings_to_json(s.settings);
  j["facts"] = Json::array();
  for (const auto& [name, value] : s.facts) j["facts"].push_back({{"name", name}, {"value", value}});
  if (!s.job_file.empty()) j["job_file"] = s.job_file;
  j["warnings"] = s.warnings;
  j["claimed"] = s.claimed;
  j["not_claimed"] = s.not_claimed;
  j["missing"] = missing_to_json(s.missing);
  j["points"] = Json::array();
  for (const PointSummary& point : s.points) j["points"].push_back(point_to_json(point));
  return json_fields::dump(j, 2) + "\n";
}

RunSummary run_summary_from_json(const std::string& text, const std::string& name) {
  return json_fields::reading(name, [&] {
    const Json j = Json::parse(text);
    int format = 0;
    take(j, "format", format);
    if (format != kFormat) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{} has format {}, this program reads {}", name, format, kFormat),
                  format > kFormat ? "use the program that made it, or a newer one" : "make the run again");
    }
    RunSummary s;
    take(j, "program", s.program);
    take(j, "version", s.version);
    take(j, "command", s.command);
    take(j, "name", s.name);
    take(j, "description", s.description);
    take(j, "hidden", s.hidden);
    take(j, "observed", s.observed);
    take(j, "useful", s.useful);
    take(j, "distortion_name", s.distortion_name);
    take(j, "distortion_unit", s.distortion_unit);
    take(j, "leakage_ceiling", s.leakage_ceiling);
    std::string status;
    take(j, "status", status);
    s.status = status == to_string(RunStatus::kInterrupted) ? RunStatus::kInterrupted : RunStatus::kComplete;
    take(j, "seed", s.seed);
    take(j, "seconds", s.seconds);
    for (const Json& item : json_fields::list(j, "settings")) {
      RunSetting setting;
      take(item, "name", setting.name);
      take(item, "given", setting.given);
      take(item, "used", setting.used);
      s.settings.push_back(std::move(setting));
    }
    for (const Json& item : json_fields::list(j, "facts")) {
      auto& [fact, value] = s.facts.emplace_back();
      take(item, "name", fact);
      take(item, "value", value);
    }
    take(j, "job_file", s.job_file);
    take(j, "warnings", s.warnings);
    take(j, "claimed", s.claimed);
    take(j, "not_claimed", s.not_claimed);
    for (const Json& item : json_fields::list(j, "missing")) {
      MissingPoint point;
      take(item, "series", point.series);
      take(item, "number", point.number);
      take(item, "budget", point.budget);
      take(item, "reason", point.reason);
      s.missing.push_back(std::move(point));
    }
    for (const Json& item : json_fields::list(j, "points")) s.points.push_back(point_from_json(item));
    return s;
  });
}

std::string to_json_line(const MetricsLine& line) {
  Json j;
  j["series"] = line.series;
  j["number"] = line.number;
  j["epoch"] = line.epoch;
  put(j, "distortion", line.distortion);
  put(j, "leakage", line.leakage);
  put(j, "loss", line.loss);
  put(j, "penalty", line.penalty);
  put(j, "multiplier", line.multiplier);
  put(j, "discriminator", line.discriminator);
  return json_fields::dump(j, -1) + "\n";
}

std::vector<MetricsLine> metrics_from_jsonl(const std::string& text, const std::string& name) {
  std::vector<MetricsLine> lines;
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty()) continue;
    // Only a line without its line end can have been cut off.
    if (end == text.size() && !Json::accept(line)) break;
    lines.push_back(json_fields::reading(fmt::format("{} line {}", name, number),
                                         [&] { return metrics_from(Json::parse(line)); }));
  }
  return lines;
}

}  // namespace ppan
