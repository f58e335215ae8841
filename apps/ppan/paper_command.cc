#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/interrupt.h"
#include "ppan/output.h"
#include "ppan/paper/mnist_run.h"
#include "ppan/paper/request.h"
#include "ppan/paper/settings.h"
#include "ppan/paper/study.h"
#include "ppan/paper/study_files.h"
#include "ppan/progress.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/terminal.h"

namespace ppan::cli {
namespace {

// The curve on standard output: drawn where that is a terminal.
void show_curve(const CurveTable& curve, InformationUnit unit) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  TerminalStyle style{.width = 110, .unicode = terminal, .colour = terminal, .unit = unit};
  winsize size{};
  if (terminal) style.width = TerminalStyle{}.width;
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = size.ws_col;
  write_stdout((terminal ? plot_text(curve, style) + "\n" : std::string()) + table_text(curve, style));
}

// Shows training and attacks; place 0 is the start that all points of the noisy code share.
ImageCurveHooks mnist_hooks(const ImageCurveOptions& options, Progress& progress) {
  ImageCurveHooks hooks;
  hooks.interrupted = interrupted;
  const bool paper = options.method == ImageMethod::kPaper;
  if (paper) progress.point_done(0);
  hooks.epoch = [&progress, paper, targets = image_targets(options)](Index i, const EpochReport& report,
                                                                     double leakage) {
    const std::string label =
        i < 0 ? std::string("autoencoder")
              : fmt::format("{} {:.4g}", paper ? "lambda" : "budget", targets[static_cast<std::size_t>(i)]);
    progress.epoch_done({.point = i + 1,
                         .epoch = report.epoch,
                         .label = label,
                         .distortion = report.mean.distortion,
                         .leakage_nats = leakage});
    if (i < 0 && report.epoch == report.epochs) progress.point_done(0);
  };
  hooks.attacking = [&progress](Index i) {
    progress.note(fmt::format("point {} is trained; attacking it", i + 1));
  };
  hooks.finished = [&progress](const ImagePoint& p) {
    progress.point_done(p.plan + 1);
    const ImageAttackerScore& best = p.measure.attack.strongest();
    progress.note(fmt::format(
        "point {}: distortion {:.4f}, at least {:.3f} nats ({}; accuracy {:.1f} %), training believed {:.3f}",
        p.plan + 1, p.measure.distortion, best.leakage.nats, best.name, 100 * best.accuracy.value,
        p.measure.belief));
  };
  return hooks;
}

int run_mnist(const PaperRequest& options) {
  MnistTask task(mnist_request(options), PPAN_VERSION);
  const InterruptScope interrupt_scope;
  MnistOutcome outcome;
  {
    Progress progress(progress_style(options.quiet),
                      1 + static_cast<std::int64_t>(image_targets(task.options()).size()),
                      image_epochs(task.options()));
    outcome = task.run(mnist_hooks(task.options(), progress));
  }
  if (outcome.was_finished) {
    if (!options.quiet) say("ppan: the run in {} is finished\n", options.out);
    return 0;
  }
  show_curve(outcome.curve, options.unit);
  if (!options.quiet) say("{} of {} points in {}\n", outcome.finished, outcome.planned, options.out);
  if (outcome.interrupted) {
    say("ppan: interrupted; finished points were kept, --resume continues\n");
    return interrupt_status();
  }
  return outcome.diverged ? exit_status(ErrorCode::kDiverged) : 0;
}

int finish(const PaperRequest& options, const Study& study) {
  show_curve(write_study(study, options.out, options.command(), PPAN_VERSION), options.unit);
  const std::size_t finished = study.finished();
  if (!options.quiet) {
    for (const std::string& text : study_warnings(study)) say("warning: {}\n", text);
    say("{} of {} points in {}{}\n", finished, study_points(study.given), options.out,
        finished == 0 ? "" : ": curve.csv, summary.json, metrics.jsonl, curve.svg, report.html");
  }
  if (study.interrupted) {
    say("ppan: interrupted; finished points were kept\n");
    return interrupt_status();
  }
  return study.diverged() ? exit_status(ErrorCode::kDiverged) : 0;
}

Study run_with_progress(const PaperRequest& options, const StudyOptions& given) {
  const std::vector<PlannedPoint> plan = planned_points(given.experiment);
  std::int64_t most_epochs = 1;
  for (const SeriesSettings& s : settings_of(given.experiment).series)
    most_epochs = std::max<std::int64_t>(most_epochs, s.train.epochs);
  Progress progress(progress_style(options.quiet), study_points(given), most_epochs);
  ExperimentHooks hooks;
  hooks.interrupted = [] { return interrupted(); };
  hooks.epoch = [&](Index i, const EpochReport& report, double leakage) {
    const PlannedPoint& p = plan[static_cast<std::size_t>(i) % plan.size()];
    progress.epoch_done({.point = i,
                         .epoch = report.epoch,
                         .label = fmt::format("{} {:.3g}", p.series.substr(p.series.find('/') + 1),
                                              p.weight > 0 ? p.weight : p.budget),
                         .distortion = report.mean.distortion,
                         .leakage_nats = leakage});
  };
  hooks.finished = [&](Index i, const ExperimentPoint&) { progress.point_done(i); };
  return run_study(given, hooks);
}

int run_paper(const PaperRequest& options) {
  if (options.list) {
    write_stdout(experiment_list(options.verbose));
    return 0;
  }
  if (options.name == "mnist") return run_mnist(options);
  if (options.name.empty()) {
    throw Error(ErrorCode::kUsage, "no experiment named", "'ppan paper --list' shows all experiments");
  }
  RequestProblems problems;
  check_request(options, problems);
  const StudyOptions study_given = study_options(options, problems);
  for (const Problem& p : study_given.check()) problems.require(false, p.field, p.what);
  problems.require(!options.out.empty(), "out", "no output directory given; add --out DIR");
  problems.require_none("the experiment cannot be run:");
  std::error_code ignored;
  const bool fresh = !std::filesystem::exists(options.out, ignored);
  make_output_directory(options.out, options.force);
  const InterruptScope interrupt_scope;
  try {
    return finish(options, run_with_progress(options, study_given));
  } catch (...) {
    // Only if it is empty: what a failure left unfinished is in the way of the next run.
    if (fresh) std::filesystem::remove(options.out, ignored);
    throw;
  }
}

void add_world_options(CLI::App& command, PaperRequest& o) {
  command.option_defaults()->group("Worlds (symmetric-pair, gaussian, finite)");
  option(command, "--m", o.m, "M", "Symbols of X and of Y (symmetric-pair; default 10)");
  option(command, "--p", o.p, "P", "Probability that X and Y differ (symmetric-pair; default 0.4)");
  option(command, "--rho", o.rho, "A,B,..",
         "Correlation of each of independent pairs (gaussian; default 0.85)");
  option(command, "--covariance", o.covariance, "FILE",
         "Covariance of (X,Y) as CSV without header, X first (gaussian)");
  option(command, "--sensitive", o.sensitive, "N", "Number of its rows that belong to X (default half)");
  option(command, "--pmf", o.pmf, "FILE", "CSV with columns x, y, w, probability; without w, W = Y (finite)");
  option(command, "--distortion", o.distortion, "FILE",
         "'error', 'squared', or d(y,z) as CSV without header, a row per y (finite)");
  option(command, "--released", o.released, "N",
         "Symbols of Z where usefulness is information (default: as many as W has)");
  option(command, "--observation", o.observation, "NAME,..",
         "useful-only, full-data, noisy, partial, rate-distortion, bottleneck, funnel, given")
      ->delimiter(',');
  option(command, "--flip", o.flip, "P", "noisy: probability that another symbol is seen (default 0.1)");
  option(command, "--noise", o.noise, "V", "noisy: variance of the noise on each component (default 0.1)");
  option(command, "--erase", o.erase, "P", "partial: probability that nothing is seen (default 0.2)");
  option(command, "--seen", o.seen, "I,J,..", "partial: components of Y that are seen, from 1 (default 1)");
}

void add_training_options(CLI::App& command, PaperRequest& o) {
  command.option_defaults()->group("Loss and training");
  option(command, "--budget", o.budget, "A,B,..",
         "Distortion budgets, a point each, instead of evenly spread ones");
  option(command, "--lambda", o.lambda, "A,B,..",
         "Weights of the distortion, a point each, instead of budgets");
  add_choice(command, "--mechanism", o.mechanism, mechanism_names(), "Another family of mechanisms");
  add_choice(command, "--budget-form", o.budget_form, {"record", "record-mean", "expected", "dual"},
             "How the budget enters the loss");
  option(command, "--weight", o.weight, "W", "Weight of the budget's penalty");
  option(command, "--alpha", o.alpha, "A",
         "Order of the adversary's loss and of the leakage, 1 to inf (finite worlds)");
  option(command, "--epochs", o.epochs, "N", "Passes over the training data");
  option(command, "--batch", o.batch, "N", "Records of a mini-batch");
  option(command, "--rate", o.rate, "R", "Learning rate");
  option(command, "--adversary-steps", o.adversary_steps, "N", "Adversary updates per mechanism update");
  option(command, "--hidden", o.hidden, "A,B,..", "Units of the mechanism's hidden layers, or none");
  option(command, "--adversary-hidden", o.adversary_hidden, "A,B,..", "The same for the adversary");
  option(command, "--draws", o.draws, "N", "Releases of each record in a step, k");
  option(command, "--noise-inputs", o.noise_inputs, "N", "Noise inputs of a noise-input mechanism");
  option(command, "--components", o.components, "N", "Components of a mixture");
  add_choice(command, "--covariances", o.covariances, {"full", "diagonal"},
             "Of a gaussian mechanism (default full) or a mixture's components (default diagonal)");
  option(command, "--train", o.train, "N,..", "Training records; several numbers give a curve for each");
  option(command, "--test", o.test, "N", "Fresh records to score on (not for finite worlds)");
  option(command, "--seeds", o.seeds, "N", "Repeat with this many seeds; means and spreads are shown");
}

void add_image_options(CLI::App& command, MnistPaperOptions& mnist) {
  command.option_defaults()->group("Images (mnist)");
  option(command, "--data", mnist.data, "DIR", "Directory with the four IDX files of MNIST");
  option(command, "--gamma", mnist.gamma, "G", "Weight of the discriminator: 0 or 2 in the paper");
  option(command, "--beta1", mnist.beta1, "B",
         "Adam's beta1 (default 0.9 as printed, with a discriminator 0.5; paper)");
  option(command, "--attack-epochs", mnist.attack_epochs, "N", "Passes of the fresh attackers (default 8)");
  option(command, "--digit", mnist.digit, "INDEX",
         "Test image of the panels, from 0 (default: the first that is changed)");
  command.add_flag("--resume", mnist.resume, "Resume an interrupted run in --out");
}

}  // namespace

