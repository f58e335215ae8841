#include "ppan/trade_off/image_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/hull.h"
#include "ppan/core/thresholds.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_file.h"
#include "ppan/trade_off/model_names.h"
#include "ppan/trade_off/task_columns.h"
#include "ppan/trade_off/training_record.h"

namespace ppan {
namespace {

constexpr std::string_view kRecords = "images";

Estimate unchanged_leakage(const ImageCurveResult& result) {
  return {.nats = result.entropy,
          .interval95 = std::nullopt,
          .bound = Bound::kUpper,
          .method = "entropy of the label: no image reveals more",
          .samples = result.train_images};
}
Estimate constant_leakage(const ImageCurveResult& result) {
  return {.nats = 0,
          .interval95 = std::nullopt,
          .bound = Bound::kExact,
          .method = "the same image for everybody",
          .samples = result.test_images};
}

}  // namespace

bool image_dominated(const ImagePoint& point, const ImageCurveResult& result) {
  const std::vector<HullPoint> all = result.servable();
  std::vector<HullPoint> others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Unchanged stands before the points.
    const bool own = i > 0 && i <= result.points.size() && &result.points[i - 1] == &point;
    if (!own) others.push_back(all[i]);
  }
  const Estimate& found = point.measure.attack.strongest().leakage;
  return is_dominated({point.measure.distortion, found.interval95 ? found.interval95->low : found.nats},
                      others);
}

std::vector<std::string> image_warnings(const ImagePoint& point, const ImageCurveResult& result) {
  std::vector<std::string> out;
  const double found = point.measure.attack.strongest().leakage.nats;
  if (point.training.stop == Stop::kDiverged) out.push_back("training diverged: " + point.training.message);
  if (found - point.measure.belief > kNoticeableNats)
    out.push_back(fmt::format("attackers found {:.2f} nats more than the adversary of the training believed",
                              found - point.measure.belief));
  if (point.measure.attack.still_rising)
    out.emplace_back("the strongest attacker was still improving: more leaks than was found");
  if (image_dominated(point, result)) out.emplace_back(kDominatedWarning);
  if (found > result.time_sharing(point.measure.distortion))
    out.emplace_back("time-sharing at the same distortion would leak less");
  if (result.given.code.task_budget) {
    if (misses_budget(point.training_distortion, point.target))
      out.push_back(
          fmt::format("{:.4f} nats about the task were lost in training, above the budget of {:.4f}",
                      point.training_distortion, point.target));
  } else if (result.given.method == ImageMethod::kCode &&
             misses_budget(point.measure.distortion, point.target)) {
    out.push_back(fmt::format("the distortion is {:.4f}, above the budget of {:.4f}",
                              point.measure.distortion, point.target));
  }
  for (const std::string& task : inflated_tasks(result.task_unchanged, point.measure.task))
    out.push_back(inflated_text(task, kRecords));
  return out;
}

AuditDetail image_audit_detail(const ImagePoint& point, std::string target, std::string note) {
  const ImageAttack& attack = point.measure.attack;
  const auto rate = [](const Rate& r) { return SuccessRate{r.value, r.interval95}; };
  AuditDetail out;
  out.target = std::move(target);
  out.leakage = attack.strongest().leakage;
  if (!point.measure.upper.empty()) out.upper_bound = point.measure.upper.front();
  out.accuracy = rate(attack.strongest().accuracy);
  out.prior_accuracy = attack.prior_accuracy;
  out.inconclusive = attack.still_rising;
  out.note = std::move(note);
  for (const ImageAttackerScore& score : attack.attackers) {
    AttackerDetail detail{.name = score.name, .leakage = score.leakage, .accuracy = rate(score.accuracy)};
    detail.won = &score == &attack.attackers.front();
    for (const ImageLearning& step : score.learning)
      detail.learning_curve.push_back({step.images, step.nats});
    out.attackers.push_back(std::move(detail));
  }
  return out;
}

void set_allowance(const ImageAttack& attack, const std::vector<Estimate>& upper, CurveRow& row) {
  if (!upper.empty()) row.set(curve_column::kUpperBound, upper.front().nats);
  row.set(curve_column::kUpperEnd, attack.upper_end(upper));
  row.set(curve_column::kPower, attack.least_seen());
  if (attack.still_rising) row.set(curve_column::kInconclusive, "yes");
}

