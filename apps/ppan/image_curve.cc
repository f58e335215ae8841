#include "ppan/image_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <numeric>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/core/hull.h"
#include "ppan/core/random.h"
#include "ppan/image/image_training.h"
#include "ppan/image_files.h"
#include "ppan/interrupt.h"
#include "ppan/mnist_figures.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_file.h"
#include "ppan/output.h"
#include "ppan/progress.h"
#include "ppan/read/png.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/details.h"
#include "ppan/report/html.h"
#include "ppan/report/run_summary.h"
#include "ppan/report/terminal.h"
#include "ppan/trade_off/run_files.h"
#include "ppan/trade_off/table_run.h"

namespace ppan::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSeries = "ppan/images";
constexpr int kUsualPoints = 8;
// Mini-batches that a training of usual length goes through; where the settings were found, those of MNIST.
constexpr double kUsualSteps = 6000;
constexpr double kUsualStartSteps = 3600;
// Of the way from the images themselves to their mean.
constexpr double kFirstBudget = 0.2;
constexpr double kLastBudget = 0.9;

ImageSet take_images(const ImageSet& set, const std::vector<std::int32_t>& which) {
  ImageSet part{
      .height = set.height, .width = set.width, .classes = set.classes, .class_names = set.class_names};
  part.pixels = set.pixels(which, Eigen::all);
  for (const std::int32_t i : which) part.labels.push_back(set.labels[static_cast<std::size_t>(i)]);
  return part;
}

// Passes over `images` that make so many steps.
int passes(double steps, Index images, Index batch, int least, int most) {
  const double per_pass = std::max(1.0, static_cast<double>(images) / static_cast<double>(batch));
  return std::clamp(static_cast<int>(std::ceil(steps / per_pass)), least, most);
}

/// What a run knows beside its result.
struct Known {
  const ImageCurveRun* run = nullptr;
  const ImageSplit* data = nullptr;
  std::string sha256{};
  Index images = 0;
  double seconds = 0;
};

ImageReleaseModel model_of(const ImageModel& images, const std::string& label, const Known& known) {
  ImageReleaseModel out{.images = images, .class_names = known.data->train.class_names};
  const JobFile& job = known.run->job;
  out.origin.program = "ppan " + known.run->version;
  out.origin.title = job.report.title;
  out.origin.label = label;
  out.origin.seed = static_cast<std::uint64_t>(job.train.seed);
  out.origin.test_rows = known.data->test.size();
  out.origin.data_sha256 = known.sha256;
  for (const ShownSetting& setting : shown_settings(job)) {
    if (setting.given) out.origin.settings.emplace_back(setting.key, setting.value);
  }
  return out;
}

ImageReleaseModel point_model(const MnistPoint& point, const Known& known) {
  ImageReleaseModel out = model_of(point.model, fmt::format("point {}", point.plan + 1), known);
  out.origin.budget = point.target;
  out.origin.distortion = point.measure.distortion;
  out.origin.leakage = point.measure.attack.strongest().leakage;
  out.origin.stop =
      point.training.message.empty() ? std::string(to_string(point.training.stop)) : point.training.message;
  out.origin.epochs = static_cast<int>(point.training.epochs.size());
  out.origin.iterations = point.training.iterations;
  out.origin.training_rows = known.data->train.size();
  return out;
}

Estimate unchanged_leakage(const MnistResult& result) {
  return {.nats = result.entropy,
          .interval95 = std::nullopt,
          .bound = Bound::kUpper,
          .method = "entropy of the label: no image tells more",
          .samples = result.train_images};
}
Estimate constant_leakage(const MnistResult& result) {
  return {.nats = 0,
          .interval95 = std::nullopt,
          .bound = Bound::kExact,
          .method = "the same image for everybody",
          .samples = result.test_images};
}

