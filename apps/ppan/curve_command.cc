#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/image_curve.h"
#include "ppan/interrupt.h"
#include "ppan/output.h"
#include "ppan/progress.h"
#include "ppan/read/job.h"
#include "ppan/report/html.h"
#include "ppan/report/terminal.h"
#include "ppan/table/table_curve.h"
#include "ppan/trade_off/dataset.h"
#include "ppan/trade_off/run_files.h"
#include "ppan/trade_off/table_run.h"

namespace ppan::cli {
namespace {

struct CurveOptions {
  std::string job;
  std::string out;
  std::optional<int> points;
  std::optional<int> epochs;
  std::optional<std::int64_t> seed;
  std::optional<int> threads;
  std::vector<std::string> set;
  bool force = false;
  bool quiet = false;
  std::uint64_t max_unpacked = kMostUnpackedInMemory;
  std::string command;
};

// The job with what the command line says instead.
JobFile job_of(const CurveOptions& options) {
  JobFile job = load_job(options.job);
  for (const std::string& assignment : options.set) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos)
      throw Error(ErrorCode::kUsage, fmt::format("--set {} is not KEY=VALUE", assignment));
    set_job_value(job, assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  const auto set = [&](const char* key, const auto& value) {
    if (value) set_job_value(job, key, fmt::to_string(*value));
  };
  set("privacy.points", options.points);
  set("train.epochs", options.epochs);
  set("train.seed", options.seed);
  set("train.threads", options.threads);
  if (options.points && !job.privacy.budgets.empty())
    throw Error(ErrorCode::kUsage, "--points goes with budgets that are spread automatically",
                "remove privacy.budgets from the job, or --points");
  job.csv.limits.unpacked_bytes = options.max_unpacked;
  require_none(job.check(), "this job cannot be run");
  return job;
}

std::vector<NamedPath> inputs_of(const std::string& path, const JobFile& job) {
  std::vector<NamedPath> inputs{{"job", path}};
  if (!job.about_images()) {
    inputs.push_back({"data.source", job.source_path()});
    return inputs;
  }
  inputs.push_back({"data.images", job.directory / job.images.images});
  inputs.push_back({"data.labels", job.directory / job.images.labels});
  return inputs;
}

// metrics.jsonl, written as training goes on, so that a run that is cut off has its past.
class Metrics {
 public:
  /// Lines that came before are kept until now.
  void open(const std::filesystem::path& path) {
    const std::scoped_lock lock(mutex_);
    path_ = path;
    file_.open(path, std::ios::binary);
    file_ << waiting_;
    check();
  }
  void add(const MetricsLine& line) {
    const std::scoped_lock lock(mutex_);
    if (!file_) return;
    if (!file_.is_open()) {
      waiting_ += to_json_line(line);
      return;
    }
    file_ << to_json_line(line);
    if (!file_) error_ = errno;  // told at the end: points that are trained are not thrown away for it
  }
  void close() {
    if (!file_.is_open()) return;
    file_.close();
    check();
  }

 private:
  void check() {
    if (file_ && error_ == 0) return;
    throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", path_.string(),
                                            std::strerror(error_ != 0 ? error_ : errno)));
  }

  std::filesystem::path path_;
  std::mutex mutex_;
  std::ofstream file_;
  std::string waiting_;
  int error_ = 0;
};

int epochs_of(const TableCurveOptions& options, std::int64_t rows) {
  if (options.training.epochs) return *options.training.epochs;
  const auto training = static_cast<double>(rows) * (1 - options.validation - options.test);
  const Index count = std::max<Index>(1, static_cast<Index>(training));
  if (options.training.family == MechanismFamily::kCodebook) return codebook_epochs(count, options.codebook);
  if (options.training.family == MechanismFamily::kHeads) return heads_epochs(count, options.heads);
  return epochs_for(count, options.training.batch);
}

std::string limit_text(const TableCurveResult& result, std::optional<double> limit) {
  if (!limit) return {};
  const TablePoint* point = first_within_limit(result, *limit);
  if (point == nullptr) return {};
  const Interval& found = *point->measured.audit.leakage().interval95;
  return fmt::format(
      "within the limit of {:g} nats at the least distortion: point {}, distortion {:.4f}, leakage's 95 % "
      "interval "
      "{:.4f} to {:.4f} nats, up to {:.4f} with what the audit may have missed\n",
      *limit, point->number, point->measured.change.distortion, found.low, found.high,
      point->measured.audit.upper_end());
}

