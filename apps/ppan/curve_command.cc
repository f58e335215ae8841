#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/engine/engine.h"
#include "ppan/interrupt.h"
#include "ppan/output.h"
#include "ppan/progress.h"
#include "ppan/report/terminal.h"
#include "ppan/trade_off/curve_request.h"
#include "ppan/trade_off/curve_task.h"
#include "ppan/trade_off/run_directory.h"

namespace ppan::cli {
namespace {

struct CurveOptions : CurveRequest {
  bool quiet = false;
};

// A run between its beginning and its end, with what is shown of it.
class CurveCommand {
 public:
  CurveCommand(const CurveOptions& options, CurveRun run)
      : options_(options), task_(make_curve_task(std::move(run), events())) {}

  int run() {
    RunDirectory directory(options_.out, options_.mode(), task_->run().fingerprint, task_->run().job_text);
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
      const auto steps = [this](std::size_t done, std::size_t all) { progress_->steps_done(done, all); };
      made = make_pieces(domain, &directory.store(),
                         {task_->threads(), wanted_pieces(options_, domain), interrupted, steps});
    } catch (const Error&) {
      progress_.reset();
      if (!directory.store().removed()) throw;
      directory.keep();
      say("ppan: another process has finished the run in {}\n", options_.out);
      return 0;
    }
    progress_.reset();
    directory.metrics().close();
    if (!options_.in_parts() || options_.finish) return finish(directory, made.pieces);
    directory.keep();
    if (!made.interrupted) return 0;
    say("ppan: interrupted; finished work is in {}\n", options_.out);
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
      say("ppan: interrupted before a point was finished; nothing was kept\n");
      return interrupt_status();
    }
    directory.keep();
    const JobFile& job = task_->run().job;
    const TerminalStyle style{.unit = job.bits ? InformationUnit::kBits : InformationUnit::kNats};
    write_stdout(plot_text(outcome.curve, style) + "\n" +
                 table_text(without_references(outcome.curve), style) + "\n" +
                 limit_text(outcome, job.limit) +
                 fmt::format("report: {}\n", (directory.path() / "report.html").string()));
    if (outcome.interrupted) {
      say("ppan: interrupted; {} of {} points are in {}; --resume continues\n", outcome.finished,
          task_->planned(), options_.out);
      return interrupt_status();
    }
    directory.complete();
    if (job.limit && first_within_limit(outcome.points, *job.limit) == nullptr) {
      say("ppan: no trained point is shown to be within the limit of {:g} nats\n", *job.limit);
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
  return CurveCommand(options, read_curve_run(options, PPAN_VERSION)).run();
}

}  // namespace

void add_curve_command(CommandLine& line) {
  const auto options = std::make_shared<CurveOptions>();
  CLI::App* command =
      line.app.add_subcommand("curve", "Train and measure the trade-off curve of a table or of images");
  command->footer(
      R"(Trains a mechanism for each point, attacks each on records it never saw, and writes curve.csv, models,
figures and a report. Ctrl-C keeps the finished points, and --resume trains the others.
To split the work: --prepare once, --only for every point (at the same time, in any order, on any machine
that sees DIR), --finish last. The result is the same.
Examples:
  ppan curve job.toml --out run
  ppan curve job.toml --out run --points 6 --epochs 10 --set audit.quick=true)");
  option(*command, "job", options->job, "JOB", "Job file; 'ppan init' drafts one")->required();
  option(*command, "--out", options->out, "DIR", "Directory to write to")->required();
  option(*command, "--points", options->points, "N", "Points of the curve, instead of privacy.points");
  option(*command, "--epochs", options->epochs, "N", "Epochs of each point, instead of train.epochs");
  option(*command, "--seed", options->seed, "N", "Instead of train.seed");
  option(*command, "--threads", options->threads, "N", "Instead of train.threads; does not affect results");
  option(*command, "--set", options->set, "KEY=VALUE", "Override a setting of the job; may be repeated")
      ->allow_extra_args(false);
  add_unpacked_option(*command, options->max_unpacked);
  command->add_flag("--force", options->force, "Write into a directory that is not empty");
  const auto part = [&](const char* name, bool& flag, const char* text) {
    return command->add_flag(name, flag, text);
  };
  part("--resume", options->resume, "Resume an interrupted run, or start it")->excludes("--force");
  part("--prepare", options->prepare, "Only the work that all points share")->excludes("--force");
  option(*command, "--only", options->only, "POINTS",
         "Only these points: 3, 5-7 or references, separated by commas")
      ->delimiter(',')
      ->excludes("--force");
  part("--finish", options->finish, "Only write the files of a run whose points are trained")
      ->excludes("--force")
      ->excludes("--only")
      ->excludes("--prepare");
  command->add_flag("--quiet", options->quiet, "No progress and no notices");
  command->callback([options, &line] { line.run = [options] { return run_curve(*options); }; });
}

}  // namespace ppan::cli