// Points of the curve and what it is compared with.
CurveTable curve_table(const MnistResult& result) {
  CurveTable out;
  for (const std::string_view name :
       {curve_column::kPoint, curve_column::kLeakageLow, curve_column::kLeakageHigh,
        curve_column::kLeakageKind, curve_column::kLeakageMethod, curve_column::kUpperBound,
        std::string_view("accuracy"), std::string_view("prior_accuracy"), curve_column::kTrainingDistortion,
        curve_column::kTrainingBelief, curve_column::kStop, curve_column::kSeed, curve_column::kSeconds,
        std::string_view("model"), std::string_view("label")})
    out.more_columns.emplace_back(name);
  for (const MnistPoint& point : result.points) {
    const int number = static_cast<int>(point.plan) + 1;
    const ImageAttackerScore& best = point.measure.attack.strongest();
    CurveRow row;
    row.series = kSeries;
    row.budget = point.target;
    row.distortion = point.measure.distortion;
    row.set_leakage(best.leakage);
    row.set(curve_column::kPoint, std::to_string(number));
    if (!point.measure.upper.empty()) row.set(curve_column::kUpperBound, point.measure.upper.front().nats);
    row.set("accuracy", best.accuracy.value);
    row.set("prior_accuracy", point.measure.attack.prior_accuracy);
    row.set(curve_column::kTrainingDistortion, point.training_distortion);
    row.set(curve_column::kTrainingBelief, point.measure.belief);
    row.set(curve_column::kStop, to_string(point.training.stop));
    row.set(curve_column::kSeed, std::to_string(result.given.seed));
    row.set(curve_column::kSeconds, point.seconds + point.measure.seconds);
    row.set("model", model_name(number));
    row.set("label", fmt::format("point {}", number));
    out.rows.push_back(std::move(row));
  }
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
  add("reference/constant", result.constant_distortion, constant_leakage(result), kConstantModel,
      "the mean image for everybody");
  for (const MnistPoint& point : result.points) {
    const double distortion =
        std::clamp(point.measure.distortion, result.unchanged_distortion, result.constant_distortion);
    Estimate line = unchanged_leakage(result);
    line.nats = result.time_sharing(distortion);
    line.bound = Bound::kEstimate;
    line.method = "on the line from the entropy of the label, unchanged, to 0 at the mean image";
    add("reference/time-sharing", distortion, line, "",
        fmt::format("at the distortion of point {}", point.plan + 1));
  }
  std::vector<HullPoint> points = result.servable();
  for (HullPoint& point : points) point.leakage = std::max(0.0, point.leakage);
  for (const std::size_t i : lower_hull(points)) {
    const bool trained = i > 0 && i + 1 < points.size();
    Estimate leakage = i == 0 ? unchanged_leakage(result) : constant_leakage(result);
    if (trained) leakage = result.points[i - 1].measure.attack.strongest().leakage;
    add("ppan/hull", points[i].distortion, leakage, "",
        trained  ? fmt::format("point {}", result.points[i - 1].plan + 1)
        : i == 0 ? "as it is"
                 : "the mean image");
  }
  return out;
}

std::vector<std::string> warnings_of(const MnistPoint& point, const MnistResult& result) {
  constexpr double kNoticeable = 0.05;  // nats
  std::vector<std::string> out;
  const double found = point.measure.attack.strongest().leakage.nats;
  if (point.training.stop == Stop::kDiverged) out.push_back("training diverged: " + point.training.message);
  if (found - point.measure.belief > kNoticeable)
    out.push_back(fmt::format("attackers found {:.2f} nats more than the adversary of the training believed",
                              found - point.measure.belief));
  if (point.measure.attack.still_rising)
    out.emplace_back("the strongest attacker was still getting better: more leaks than was found");
  if (found > result.time_sharing(point.measure.distortion))
    out.emplace_back("time-sharing at the same distortion would leak less");
  if (point.measure.distortion > 1.1 * point.target && point.measure.distortion > point.target + 0.005)
    out.push_back(fmt::format("the distortion is {:.4f}, above the budget of {:.4f}",
                              point.measure.distortion, point.target));
  return out;
}

AuditDetail audit_of(const MnistPoint& point) {
  const ImageAttack& attack = point.measure.attack;
  const auto rate = [](const Rate& r) { return SuccessRate{r.value, r.interval95}; };
  AuditDetail out;
  out.target = "label";
  out.leakage = attack.strongest().leakage;
  if (!point.measure.upper.empty()) out.upper_bound = point.measure.upper.front();
  out.accuracy = rate(attack.strongest().accuracy);
  out.prior_accuracy = attack.prior_accuracy;
  out.inconclusive = attack.still_rising;
  out.note = "found by new attackers on held-out images while the curve was made";
  for (const ImageAttackerScore& score : attack.attackers) {
    AttackerDetail detail{.name = score.name, .leakage = score.leakage, .accuracy = rate(score.accuracy)};
    detail.won = &score == &attack.attackers.front();
    for (const ImageLearning& step : score.learning)
      detail.learning_curve.push_back({step.images, step.nats});
    out.attackers.push_back(std::move(detail));
  }
  return out;
}

