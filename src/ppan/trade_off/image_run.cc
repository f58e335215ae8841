#include "ppan/trade_off/image_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/core/hull.h"
#include "ppan/core/random.h"
#include "ppan/core/thresholds.h"
#include "ppan/image/image_files.h"
#include "ppan/image/image_subset.h"
#include "ppan/image/image_training.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_file.h"
#include "ppan/read/png.h"
#include "ppan/report/claims.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/details.h"
#include "ppan/report/html.h"
#include "ppan/report/image_grid.h"
#include "ppan/report/run_summary.h"
#include "ppan/trade_off/image_figures.h"
#include "ppan/trade_off/image_rows.h"
#include "ppan/trade_off/table_run.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMade = "found by new attackers on held-out images while the curve was made";
// Mini-batches that a training of usual length goes through; where the settings were found, those of MNIST.
constexpr double kUsualSteps = 6000;
constexpr double kUsualStartSteps = 3600;
// Price of a code where a task is kept. A code that is to tell of the task grows long, and a long one hides
// from its adversary what new attackers find (docs/decisions/0007-images.md).
constexpr double kTaskCodeWeight = 0.01;
// Of the way from the images themselves to their mean.
constexpr double kFirstBudget = 0.2;
constexpr double kLastBudget = 0.9;

// Passes over `images` that make so many steps.
int passes(double steps, Index images, Index batch, int least, int most) {
  const double per_pass = std::max(1.0, static_cast<double>(images) / static_cast<double>(batch));
  return std::clamp(static_cast<int>(std::ceil(steps / per_pass)), least, most);
}

/// What a run knows beside its result.
struct Known {
  const CurveRun& run;
  const ImageSplit& data;
  Index images = 0;
};

ModelOrigin origin_of(const Known& known) {
  const JobFile& job = known.run.job;
  ModelOrigin out{.program = "ppan " + known.run.version, .title = job.title};
  out.seed = job.image.curve.seed;
  out.training_rows = known.data.train.size();
  out.test_rows = known.data.test.size();
  out.data_fingerprint = known.run.data_fingerprint;
  out.settings = given_settings(job);
  return out;
}

std::string useful_text(const ImageSet& train, const CodeImageOptions& code) {
  if (!code.keeps_task()) return "the image";
  const std::string task = fmt::format("what predicts '{}'", train.task.name);
  return code.task_budget ? task : "the image, and " + task;
}

RunSummary make_run_summary(const ImageCurveResult& result, const Known& known) {
  const JobFile& job = known.run.job;
  const ImageSet& train = known.data.train;
  const std::string source = fs::path(job.image.images).filename().string();
  RunSummary out = start_run_summary(known.run, source);
  out.description = fmt::format(
      "Release mechanisms for the images of {}, each trained to reveal as little about the label as possible "
      "at "
      "its "
      "distortion, and attacked afterwards on images it never saw.",
      source);
  out.hidden = fmt::format("the label, one of {}", train.classes);
  out.observed = "the image";
  out.useful = useful_text(train, result.given.code);
  summarize_images(result, out);
  const CodeImageOptions& code = result.given.code;
  out.facts = {{"images", fmt::format("{} of {} x {} pixels", known.images, train.height, train.width)},
               {"training images", std::to_string(result.train_images)},
               {"held-out images", std::to_string(result.test_images)},
               {"mechanism", fmt::format("noisy code of {} numbers within ±{:g}", code.code, code.radius)},
               {"epochs", fmt::format("{} after {} without the adversary", image_epochs(result.given),
                                      code.start_epochs)},
               {"distortion of the images themselves", fmt::format("{:.5f}", result.unchanged_distortion)},
               {"distortion of the mean image", fmt::format("{:.5f}", result.constant_distortion)}};
  if (!train.task.empty())
    out.facts.emplace_back("task", fmt::format("{}, one of {}; the mechanism does not see it",
                                               train.task.name, train.task.classes));
  if (!known.run.data_fingerprint.empty())
    out.facts.emplace_back("fingerprint of images and labels", known.run.data_fingerprint);
  out.claimed = claims::of_images();
  out.not_claimed = claims::not_of_images();
  return out;
}

