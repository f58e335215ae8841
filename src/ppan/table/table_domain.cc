#include "ppan/table/table_domain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/hull.h"
#include "ppan/model/model_parts.h"
#include "ppan/table/table_archive.h"
#include "ppan/table/table_optimum.h"
#include "ppan/table/table_references.h"

namespace ppan {
namespace {

constexpr const char* kPower = "power";
constexpr const char* kStart = "start";
constexpr const char* kUnchanged = "unchanged";
constexpr const char* kConstant = "constant";
constexpr const char* kIndependent = "independent";
constexpr std::string_view kTrain = "train";
constexpr std::string_view kAudit = "audit";
constexpr std::string_view kNoise = "noise";
constexpr std::string_view kDropped = "dropped";
constexpr const char* kPath = "path";  // of the columns that are redrawn
constexpr std::string_view kRedrawn = "redrawn";
constexpr std::string_view kMend = "mend";

std::string numbered(std::string_view kind, int number) {
  return fmt::format("{}-{:02}", kind, number);
}

// "train-03" as "train" and 3; 0 for a name without a number.
std::pair<std::string, int> parts_of(const std::string& name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string::npos) return {name, 0};
  int number = 0;
  std::from_chars(name.data() + dash + 1, name.data() + name.size(), number);
  return {name.substr(0, dash), number};
}

std::string bytes_of(const TrainedPoint& point) {
  const ModelParts parts = point.model->to_parts();
  ByteWriter writer;
  writer(point, parts.description.dump(), parts.tensors);
  return writer.take();
}

TrainedPoint trained_of(const std::string& bytes) {
  TrainedPoint out;
  std::string description;
  ModelParts parts;
  ByteReader reader(bytes);
  reader(out, description, parts.tensors);
  reader.finish();
  parts.description = nlohmann::json::parse(description);
  out.model = TableModel::from_parts(parts);
  return out;
}

// Unchanged with some probability, otherwise the constant: both numbers fall along a straight line.
MeasuredRelease time_sharing(const MeasuredRelease& unchanged, const MeasuredRelease& constant,
                             double distortion) {
  // Values on the grid of their columns may cost something unchanged.
  const double least = unchanged.change.distortion;
  const double most = constant.change.distortion;
  const double share = unchanged_share(distortion, least, most);
  const auto mean = [share](double as_it_is, double same) { return share * as_it_is + (1 - share) * same; };
  MeasuredRelease out{"reference/time-sharing", fmt::format("unchanged with probability {:.3f}", share)};
  out.budget = mean(least, most);
  out.change = constant.change;
  out.change.distortion = mean(least, most);
  out.change.changed = mean(unchanged.change.changed, constant.change.changed);
  for (std::size_t i = 0; i < out.change.columns.size(); ++i) {
    ColumnChange& column = out.change.columns[i];
    const ColumnChange& kept = unchanged.change.columns.at(i);
    column.changed = mean(kept.changed, column.changed);
    column.distortion = mean(kept.distortion, column.distortion);
    column.rms_error = std::sqrt(mean(kept.rms_error * kept.rms_error, column.rms_error * column.rms_error));
  }
  const auto scaled = [share](Estimate estimate) {
    estimate.nats *= share;
    if (estimate.interval95)
      estimate.interval95 = {estimate.interval95->low * share, estimate.interval95->high * share};
    estimate.method = "a share of the unchanged release's; " + estimate.method;
    return estimate;
  };
  for (const AttributeAudit& attribute : unchanged.audit.attributes) {
    AttributeAudit& to = out.audit.attributes.emplace_back();
    to.name = attribute.name;
    to.entropy = attribute.entropy;
    to.leakage = scaled(attribute.leakage);
    to.upper_end = share * attribute.upper_end;
    to.power = attribute.power;
  }
  if (const auto& joint = unchanged.audit.joint)
    out.audit.joint =
        JointAudit{joint->names, scaled(joint->leakage), joint->entropy, false, {}, share * joint->upper_end};
  return out;
}

void add_time_sharing(TableCurveResult& result) {
  if (!result.unchanged || !result.constant || result.constant->change.distortion <= 0) return;
  for (const TablePoint& point : result.points) {
    result.references.push_back(
        time_sharing(*result.unchanged, *result.constant, point.measured.change.distortion));
  }
}

// Where the table is small enough for the exact optimum: beside each point, and on a line of its own.
void add_optimum(const CurveRows& rows, TableCurveResult& result) {
  if (!result.schema.kept_columns().empty()) return;  // what is kept tells as well
  const auto exact = TableOptimum::fit(rows.train, result.schema, result.encoding);
  if (!exact) return;
  for (TablePoint& point : result.points) {
    const auto mechanism = exact->mechanism_of(*point.model);
    const double distortion = mechanism ? exact->distortion(*mechanism) : point.measured.change.distortion;
    const theory::ConvexSolution best = exact->at(distortion);
    point.optimum = best.leakage;
    point.excess =
        (mechanism ? exact->leakage(*mechanism) : point.measured.audit.leakage().nats) - best.leakage;
    MeasuredRelease out{"reference/optimum", "the least leakage of any mechanism, for the rows of the table"};
    out.budget = distortion;
    out.change.distortion = best.distortion;
    AttributeAudit& to = out.audit.attributes.emplace_back();
    to.name = point.measured.audit.attributes.front().name;
    to.entropy = point.measured.audit.entropy();
    to.leakage = {.nats = best.leakage,
                  .interval95 = std::nullopt,
                  .bound = Bound::kExact,
                  .method = fmt::format("exact for the empirical distribution of {} rows, within {:.1g} nats",
                                        rows.train.rows, std::max(best.gap(), 1e-12)),
                  .samples = rows.train.rows};
    to.upper_end = best.leakage;
    result.references.push_back(std::move(out));
  }
}

// What hull_points()[index] is.
const MeasuredRelease& measured_at(const TableCurveResult& result, std::size_t index) {
  if (result.unchanged) {
    if (index == 0) return *result.unchanged;
    --index;
  }
  if (index < result.points.size()) return result.points[index].measured;
  index -= result.points.size();
  return index < result.redrawn.size() ? result.redrawn[index].measured : result.end().value();
}

// Hull, dominated points, and the warnings of all points together.
void complete(TableCurveResult& result) {
  const std::vector<HullPoint> points = result.hull_points();
  const std::size_t before = result.unchanged ? 1 : 0;
  const auto dominated = [&](const MeasuredRelease& measured, std::size_t index) {
    std::vector<HullPoint> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(index));
    const Estimate& found = measured.audit.leakage();
    return is_dominated({measured.change.distortion, found.interval95 ? found.interval95->low : found.nats},
                        others);
  };
  for (std::size_t i = 0; i < result.redrawn.size(); ++i)
    result.redrawn[i].dominated = dominated(result.redrawn[i].measured, before + result.points.size() + i);
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    TablePoint& point = result.points[i];
    point.dominated = dominated(point.measured, before + i);
    if (result.unchanged) {
      for (const std::string& task : inflated_tasks(result.unchanged->task, point.measured.task)) {
        point.warnings.push_back(fmt::format("point {}: {}", point.number, inflated_text(task)));
      }
    }
    result.warnings.insert(result.warnings.end(), point.warnings.begin(), point.warnings.end());
  }
  for (const std::size_t index : lower_hull(points)) {
    MeasuredRelease vertex = measured_at(result, index);
    vertex.series = "ppan/hull";
    vertex.budget = vertex.change.distortion;
    result.hull.push_back(std::move(vertex));
  }
}

}  // namespace

