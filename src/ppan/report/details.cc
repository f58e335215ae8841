#include "ppan/report/details.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "ppan/core/error.h"
#include "ppan/report/json_fields.h"

namespace ppan {
namespace {

using json_fields::Json;
using json_fields::list;
using json_fields::put;
using json_fields::take;

void put_rate(Json& j, const char* key, const std::optional<SuccessRate>& rate) {
  if (!rate) return;
  Json r;
  r["value"] = rate->value;
  if (rate->interval95) {
    r["low"] = rate->interval95->low;
    r["high"] = rate->interval95->high;
  }
  j[key] = std::move(r);
}

void take_rate(const Json& j, const char* key, std::optional<SuccessRate>& rate) {
  if (!j.contains(key)) return;
  const Json& r = j.at(key);
  rate = SuccessRate{.value = r.at("value").get<double>()};
  if (r.contains("low") && r.contains("high")) {
    rate->interval95 = Interval{r.at("low").get<double>(), r.at("high").get<double>()};
  }
}

[[noreturn]] void sizes_differ(const std::string& what) {
  throw Error(ErrorCode::kBadInput, what + ": sizes do not agree",
              "the file was altered; make the run again");
}

Json to_json(const ColumnDetail& column) {
  Json j;
  j["name"] = column.name;
  put(j, "distortion", column.distortion);
  if (!column.distortion_meaning.empty()) j["distortion_meaning"] = column.distortion_meaning;
  if (column.histogram) {
    const auto& [edges, before, after] = *column.histogram;
    j["histogram"] = {{"edges", edges}, {"before", before}, {"after", after}};
  }
  if (column.categories) {
    const auto& [levels, before, after] = *column.categories;
    j["categories"] = {{"levels", levels}, {"before", before}, {"after", after}};
  }
  return j;
}

ColumnDetail column_from(const Json& j) {
  ColumnDetail column;
  take(j, "name", column.name);
  take(j, "distortion", column.distortion);
  take(j, "distortion_meaning", column.distortion_meaning);
  if (j.contains("histogram")) {
    HistogramPair& pair = column.histogram.emplace();
    take(j.at("histogram"), "edges", pair.edges);
    take(j.at("histogram"), "before", pair.before);
    take(j.at("histogram"), "after", pair.after);
    if (pair.edges.size() != pair.before.size() + 1 || pair.after.size() != pair.before.size()) {
      sizes_differ("histogram of column \"" + column.name + "\"");
    }
  }
  if (j.contains("categories")) {
    CategoryPair& pair = column.categories.emplace();
    take(j.at("categories"), "levels", pair.levels);
    take(j.at("categories"), "before", pair.before);
    take(j.at("categories"), "after", pair.after);
    if (pair.levels.size() != pair.before.size() || pair.after.size() != pair.before.size()) {
      sizes_differ("categories of column \"" + column.name + "\"");
    }
  }
  return column;
}

Json to_json(const AttackerDetail& attacker) {
  Json j;
  j["name"] = attacker.name;
  j["leakage"] = json_fields::to_json(attacker.leakage);
  put_rate(j, "accuracy", attacker.accuracy);
  put_rate(j, "balanced_accuracy", attacker.balanced_accuracy);
  put_rate(j, "auc", attacker.auc);
  if (attacker.won) j["won"] = true;
  for (const LearningStep& step : attacker.learning_curve) {
    Json point{{"rows", step.rows}, {"nats", step.nats}};
    if (step.interval95) {
      point["low"] = step.interval95->low;
      point["high"] = step.interval95->high;
    }
    j["learning_curve"].push_back(std::move(point));
  }
  return j;
}

AttackerDetail attacker_from(const Json& j) {
  AttackerDetail attacker;
  take(j, "name", attacker.name);
  attacker.leakage = json_fields::estimate_from_json(j.at("leakage"));
  take_rate(j, "accuracy", attacker.accuracy);
  take_rate(j, "balanced_accuracy", attacker.balanced_accuracy);
  take_rate(j, "auc", attacker.auc);
  take(j, "won", attacker.won);
  for (const Json& point : list(j, "learning_curve")) {
    LearningStep& to = attacker.learning_curve.emplace_back();
    take(point, "rows", to.rows);
    take(point, "nats", to.nats);
    if (point.contains("low"))
      to.interval95 = Interval{point.at("low").get<double>(), point.at("high").get<double>()};
  }
  return attacker;
}

Json to_json(const GroupDetail& group) {
  Json j;
  j["name"] = group.name;
  j["rows"] = group.rows;
  put(j, "leakage", group.leakage);
  put_rate(j, "accuracy", group.accuracy);
  put(j, "prior", group.prior);
  return j;
}

GroupDetail group_from(const Json& j) {
  GroupDetail group;
  take(j, "name", group.name);
  take(j, "rows", group.rows);
  take(j, "leakage", group.leakage);
  take_rate(j, "accuracy", group.accuracy);
  take(j, "prior", group.prior);
  return group;
}

Json to_json(const AuditDetail& audit) {
  Json j;
  j["target"] = audit.target;
  put(j, "leakage", audit.leakage);
  put(j, "upper_bound", audit.upper_bound);
  put_rate(j, "accuracy", audit.accuracy);
  put(j, "prior_accuracy", audit.prior_accuracy);
  if (audit.inconclusive) j["inconclusive"] = true;
  if (!audit.note.empty()) j["note"] = audit.note;
  for (const auto& attacker : audit.attackers) j["attackers"].push_back(to_json(attacker));
  for (const MeasureDetail& measure : audit.measures) {
    Json one{{"title", measure.title}, {"unit", measure.unit}};
    put(one, "estimate", std::optional(measure.estimate));
    j["measures"].push_back(std::move(one));
  }
  for (const auto& group : audit.classes) j["classes"].push_back(to_json(group));
  for (const auto& group : audit.groups) j["groups"].push_back(to_json(group));
  return j;
}

AuditDetail audit_from(const Json& j) {
  AuditDetail audit;
  take(j, "target", audit.target);
  take(j, "leakage", audit.leakage);
  take(j, "upper_bound", audit.upper_bound);
  take_rate(j, "accuracy", audit.accuracy);
  take(j, "prior_accuracy", audit.prior_accuracy);
  take(j, "inconclusive", audit.inconclusive);
  take(j, "note", audit.note);
  for (const Json& item : list(j, "attackers")) audit.attackers.push_back(attacker_from(item));
  for (const Json& item : list(j, "measures")) {
    MeasureDetail measure;
    std::optional<Estimate> estimate;
    take(item, "title", measure.title);
    take(item, "unit", measure.unit);
    take(item, "estimate", estimate);
    if (estimate) measure.estimate = *estimate;
    audit.measures.push_back(std::move(measure));
  }
  for (const Json& item : list(j, "classes")) audit.classes.push_back(group_from(item));
  for (const Json& item : list(j, "groups")) audit.groups.push_back(group_from(item));
  return audit;
}

Json to_json(const ImageDetail& image) {
  return {{"title", image.title}, {"file", image.file}, {"description", image.description}};
}

ImageDetail image_from(const Json& j) {
  ImageDetail image;
  take(j, "title", image.title);
  take(j, "file", image.file);
  take(j, "description", image.description);
  return image;
}

CorrelationDetail correlation_from(const Json& j) {
  CorrelationDetail detail;
  take(j, "names", detail.names);
  take(j, "before", detail.before);
  take(j, "after", detail.after);
  const std::size_t size = detail.names.size();
  for (const auto* matrix : {&detail.before, &detail.after}) {
    const bool square =
        matrix->size() == size &&
        std::all_of(matrix->begin(), matrix->end(), [&](const auto& row) { return row.size() == size; });
    if (!square) sizes_differ("correlation matrices");
  }
  return detail;
}

ExampleTable examples_from(const Json& j) {
  ExampleTable table;
  take(j, "columns", table.columns);
  take(j, "released", table.released);
  take(j, "original", table.original);
  const auto fits = [&](const auto& row) { return row.size() == table.columns.size(); };
  const bool rows_agree = table.original.empty() || table.original.size() == table.released.size();
  if (!rows_agree || !std::all_of(table.released.begin(), table.released.end(), fits) ||
      !std::all_of(table.original.begin(), table.original.end(), fits)) {
    sizes_differ("example records");
  }
  return table;
}

Json to_json(const PointDetails& point) {
  Json j;
  j["series"] = point.series;
  j["number"] = point.number;
  for (const auto& audit : point.audits) j["audits"].push_back(to_json(audit));
  for (const auto& column : point.columns) j["columns"].push_back(to_json(column));
  if (point.correlation) {
    const auto& [names, before, after] = *point.correlation;
    j["correlation"] = {{"names", names}, {"before", before}, {"after", after}};
  }
  if (point.examples) {
    const auto& [columns, released, original] = *point.examples;
    j["examples"] = {{"columns", columns}, {"released", released}, {"original", original}};
  }
  for (const auto& image : point.images) j["images"].push_back(to_json(image));
  return j;
}

PointDetails point_from(const Json& j) {
  PointDetails point;
  take(j, "series", point.series);
  take(j, "number", point.number);
  for (const Json& item : list(j, "audits")) point.audits.push_back(audit_from(item));
  for (const Json& item : list(j, "columns")) point.columns.push_back(column_from(item));
  if (j.contains("correlation")) point.correlation = correlation_from(j.at("correlation"));
  if (j.contains("examples")) point.examples = examples_from(j.at("examples"));
  for (const Json& item : list(j, "images")) point.images.push_back(image_from(item));
  return point;
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>&& more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::string to_json(const RunDetails& details) {
  Json j;
  j["points"] = Json::array();
  for (const PointDetails& point : details.points) j["points"].push_back(to_json(point));
  for (const ImageDetail& image : details.images) j["images"].push_back(to_json(image));
  return json_fields::dump(j, 1) + "\n";
}

RunDetails run_details_from_json(const std::string& text, const std::string& name) {
  return json_fields::reading(name, [&] {
    const Json j = Json::parse(text);
    RunDetails details;
    for (const Json& item : list(j, "points")) details.points.push_back(point_from(item));
    for (const Json& item : list(j, "images")) details.images.push_back(image_from(item));
    return details;
  });
}

void merge(RunDetails& details, RunDetails more) {
  for (PointDetails& point : more.points) {
    const auto same = [&](const PointDetails& other) {
      return other.series == point.series && other.number == point.number;
    };
    const auto found = std::find_if(details.points.begin(), details.points.end(), same);
    if (found == details.points.end()) {
      details.points.push_back(std::move(point));
      continue;
    }
    append(found->audits, std::move(point.audits));
    append(found->columns, std::move(point.columns));
    append(found->images, std::move(point.images));
    if (point.correlation) found->correlation = std::move(point.correlation);
    if (point.examples) found->examples = std::move(point.examples);
  }
  append(details.images, std::move(more.images));
}

}  // namespace ppan
