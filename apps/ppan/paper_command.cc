#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/interrupt.h"
#include "ppan/mnist_paper.h"
#include "ppan/output.h"
#include "ppan/paper/experiment.h"
#include "ppan/paper/settings.h"
#include "ppan/progress.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/figure.h"
#include "ppan/report/html.h"
#include "ppan/report/run_summary.h"
#include "ppan/report/terminal.h"

namespace ppan::cli {
namespace {

struct PaperOptions {
  std::string name;
  std::string out;
  std::string preset = "best";
  std::optional<int> points;
  std::uint64_t seed = 1;
  std::string mechanism;
  std::string budget_form;
  std::optional<int> epochs;
  int threads = 0;
  bool force = false;
  bool quiet = false;
  bool list = false;
  InformationUnit unit = InformationUnit::kNats;
  MnistPaperOptions mnist;  ///< What only the experiment on pictures takes.
};

// What the page says an experiment is about.
struct Words {
  std::string hidden, observed, useful, distortion_name, distortion_unit;
};

Words words_of(const std::string& name) {
  if (name == "discrete") {
    return {"X, a symbol of 10", "Y alone (useful-only) or X and Y (full-data)",
            "Y, a symbol of 10 that equals X with probability 0.6", "probability of error", ""};
  }
  if (name == "scalar-gaussian") {
    return {"X, a Gaussian number", "Y alone (useful-only) or X and Y (full-data)",
            "Y, a Gaussian number with correlation 0.85 to X", "mean squared error", "variances of Y"};
  }
  if (name == "rate-distortion") {
    return {"X, five Gaussian numbers", "X itself", "X itself: sensitive and useful are the same",
            "mean squared error", "sum over components"};
  }
  if (name.starts_with("bottleneck")) {
    return {"X", "X", "Y, through the information I(Y;Z) that a release keeps about it", "H(Y|Z)", "nats"};
  }
  return {"X, five Gaussian numbers", "Y alone", "Y, five Gaussian numbers with different correlations to X",
          "mean squared error", "sum over components"};
}

ExperimentOptions experiment_options(const PaperOptions& options) {
  ExperimentOptions experiment{.name = options.name,
                               .preset = preset_of(options.preset),
                               .points = options.points,
                               .seed = options.seed,
                               .epochs = options.epochs,
                               .threads = options.threads};
  if (!options.mechanism.empty()) experiment.mechanism = mechanism_kind(options.mechanism);
  if (!options.budget_form.empty()) experiment.budget_form = budget_form(options.budget_form);
  return experiment;
}

std::string layers_text(const std::vector<Index>& hidden) {
  return hidden.empty() ? "none" : fmt::format("{}", fmt::join(hidden, "-"));
}

std::vector<RunSetting> settings_list(const PaperOptions& options, const ExperimentSettings& used) {
  const auto given = [](const auto& value) -> std::optional<std::string> {
    if (!value) return std::nullopt;
    return fmt::format("{}", *value);
  };
  const auto word = [](const std::string& value) -> std::optional<std::string> {
    if (value.empty()) return std::nullopt;
    return value;
  };
  std::vector<RunSetting> list{
      {"preset", options.preset, options.preset},
      {"points", given(options.points), fmt::format("{}", options.points.value_or(20))},
      {"seed", fmt::format("{}", options.seed), fmt::format("{}", options.seed)},
      {"training records", {}, fmt::format("{}", used.train_records)},
      {"test records",
       {},
       used.test_records > 0 ? fmt::format("{}", used.test_records) : "none: scored exactly"},
  };
  if (options.name == "scatter") list[1].used = "1";
  for (const SeriesSettings& series : used.series) {
    const TrainOptions& t = series.train;
    const auto add = [&](const std::string& name, std::optional<std::string> asked, std::string value) {
      list.push_back({fmt::format("{}: {}", series.observation, name), std::move(asked), std::move(value)});
    };
    add("mechanism", word(options.mechanism), std::string(to_string(t.game.mechanism.kind)));
    add("hidden layers", {}, layers_text(t.game.mechanism.hidden));
    add("adversary hidden layers", {}, layers_text(t.game.adversary.hidden));
    add("budget form", word(options.budget_form), std::string(to_string(t.game.budget.form)));
    add("budget weight", {}, fmt::format("{}", t.game.budget.weight));
    add("epochs", given(options.epochs), fmt::format("{}", t.epochs));
    add("batch", {}, fmt::format("{}", t.batch));
    add("adversary steps", {}, fmt::format("{}", t.adversary_steps));
    add("learning rate", {}, fmt::format("{}", t.mechanism_rate.rate));
  }
  return list;
}

CurveRow row_of(const ExperimentPoint& point, int number) {
  CurveRow row;
  row.series = point.series;
  row.budget = point.budget;
  if (point.weight > 0) row.weight = point.weight;
  row.distortion = point.distortion;
  row.optimum = point.optimum;
  if (std::isfinite(point.optimum)) row.excess = point.excess();
  row.set(curve_column::kPoint, number);
  row.set_leakage(point.leakage);
  if (point.ksg) {
    row.set(curve_column::kKsg, point.ksg->nats);
    row.set(curve_column::kKsgLow, point.ksg->interval95->low);
    row.set(curve_column::kKsgHigh, point.ksg->interval95->high);
  }
  if (point.training_distortion) row.set(curve_column::kTrainingDistortion, *point.training_distortion);
  if (point.training_belief) row.set(curve_column::kTrainingBelief, *point.training_belief);
  row.set(curve_column::kStop, point.training ? to_string(point.training->stop) : "solved");
  return row;
}

PointSummary summary_of(const ExperimentPoint& point, int number) {
  PointSummary s;
  s.series = point.series;
  s.number = number;
  s.budget = point.budget;
  if (point.weight > 0) s.weight = point.weight;
  s.distortion = point.distortion;
  s.message = point.message;
  s.stop = point.training ? std::string(to_string(point.training->stop)) : "solved";
  s.seconds = point.seconds;
  s.leakage = point.leakage;
  if (point.ksg) s.estimates.push_back({"nearest neighbours (KSG)", *point.ksg});
  s.training_belief = point.training_belief;
  if (point.training) {
    s.epochs = static_cast<int>(point.training->epochs.size());
    s.iterations = point.training->iterations;
    if (point.training->stop == Stop::kDiverged) s.warnings.push_back(point.training->message);
  }
  return s;
}

// Numbers of the points within their series, from 1, for the whole plan.
class Numbering {
 public:
  int next(const std::string& series) { return ++last_[series]; }