TableDomain::TableDomain(std::shared_ptr<const CurveRows> rows, const TableCurveHooks& hooks,
                         std::string identity)
    : shared_(std::move(rows)), rows_(*shared_), hooks_(hooks), identity_(std::move(identity)) {}

std::vector<Piece> TableDomain::pieces() const {
  const int planned = this->planned();
  const bool spread = spread_budgets(rows_.options);
  std::vector<Piece> out{{kPower, {}}, {kStart, {}}};
  const auto add_point = [&](int number, bool needs_last) {
    std::vector<std::string> needs{kStart};
    // Of several trainings one is chosen by what attackers find.
    if (rows_.options.training.restarts > 1) needs.emplace_back(kPower);
    if (needs_last) needs.push_back(numbered(kTrain, planned));
    out.push_back({numbered(kTrain, number), needs});
    out.push_back({numbered(kAudit, number), {kPower, numbered(kTrain, number)}});
  };
  if (spread) add_point(planned, false);
  if (rows_.observes_useful()) out.push_back({kUnchanged, {kPower}});
  out.push_back({kConstant, {kPower}});
  if (rows_.heads()) out.push_back({kIndependent, {kPower, kStart}});
  const int redrawn = redrawn_releases(rows_);
  if (redrawn > 0) out.push_back({kPath, {}});
  for (int number = 1; number <= redrawn; ++number)
    out.push_back({numbered(kRedrawn, number), {kPower, kPath}});
  for (int number = 1; number <= planned; ++number) {
    if (!spread || number < planned) add_point(number, spread);
  }
  if (rows_.heads() && rows_.observes_useful() && planned > 1) {
    std::vector<std::string> needs{kPower, kStart, kUnchanged, kIndependent};
    for (int number = 1; number <= planned; ++number) {
      needs.push_back(numbered(kTrain, number));
      needs.push_back(numbered(kAudit, number));
    }
    for (int number = 1; number <= planned; ++number) out.push_back({numbered(kMend, number), needs});
  }
  if (!has_references()) return out;
  for (int number = 1; number <= dropped_references(rows_); ++number) {
    std::vector<std::string> needs{kPower};
    if (redrawn > 0) needs.emplace_back(kPath);
    out.push_back({numbered(kDropped, number), std::move(needs)});
  }
  for (int number = 1; number <= planned; ++number)
    out.push_back({numbered(kNoise, number), {kPower, numbered(kAudit, number)}});
  return out;
}

