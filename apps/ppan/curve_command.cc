#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/engine/engine.h"
#include "ppan/interrupt.h"
#include "ppan/output.h"
#include "ppan/progress.h"
#include "ppan/read/job.h"
#include "ppan/row_progress.h"
#include "ppan/report/terminal.h"
#include "ppan/trade_off/curve_task.h"
#include "ppan/trade_off/run_directory.h"
#include "ppan/trade_off/run_files.h"

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
  bool resume = false;
  bool prepare = false;
  bool finish = false;
  std::vector<std::string> only;
  bool quiet = false;

  /// Whether a part of the work is asked for, to be gone on with by others.
  [[nodiscard]] bool in_parts() const { return prepare || finish || !only.empty(); }
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
    inputs.push_back({"data.source", relative_file_of(job.source, job.directory)});
    return inputs;
  }
  inputs.push_back({"data.images", job.directory / job.images.images});
  inputs.push_back({"data.labels", job.directory / job.images.labels});
  return inputs;
}

std::string limit_text(const CurveOutcome& outcome, std::optional<double> limit) {
  const LimitPoint* point = limit ? first_within_limit(outcome.points, *limit) : nullptr;
  if (point == nullptr) return {};
  return fmt::format(
      "within the limit of {:g} nats at the least distortion: point {}, distortion {:.4f}, leakage's 95 % "
      "interval {:.4f} to {:.4f} nats, up to {:.4f} with what the audit may have missed\n",
      *limit, point->number, point->distortion, point->leakage.low, point->leakage.high, point->upper_end);
}

// "3", "5-7" or "references" as names of pieces.
void add_pieces(const std::string& text, const Domain& domain, std::vector<std::string>& names) {
  const auto refuse = [&] {
    throw Error(ErrorCode::kUsage,
                fmt::format("--only {}: the curve has points 1 to {}, and references", text, domain.planned()),
                "for example --only 3, --only 5-7 or --only references");
  };
  const auto add = [&](std::vector<std::string> more) { names.insert(names.end(), more.begin(), more.end()); };
  if (text == "references") return add(domain.reference_pieces());
  const std::size_t dash = text.find('-');
  const auto number = [&](std::string_view part) {
    int value = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), value);
    if (read.ec != std::errc() || read.ptr != part.data() + part.size() || value < 1 || value > domain.planned())
      refuse();
    return value;
  };
  const int first = number(std::string_view(text).substr(0, dash));
  const int last = dash == std::string::npos ? first : number(std::string_view(text).substr(dash + 1));
  if (last < first) refuse();
  for (int point = first; point <= last; ++point) add(domain.point_pieces(point));
}

// What is to be made; empty: everything.
std::vector<std::string> wanted_pieces(const CurveOptions& options, const Domain& domain) {
  std::vector<std::string> names;
  if (options.prepare) names = domain.start_pieces();
  for (const std::string& text : options.only) add_pieces(text, domain, names);
  return names;
}

// Points are trained by others; what is missing of them is not begun here.
void require_points(const Domain& domain, Store& store) {
  std::vector<int> missing;
  for (int point = 1; point <= domain.planned(); ++point) {
    const std::vector<std::string> pieces = domain.point_pieces(point);
    if (!std::all_of(pieces.begin(), pieces.end(), [&](const std::string& name) { return store.get(name); }))
      missing.push_back(point);
  }
  if (missing.empty()) return;
  throw Error(ErrorCode::kUsage, fmt::format("points are missing: {}", fmt::join(missing, ", ")),
              fmt::format("make them with --only {}, or give --resume instead of --finish", fmt::join(missing, ",")));
}

RunMode mode_of(const CurveOptions& options) {
  if (options.force) return RunMode::kForce;
  return options.resume || options.in_parts() ? RunMode::kResume : RunMode::kNew;
}

// A run between its beginning and its end, with what is shown of it.
class CurveCommand {
 public:
  CurveCommand(const CurveOptions& options, CurveRun run)
      : options_(options), task_(make_curve_task(std::move(run), events())) {}

  int run() {
    RunDirectory directory(options_.out, mode_of(options_), task_->run().fingerprint, task_->run().job_text);
    directory_ = &directory;
    if (directory.finished()) {
      if (!options_.quiet) say("ppan: the run in {} is finished\n", options_.out);
      return 0;
    }
    if (!options_.quiet && !options_.in_parts()) {
      for (const std::string& notice : task_->notices()) say("{}\n", notice);
    }
    const InterruptScope scope;
    const int starts = task_->start_counts() ? 1 : 0;
    progress_.emplace(progress_style(options_.quiet), task_->planned() + starts, task_->epochs());
    Domain& domain = task_->domain();
    if (options_.finish) require_points(domain, directory.store());
    EngineResult made;
    try {
      made = make_pieces(domain, &directory.store(),
                         {task_->threads(), wanted_pieces(options_, domain), interrupted});
    } catch (const Error&) {
      progress_.reset();
      if (!directory.store().gone()) throw;
      directory.keep();
      say("ppan: another process has finished the run in {}\n", options_.out);
      return 0;
    }
    progress_.reset();
    directory.metrics().close();
    if (!options_.in_parts() || options_.finish) return finish(directory, made.pieces);
    directory.keep();
    if (!made.interrupted) return 0;
    say("ppan: interrupted; what is finished is in {}\n", options_.out);
    return interrupt_status();
  }