namespace {

// The columns of a task only where one was named, so that other runs keep theirs.
std::vector<std::string> more_columns(const ImageCurveResult& result) {
  std::vector<std::string> out;
  for (const std::string_view name : {curve_column::kPoint,
                                      curve_column::kLeakageLow,
                                      curve_column::kLeakageHigh,
                                      curve_column::kLeakageKind,
                                      curve_column::kLeakageMethod,
                                      curve_column::kUpperBound,
                                      curve_column::kUpperEnd,
                                      curve_column::kPower,
                                      curve_column::kInconclusive,
                                      std::string_view("accuracy"),
                                      std::string_view("prior_accuracy"),
                                      std::string_view("belief_accuracy"),
                                      std::string_view("time_sharing"),
                                      std::string_view("code_attacker"),
                                      std::string_view("unchanged_share"),
                                      curve_column::kTrainingDistortion,
                                      curve_column::kTrainingBelief,
                                      curve_column::kStop,
                                      curve_column::kSeed,
                                      curve_column::kSeconds,
                                      std::string_view("model"),
                                      std::string_view("label")})
    out.emplace_back(name);
  if (!result.task_unchanged.empty() ||
      (!result.points.empty() && !result.points.front().measure.task.empty()))
    out.insert(out.end() - 2, kTaskColumns.begin(), kTaskColumns.end());
  return out;
}

void add_task(const std::vector<TaskScore>& scores, const ImageCurveResult& result, CurveRow& row) {
  set_task(scores, row, kRecords);
  set_task_loss(result.task_unchanged, scores, row);
}

CurveRow row_of(const ImagePoint& point, const ImageCurveResult& result) {
  const bool paper = result.given.method == ImageMethod::kPaper;
  const int number = static_cast<int>(point.plan) + 1;
  const ImageAttackerScore& best = point.measure.attack.strongest();
  CurveRow row;
  row.series = kImageSeries;
  (paper ? row.weight : row.budget) = point.target;
  row.distortion = point.measure.distortion;
  row.set_leakage(best.leakage);
  row.set(curve_column::kPoint, std::to_string(number));
  set_allowance(point.measure.attack, point.measure.upper, row);
  row.set("accuracy", best.accuracy.value);
  row.set("prior_accuracy", point.measure.attack.prior_accuracy);
  row.set("belief_accuracy", point.measure.belief_accuracy);
  row.set("time_sharing", result.time_sharing(point.measure.distortion));
  if (point.measure.attack.code) row.set("code_attacker", point.measure.attack.code->leakage.nats);
  if (!result.given.code.gate.empty() && !paper) row.set("unchanged_share", point.measure.unchanged);
  row.set(curve_column::kTrainingDistortion, point.training_distortion);
  row.set(curve_column::kTrainingBelief, point.measure.belief);
  record_training(point.training, row);
  row.set(curve_column::kSeed, std::to_string(result.given.seed));
  row.set(curve_column::kSeconds, point.seconds + point.measure.seconds);
  row.set("model", model_name(number));
  row.set("label", fmt::format("point {}", number));
  add_task(point.measure.task, result, row);
  return row;
}

}  // namespace

// Points of the curve and what it is compared with.
CurveTable image_curve_table(const ImageCurveResult& result) {
  CurveTable out;
  out.more_columns = more_columns(result);
  for (const ImagePoint& point : result.points) out.rows.push_back(row_of(point, result));
  const auto add = [&](const char* series, double distortion, const Estimate& leakage,
                       const std::string& model, const std::string& label) {
    CurveRow row;
    row.series = series;
    row.distortion = distortion;
    row.set_leakage(leakage);
    if (!model.empty()) row.set("model", model);
    row.set("label", label);
    out.rows.push_back(std::move(row));
  };
  add("reference/unchanged", result.unchanged_distortion, unchanged_leakage(result), kUnchangedModel,
      "as it is");
  add_task(result.task_unchanged, result, out.rows.back());
  add("reference/constant", result.constant_distortion, constant_leakage(result), kConstantModel,
      "the mean image for everybody");
  add_task(result.task_constant, result, out.rows.back());
  const auto add_line = [&](double distortion, const std::string& label) {
    Estimate line = unchanged_leakage(result);
    line.nats = result.time_sharing(distortion);
    line.bound = Bound::kEstimate;
    line.method = "on the line from the entropy of the label, unchanged, to 0 at the mean image";
    add("reference/time-sharing", distortion, line, "", label);
  };
  add_line(result.unchanged_distortion, "as it is");
  for (const ImagePoint& point : result.points) {
    add_line(std::clamp(point.measure.distortion, result.unchanged_distortion, result.constant_distortion),
             fmt::format("at the distortion of point {}", point.plan + 1));
  }
  add_line(result.constant_distortion, "the mean image for everybody");
  std::vector<HullPoint> points = result.servable();
  for (HullPoint& point : points) point.leakage = std::max(0.0, point.leakage);
  for (const std::size_t i : lower_hull(points)) {
    const bool trained = i > 0 && i + 1 < points.size();
    Estimate leakage = i == 0 ? unchanged_leakage(result) : constant_leakage(result);
    // The ends are known.
    leakage.interval95 = Interval{leakage.nats, leakage.nats};
    if (trained) leakage = result.points[i - 1].measure.attack.strongest().leakage;
    add("ppan/hull", points[i].distortion, leakage, "",
        trained  ? fmt::format("point {}", result.points[i - 1].plan + 1)
        : i == 0 ? "as it is"
                 : "the mean image");
    out.rows.back().set("time_sharing", result.time_sharing(points[i].distortion));
  }
  return out;
}