std::vector<std::string> TableDomain::start_pieces() const {
  std::vector<std::string> out{kPower, kStart};
  if (spread_budgets(rows_.options)) out.push_back(numbered(kTrain, planned()));
  return out;
}

std::vector<std::string> TableDomain::point_pieces(int number) const {
  std::vector<std::string> out{numbered(kTrain, number), numbered(kAudit, number)};
  if (has_references()) out.push_back(numbered(kNoise, number));
  return out;
}

std::vector<std::string> TableDomain::reference_pieces() const {
  std::vector<std::string> out;
  for (const Piece& piece : pieces()) {
    if (piece.name == kUnchanged || piece.name == kConstant || piece.name == kIndependent ||
        piece.name == kPath || piece.name.starts_with(kRedrawn) || piece.name.starts_with(kDropped))
      out.push_back(piece.name);
  }
  return out;
}

std::vector<std::string> TableDomain::mend_pieces() const {
  std::vector<std::string> out;
  for (const Piece& piece : pieces()) {
    if (piece.name.starts_with(kMend)) out.push_back(piece.name);
  }
  return out;
}

CurveMeasure TableDomain::measure(const Pieces& needed) const {
  const auto power = needed.find(kPower);
  return {rows_, power == needed.end() ? std::vector<AttackPower>()
                                       : unarchived<std::vector<AttackPower>>(power->second)};
}

std::optional<std::string> TableDomain::make(const std::string& name, const Pieces& needed,
                                             const Checkpoint& /*checkpoint*/) {
  const auto parts = parts_of(name);
  const int number = parts.second;
  if (name == kPower) {
    phase("planting leaks to see what would be found");
    return archived(measure_power(rows_));
  }
  if (name == kStart) {
    phase("learning the table");
    const CurveStart start = make_start(rows_, watch(0));
    if (stopped()) return std::nullopt;
    return archived(start);
  }
  if (parts.first == kTrain) return train(number, needed);
  const CurveMeasure measure = this->measure(needed);
  if (parts.first == kAudit)
    return archived(audit_curve_point(trained_of(needed.at(numbered(kTrain, number))), rows_, measure));
  if (name == kUnchanged) {
    phase("as it is");
    return archived(measure_unchanged(rows_, measure));
  }
  if (name == kConstant) {
    phase("the same row for everybody");
    return archived(measure_constant(rows_, measure));
  }
  if (name == kIndependent) {
    phase("rows drawn without looking at anybody");
    return archived(
        measure_independent(independent_model(rows_, unarchived<CurveStart>(needed.at(kStart))), measure));
  }
  if (name == kPath) {
    phase("which columns to redraw");
    return archived(find_redrawn(rows_));
  }
  if (parts.first == kMend) {
    const auto point = mended(number, needed);
    return archived(point ? std::optional(audit_curve_point(*point, rows_, measure)) : std::nullopt);
  }
  if (parts.first == kRedrawn) {
    const auto model = redrawn_model(rows_, unarchived<RedrawnColumns>(needed.at(kPath)), number);
    return archived(model ? std::optional(measure_redrawn(*model, measure)) : std::nullopt);
  }
  if (parts.first == kDropped) return drop(number, needed);
  if (parts.first == kNoise) {
    const auto audited = unarchived<AuditedPoint>(needed.at(numbered(kAudit, number)));
    return archived(noise_references(rows_, measure, audited.measured.change.distortion));
  }
  throw Error(ErrorCode::kInternal, fmt::format("a table's curve has no piece '{}'", name));
}