int run_curve(const CurveOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CurveRun run;
  run.job = job_of(options);
  run.job_text = read_file(options.job);
  run.command = options.command;
  run.version = PPAN_VERSION;
  protect_inputs(options.out, inputs_of(options.job, run.job));
  if (run.job.about_images()) {
    return run_image_curve({.job = run.job,
                            .job_text = run.job_text,
                            .command = run.command,
                            .version = run.version,
                            .out = options.out,
                            .force = options.force,
                            .quiet = options.quiet});
  }
  const Dataset data = open_dataset(run.job);
  run.names = data.names;
  run.data_sha256 = data.sha256;
  const TableCurveOptions curve_options = table_curve_options(run.job);
  require_none(curve_options.check(), "this job cannot be run");

  const std::filesystem::path directory = options.out;
  make_output_directory(directory, options.force);
  if (!options.quiet) {
    for (const std::string& notice : data.notices) say("{}\n", notice);
  }

  const double entropy = hidden_entropy(*data.table, data.schema);
  Metrics metrics;
  // An earlier run stays until this one has something to put in its place.
  std::once_flag begun;
  const auto begin = [&] {
    remove_old_run(directory);
    write_file(directory / "job.toml", run.job_text);
    metrics.open(directory / "metrics.jsonl");
  };
  if (!holds_run(directory)) std::call_once(begun, begin);
  const InterruptScope scope;
  TableCurveResult result;
  {
    Progress progress(progress_style(options.quiet), planned_points(curve_options),
                      epochs_of(curve_options, data.table->rows));
    TableCurveHooks hooks;
    hooks.interrupted = interrupted;
    hooks.phase = [&](const std::string& phase) {
      if (!phase.starts_with("point")) progress.note(phase);
    };
    hooks.epoch = [&](int point, const EpochReport& epoch) {
      if (point < 1) return;
      const MetricsLine line = metrics_of(point, epoch, entropy);
      metrics.add(line);
      progress.epoch_done({.point = point - 1,
                           .epoch = epoch.epoch,
                           .label = fmt::format("point {}", point),
                           .distortion = *line.distortion,
                           .leakage_nats = *line.leakage});
    };
    hooks.finished = [&](const TablePoint& point) {
      std::call_once(begun, begin);
      TablePoint bounded = point;
      add_surrogate_slack(bounded.measured, run.job.privacy.surrogate_slack);
      save_model(directory / model_name(point.number), point_model(bounded, run));
      progress.point_done(point.number - 1);
    };
    result = table_curve(*data.table, data.schema, encoding_options(run.job), curve_options, hooks);
  }
  metrics.close();
  add_surrogate_slack(result, run.job.privacy.surrogate_slack);
  for (std::string& text : grouped_columns(result)) result.warnings.push_back(std::move(text));
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!options.quiet) {
    for (const std::string& text : result.warnings) say("warning: {}\n", text);
  }
  if (result.points.empty()) {
    if (result.interrupted) {
      say("ppan: interrupted before a point was finished; nothing to keep\n");
      return interrupt_status();
    }
    throw Error(ErrorCode::kDiverged, "no point of the curve could be trained",
                "try a smaller train.learning_rate, or other columns");
  }
  // What training itself wrote stays; a model that is saved twice is the same file.
  write_table_run(directory, result, *data.table, run);

  const CurveTable curve = curve_of(result);
  const TerminalStyle style{.unit = run.job.privacy.bits ? InformationUnit::kBits : InformationUnit::kNats};
  write_stdout(plot_text(curve, style) + "\n" + table_text(curve, style) + "\n" +
               limit_text(result, run.job.audit.limit) +
               fmt::format("report: {}\n", (directory / "report.html").string()));
  if (result.interrupted) {
    say("ppan: interrupted; {} of {} points are in {}\n", result.points.size(), result.planned,
        directory.string());
    return interrupt_status();
  }
  if (run.job.audit.limit && !first_within_limit(result, *run.job.audit.limit)) {
    say("ppan: no trained point is shown to keep the limit of {:g} nats\n", *run.job.audit.limit);
    return exit_status(ErrorCode::kLimitExceeded);
  }
  return 0;
}

}  // namespace

void add_curve_command(CommandLine& line) {
  const auto options = std::make_shared<CurveOptions>();
  CLI::App* command =
      line.app.add_subcommand("curve", "Train and measure the trade-off curve of a table or of images");
  command->footer(
      "Trains a mechanism for each point, attacks each on records it never saw, and writes curve.csv, "
      "models,\n"
      "figures and a report. Ctrl-C keeps the points that are finished.\n"
      "Examples:\n"
      "  ppan curve job.toml --out run\n"
      "  ppan curve job.toml --out run --points 6 --epochs 10 --set audit.quick=true");
  command->add_option("job", options->job, "Job file; 'ppan init' drafts one")
      ->required()
      ->type_name("JOB")
      ->default_str("");
  command->add_option("--out", options->out, "Directory to write to")
      ->required()
      ->type_name("DIR")
      ->default_str("");
  command->add_option("--points", options->points, "Points of the curve, instead of privacy.points")
      ->type_name("N");
  command->add_option("--epochs", options->epochs, "Epochs of each point, instead of train.epochs")
      ->type_name("N");
  command->add_option("--seed", options->seed, "Instead of train.seed")->type_name("N");
  command->add_option("--threads", options->threads, "Instead of train.threads; changes no number")
      ->type_name("N");
  command->add_option("--set", options->set, "Another setting of the job, several times")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->default_str("");
  add_unpacked_option(*command, options->max_unpacked);
  command->add_flag("--force", options->force, "Write into a directory that is not empty");
  command->add_flag("--quiet", options->quiet, "No progress and no notices");
  command->callback([options, &line] {
    options->command = fmt::format("ppan curve {} --out {}", options->job, options->out);
    const auto add = [&](const char* name, const auto& value) {
      if (value) options->command += fmt::format(" {} {}", name, *value);
    };
    add("--points", options->points);
    add("--epochs", options->epochs);
    add("--seed", options->seed);
    for (const std::string& assignment : options->set) options->command += " --set " + assignment;
    line.run = [options] { return run_curve(*options); };
  });
}

}  // namespace ppan::cli
