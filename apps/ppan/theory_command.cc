#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/output.h"
#include "ppan/theory/curve.h"

namespace ppan::cli {
namespace {

struct TheoryOptions {
  theory::CurveRequest request;
  std::string format = "csv";
  InformationUnit unit = InformationUnit::kNats;
  bool list = false;
};

// Columns that hold information name their unit: leakage_nats.
struct Columns {
  std::string x;
  std::string optimum;
};

Columns columns_of(const theory::CurveInfo& info, InformationUnit unit) {
  const auto with_unit = [&](const std::string& name) { return fmt::format("{}_{}", name, to_string(unit)); };
  return {info.x_is_information ? with_unit(info.x_name) : info.x_name, with_unit(info.optimum_name)};
}

theory::CurvePoint in_unit(const theory::CurvePoint& point, const theory::CurveInfo& info,
                           InformationUnit unit) {
  return {info.x_is_information ? from_nats(point.x, unit) : point.x, from_nats(point.optimum, unit)};
}

std::string to_csv(const theory::Curve& curve, InformationUnit unit) {
  const Columns columns = columns_of(curve.info, unit);
  std::string text = fmt::format("{},{}\n", columns.x, columns.optimum);
  for (const theory::CurvePoint& point : curve.points) {
    const auto [x, optimum] = in_unit(point, curve.info, unit);
    text += fmt::format("{:.12g},{:.12g}\n", x, optimum);  // the digits beyond differ between processors
  }
  return text;
}

// JSON has no infinity: an infinite optimum is null.
std::string to_json(const theory::Curve& curve, InformationUnit unit) {
  const Columns columns = columns_of(curve.info, unit);
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const theory::CurvePoint& point : curve.points) {
    const auto [x, optimum] = in_unit(point, curve.info, unit);
    points.push_back({{columns.x, x}, {columns.optimum, optimum}});
  }
  const nlohmann::ordered_json document{{"curve", curve.info.name},
                                        {"summary", curve.info.summary},
                                        {"parameters", curve.parameters},
                                        {"unit", to_string(unit)},
                                        {"points", points}};
  return document.dump(2) + "\n";
}

std::string list_text() {
  std::string text;
  for (const theory::CurveInfo& info : theory::curves()) {
    text += fmt::format("{}\n    {}\n", info.name, info.summary);
    for (const theory::CurveParameter& p : info.parameters) {
      text += fmt::format("    --{:<12} {} ({}; default {})\n", p.name, p.meaning, p.range, p.default_value);
    }
  }
  return text;
}

int run_theory(const TheoryOptions& options) {
  if (options.list) {
    write_stdout(list_text());
    return 0;
  }
  if (options.request.name.empty()) {
    throw Error(ErrorCode::kUsage, "no curve named", "'ppan theory --list' shows what there is");
  }
  const theory::Curve curve = theory::evaluate(options.request);
  write_stdout(options.format == "json" ? to_json(curve, options.unit) : to_csv(curve, options.unit));
  return 0;
}

// "variance_y" is typed --variance-y; the name as it stands is understood too.
std::string option_name(const std::string& parameter) {
  std::string dashed = parameter;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return dashed == parameter ? "--" + parameter : fmt::format("--{},--{}", dashed, parameter);
}

}  // namespace

void add_theory_command(CommandLine& line) {
  const auto options = std::make_shared<TheoryOptions>();
  CLI::App* command = line.app.add_subcommand("theory", "Print a closed-form optimum curve");
  command->footer(
      "Examples:\n"
      "  ppan theory --list\n"
      "  ppan theory gaussian-scalar --rho 0.9 --points 6\n"
      "  ppan theory symmetric-pair --m 4 --p 0.2 --observation full-data --unit bits\n"
      "  ppan theory rate-distortion --variances 1,0.5 --at 0.1,0.2 --format json");
  command->require_subcommand(0, 1);
  command->add_flag("--list", options->list, "Describe every curve and its parameters");
  command->add_option("--points", options->request.points, "Points, equally spaced")->type_name("N");
  command->add_option("--from", options->request.from, "First value of the first column")->type_name("X");
  command->add_option("--to", options->request.to, "Last value of the first column")->type_name("X");
  command->add_option("--at", options->request.at, "Exactly these values, comma-separated")
      ->type_name("X,...")
      ->delimiter(',')
      ->default_str("");
  add_choice(*command, "--format", options->format, {"csv", "json"}, "Form of the output");
  add_unit_option(*command, options->unit);
  for (const theory::CurveInfo& info : theory::curves()) {
    CLI::App* curve = command->add_subcommand(info.name, info.summary);
    curve->group("Curves");
    curve->fallthrough();
    for (const theory::CurveParameter& parameter : info.parameters) {
      curve
          ->add_option_function<std::string>(
              option_name(parameter.name),
              [options, name = parameter.name](const std::string& value) {
                options->request.parameters[name] = value;
              },
              fmt::format("{} ({})", parameter.meaning, parameter.range))
          ->type_name("VALUE")
          ->default_str(parameter.default_value);
    }
    curve->footer("The options of 'ppan theory' (--points, --from, --to, --at, --format, --unit) apply too.");
    curve->callback([options, name = info.name] { options->request.name = name; });
  }
  command->callback([options, &line] { line.run = [options] { return run_theory(*options); }; });
}

}  // namespace ppan::cli