std::optional<std::string> TableDomain::train(int number, const Pieces& needed) {
  phase(fmt::format("point {}", number));
  std::optional<TrainedPoint> last;
  if (const auto found = needed.find(numbered(kTrain, planned())); found != needed.end())
    last = trained_of(found->second);
  const auto trained = train_curve_point(rows_, unarchived<CurveStart>(needed.at(kStart)), number,
                                         last ? &*last : nullptr, measure(needed), watch(number));
  if (!trained) return std::nullopt;
  return bytes_of(*trained);
}

std::string TableDomain::drop(int count, const Pieces& needed) {
  std::call_once(ordered_, [&] {
    phase("references");
    order_ =
        by_leakage(rows_.train, rows_.encoding.indices_of(rows_.schema.useful), rows_.schema, rows_.encoding);
  });
  std::vector<std::int32_t> gone(order_.begin(), order_.begin() + count);
  // The columns that are redrawn, so that the two can be compared; beyond them, those that tell most.
  if (const auto path = needed.find(kPath); path != needed.end()) {
    if (const auto model = redrawn_model(rows_, unarchived<RedrawnColumns>(path->second), count))
      gone = redrawn_columns_of(*model);
  }
  return archived(dropped_reference(rows_, measure(needed), gone));
}

void TableDomain::finished(const std::string& name, const std::string& bytes, bool /*made*/) {
  if (!hooks_.finished) return;
  const auto parts = parts_of(name);
  if (parts.first == kTrain) trained_[numbered(kAudit, parts.second)] = bytes;
  const auto trained = trained_.find(name);
  if (trained == trained_.end()) return;
  hooks_.finished(point(trained->second, bytes));
  trained_.erase(trained);
}

TablePoint TableDomain::point(const std::string& trained, const std::string& audited) const {
  return table_point(trained_of(trained), unarchived<AuditedPoint>(audited));
}

// Where a mixture of other points serves the distortion of a point with less leakage, by more than its
// interval can explain, its training missed the line, and the mixture takes its place.
std::optional<TrainedPoint> TableDomain::mended(int number, const Pieces& pieces) const {
  TableCurveResult result;
  result.schema = rows_.schema;
  result.encoding = rows_.encoding;
  result.points = trained_points(pieces);
  result.unchanged = unarchived<MeasuredRelease>(pieces.at(kUnchanged));
  result.independent = unarchived<MeasuredRelease>(pieces.at(kIndependent));
  result.independent_model = independent_model(rows_, unarchived<CurveStart>(pieces.at(kStart)));
  const auto at = std::find_if(result.points.begin(), result.points.end(),
                               [&](const TablePoint& point) { return point.number == number; });
  if (at == result.points.end()) return std::nullopt;
  const TablePoint missed = *at;
  result.points.erase(at);
  const Estimate& found = missed.measured.audit.leakage();
  const double distortion = missed.measured.change.distortion;
  const std::vector<HullPoint> others = result.hull_points();
  if (!is_dominated({distortion, found.interval95 ? found.interval95->low : found.nats}, others))
    return std::nullopt;
  TrainedPoint out = trained_of(pieces.at(numbered(kTrain, number)));
  out.model = result.model_of(at_most_distortion(others, lower_hull(others), distortion).value());
  return out;
}