void write_run(const ImageCurveResult& result, const Known& known, const fs::path& directory) {
  save_image_models(directory, result, known.data.train, origin_of(known));
  RunDetails details;
  for (const ImagePoint& point : result.points) {
    PointDetails one{.series = kImageSeries, .number = static_cast<int>(point.plan) + 1};
    one.audits.push_back(image_audit_detail(point, "label", kMade));
    details.points.push_back(std::move(one));
  }
  // Images of the job's own are shown only to those who asked for it.
  if (known.run.job.show_examples) {
    const ImageGrid grid = image_grid_of(known.data.test, result, result.given.seed);
    write_file(directory / "images.svg",
               grid_svg(grid.image, "Released images", grid.row_names, "d: mean distortion, nats per pixel"));
    details.images = {{"Released images: originals in the top row, then a row for each point", "images.svg",
                       "Grid of released images"}};
  }
  write_file(directory / "metrics.jsonl", image_metrics(result));
  write_file(directory / "details.json", to_json(details));
  write_file(directory / "summary.json", to_json(make_run_summary(result, known)));
  write_file(directory / "curve.csv", to_csv(image_curve_table(result)));
  write_report(directory);
}

}  // namespace

namespace {

// Where the labels of the task are: a file of their own, or the table of the labels.
fs::path task_path(const JobFile& job) {
  return job.directory / (job.image.task_labels.empty() ? job.image.labels : job.image.task_labels);
}

// Before anything is read: a job that names several files that are not there is told so once.
void require_task_files(const JobFile& job) {
  ProblemList absent;
  std::error_code ignored;
  const bool there = fs::exists(task_path(job), ignored);
  for (const auto& [key, path] : {std::pair("data.images", job.directory / job.image.images),
                                  std::pair("data.labels", job.directory / job.image.labels),
                                  std::pair("data.task_labels", task_path(job))})
    absent.require(there || fs::exists(path, ignored), key, fmt::format("there is no {}", path.string()));
  require_none(absent.take(), "the files of this job do not exist", ErrorCode::kBadInput);
}

}  // namespace

ImageSet load_images(const JobFile& job) {
  const fs::path images = job.directory / job.image.images;
  const fs::path labels = job.directory / job.image.labels;
  std::error_code ignored;
  if (!job.image.task_labels.empty()) require_task_files(job);
  if (!fs::exists(images, ignored))
    throw Error(ErrorCode::kIo, fmt::format("there is no {}", images.string()),
                "name the images with data.images, relative to the job file");
  ImageSet set = fs::is_directory(images, ignored)
                     ? read_labelled_png_directory(images, labels, job.image.columns)
                     : read_idx_pair(images, labels);
  if (job.image.has_task())
    read_task(set, task_path(job), {.file = job.image.columns.file, .label = job.image.task_column});
  return set;
}

namespace {

// A score needs images of two classes in both parts.
void require_task(const ImageSplit& data) {
  if (data.train.task.empty()) return;
  constexpr Index kLeastOfClass = 5;
  for (const ImageSet* part : {&data.train, &data.test}) {
    std::vector<Index> count(static_cast<std::size_t>(part->task.classes), 0);
    for (const std::int32_t code : part->task.code) ++count[static_cast<std::size_t>(code)];
    if (std::ranges::count_if(count, [](Index n) { return n >= kLeastOfClass; }) >= 2) continue;
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("the images to {} on have fewer than two classes of the task '{}' with {} images each",
                    part == &data.train ? "train" : "measure", part->task.name, kLeastOfClass),
        "give more images of the rare classes, or another task");
  }
}

}  // namespace

ImageSplit split_images(const ImageSet& set, const JobFile& job) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(set.size()));
  std::iota(order.begin(), order.end(), 0);
  SeededRandom random = SeededRandom(job.image.curve.seed).fork("split");
  shuffle(random, order);
  const auto held_out =
      static_cast<std::ptrdiff_t>(std::lround(job.image.test * static_cast<double>(set.size())));
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
  require_task(out);
  for (const std::int32_t label : out.test.labels) {
    if (count[static_cast<std::size_t>(label)] == 0)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("no image of class '{}' is among those to train on",
                              set.class_names[static_cast<std::size_t>(label)]),
                  "give more images of it, or remove the class");
  }
  return out;
}