RunSummary make_run_summary(const MnistResult& result, const Known& known) {
  const JobFile& job = known.run->job;
  const ImageSet& train = known.data->train;
  RunSummary out;
  const std::string source = fs::path(job.images.images).filename().string();
  out.version = known.run->version;
  out.command = known.run->command;
  out.name = job.report.title.empty() ? source : job.report.title;
  out.description = fmt::format(
      "Release mechanisms for the images of {}, each trained to tell as little of the label as it can at "
      "its "
      "distortion, and attacked afterwards on images it never saw.",
      source);
  out.hidden = fmt::format("the label, one of {}", train.classes);
  out.observed = "the image";
  out.useful = "the image";
  out.distortion_name = "pixel cross-entropy";
  out.distortion_unit = "nats per pixel";
  out.leakage_ceiling = result.entropy;
  // The defaults that the table of settings knows are those of tables; what images use instead is among the
  // facts.
  for (const ShownSetting& setting : shown_settings(job)) {
    if (setting.given) out.settings.push_back({setting.key, setting.value, setting.value});
  }
  const CodeImageOptions& code = result.given.code;
  out.seed = result.given.seed;
  out.facts = {{"images", fmt::format("{} of {} x {} pixels", known.images, train.height, train.width)},
               {"training images", std::to_string(result.train_images)},
               {"held-out images", std::to_string(result.test_images)},
               {"mechanism", fmt::format("noisy code of {} numbers within ±{:g}", code.code, code.radius)},
               {"epochs", fmt::format("{} after {} without the adversary", mnist_epochs(result.given),
                                      code.start_epochs)},
               {"distortion of the images themselves", fmt::format("{:.5f}", result.unchanged_distortion)},
               {"distortion of the mean image", fmt::format("{:.5f}", result.constant_distortion)},
               {"images and labels, sha256", known.sha256}};
  out.job_file = without_comments(known.run->job_text);
  out.seconds = known.seconds;
  out.status = result.interrupted ? RunStatus::kInterrupted : RunStatus::kComplete;
  std::vector<bool> there(result.targets.size(), false);
  for (const MnistPoint& point : result.points) {
    there[static_cast<std::size_t>(point.plan)] = true;
    PointSummary summary{.series = kSeries, .number = static_cast<int>(point.plan) + 1};
    summary.budget = point.target;
    summary.distortion = point.measure.distortion;
    summary.stop = to_string(point.training.stop);
    summary.message = point.training.message;
    summary.epochs = static_cast<int>(point.training.epochs.size());
    summary.iterations = point.training.iterations;
    summary.seconds = point.seconds + point.measure.seconds;
    summary.leakage = point.measure.attack.strongest().leakage;
    for (const ImageAttackerScore& score : point.measure.attack.attackers)
      summary.estimates.push_back({score.name, score.leakage});
    for (const Estimate& bound : point.measure.upper) summary.estimates.push_back({"upper bound", bound});
    summary.training_belief = point.measure.belief;
    summary.model = model_name(summary.number);
    summary.warnings = warnings_of(point, result);
    out.points.push_back(std::move(summary));
  }
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (!there[i])
      out.missing.push_back({kSeries, static_cast<int>(i) + 1, result.targets[i], "interrupted"});
  }
  out.claimed = {
      "Leakage is what the strongest of several attackers found that were trained after the mechanism, on "
      "its releases "
      "of the images it was trained on, and scored on images that neither had seen: the truth is at "
      "least the lower "
      "end of each interval, 95 times in 100.",
      "Distortion was measured on the same held-out images.",
      "Any point on the line between two points can be served by a mixture of their models, and leaks no "
      "more than the "
      "line says of its ends."};
  out.not_claimed = {
      "A stronger attacker, or one with other data about the same people, may learn more; only a bound from "
      "above "
      "excludes that.",
      "Leakage is a mean over the images. It does not bound what is learned about one of them, and it is "
      "not "
      "differential privacy.",
      "Only the label is hidden. Whatever else an image shows may still be seen in its release."};
  return out;
}

std::string metrics_of(const MnistResult& result) {
  std::string out;
  for (const MnistPoint& point : result.points) {
    for (const EpochReport& epoch : point.training.epochs) {
      MetricsLine line{.series = kSeries, .number = static_cast<int>(point.plan) + 1, .epoch = epoch.epoch};
      line.distortion = epoch.mean.distortion;
      line.leakage = result.entropy + epoch.adversary;
      line.loss = epoch.mean.loss();
      line.penalty = epoch.mean.penalty;
      line.multiplier = epoch.multiplier;
      out += to_json_line(line);
    }
  }
  return out;
}

