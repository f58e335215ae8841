#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include "ppan/command_line.h"
#include "ppan/core/crypto.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/engine/engine.h"
#include "ppan/interrupt.h"
#include "ppan/output.h"
#include "ppan/image/image_curve.h"
#include "ppan/paper/mnist_run.h"
#include "ppan/paper/request.h"
#include "ppan/paper/settings.h"
#include "ppan/paper/study.h"
#include "ppan/paper/study_files.h"
#include "ppan/progress.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/terminal.h"
#include "ppan/read/idx.h"
#include "ppan/trade_off/run_directory.h"

namespace ppan::cli {
namespace {

// The curve on standard output: drawn where that is a terminal.
void show_curve(const CurveTable& curve, InformationUnit unit) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  TerminalStyle style{.width = 110, .unicode = terminal, .colour = terminal, .unit = unit};
  winsize size{};
  if (terminal) style.width = TerminalStyle{}.width;
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
  write_stdout((terminal ? plot_text(curve, style) + "\n" : std::string()) + table_text(curve, style));
}

ImageCurveHooks mnist_hooks(const ImageCurveOptions& options, Progress& progress, RunDirectory& directory) {
  ImageCurveHooks hooks;
  hooks.interrupted = interrupted;
  const bool paper = options.method == ImageMethod::kPaper;
  const std::vector<double> targets = image_targets(options);
  if (paper) progress.point_done(0);  // no common start
  hooks.epoch = [&progress, paper, targets](Index i, const EpochReport& report, double leakage) {
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
  hooks.finished = [&progress, &directory](const ImagePoint& p) {
    directory.keep();
    progress.point_done(p.plan + 1);
    const ImageAttackerScore& best = p.measure.attack.strongest();
    progress.note(fmt::format(
        "point {}: distortion {:.4f}, at least {:.3f} nats ({}; accuracy {:.1f} %), training believed {:.3f}",
        p.plan + 1, p.measure.distortion, best.leakage.nats, best.name, 100 * best.accuracy.value, p.measure.belief));
  };
  return hooks;
}

// The experiment on images, resumable.
int run_mnist(const MnistPaperOptions& given) {
  const ImageCurveOptions options = mnist_options(given);
  Problems problems = options.check();
  if (given.out.empty()) problems.push_back({"out", "no output directory given; add --out DIR"});
  if (given.data.empty()) {
    problems.push_back(
        {"data", "no directory with the images given; script/fetch-mnist DIR fetches them, then add --data DIR"});
  }
  require_none(problems, "the experiment cannot be run:");
  const ImageSplit data = read_mnist_directory(given.data);
  if (given.digit && (*given.digit < 0 || *given.digit >= data.test.size())) {
    throw Error(ErrorCode::kUsage, fmt::format("digit: {} is not allowed; it must lie between 0 and {}",
                                               *given.digit, data.test.size() - 1));
  }
  MnistRun run{.version = PPAN_VERSION, .training = image_fingerprint(options, data)};
  run.fingerprint = sha256(fmt::format("ppan {}\n{}", run.version, run.training));
  if (given.resume && !std::filesystem::is_directory(given.out)) {
    throw Error(ErrorCode::kUsage, fmt::format("{} holds no run to resume", given.out),
                "leave --resume out, or name the directory of the run that was interrupted");
  }
  RunDirectory directory(given.out,
                         given.resume  ? RunMode::kResume
                         : given.force ? RunMode::kForce
                                       : RunMode::kNew,
                         run.fingerprint, {});
  if (directory.finished()) {
    if (!given.quiet) say("ppan: the run in {} is finished\n", given.out);
    return 0;
  }
  const InterruptScope interrupt_scope;
  const auto start = std::chrono::steady_clock::now();
  ImageCurveResult result;
  {
    Progress progress(progress_style(given.quiet), 1 + static_cast<std::int64_t>(image_targets(options).size()),
                      image_epochs(options));
    const ImageCurveHooks hooks = mnist_hooks(options, progress, directory);
    ImageDomain domain(data, options, hooks, run.fingerprint);
    result = domain.finish(make_pieces(domain, &directory.store(), {options.threads, {}, interrupted}).pieces);
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  directory.begin();
  directory.keep();
  show_curve(write_mnist_run(given, data, result, run), given.unit);
  if (!given.quiet) say("{} of {} points in {}\n", result.points.size(), result.targets.size(), given.out);
  if (result.interrupted) {
    say("ppan: interrupted; finished points were kept, --resume goes on\n");
    return interrupt_status();
  }
  directory.complete();
  const auto diverged = [](const ImagePoint& p) { return p.training.stop == Stop::kDiverged; };
  return std::ranges::any_of(result.points, diverged) ? exit_status(ErrorCode::kDiverged) : 0;
}

int run_images(const PaperRequest& options) {
  ProblemList problems;
  check_request(options, problems);
  MnistPaperOptions mnist = options.mnist;
  const std::vector<Index> train = whole_numbers("train", options.train, problems);
  problems.require(train.size() < 2, "train", "mnist takes one number");
  require_none(problems.take(), "the experiment cannot be run:");
  if (!train.empty()) mnist.train = train.front();
  mnist.lambda = options.lambda;
  mnist.budget = options.budget;
  mnist.out = options.out;
  mnist.preset = options.preset;
  mnist.points = options.points;
  mnist.epochs = options.epochs;
  mnist.seed = options.seed;
  mnist.threads = options.threads;
  mnist.force = options.force;
  mnist.quiet = options.quiet;
  mnist.unit = options.unit;
  return run_mnist(mnist);
}

int finish(const PaperRequest& options, const Study& study) {
  show_curve(write_study(study, options.out, options.command(), PPAN_VERSION), options.unit);
  std::size_t finished = 0;
  bool diverged = false;
  for (const StudyPart& part : study.parts) {
    for (const ExperimentResult& result : part.by_seed) {
      finished += result.points.size();
      for (const ExperimentPoint& point : result.points)
        diverged = diverged || (point.training && point.training->stop == Stop::kDiverged);
    }
  }
  if (!options.quiet) {
    for (const std::string& text : study_warnings(study)) say("warning: {}\n", text);
    say("{} of {} points in {}{}\n", finished, study_points(study.given), options.out,
               finished == 0 ? "" : ": curve.csv, summary.json, metrics.jsonl, curve.svg, report.html");
  }
  if (study.interrupted) {
    say("ppan: interrupted; finished points were kept\n");
    return interrupt_status();
  }
  return diverged ? exit_status(ErrorCode::kDiverged) : 0;
}

int run_paper(const PaperRequest& options) {
  if (options.list) {
    write_stdout(experiment_list(options.verbose));
    return 0;
  }
  if (options.name == "mnist") return run_images(options);
  if (options.name.empty()) {
    throw Error(ErrorCode::kUsage, "no experiment named", "'ppan paper --list' shows what there is");
  }
  ProblemList problems;
  check_request(options, problems);
  const StudyOptions study_given = study_options(options, problems);
  for (const Problem& p : study_given.check()) problems.require(false, p.field, p.what);
  problems.require(!options.out.empty(), "out", "no output directory given; add --out DIR");
  require_none(problems.take(), "the experiment cannot be run:");
  make_output_directory(options.out, options.force);

  const InterruptScope interrupt_scope;
  Study study;
  {
    const std::vector<PlannedPoint> plan = planned_points(study_given.experiment);
    std::int64_t most_epochs = 1;
    for (const SeriesSettings& s : settings_of(study_given.experiment).series)
      most_epochs = std::max<std::int64_t>(most_epochs, s.train.epochs);
    Progress progress(progress_style(options.quiet), study_points(study_given), most_epochs);
    ExperimentHooks hooks;
    hooks.interrupted = [] { return interrupted(); };
    hooks.epoch = [&](Index i, const EpochReport& report, double leakage) {
      const PlannedPoint& p = plan[static_cast<std::size_t>(i) % plan.size()];
      progress.epoch_done(
          {.point = i,
           .epoch = report.epoch,
           .label = fmt::format("{} {:.3g}", p.series.substr(p.series.find('/') + 1), p.budget),
           .distortion = report.mean.distortion,
           .leakage_nats = leakage});
    };
    hooks.finished = [&](Index i, const ExperimentPoint&) { progress.point_done(i); };
    study = run_study(study_given, hooks);
  }
  return finish(options, study);
}

void add_world_options(CLI::App& command, PaperRequest& o) {
  const char* group = "Worlds (symmetric-pair, gaussian, finite)";
  command.add_option("--m", o.m, "Symbols of X and of Y (symmetric-pair; default 10)")
      ->type_name("M")
      ->group(group);
  command.add_option("--p", o.p, "Probability that X and Y differ (symmetric-pair; default 0.4)")
      ->type_name("P")
      ->group(group);
  command.add_option("--rho", o.rho, "Correlation of each of independent pairs (gaussian; default 0.85)")
      ->type_name("A,B,..")
      ->default_str("")
      ->group(group);
  command
      .add_option("--covariance", o.covariance,
                  "Covariance of (X,Y) as CSV without header, X first (gaussian)")
      ->type_name("FILE")
      ->default_str("")
      ->group(group);
  command.add_option("--sensitive", o.sensitive, "How many of its rows are X's (default half)")
      ->type_name("N")
      ->group(group);
  command.add_option("--pmf", o.pmf, "CSV with columns x, y, w, probability; without w, W = Y (finite)")
      ->type_name("FILE")
      ->default_str("")
      ->group(group);
  command
      .add_option("--distortion", o.distortion,
                  "'error', or d(y,z) as CSV without header, a row per y (finite)")
      ->type_name("FILE")
      ->default_str("")
      ->group(group);
  command
      .add_option("--released", o.released,
                  "Symbols of Z where usefulness is information (default: as W has)")
      ->type_name("N")
      ->group(group);
  command
      .add_option("--observation", o.observation,
                  "useful-only, full-data, noisy, partial, rate-distortion, bottleneck, funnel, given")
      ->type_name("NAME,..")
      ->delimiter(',')
      ->default_str("")
      ->group(group);
  command.add_option("--flip", o.flip, "noisy: probability that another symbol is seen (default 0.1)")
      ->type_name("P")
      ->group(group);
  command.add_option("--noise", o.noise, "noisy: variance of the noise on each component (default 0.1)")
      ->type_name("V")
      ->group(group);
  command.add_option("--erase", o.erase, "partial: probability that nothing is seen (default 0.2)")
      ->type_name("P")
      ->group(group);
  command.add_option("--seen", o.seen, "partial: components of Y that are seen, from 1 (default 1)")
      ->type_name("I,J,..")
      ->default_str("")
      ->group(group);
}

void add_training_options(CLI::App& command, PaperRequest& o) {
  const char* group = "Loss and training";
  command.add_option("--budget", o.budget, "Distortion budgets, a point each, instead of evenly spread ones")
      ->type_name("A,B,..")
      ->default_str("")
      ->group(group);
  command.add_option("--lambda", o.lambda, "Weights of the distortion, a point each, instead of budgets")
      ->type_name("A,B,..")
      ->default_str("")
      ->group(group);
  add_choice(command, "--mechanism", o.mechanism, mechanism_names(), "Another family of mechanisms")
      ->group(group);
  add_choice(command, "--budget-form", o.budget_form, {"record", "record-mean", "expected", "dual"},
             "How the budget enters the loss")
      ->group(group);
  command.add_option("--weight", o.weight, "Weight of the budget's penalty")->type_name("W")->group(group);
  command
      .add_option("--alpha", o.alpha,
                  "Order of the adversary's loss and of the leakage, 1 to inf (finite worlds)")
      ->type_name("A")
      ->default_str("")
      ->group(group);
  command.add_option("--epochs", o.epochs, "Passes over the training data")->type_name("N")->group(group);
  command.add_option("--batch", o.batch, "Records of a mini-batch")->type_name("N")->group(group);
  command.add_option("--rate", o.rate, "Learning rate")->type_name("R")->group(group);
  command.add_option("--adversary-steps", o.adversary_steps, "Adversary updates per mechanism update")
      ->type_name("N")
      ->group(group);
  command.add_option("--hidden", o.hidden, "Units of the mechanism's hidden layers, or none")
      ->type_name("A,B,..")
      ->default_str("")
      ->group(group);
  command.add_option("--adversary-hidden", o.adversary_hidden, "The same of the adversary")
      ->type_name("A,B,..")
      ->default_str("")
      ->group(group);
  command.add_option("--draws", o.draws, "Releases of each record in a step, k")
      ->type_name("N")
      ->group(group);
  command.add_option("--noise-inputs", o.noise_inputs, "Noise inputs of a noise-input mechanism")
      ->type_name("N")
      ->group(group);
  command.add_option("--components", o.components, "Components of a mixture")->type_name("N")->group(group);
  command.add_option("--train", o.train, "Training records; several numbers give a curve for each")
      ->type_name("N,..")
      ->default_str("")
      ->group(group);
  command.add_option("--test", o.test, "Fresh records to score on (not for finite worlds)")
      ->type_name("N")
      ->group(group);
  command.add_option("--seeds", o.seeds, "Repeat with this many seeds; means and spreads are shown")
      ->type_name("N")
      ->group(group);
}

void add_image_options(CLI::App& command, MnistPaperOptions& mnist) {
  const char* group = "Images (mnist)";
  command.add_option("--data", mnist.data, "Directory with the four IDX files of MNIST")
      ->type_name("DIR")
      ->default_str("")
      ->group(group);
  command.add_option("--gamma", mnist.gamma, "Weight of the discriminator: 0 or 2 in the paper")
      ->type_name("G")
      ->group(group);
  command
      .add_option("--beta1", mnist.beta1,
                  "Adam's beta1 (default 0.9 as printed, with a discriminator 0.5; paper)")
      ->type_name("B")
      ->group(group);
  command.add_option("--attack-epochs", mnist.attack_epochs, "Passes of the fresh attackers (default 8)")
      ->type_name("N")
      ->group(group);
  command
      .add_option("--digit", mnist.digit,
                  "Test image of the panels, from 0 (default: the first that is changed)")
      ->type_name("INDEX")
      ->group(group);
  command.add_flag("--resume", mnist.resume, "Go on with an interrupted run in --out")->group(group);
}

}  // namespace

void add_paper_command(CommandLine& line) {
  const auto options = std::make_shared<PaperRequest>();
  CLI::App* command = line.app.add_subcommand("paper", "Run an experiment of the paper next to its optimum");
  command->footer(
      "Examples:\n"
      "  ppan paper --list\n"
      "  ppan paper scalar-gaussian --out run\n"
      "  ppan paper discrete --preset paper --points 10 --out run-paper\n"
      "  ppan paper discrete --points 6 --seeds 5 --train 250,1000,4000 --out run-sizes\n"
      "  ppan paper symmetric-pair --m 4 --p 0.2 --observation useful-only,noisy --flip 0.1 --out run-pair\n"
      "  ppan paper finite --pmf pmf.csv --observation given --budget 0.05,0.1 --out run-finite\n"
      "  ppan paper vector-gaussian --mechanism noisy-code --out run-code\n"
      "  ppan paper mnist --data mnist --preset paper --gamma 2 --epochs 12 --out run-mnist");
  command->add_option("experiment", options->name, "Its name; --list shows them")
      ->type_name("NAME")
      ->default_str("");
  command->add_flag("--list", options->list, "Describe every experiment");
  command->add_flag("--verbose", options->verbose,
                    "With --list: where --preset paper departs from the paper");
  command->add_option("--out", options->out, "Directory for the results")->type_name("DIR")->default_str("");
  add_choice(*command, "--preset", options->preset, {"paper", "best"},
             "The paper's settings, or what came nearest the optimum");
  command->add_option("--points", options->points, "Operating points of each series (default 20)")
      ->type_name("N");
  command->add_option("--seed", options->seed, "Fixes data, initial weights and noise")->type_name("S");
  command->add_option("--threads", options->threads, "0: one per core; changes no number")->type_name("N");
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
