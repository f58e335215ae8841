#include "ppan/trade_off/image_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/core/random.h"
#include "ppan/image/image_files.h"
#include "ppan/image/image_subset.h"
#include "ppan/image/image_training.h"
#include "ppan/read/idx.h"
#include "ppan/read/png.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;

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

}  // namespace ppan