void write_run(const MnistResult& result, const Known& known) {
  const fs::path directory = known.run->out;
  ImageReleaseModel unchanged = model_of(unchanged_model(known.data->train), "unchanged", known);
  unchanged.origin.distortion = result.unchanged_distortion;
  unchanged.origin.leakage = unchanged_leakage(result);
  save_model(directory / kUnchangedModel, unchanged);
  ImageReleaseModel constant = model_of(constant_model(known.data->train), "constant", known);
  constant.origin.distortion = result.constant_distortion;
  constant.origin.leakage = constant_leakage(result);
  save_model(directory / kConstantModel, constant);

  RunDetails details;
  for (const MnistPoint& point : result.points) {
    PointDetails one{.series = kSeries, .number = static_cast<int>(point.plan) + 1};
    one.audits.push_back(audit_of(point));
    details.points.push_back(std::move(one));
  }
  // Images of the job's own are shown only to those who asked for it.
  if (known.run->job.report.show_examples) {
    const DigitGrid grid = digit_grid(known.data->test, result, result.given.seed);
    write_file(directory / "images.svg",
               grid_svg(grid.image, "Released images", grid.row_names, "d: mean distortion, nats per pixel"));
    details.images = {{"Released images: originals in the top row, then a row for each point", "images.svg",
                       "Grid of released images"}};
  }
  write_file(directory / "metrics.jsonl", metrics_of(result));
  write_file(directory / "details.json", to_json(details));
  write_file(directory / "summary.json", to_json(make_run_summary(result, known)));
  write_file(directory / "curve.csv", to_csv(curve_table(result)));
  write_report(directory);
}

}  // namespace

ImageSet load_images(const JobFile& job) {
  const fs::path images = job.directory / job.images.images;
  const fs::path labels = job.directory / job.images.labels;
  std::error_code ignored;
  if (!fs::exists(images, ignored))
    throw Error(ErrorCode::kIo, fmt::format("there is no {}", images.string()),
                "name the images with data.images, relative to the job file");
  if (fs::is_directory(images, ignored)) {
    return read_labelled_png_directory(images, labels,
                                       {.file = job.images.file_column, .label = job.images.label_column});
  }
  return read_idx_pair(images, labels);
}

ImageSplit split_images(const ImageSet& set, const JobFile& job) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(set.size()));
  std::iota(order.begin(), order.end(), 0);
  SeededRandom random = SeededRandom(static_cast<std::uint64_t>(job.train.seed)).fork("split");
  shuffle(random, order);
  const auto held_out =
      static_cast<std::ptrdiff_t>(std::lround(job.split.test * static_cast<double>(set.size())));
  ImageSplit out{.train = take_images(set, {order.begin() + held_out, order.end()}),
                 .test = take_images(set, {order.begin(), order.begin() + held_out})};
  if (out.train.size() < kLeastImages || out.test.size() < kLeastImages)
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{} images make {} to train on and {} to measure on; at least {} of each are needed",
                    set.size(), out.train.size(), out.test.size(), kLeastImages),
        "give more images, or another split.test");
  std::vector<Index> count(static_cast<std::size_t>(set.classes), 0);
  for (const std::int32_t label : out.train.labels) ++count[static_cast<std::size_t>(label)];
  if (std::count_if(count.begin(), count.end(), [](Index n) { return n > 0; }) < 2)
    throw Error(ErrorCode::kBadInput,
                "the images to train on are all of one class, so there is nothing to hide",
                "give images of other classes, or other labels");
  for (const std::int32_t label : out.test.labels) {
    if (count[static_cast<std::size_t>(label)] == 0)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("no image of class '{}' is among those to train on",
                              set.class_names[static_cast<std::size_t>(label)]),
                  "give more images of it, or remove the class");
  }
  return out;
}

