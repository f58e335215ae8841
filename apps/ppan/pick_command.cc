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

#include "ppan/command_line.h"
#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/core/printable.h"
#include "ppan/output.h"
#include "ppan/release/image_release_model.h"
#include "ppan/release/model_signature.h"
#include "ppan/report/curve_file.h"
#include "ppan/table/hull.h"

namespace ppan::cli {
namespace {

struct PickOptions {
  std::string run;
  std::optional<double> leakage;
  std::optional<double> budget;
  std::optional<int> point;
  std::string output;
  std::string sign;
  bool cautious = false;
  bool force = false;
  InformationUnit unit = InformationUnit::kNats;
};

/// The points of a run that have a model, as they are on its curve.
struct Candidates {
  std::vector<HullPoint> points;
  std::vector<std::string> files;
  std::vector<int> numbers;  ///< Of the trained points; 0 for the ends.
};

Candidates candidates_of(const std::filesystem::path& run, bool cautious) {
  const std::filesystem::path file = run / "curve.csv";
  if (!std::filesystem::exists(file)) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{} is not the directory of a run: it has no curve.csv", run.string()),
                "give the directory that 'ppan curve' wrote");
  }
  const CurveTable table = from_csv(read_file(file), file.string());
  const std::vector<int> numbers = point_numbers(table);
  Candidates out;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CurveRow& row = table.rows[i];
    const std::string model(row.text("model"));
    if (model.empty() || row.series == "ppan/hull" || !row.distortion || !row.leakage) continue;
    if (model != std::filesystem::path(model).filename().string())
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{}: model '{}' is not a file of the run", file.string(), model));
    // What was measured may lie a little below 0; what is leaked does not.
    const double leakage =
        cautious ? row.number(curve_column::kLeakageHigh).value_or(*row.leakage) : *row.leakage;
    out.points.push_back({*row.distortion, std::max(0.0, leakage)});
    out.files.push_back(model);
    out.numbers.push_back(row.series == "ppan/table" || row.series == "ppan/images" ? numbers[i] : 0);
  }
  if (out.points.empty()) {
    throw Error(ErrorCode::kUsage, fmt::format("{} has no models", run.string()),
                "give the directory that 'ppan curve' wrote");
  }
  return out;
}

HullMixture choose(const PickOptions& options, const Candidates& from) {
  if (options.point) {
    const auto at = std::find(from.numbers.begin(), from.numbers.end(), *options.point);
    if (at == from.numbers.end() || *options.point < 1) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("there is no point {}; the last one is {}", *options.point,
                              *std::max_element(from.numbers.begin(), from.numbers.end())));
    }
    const auto index = static_cast<std::size_t>(at - from.numbers.begin());
    return {.first = index, .second = index, .second_weight = 0, .point = from.points[index]};
  }
  const std::vector<std::size_t> hull = lower_hull(from.points);
  if (options.budget) {
    if (const auto found = at_most_distortion(from.points, hull, *options.budget)) return *found;
    throw Error(ErrorCode::kUsage,
                fmt::format("no point of the curve has a distortion of {:g} or less; the least is {:g}",
                            *options.budget, from.points[hull.front()].distortion));
  }
  const double scale = options.unit == InformationUnit::kBits ? std::numbers::ln2 : 1.0;
  if (const auto found = at_most_leakage(from.points, hull, *options.leakage * scale)) return *found;
  throw Error(ErrorCode::kUsage,
              fmt::format("no point of the curve leaks {:g} {} or less; the least is {:g}", *options.leakage,
                          to_string(options.unit), from.points[hull.back()].leakage / scale));
}

void check(const PickOptions& options) {
  const int given =
      int{options.leakage.has_value()} + int{options.budget.has_value()} + int{options.point.has_value()};
  if (given != 1) {
    throw Error(ErrorCode::kUsage, "give exactly one of --leakage, --budget and --point",
                "'ppan pick --help' says what each means");
  }
  ProblemList problems;
  if (options.leakage) problems.require_between("--leakage", *options.leakage, 0, 1e6);
  if (options.budget) problems.require_between("--budget", *options.budget, 0, 1e6);
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
  const std::filesystem::path run = options.run;
  const Candidates candidates = candidates_of(run, options.cautious);
  std::vector<NamedPath> inputs{{"run", run / "curve.csv"}, {"--sign", options.sign}};
  for (const std::string& file : candidates.files) inputs.push_back({"run", run / file});
  const std::array output{NamedPath{"-o", options.output}};
  require_distinct(inputs, output);
  const HullMixture choice = choose(options, candidates);
  std::optional<SigningKey> key;
  if (!options.sign.empty()) key.emplace(options.sign);
  const auto save = [&](auto model) {
    using Model = decltype(model);
    if (choice.second_weight > 0) {
      const AnyModel other = load_any_model(run / candidates.files[choice.second]);
      const auto* second = std::get_if<Model>(&other);
      if (second == nullptr)
        throw Error(ErrorCode::kBadInput,
                    fmt::format("{} holds models of tables and of pictures", run.string()),
                    "give the directory of one run");
      model = mix_models(model, *second, choice.second_weight);
    }
    if (options.budget) model.origin.budget = options.budget;
    save_model(options.output, model, key ? &*key : nullptr);
    write_stdout(fmt::format("{}: {}; distortion {:.4g}, leakage {}{}\n", options.output,
                             printable(model.origin.label), choice.point.distortion,
                             leakage_text(model.origin.leakage, options.unit),
                             model.audit ? "" : "; UNAUDITED"));
  };
  std::visit(save, load_any_model(run / candidates.files[choice.first]));
  return 0;
}

}  // namespace

void add_pick_command(CommandLine& line) {
  const auto options = std::make_shared<PickOptions>();
  CLI::App* command = line.app.add_subcommand("pick", "Save the model of one point of a finished curve");
  command->footer(
      "Any point of the completed curve can be picked: where no trained point serves it, the model is a "
      "mixture\n"
      "of two, which releases each row by one or the other at random.\n"
      "Examples:\n"
      "  ppan pick run --leakage 0.05 -o model.ppan\n"
      "  ppan pick run --leakage 0.05 --cautious -o model.ppan\n"
      "  ppan pick run --budget 0.12 -o model.ppan\n"
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
  command->add_option("--point", options->point, "A trained point, by its number")->type_name("N");
  command->add_option("-o,--output", options->output, "Model file to write")
      ->required()
      ->type_name("FILE")
      ->default_str("");
  command
      ->add_option("--sign", options->sign,
                   "Sign the model with this private key (Ed25519, PEM, no passphrase)")
      ->type_name("KEY")
      ->default_str("");
  command->add_flag("--cautious", options->cautious,
                    "Judge every point by the upper end of its 95 % interval instead of by what was found");
  command->add_flag("--force", options->force, "Replace an existing file");
  add_unit_option(*command, options->unit);
  command->callback([options, &line] { line.run = [options] { return run_pick(*options); }; });
}

}  // namespace ppan::cli