namespace {

PointSummary image_point_summary(const ImagePoint& point, const ImageCurveResult& result) {
  PointSummary summary{.series = kImageSeries, .number = static_cast<int>(point.plan) + 1};
  (result.given.method == ImageMethod::kPaper ? summary.weight : summary.budget) = point.target;
  summary.distortion = point.measure.distortion;
  record_training(point.training, summary);
  summary.seconds = point.seconds + point.measure.seconds;
  summary.leakage = point.measure.attack.strongest().leakage;
  for (const ImageAttackerScore& score : point.measure.attack.attackers)
    summary.estimates.push_back({score.name, score.leakage});
  if (point.measure.attack.code && result.given.method == ImageMethod::kCode &&
      !result.given.code.gate.empty())
    summary.estimates.push_back({"attacker on the code", point.measure.attack.code->leakage});
  for (const Estimate& bound : point.measure.upper) summary.estimates.push_back({"upper bound", bound});
  summary.training_belief = point.measure.belief;
  summary.model = model_name(summary.number);
  summary.warnings = image_warnings(point, result);
  return summary;
}

}  // namespace

void summarize_images(const ImageCurveResult& result, RunSummary& out) {
  out.distortion_name = "pixel cross-entropy";
  out.distortion_unit = "nats per pixel";
  out.leakage_ceiling = result.entropy;
  out.seed = result.given.seed;
  out.status = result.interrupted ? RunStatus::kInterrupted : RunStatus::kComplete;
  std::vector<bool> there(result.targets.size(), false);
  for (const ImagePoint& point : result.points) {
    there[static_cast<std::size_t>(point.plan)] = true;
    out.points.push_back(image_point_summary(point, result));
  }
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (!there[i])
      out.missing.push_back({kImageSeries, static_cast<int>(i) + 1, result.targets[i], "interrupted"});
  }
}

MetricsLine image_metrics(int point, const EpochReport& epoch, double leakage,
                          const ImageCurveOptions& given) {
  MetricsLine line = make_metrics_line(kImageSeries, point, epoch, leakage);
  if (given.method == ImageMethod::kCode) line.multiplier = epoch.multiplier;
  if (given.method == ImageMethod::kPaper && given.paper.gamma > 0) line.discriminator = epoch.discriminator;
  return line;
}

std::string image_metrics(const ImageCurveResult& result) {
  std::string out;
  for (const ImagePoint& point : result.points) {
    for (const EpochReport& epoch : point.training.epochs) {
      out += to_json_line(image_metrics(static_cast<int>(point.plan) + 1, epoch,
                                        result.entropy + epoch.adversary, result.given));
    }
  }
  return out;
}

ImageReleaseModel image_point_model(const ImagePoint& point, const ImageCurveOptions& given,
                                    const ImageSet& train, ModelOrigin common) {
  common.label = fmt::format("point {}", point.plan + 1);
  if (given.method == ImageMethod::kCode) common.budget = point.target;
  common.distortion = point.measure.distortion;
  common.leakage = point.measure.attack.strongest().leakage;
  common.upper_end = point.measure.attack.upper_end(point.measure.upper);
  common.power = point.measure.attack.least_seen();
  common.inconclusive = point.measure.attack.still_rising;
  common.task = task_text(point.measure.task, kRecords);
  record_training(point.training, common);
  return {.images = point.model, .class_names = train.class_names, .origin = std::move(common)};
}

ImageReleaseModel image_model(const std::string& file, const ImageCurveResult& result, const ImageSet& train,
                              const ModelOrigin& common) {
  for (const ImagePoint& point : result.points) {
    if (file == model_name(static_cast<int>(point.plan) + 1))
      return image_point_model(point, result.given, train, common);
  }
  const bool unchanged = file == kUnchangedModel;
  if (!unchanged && file != kConstantModel)
    throw Error(ErrorCode::kInternal, "the curve has no model '" + file + "'");
  ImageReleaseModel model{.images = unchanged ? unchanged_model(train) : constant_model(train),
                          .class_names = train.class_names,
                          .origin = common};
  model.origin.label = unchanged ? "unchanged" : "constant";
  model.origin.distortion = unchanged ? result.unchanged_distortion : result.constant_distortion;
  model.origin.leakage = unchanged ? unchanged_leakage(result) : constant_leakage(result);
  model.origin.task = task_text(unchanged ? result.task_unchanged : result.task_constant, kRecords);
  model.origin.training_rows = 0;  // It was not trained.
  return model;
}

void save_image_models(const std::filesystem::path& directory, const ImageCurveResult& result,
                       const ImageSet& train, const ModelOrigin& common) {
  std::vector<std::string> files{kUnchangedModel, kConstantModel};
  for (const ImagePoint& point : result.points) files.push_back(model_name(static_cast<int>(point.plan) + 1));
  for (const std::string& file : files)
    save_model(directory / file, image_model(file, result, train, common));
}

}  // namespace ppan