MnistOptions image_options(const JobFile& job, const ImageSplit& data) {
  MnistOptions out;
  out.preset = Preset::kBest;
  out.seed = static_cast<std::uint64_t>(job.train.seed);
  out.threads = static_cast<int>(job.train.threads.value_or(0));
  const auto given = [&](const char* key) { return job.given.contains(key); };
  const Index images = data.train.size();
  CodeImageOptions& code = out.code;
  code.gate.clear();  // nobody's image is released as it is
  if (given("mechanism.hidden")) {
    code.encoder.assign(job.mechanism.hidden.begin(), job.mechanism.hidden.end());
    code.decoder.assign(job.mechanism.hidden.rbegin(), job.mechanism.hidden.rend());
  }
  if (job.mechanism.code_size) code.code = *job.mechanism.code_size;
  if (given("mechanism.code_radius")) code.radius = job.mechanism.code_radius;
  if (given("train.batch")) code.batch = job.train.batch;
  code.batch = std::min(code.batch, images);
  if (given("train.adversary_steps")) code.adversary_steps = static_cast<int>(job.train.adversary_steps);
  if (given("train.learning_rate")) code.rate = job.train.learning_rate;
  if (job.train.epochs) {
    code.epochs = static_cast<int>(*job.train.epochs);
    code.start_epochs =
        std::max(1, static_cast<int>(std::lround(0.6 * static_cast<double>(*job.train.epochs))));
  } else {
    code.epochs = passes(kUsualSteps, images, code.batch, code.epochs, 2000);
    code.start_epochs = passes(kUsualStartSteps, images, code.batch, code.start_epochs, 1200);
  }
  out.epochs = code.epochs;

  out.attack = attack_for(images, data.train.height * data.train.width, job.audit.quick);
  constexpr Index kLeastForBound = 100;
  if (data.test.size() < kLeastForBound) out.bound_images = 0;

  out.targets = job.privacy.budgets;
  if (out.targets.empty()) {
    const Matrix<float>& y = data.test.pixels;
    const Eigen::RowVectorXf mean = data.train.pixels.colwise().mean();
    const double least = pixel_cross_entropy(y, y).mean();
    const double most = pixel_cross_entropy(y, mean.replicate(y.rows(), 1)).mean();
    const int points = given("privacy.points") ? static_cast<int>(job.privacy.points) : kUsualPoints;
    for (int i = 0; i < points; ++i) {
      const double along = points == 1 ? 0.5 : static_cast<double>(i) / (points - 1);
      out.targets.push_back(least + (most - least) * (kFirstBudget + along * (kLastBudget - kFirstBudget)));
    }
  }
  return out;
}

int run_image_curve(const ImageCurveRun& run) {
  const auto start = std::chrono::steady_clock::now();
  const ImageSet all = load_images(run.job);
  const ImageSplit data = split_images(all, run.job);
  const MnistOptions options = image_options(run.job, data);
  require_none(options.check(), "this job cannot be run");
  Known known{.run = &run, .data = &data, .sha256 = images_sha256(all), .images = all.size()};

  const fs::path directory = run.out;
  make_output_directory(directory, run.force);
  std::once_flag begun;
  const auto begin = [&] {
    remove_old_run(directory);
    write_file(directory / "job.toml", run.job_text);
  };
  if (!holds_run(directory)) std::call_once(begun, begin);

  const InterruptScope scope;
  MnistResult result;
  {
    // The common start counts as a point of its own.
    Progress progress(progress_style(run.quiet), static_cast<std::int64_t>(options.targets.size()) + 1,
                      mnist_epochs(options));
    MnistHooks hooks;
    hooks.interrupted = interrupted;
    hooks.epoch = [&](Index point, const EpochReport& epoch, double leakage) {
      progress.epoch_done(
          {.point = point + 1,
           .epoch = epoch.epoch,
           .label = point < 0 ? std::string("common start") : fmt::format("point {}", point + 1),
           .distortion = epoch.mean.distortion,
           .leakage_nats = leakage});
      if (point < 0 && epoch.epoch == epoch.epochs) progress.point_done(0);
    };
    hooks.finished = [&](const MnistPoint& point) {
      std::call_once(begun, begin);
      save_model(directory / model_name(static_cast<int>(point.plan) + 1), point_model(point, known));
      progress.point_done(point.plan + 1);
    };
    result = run_mnist(data, options, hooks);
  }
  known.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (result.points.empty()) {
    if (result.interrupted) {
      say("ppan: interrupted before a point was finished; nothing to keep\n");
      return interrupt_status();
    }
    throw Error(ErrorCode::kDiverged, "no point of the curve could be trained",
                "try a smaller train.learning_rate");
  }
  if (!run.quiet) {
    for (const MnistPoint& point : result.points) {
      for (const std::string& text : warnings_of(point, result))
        say("warning: point {}: {}\n", point.plan + 1, text);
    }
  }
  write_run(result, known);

  const CurveTable curve = curve_table(result);
  const TerminalStyle style{.unit = run.job.privacy.bits ? InformationUnit::kBits : InformationUnit::kNats};
  write_stdout(plot_text(curve, style) + "\n" + table_text(curve, style) + "\n" +
               fmt::format("report: {}\n", (directory / "report.html").string()));
  if (result.interrupted) {
    say("ppan: interrupted; {} of {} points are in {}\n", result.points.size(), result.targets.size(),
        run.out);
    return interrupt_status();
  }
  return 0;
}

}  // namespace ppan::cli