ImageCurveOptions image_options(const ImageJob& job, const ImageSplit& data) {
  ImageCurveOptions out = job.curve;
  const Index images = data.train.size();
  CodeImageOptions& code = out.code;
  code.decoder.assign(code.encoder.rbegin(), code.encoder.rend());
  if (job.code_size) code.code = *job.code_size;
  code.batch = std::min(code.batch, images);
  if (job.has_task()) {
    code.task_budget = job.usefulness == Usefulness::kTask;
    if (job.usefulness == Usefulness::kBoth) code.task_weight = job.task_weight;
    if (code.keeps_task()) code.code_weight = kTaskCodeWeight;
  }
  if (job.curve.epochs) {
    code.epochs = *job.curve.epochs;
    code.start_epochs = std::max(1, static_cast<int>(std::lround(0.6 * static_cast<double>(code.epochs))));
  } else {
    code.epochs = passes(kUsualSteps, images, code.batch, code.epochs, 2000);
    code.start_epochs = passes(kUsualStartSteps, images, code.batch, code.start_epochs, 1200);
  }
  out.epochs = code.epochs;

  out.attack = attack_for(images, data.train.height * data.train.width, job.quick);
  constexpr Index kLeastForBound = 100;
  if (data.test.size() < kLeastForBound) out.bound_images = 0;

  if (out.targets.empty()) {
    const Matrix<float>& y = data.test.pixels;
    const Eigen::RowVectorXf mean = data.train.pixels.colwise().mean();
    double least = pixel_cross_entropy(y, y).mean();
    double most = pixel_cross_entropy(y, mean.replicate(y.rows(), 1)).mean();
    if (code.task_budget) {  // from all that can be known about the task to nothing
      least = 0;
      most = empirical_entropy(data.train.task.code, data.train.task.classes);
    }
    for (int i = 0; i < job.points; ++i) {
      const double along = job.points == 1 ? 0.5 : static_cast<double>(i) / (job.points - 1);
      out.targets.push_back(least + (most - least) * (kFirstBudget + along * (kLastBudget - kFirstBudget)));
    }
  }
  return out;
}

namespace {

class ImageCurveTask final : public CurveTask {
 public:
  ImageCurveTask(CurveRun run, CurveEvents events) : run_(std::move(run)), events_(std::move(events)) {
    const ImageSet all = load_images(run_.job);
    images_ = all.size();
    data_ = split_images(all, run_.job);
    options_ = image_options(run_.job.image, data_);
    require_none(options_.check(), "this job cannot be run");
    identify_data(run_, images_sha256(all));
    hooks_.interrupted = events_.interrupted;
    hooks_.epoch = [this](Index point, const EpochReport& epoch, double leakage) {
      const int number = static_cast<int>(point) + 1;
      if (events_.epoch) events_.epoch({number, image_metrics(number, epoch, leakage, options_)});
      if (events_.finished && number == 0 && epoch.epoch == epoch.epochs) events_.finished(0);
    };
    hooks_.finished = [this](const ImagePoint& point) { finished(point); };
  }

  [[nodiscard]] const CurveRun& run() const override { return run_; }
  [[nodiscard]] const std::vector<std::string>& notices() const override { return notices_; }
  [[nodiscard]] int threads() const override { return options_.threads; }
  [[nodiscard]] int planned() const override { return static_cast<int>(image_targets(options_).size()); }
  [[nodiscard]] int epochs() const override { return image_epochs(options_); }
  [[nodiscard]] bool start_counts() const override { return true; }
  [[nodiscard]] Domain& domain() override {
    if (!domain_) domain_.emplace(data_, options_, hooks_, run_.fingerprint);
    return *domain_;
  }

  [[nodiscard]] CurveOutcome write(const Pieces& pieces, const fs::path& directory, double seconds) override {
    run_.seconds = seconds;
    static_cast<void>(domain());
    const ImageCurveResult result = domain_->finish(pieces);
    CurveOutcome out{
        image_curve_table(result), {}, static_cast<int>(result.points.size()), result.interrupted, {}};
    for (const ImagePoint& point : result.points) {
      for (const std::string& text : image_warnings(point, result))
        out.warnings.push_back(fmt::format("point {}: {}", point.plan + 1, text));
      const Estimate& found = point.measure.attack.strongest().leakage;
      const Interval interval = found.interval95.value_or(Interval{found.nats, found.nats});
      out.points.push_back({static_cast<int>(point.plan) + 1, point.measure.distortion, interval,
                            interval.high, point.measure.attack.still_rising});
    }
    if (!result.points.empty()) {
      write_run(result, {run_, data_, images_}, directory);
    } else if (!result.interrupted) {
      throw Error(ErrorCode::kDiverged, "no point of the curve could be trained",
                  "try a smaller train.learning_rate");
    }
    return out;
  }

 private:
  void finished(const ImagePoint& point) {
    const int number = static_cast<int>(point.plan) + 1;
    if (events_.place) {
      const fs::path place = events_.place(number);
      if (!place.empty())
        save_model(place / model_name(number),
                   image_point_model(point, options_, data_.train, origin_of({run_, data_, images_})));
    }
    if (events_.finished) events_.finished(number);
  }

  CurveRun run_;
  CurveEvents events_;
  ImageSplit data_;
  Index images_ = 0;
  ImageCurveOptions options_;
  ImageCurveHooks hooks_;
  std::vector<std::string> notices_;
  std::optional<ImageDomain> domain_;
};

}  // namespace

std::unique_ptr<CurveTask> make_image_task(CurveRun run, CurveEvents events) {
  return std::make_unique<ImageCurveTask>(std::move(run), std::move(events));
}

}  // namespace ppan
