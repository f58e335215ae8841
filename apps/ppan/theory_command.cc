#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/output.h"
#include "ppan/paper/theory_text.h"
#include "ppan/theory/curve.h"

namespace ppan::cli {
namespace {

int run_theory(const TheoryOptions& options) {
  if (options.list) {
    write_stdout(theory_list());
    return 0;
  }
  if (options.finite) {
    write_stdout(finite_theory(options));
    return 0;
  }
  if (options.request.name.empty()) {
    throw Error(ErrorCode::kUsage, "no curve named", "'ppan theory --list' shows all curves");
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
  command->footer(R"(Examples:
  ppan theory --list
  ppan theory gaussian-scalar --rho 0.9 --points 6
  ppan theory symmetric-pair --m 4 --p 0.2 --observation full-data --unit bits
  ppan theory gaussian-vector --rho 0.8,0.4 --at 0.5 --release
  ppan theory finite --pmf pmf.csv --distortion error --points 11
  ppan theory finite --pmf pmf.csv --measure bayes-vulnerability --at 0.1
  ppan theory rate-distortion --variances 1,0.5 --at 0.1,0.2 --format json)");
  command->require_subcommand(0, 1);
  command->add_flag("--list", options->list, "Describe every curve and its parameters");
  option(*command, "--points", options->request.points, "N", "Points, equally spaced");
  option(*command, "--from", options->request.from, "X", "First value of the first column");
  option(*command, "--to", options->request.to, "X", "Last value of the first column");
  option(*command, "--at", options->request.at, "X,...", "Exactly these values, comma-separated")
      ->delimiter(',');
  command->add_flag("--release", options->request.release, "Also the release that attains each point");
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
  CLI::App* finite =
      command->add_subcommand("finite", "The exact optimum of a finite distribution, certified");
  finite->group("Curves");
  finite->fallthrough();
  const auto request = std::make_shared<FiniteRequest>();
  option(*finite, "--pmf", request->pmf, "FILE", "CSV with columns x, y, w, probability; without w, W = Y");
  option(*finite, "--distortion", request->distortion, "NAME|FILE",
         "error, squared, or a file with d(y,z), a row per y");
  option(*finite, "--observation", request->observation, "NAME",
         "useful-only, full-data, noisy, partial or given");
  add_choice(
      *finite, "--measure", request->measure, theory_measures(),
      "What is minimised: I(X;Z), or the best probability of guessing X, as a probability or as leakage");
  option(*finite, "--flip", request->flip, "P",
         "noisy: probability that another symbol is seen (default 0.1)");
  option(*finite, "--erase", request->erase, "P", "partial: probability that nothing is seen (default 0.2)");
  finite->callback([options, request] { options->finite = *request; });
  command->callback([options, &line] { line.run = [options] { return run_theory(*options); }; });
}

}  // namespace ppan::cli
