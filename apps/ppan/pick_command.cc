#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ppan/audit/leakage_measures.h"
#include "ppan/command_line.h"
#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_signature.h"
#include "ppan/output.h"
#include "ppan/trade_off/pick.h"

namespace ppan::cli {
namespace {

struct PickOptions {
  std::string run;
  std::optional<double> leakage;
  std::optional<double> budget;
  std::optional<int> point;
  std::optional<double> task_loss;
  std::optional<std::string> measure;
  std::optional<double> at_most;
  std::optional<double> at_least;
  std::string output;
  std::string sign;
  bool cautious = true;
  bool found = false;
  bool least_distortion = false;
  bool accept_inconclusive = false;
  bool force = false;
  InformationUnit unit = InformationUnit::kNats;
};

// The limit of a measure lies on the side of it that is worse.
double measure_limit(const PickOptions& options) {
  ProblemList problems;
  if (!options.measure) {
    problems.require(!options.at_most && !options.at_least, "--at-most", "goes with --measure NAME");
  } else {
    const bool worse = more_is_worse(*options.measure);
    problems.require(worse ? options.at_most && !options.at_least : options.at_least && !options.at_most,
                     "--measure",
                     fmt::format("{} needs {} X", *options.measure, worse ? "--at-most" : "--at-least"));
  }
  require_none(problems.take(), "this point cannot be picked");
  return options.at_most.value_or(options.at_least.value_or(0));
}

// As the library calls a field: "task_loss" is typed --task-loss.
std::string option_name(std::string field) {
  std::replace(field.begin(), field.end(), '_', '-');
  return field == "choice" ? "pick" : "--" + field;
}

Choice choice_of(const PickOptions& options) {
  Choice choice{.budget = options.budget,
                .point = options.point,
                .task_loss = options.task_loss,
                .measure = options.measure,
                .measure_limit = measure_limit(options),
                .least_distortion = options.least_distortion,
                .found = options.found,
                .accept_inconclusive = options.accept_inconclusive};
  const double nats = options.unit == InformationUnit::kBits ? std::numbers::ln2 : 1.0;
  if (options.leakage) choice.leakage = *options.leakage * nats;
  Problems problems = choice.check();
  for (Problem& problem : problems) problem.field = option_name(problem.field);
  require_none(problems, "this point cannot be picked");
  return choice;
}

int run_pick(const PickOptions& options) {
  const Choice choice = choice_of(options);
  if (!options.force && std::filesystem::exists(options.output))
    throw Error(ErrorCode::kUsage, options.output + " exists", "give another -o, or --force to replace it");
  std::vector<NamedPath> inputs{{"run", std::filesystem::path(options.run) / "curve.csv"},
                                {"--sign", options.sign}};
  for (const std::string& file : candidates_of(options.run, choice).files)
    inputs.push_back({"run", std::filesystem::path(options.run) / file});
  require_distinct(inputs, std::array{NamedPath{"-o", options.output}});
  std::optional<SigningKey> key;
  if (!options.sign.empty()) key.emplace(options.sign);
  const Picked picked = pick(options.run, choice, options.unit);
  std::visit([&](const auto& model) { save_model(options.output, model, key ? &*key : nullptr); },
             picked.model);
  write_stdout(fmt::format("{}: {}\n", options.output, to_text(picked, options.unit)));
  return 0;
}

}  // namespace

void add_pick_command(CommandLine& line) {
  const auto options = std::make_shared<PickOptions>();
  CLI::App* command = line.app.add_subcommand("pick", "Save the model of one point of a finished curve");
  command->footer(
      R"(Any point of the completed curve can be picked: where no trained point serves it, the model is a mixture
of two, which releases each row by one or the other at random. A point is judged by the upper end of its
audit, which includes leaks that the audit could have missed.
Examples:
  ppan pick run --leakage 0.05 -o model.ppan
  ppan pick run --leakage 0.05 --found -o model.ppan
  ppan pick run --budget 0.12 -o model.ppan
  ppan pick run --task-loss 0.02 -o model.ppan
  ppan pick run --measure bayes-vulnerability --at-most 0.4 -o model.ppan
  ppan pick run --point 7 -o model.ppan
  ppan pick run --leakage 0.05 -o model.ppan --sign key.pem)");
  option(*command, "run", options->run, "RUN", "Directory that 'ppan curve' wrote")->required();
  option(*command, "--leakage", options->leakage, "X",
         "At most this leakage, in --unit: the least distortion; in a run with a task, among the points "
         "that serve the task as well as the best");
  option(*command, "--budget", options->budget, "X", "The least leakage at a distortion of at most this");
  option(*command, "--task-loss", options->task_loss, "X",
         "The least leakage at which a recipient loses at most this of AUC, accuracy or R2");
  option(*command, "--measure", options->measure, "NAME",
         "As --leakage, by this measure: a column of curve.csv such as bayes-vulnerability, limited by "
         "--at-most");
  option(*command, "--at-most", options->at_most, "X", "Limit of --measure, in its own unit");
  option(*command, "--at-least", options->at_least, "X", "The same for bayes-security, where more is better");
  option(*command, "--point", options->point, "N", "A trained point, by its number");
  option(*command, "-o,--output", options->output, "FILE", "Model file to write")->required();
  command->add_flag("--found", options->found,
                    "Judge every point by what was found, not by the upper end of its audit");
  command->add_flag("--least-distortion", options->least_distortion,
                    "With --leakage or --measure: the least distortion, whatever the task loss");
  command->add_flag("--accept-inconclusive", options->accept_inconclusive,
                    "Include points whose audit was inconclusive: more rows would have found more");
  command->add_flag("--cautious", options->cautious, "The default; kept for older scripts")->group("");
  option(*command, "--sign", options->sign, "KEY",
         "Sign the model with this private key (Ed25519, PEM, no passphrase)");
  command->add_flag("--force", options->force, "Replace an existing file");
  add_unit_option(*command, options->unit);
  command->callback([options, &line] { line.run = [options] { return run_pick(*options); }; });
}

}  // namespace ppan::cli