std::vector<TablePoint> TableDomain::points(const Pieces& pieces) const {
  std::vector<TablePoint> out = trained_points(pieces);
  for (TablePoint& point : out) {
    const auto bytes = pieces.find(numbered(kMend, point.number));
    if (bytes == pieces.end()) continue;
    const auto audited = unarchived<std::optional<AuditedPoint>>(bytes->second);
    if (!audited) continue;
    point = table_point(mended(point.number, pieces).value(), *audited);
    std::vector<std::string> labels;
    for (const TableComponent& component : point.model->components()) labels.push_back(component.label);
    point.warnings.push_back(
        fmt::format("point {}: its training missed the line between others; it is a mixture of them ({})",
                    point.number, fmt::join(labels, ", ")));
  }
  return out;
}

std::vector<TablePoint> TableDomain::trained_points(const Pieces& pieces) const {
  std::vector<TablePoint> out;
  for (int number = 1; number <= planned(); ++number) {
    const auto trained = pieces.find(numbered(kTrain, number));
    const auto audited = pieces.find(numbered(kAudit, number));
    if (trained != pieces.end() && audited != pieces.end())
      out.push_back(point(trained->second, audited->second));
  }
  return out;
}

TableCurveResult TableDomain::finish(const Pieces& pieces) const {
  TableCurveResult result;
  result.given = rows_.options;
  result.schema = rows_.schema;
  result.encoding = rows_.encoding;
  result.split = rows_.split;
  result.rows = rows_.rows;
  result.notices = rows_.notices;
  result.mechanism = rows_.mechanism();
  result.most_distortion = rows_.most_distortion;
  result.planned = planned();
  result.points = points(pieces);
  const auto at = [&](const std::string& name) -> const std::string* {
    const auto found = pieces.find(name);
    return found == pieces.end() ? nullptr : &found->second;
  };
  if (const std::string* bytes = at(kUnchanged)) result.unchanged = unarchived<MeasuredRelease>(*bytes);
  if (const std::string* bytes = at(kConstant)) result.constant = unarchived<MeasuredRelease>(*bytes);
  result.constant_model = rows_.constant;
  if (const std::string* bytes = at(kIndependent)) {
    result.independent = unarchived<MeasuredRelease>(*bytes);
    result.independent_model = independent_model(rows_, unarchived<CurveStart>(pieces.at(kStart)));
  }
  for (int number = 1; number <= redrawn_releases(rows_); ++number) {
    const std::string* bytes = at(numbered(kRedrawn, number));
    if (bytes == nullptr) continue;
    auto measured = unarchived<std::optional<MeasuredRelease>>(*bytes);
    if (!measured) break;
    result.redrawn.push_back({std::move(*measured), false,
                              redrawn_model(rows_, unarchived<RedrawnColumns>(pieces.at(kPath)), number)});
  }
  std::vector<MeasuredRelease> noises;
  for (const TablePoint& point : result.points) {
    if (const std::string* bytes = at(numbered(kNoise, point.number))) {
      for (MeasuredRelease& noise : unarchived<std::vector<MeasuredRelease>>(*bytes))
        noises.push_back(std::move(noise));
    }
  }
  for (const std::string& series : noise_series(rows_)) {
    for (const MeasuredRelease& noise : noises) {
      if (noise.series == series) result.references.push_back(noise);
    }
  }
  for (int count = 1; count <= dropped_references(rows_); ++count) {
    if (const std::string* bytes = at(numbered(kDropped, count)))
      result.references.push_back(unarchived<MeasuredRelease>(*bytes));
  }
  add_time_sharing(result);
  add_optimum(rows_, result);
  complete(result);
  const std::vector<Piece> all = this->pieces();
  result.interrupted =
      std::any_of(all.begin(), all.end(), [&](const Piece& piece) { return !pieces.contains(piece.name); });
  return result;
}

void TableDomain::phase(const std::string& what) const {
  if (hooks_.phase) hooks_.phase(what);
}

bool TableDomain::stopped() {
  if (!stopped_ && hooks_.interrupted && hooks_.interrupted()) stopped_ = true;
  return stopped_;
}

CurveWatch TableDomain::watch(int number) {
  CurveWatch out;
  out.stopped = [this] { return stopped(); };
  out.observers.emplace_back([this, number](const EpochReport& report) {
    if (hooks_.epoch) hooks_.epoch(number, report);
    return Verdict{stopped(), "interrupted"};
  });
  return out;
}

}  // namespace ppan
