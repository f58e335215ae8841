#include "ppan/trade_off/image_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "ppan/core/file.h"
#include "ppan/report/claims.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/details.h"
#include "ppan/report/html.h"
#include "ppan/report/image_grid.h"
#include "ppan/report/run_summary.h"
#include "ppan/trade_off/image_figures.h"
#include "ppan/trade_off/image_rows.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMade = "found by new attackers on held-out images while the curve was made";

std::string useful_text(const ImageSet& train, const CodeImageOptions& code) {
  if (!code.keeps_task()) return "the image";
  const std::string task = fmt::format("what predicts '{}'", train.task.name);
  return code.task_budget ? task : "the image, and " + task;
}

RunSummary make_run_summary(const ImageCurveResult& result, const ImageSplit& data, const CurveRun& run) {
  const JobFile& job = run.job;
  const ImageSet& train = data.train;
  const std::string source = fs::path(job.image.images).filename().string();
  RunSummary out = start_run_summary(run, source);
  out.description = fmt::format(
      "Release mechanisms for the images of {}, each trained to reveal as little about the label as possible "
      "at its "
      "distortion, and attacked afterwards on images it never saw.",
      source);
  out.hidden = fmt::format("the label, one of {}", train.classes);
  out.observed = "the image";
  out.useful = useful_text(train, result.given.code);
  summarize_images(result, out);
  const CodeImageOptions& code = result.given.code;
  out.facts = {{"images", fmt::format("{} of {} x {} pixels", train.size() + data.test.size(), train.height,
                                      train.width)},
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
  if (!run.data_fingerprint.empty())
    out.facts.emplace_back("fingerprint of images and labels", run.data_fingerprint);
  out.claimed = claims::of_images();
  out.not_claimed = claims::not_of_images();
  return out;
}

}  // namespace

ModelOrigin image_origin(const CurveRun& run, const ImageSplit& data) {
  ModelOrigin out{.program = "ppan " + run.version, .title = run.job.title};
  out.seed = run.job.image.curve.seed;
  out.training_rows = data.train.size();
  out.test_rows = data.test.size();
  out.data_fingerprint = run.data_fingerprint;
  out.settings = given_settings(run.job);
  return out;
}

fs::path write_image_run(const fs::path& directory, const ImageCurveResult& result, const ImageSplit& data,
                         const CurveRun& run) {
  save_image_models(directory, result, data.train, image_origin(run, data));
  RunDetails details;
  for (const ImagePoint& point : result.points) {
    PointDetails one{.series = kImageSeries, .number = static_cast<int>(point.plan) + 1};
    one.audits.push_back(image_audit_detail(point, "label", kMade));
    details.points.push_back(std::move(one));
  }
  // Images of the job's own are shown only to those who asked for it.
  if (run.job.show_examples) {
    const ImageGrid grid = image_grid_of(data.test, result, result.given.seed);
    write_file(directory / "images.svg",
               grid_svg(grid.image, "Released images", grid.row_names, "d: mean distortion, nats per pixel"));
    details.images = {{"Released images: originals in the top row, then a row for each point", "images.svg",
                       "Grid of released images"}};
  }
  write_file(directory / "metrics.jsonl", image_metrics(result));
  write_file(directory / "details.json", to_json(details));
  write_file(directory / "summary.json", to_json(make_run_summary(result, data, run)));
  write_file(directory / "curve.csv", to_csv(image_curve_table(result)));
  return write_report(directory);
}

}  // namespace ppan
