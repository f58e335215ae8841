#include "ppan/trade_off/curve_task.h"

#include <fmt/format.h>

#include <utility>

#include "ppan/core/archive.h"
#include "ppan/core/crypto.h"
#include "ppan/job/job_archive.h"
#include "ppan/trade_off/data_fingerprint.h"
#include "ppan/trade_off/image_run.h"
#include "ppan/trade_off/table_run.h"

namespace ppan {

std::string fingerprint_of(const JobFile& job, const std::string& data_sha256, const std::string& version) {
  JobFile asked = job;
  asked.table.curve.threads = 0;
  asked.image.curve.threads = 0;
  asked.given.erase("train.threads");
  std::string text = fmt::format("ppan {}\n{}\n{}\n", version, data_sha256, write_job(asked));
  // Defaults are comments in a job file, and may be others in another version.
  for (const ShownSetting& setting : shown_settings(asked))
    text += fmt::format("{} = {}\n", setting.key, setting.value);
  // A program may have put into the options what no key stands for.
  ByteWriter options;
  if (asked.about_images()) {
    options(asked.image.curve.code, asked.image.curve.bound_images);
  } else {
    options(curve_options(asked.table));
  }
  text += options.take();
  return sha256(text);
}

RunSummary start_run_summary(const CurveRun& run, const std::string& source) {
  RunSummary out;
  out.version = run.version;
  out.command = run.command;
  out.name = run.job.title.empty() ? source : run.job.title;
  out.job_file = without_comments(run.job_text);
  out.seconds = run.seconds;
  for (const ShownSetting& setting : shown_settings(run.job)) {
    out.settings.push_back(
        {setting.key, setting.given ? std::optional(setting.value) : std::nullopt, setting.value});
  }
  return out;
}

const LimitPoint* first_within_limit(const std::vector<LimitPoint>& points, double limit) {
  const LimitPoint* first = nullptr;
  for (const LimitPoint& point : points) {
    if (point.inconclusive || point.upper_end > limit) continue;
    if (first == nullptr || point.distortion < first->distortion) first = &point;
  }
  return first;
}

std::unique_ptr<CurveTask> make_curve_task(CurveRun run, CurveEvents events) {
  if (run.job.about_images()) return make_image_task(std::move(run), std::move(events));
  return make_table_task(std::move(run), std::move(events));
}

void identify_data(CurveRun& run, const std::string& data_sha256) {
  const std::string& key = run.job.fingerprint_key;
  run.data_sha256 = data_sha256;
  run.data_fingerprint = data_fingerprint(key.empty() ? "" : run.job.directory / key, data_sha256);
  run.fingerprint = fingerprint_of(run.job, data_sha256, run.version);
}

std::string limit_text(const CurveOutcome& outcome, std::optional<double> limit) {
  const LimitPoint* point = limit ? first_within_limit(outcome.points, *limit) : nullptr;
  if (point == nullptr) return {};
  return fmt::format(
      "within the limit of {:g} nats at the least distortion: point {}, distortion {:.4f}, leakage's 95 % "
      "interval {:.4f} to {:.4f} nats, up to {:.4f} with what the audit may have missed\n",
      *limit, point->number, point->distortion, point->leakage.low, point->leakage.high, point->upper_end);
}

}  // namespace ppan
