#include <fmt/format.h>
#include <fmt/ranges.h>

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
#include "ppan/core/printable.h"
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
  bool accept_inconclusive = false;
  bool force = false;
  InformationUnit unit = InformationUnit::kNats;
};

void check(const PickOptions& options) {
  const int given = int{options.leakage.has_value()} + int{options.budget.has_value()} +
                    int{options.point.has_value()} + int{options.task_loss.has_value()} +
                    int{options.measure.has_value()};
  if (given != 1) {
    throw Error(ErrorCode::kUsage,
                "give exactly one of --leakage, --budget, --point, --task-loss and --measure",
                "'ppan pick --help' says what each means");
  }
  ProblemList problems;
  if (options.leakage) problems.require_between("--leakage", *options.leakage, 0, 1e6);
  if (options.budget) problems.require_between("--budget", *options.budget, 0, 1e6);
  if (options.task_loss) problems.require_between("--task-loss", *options.task_loss, 0, 1e6);
  if (options.measure) {
    const bool worse = more_is_worse(*options.measure);
    problems.require(worse ? options.at_most && !options.at_least : options.at_least && !options.at_most,
                     "--measure",
                     fmt::format("{} needs {} X", *options.measure, worse ? "--at-most" : "--at-least"));
  } else {
    problems.require(!options.at_most && !options.at_least, "--at-most", "goes with --measure NAME");
  }
  require_none(problems.take(), "this point cannot be picked");
  if (!options.force && std::filesystem::exists(options.output))
    throw Error(ErrorCode::kUsage, options.output + " exists", "give another -o, or --force to replace it");
}

std::string leakage_text(const std::optional<Estimate>& leakage, InformationUnit unit) {
  if (!leakage) return "unknown";
  std::string text = fmt::format("{:.4g} {} ({}", from_nats(leakage->nats, unit), to_string(unit),
                                 to_string(leakage->bound));
  if (leakage->interval95) {
    text += fmt::format(", 95 % interval {:.4g} to {:.4g}", from_nats(leakage->interval95->low, unit),
                        from_nats(leakage->interval95->high, unit));
  }
  return text + "; " + leakage->method + ")";
}

int run_pick(const PickOptions& options) {
  check(options);
  Choice choice{.budget = options.budget,
                .point = options.point,
                .task_loss = options.task_loss,
                .measure = options.measure,
                .measure_limit = options.at_most.value_or(options.at_least.value_or(0)),
                .found = options.found,
                .accept_inconclusive = options.accept_inconclusive};
  const double scale = options.unit == InformationUnit::kBits ? std::numbers::ln2 : 1.0;
  if (options.leakage) choice.leakage = *options.leakage * scale;
  std::vector<NamedPath> inputs{{"run", std::filesystem::path(options.run) / "curve.csv"},
                                {"--sign", options.sign}};
  for (const std::string& file : candidates_of(options.run, choice).files)
    inputs.push_back({"run", std::filesystem::path(options.run) / file});
  require_distinct(inputs, std::array{NamedPath{"-o", options.output}});
  std::optional<SigningKey> key;
  if (!options.sign.empty()) key.emplace(options.sign);
  const Picked picked = pick(options.run, choice, options.unit);
  std::visit(
      [&](const auto& model) {
        save_model(options.output, model, key ? &*key : nullptr);
        std::string text = fmt::format("{}: {}; distortion {:.4g}, leakage {}", options.output,
                                       printable(model.origin.label), model.origin.distortion.value_or(0),
                                       leakage_text(model.origin.leakage, options.unit));
        if (!options.found)
          text += fmt::format(", allows for up to {:.4g} {}", from_nats(picked.leakage, options.unit),
                              to_string(options.unit));
        if (!picked.left_out.empty())
          text += fmt::format("; left out as inconclusive: {}", fmt::join(picked.left_out, ", "));
        write_stdout(text + (model.audit ? "\n" : "; UNAUDITED\n"));
      },
      picked.model);
  return 0;
}

}  // namespace

void add_pick_command(CommandLine& line) {
  const auto options = std::make_shared<PickOptions>();
  CLI::App* command = line.app.add_subcommand("pick", "Save the model of one point of a finished curve");
  command->footer(
      "Any point of the completed curve can be picked: where no trained point serves it, the model is a "
      "mixture\n"
      "of two, which releases each row by one or the other at random. A point is judged by the upper end of "
      "what\n"
      "its audit allows for: the 95 % interval, and leaks that the audit would have missed.\n"
      "Examples:\n"
      "  ppan pick run --leakage 0.05 -o model.ppan\n"
      "  ppan pick run --leakage 0.05 --found -o model.ppan\n"
      "  ppan pick run --budget 0.12 -o model.ppan\n"
      "  ppan pick run --task-loss 0.02 -o model.ppan\n"
      "  ppan pick run --measure bayes-vulnerability --at-most 0.4 -o model.ppan\n"
      "  ppan pick run --point 7 -o model.ppan\n"
      "  ppan pick run --leakage 0.05 -o model.ppan --sign key.pem");
  command->add_option("run", options->run, "Directory that 'ppan curve' wrote")
      ->required()
      ->type_name("RUN")
      ->default_str("");
  command
      ->add_option("--leakage", options->leakage, "The least distortion that leaks at most this, in --unit")
      ->type_name("X");
  command->add_option("--budget", options->budget, "The least leakage at a distortion of at most this")
      ->type_name("X");
  command
      ->add_option("--task-loss", options->task_loss,
                   "The least leakage at which a recipient loses at most this of AUC, accuracy or R2")
      ->type_name("X");
  command
      ->add_option(
          "--measure", options->measure,
          "The least distortion at which this measure, a column of curve.csv such as bayes-vulnerability, "
          "keeps within --at-most")
      ->type_name("NAME");
  command->add_option("--at-most", options->at_most, "Limit of --measure, in its own unit")->type_name("X");
  command->add_option("--at-least", options->at_least, "The same for bayes-security, of which more is better")
      ->type_name("X");
  command->add_option("--point", options->point, "A trained point, by its number")->type_name("N");
  command->add_option("-o,--output", options->output, "Model file to write")
      ->required()
      ->type_name("FILE")
      ->default_str("");
  command->add_flag("--found", options->found,
                    "Judge every point by what was found, not by what its audit allows for");
  command->add_flag("--accept-inconclusive", options->accept_inconclusive,
                    "Take points too whose audit would have found more with more rows");
  command->add_flag("--cautious", options->cautious, "The default; kept for older scripts")->group("");
  command
      ->add_option("--sign", options->sign,
                   "Sign the model with this private key (Ed25519, PEM, no passphrase)")
      ->type_name("KEY")
      ->default_str("");
  command->add_flag("--force", options->force, "Replace an existing file");
  add_unit_option(*command, options->unit);
  command->callback([options, &line] { line.run = [options] { return run_pick(*options); }; });
}

}  // namespace ppan::cli