void add_paper_command(CommandLine& line) {
  const auto options = std::make_shared<PaperRequest>();
  CLI::App* command = line.app.add_subcommand("paper", "Run an experiment of the paper next to its optimum");
  command->footer(R"(Examples:
  ppan paper --list
  ppan paper scalar-gaussian --out run
  ppan paper discrete --preset paper --points 10 --out run-paper
  ppan paper discrete --points 6 --seeds 5 --train 250,1000,4000 --out run-sizes
  ppan paper symmetric-pair --m 4 --p 0.2 --observation useful-only,noisy --flip 0.1 --out run-pair
  ppan paper finite --pmf pmf.csv --observation given --budget 0.05,0.1 --out run-finite
  ppan paper vector-gaussian --mechanism noisy-code --out run-code
  ppan paper mnist --data mnist --preset paper --gamma 2 --epochs 12 --out run-mnist)");
  option(*command, "experiment", options->name, "NAME", "Its name; --list shows them");
  command->add_flag("--list", options->list, "Describe every experiment");
  command->add_flag("--verbose", options->verbose,
                    "With --list: where --preset paper differs from the paper");
  option(*command, "--out", options->out, "DIR", "Directory for the results");
  add_choice(*command, "--preset", options->preset, {"paper", "best"},
             "The paper's settings, or those that came closest to the optimum");
  option(*command, "--points", options->points, "N", "Operating points of each series (default 20)");
  option(*command, "--seed", options->seed, "S", "Fixes data, initial weights and noise");
  option(*command, "--threads", options->threads, "N", "0: one per core; does not affect results");
  command->add_flag("--force", options->force, "Write into a directory that is not empty");
  command->add_flag("--quiet", options->quiet, "No progress on stderr");
  add_unit_option(*command, options->unit);
  add_world_options(*command, *options);
  add_training_options(*command, *options);
  add_image_options(*command, options->mnist);
  command->callback([options, command, &line] {
    for (const CLI::Option* option :
         command->get_options([](const CLI::Option* o) { return o->count() > 0; }))
      options->given.push_back(option->get_single_name());
    line.run = [options] { return run_paper(*options); };
  });
}

}  // namespace ppan::cli