 private:
  std::map<std::string, int> last_;
};

void write_scatter(const ExperimentResult& result, const std::filesystem::path& out) {
  std::vector<ScatterPanel> panels;
  std::string csv = "component,rho,y,x,z\n";
  int component = 0;
  for (const ScatterCloud& cloud : result.scatter) {
    ++component;
    ScatterPanel panel{.title = fmt::format("correlation {}", cloud.rho), .x_label = "useful Y"};
    for (std::size_t i = 0; i < cloud.y.size(); ++i) {
      panel.before.emplace_back(cloud.y[i], cloud.x[i]);
      panel.after.emplace_back(cloud.y[i], cloud.z[i]);
      csv += fmt::format("{},{},{},{},{}\n", component, cloud.rho, cloud.y[i], cloud.x[i], cloud.z[i]);
    }
    panels.push_back(std::move(panel));
  }
  write_file(out / "scatter.csv", csv);
  write_file(out / "scatter.svg",
             to_svg(scatter_figure("Release by component", panels, "sensitive X", "released Z")));
}

// What to type for the same numbers.
std::string command_of(const PaperOptions& options) {
  std::string text =
      fmt::format("ppan paper {} --preset {} --seed {}", options.name, options.preset, options.seed);
  if (options.points) text += fmt::format(" --points {}", *options.points);
  if (!options.mechanism.empty()) text += " --mechanism " + options.mechanism;
  if (!options.budget_form.empty()) text += " --budget-form " + options.budget_form;
  if (options.epochs) text += fmt::format(" --epochs {}", *options.epochs);
  return text;
}

void write_run(const PaperOptions& options, const ExperimentResult& result, double seconds,
               const std::string& description) {
  const std::filesystem::path out = options.out;
  const Words words = words_of(options.name);
  RunSummary summary;
  summary.version = PPAN_VERSION;
  summary.command = command_of(options);
  summary.name = options.name;
  summary.description = description;
  summary.hidden = words.hidden;
  summary.observed = words.observed;
  summary.useful = words.useful;
  summary.distortion_name = words.distortion_name;
  summary.distortion_unit = words.distortion_unit;
  summary.settings = settings_list(options, settings_of(result.given));
  summary.seed = options.seed;
  summary.seconds = seconds;
  summary.status = result.interrupted ? RunStatus::kInterrupted : RunStatus::kComplete;

  CurveTable curve;
  std::string metrics;
  Numbering numbering;
  std::size_t finished = 0;
  for (Index i = 0; i < result.planned; ++i) {
    const PlannedPoint planned = result.plan[static_cast<std::size_t>(i)];
    const int number = numbering.next(planned.series);
    if (finished == result.points.size() || result.points[finished].plan != i) {
      summary.missing.push_back({planned.series, number, planned.budget, "interrupted"});
      continue;
    }
    const ExperimentPoint& point = result.points[finished++];
    curve.rows.push_back(row_of(point, number));
    summary.points.push_back(summary_of(point, number));
    if (!point.training) continue;
    for (const EpochReport& epoch : point.training->epochs) {
      MetricsLine line{.series = point.series, .number = number, .epoch = epoch.epoch};
      line.distortion = epoch.mean.distortion;
      line.leakage = point.sensitive_entropy + epoch.adversary;
      line.loss = epoch.mean.loss();
      line.penalty = epoch.mean.penalty;
      if (point.training->given.game.budget.form == BudgetForm::kDual) line.multiplier = epoch.multiplier;
      metrics += to_json_line(line);
    }
  }
  summary.claimed = {
      "Each point was trained on its own sample and scored on data it never saw, next to the least leakage "
      "that "
      "any mechanism can have at the distortion measured.",
      options.name == "discrete" || options.name == "bottleneck-binary"
          ? "Leakage is exact: computed from the true law and the learned mechanism."
          : "Leakage is the Gaussian estimate, which sees linear dependence only; where it is shown, the "
            "nearest-neighbour estimate (KSG) stands beside it and sees the rest."};
  summary.not_claimed = {
      "What the training adversary believes is no evidence and is shown only beside the measurement.",
      "These are synthetic worlds; a curve here says nothing about other data."};
  write_file(out / "curve.csv", to_csv(curve));
  write_file(out / "metrics.jsonl", metrics);
  write_file(out / "summary.json", to_json(summary));
  if (!result.scatter.empty()) write_scatter(result, out);
  if (!curve.rows.empty()) write_report(out);

  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  TerminalStyle style{.unicode = terminal, .colour = terminal, .unit = options.unit};
  winsize size{};
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = size.ws_col;
  if (!terminal) style.width = 110;
  std::string text;
  if (terminal) text = plot_text(curve, style) + "\n";
  text += table_text(curve, style);
  write_stdout(text);
}

int run_pictures(const PaperOptions& options) {
  if (!options.mechanism.empty() || !options.budget_form.empty()) {
    throw Error(ErrorCode::kUsage, "mnist takes neither --mechanism nor --budget-form",
                "--preset chooses between its two mechanisms");
  }
  MnistPaperOptions mnist = options.mnist;
  mnist.out = options.out;
  mnist.preset = options.preset;
  mnist.points = options.points;
  mnist.epochs = options.epochs;
  mnist.seed = options.seed;
  mnist.threads = options.threads;
  mnist.force = options.force;
  mnist.quiet = options.quiet;
  mnist.unit = options.unit;
  return run_mnist_paper(mnist);
}

int run_paper(const PaperOptions& options) {
  if (options.list) {
    std::string text;
    for (const ExperimentInfo& info : experiments())
      text += fmt::format("{}\n    {}\n", info.name, info.description);
    text += fmt::format("mnist\n    {}\n", kMnistDescription);
    write_stdout(text);
    return 0;
  }
  if (options.name == "mnist") return run_pictures(options);
  const ExperimentOptions experiment = experiment_options(options);
  Problems problems = experiment.check();
  if (options.name.empty()) {
    throw Error(ErrorCode::kUsage, "no experiment named", "'ppan paper --list' shows what there is");
  }
  if (options.out.empty()) problems.push_back({"out", "no output directory given; add --out DIR"});
  require_none(problems, "the experiment cannot be run:");
  make_output_directory(options.out, options.force);

  const InterruptScope interrupt_scope;
  const auto start = std::chrono::steady_clock::now();
  const ExperimentSettings used = settings_of(experiment);
  const std::vector<PlannedPoint> plan = planned_points(experiment);
  ExperimentResult result;
  {
    std::int64_t most_epochs = 1;
    for (const SeriesSettings& s : used.series)
      most_epochs = std::max<std::int64_t>(most_epochs, s.train.epochs);
    Progress progress(progress_style(options.quiet), static_cast<std::int64_t>(plan.size()), most_epochs);
    ExperimentHooks hooks;
    hooks.interrupted = [] { return interrupted(); };
    hooks.epoch = [&](Index i, const EpochReport& report, double leakage) {
      const PlannedPoint& p = plan[static_cast<std::size_t>(i)];
      progress.epoch_done(
          {.point = i,
           .epoch = report.epoch,
           .label = fmt::format("{} {:.3g}", p.series.substr(p.series.find('/') + 1), p.budget),
           .distortion = report.mean.distortion,
           .leakage_nats = leakage});
    };
    hooks.finished = [&](Index i, const ExperimentPoint& point) {
      progress.point_done(i);
      if (point.training && point.training->stop == Stop::kDiverged) {
        progress.note(fmt::format("{} at budget {:.3g}: {}", point.series, point.budget, point.message));
      }
    };
    result = run_experiment(experiment, hooks);
  }
  std::string description;
  for (const ExperimentInfo& info : experiments()) {
    if (info.name == options.name) description = info.description;
  }
  write_run(options, result, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
            description);
  if (!options.quiet) {
    say("{} of {} points in {}{}\n", result.points.size(), result.planned, options.out,
        result.points.empty() ? "" : ": curve.csv, summary.json, metrics.jsonl, curve.svg, report.html");
  }
  if (result.interrupted) {
    say("ppan: interrupted; finished points were kept\n");
    return interrupt_status();
  }
  for (const ExperimentPoint& point : result.points) {
    if (point.training && point.training->stop == Stop::kDiverged) {
      return exit_status(ErrorCode::kDiverged);
    }
  }
  return 0;
}

}  // namespace

void add_paper_command(CommandLine& line) {
  const auto options = std::make_shared<PaperOptions>();
  CLI::App* command = line.app.add_subcommand("paper", "Run an experiment of the paper next to its optimum");
  command->footer(
      "Examples:\n"
      "  ppan paper --list\n"
      "  ppan paper scalar-gaussian --out run\n"
      "  ppan paper discrete --preset paper --points 10 --out run-paper\n"
      "  ppan paper vector-gaussian --mechanism noisy-code --out run-code\n"
      "  ppan paper mnist --data mnist --preset paper --gamma 2 --epochs 12 --out run-mnist");
  command->add_option("experiment", options->name, "Its name; --list shows them")
      ->type_name("NAME")
      ->default_str("");
  command->add_flag("--list", options->list, "Describe every experiment");
  command->add_option("--out", options->out, "Directory for the results")->type_name("DIR")->default_str("");
  add_choice(*command, "--preset", options->preset, {"paper", "best"},
             "The paper's settings, or what came nearest the optimum");
  command->add_option("--points", options->points, "Operating points of each series (default 20)")
      ->type_name("N");
  command->add_option("--seed", options->seed, "Fixes data, initial weights and noise")->type_name("S");
  add_choice(*command, "--mechanism", options->mechanism, mechanism_names(), "Another family of mechanisms");
  add_choice(*command, "--budget-form", options->budget_form, {"record", "expected", "dual"},
             "How the budget enters the loss");
  command->add_option("--epochs", options->epochs, "Passes over the training data")->type_name("N");
  command->add_option("--threads", options->threads, "0: one per core; changes no number")->type_name("N");
  command->add_flag("--force", options->force, "Write into a directory that is not empty");
  command->add_flag("--quiet", options->quiet, "No progress on stderr");
  add_unit_option(*command, options->unit);
  MnistPaperOptions& mnist = options->mnist;
  const char* pictures = "Pictures (mnist)";
  command->add_option("--data", mnist.data, "Directory with the four IDX files of MNIST")
      ->type_name("DIR")
      ->default_str("")
      ->group(pictures);
  command->add_option("--gamma", mnist.gamma, "Weight of the discriminator: 0 or 2 in the paper")
      ->type_name("G")
      ->group(pictures);
  command
      ->add_option("--beta1", mnist.beta1,
                   "Adam's beta1 (default 0.9 as printed, with a discriminator 0.5; paper)")
      ->type_name("B")
      ->group(pictures);
  command->add_option("--lambda", mnist.lambda, "Weights of the distortion, separated by commas (paper)")
      ->type_name("A,B,..")
      ->default_str("")
      ->group(pictures);
  command->add_option("--budget", mnist.budget, "Distortion budgets, separated by commas (best)")
      ->type_name("A,B,..")
      ->default_str("")
      ->group(pictures);
  command->add_option("--train", mnist.train, "Train on the first N pictures (default: all)")
      ->type_name("N")
      ->group(pictures);
  command->add_option("--attack-epochs", mnist.attack_epochs, "Passes of the fresh attackers (default 8)")
      ->type_name("N")
      ->group(pictures);
  command->add_flag("--resume", mnist.resume, "Go on with an interrupted run in --out")->group(pictures);
  command->callback([options, &line] { line.run = [options] { return run_paper(*options); }; });
}

}  // namespace ppan::cli