 private:
  CurveEvents events() {
    CurveEvents events;
    events.interrupted = interrupted;
    events.phase = [this](const std::string& phase) {
      if (progress_) progress_->note(phase);
    };
    events.epoch = [this](const CurveEpoch& epoch) {
      if (epoch.point > 0) directory_->metrics().add(epoch.line);
      progress_->epoch_done({.point = place_of(epoch.point),
                             .epoch = epoch.line.epoch,
                             .label = epoch.point > 0 ? fmt::format("point {}", epoch.point) : "common start",
                             .distortion = *epoch.line.distortion,
                             .leakage_nats = *epoch.line.leakage});
    };
    events.place = [this](int /*point*/) {
      directory_->begin();
      directory_->keep();
      return directory_->path();
    };
    events.finished = [this](int point) { progress_->point_done(place_of(point)); };
    return events;
  }
  [[nodiscard]] int place_of(int point) const { return point - (task_->start_counts() ? 0 : 1); }

  int finish(RunDirectory& directory, const Pieces& pieces) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    // What training itself wrote stays; a model that is saved twice is the same file.
    const CurveOutcome outcome = task_->write(pieces, directory.path(), seconds);
    if (!options_.quiet) {
      for (const std::string& text : outcome.warnings) say("warning: {}\n", text);
    }
    if (outcome.finished == 0) {
      say("ppan: interrupted before a point was finished; nothing to keep\n");
      return interrupt_status();
    }
    directory.keep();
    const JobFile& job = task_->run().job;
    const TerminalStyle style{.unit = job.privacy.bits ? InformationUnit::kBits : InformationUnit::kNats};
    write_stdout(plot_text(outcome.curve, style) + "\n" + table_text(without_references(outcome.curve), style) + "\n" +
                 limit_text(outcome, job.audit.limit) +
                 fmt::format("report: {}\n", (directory.path() / "report.html").string()));
    if (outcome.interrupted) {
      say("ppan: interrupted; {} of {} points are in {}; --resume goes on\n", outcome.finished, task_->planned(),
          options_.out);
      return interrupt_status();
    }
    directory.complete();
    if (job.audit.limit && first_within_limit(outcome.points, *job.audit.limit) == nullptr) {
      say("ppan: no trained point is shown to keep the limit of {:g} nats\n", *job.audit.limit);
      return exit_status(ErrorCode::kLimitExceeded);
    }
    return 0;
  }

  const CurveOptions& options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  RunDirectory* directory_ = nullptr;
  std::optional<Progress> progress_;
  std::unique_ptr<CurveTask> task_;
};

int run_curve(const CurveOptions& options) {
  CurveRun run;
  run.job = job_of(options);
  run.job_text = read_file(options.job);
  run.command = options.command;
  run.version = PPAN_VERSION;
  protect_inputs(options.out, inputs_of(options.job, run.job));
  return CurveCommand(options, std::move(run)).run();
}

}  // namespace

void add_curve_command(CommandLine& line) {
  const auto options = std::make_shared<CurveOptions>();
  CLI::App* command =
      line.app.add_subcommand("curve", "Train and measure the trade-off curve of a table or of images");
  command->footer(
      "Trains a mechanism for each point, attacks each on records it never saw, and writes curve.csv, "
      "models,\n"
      "figures and a report. Ctrl-C keeps the points that are finished, and --resume goes on with the others.\n"
      "In parts: --prepare once, --only for every point (at the same time, in any order, on any machine that\n"
      "sees DIR), --finish last. The result is the same.\n"
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
  const auto part = [&](const char* name, bool& flag, const char* text) {
    return command->add_flag(name, flag, text);
  };
  part("--resume", options->resume, "Go on with a run that was cut off, or begin it")->excludes("--force");
  part("--prepare", options->prepare, "Only what comes before the points")->excludes("--force");
  command->add_option("--only", options->only, "Only these points: 3, 5-7, or references; several, with commas")
      ->type_name("POINTS")
      ->delimiter(',')
      ->excludes("--force")
      ->default_str("");
  part("--finish", options->finish, "Only the files of a run whose points are trained")
      ->excludes("--force")
      ->excludes("--only")
      ->excludes("--prepare");
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
