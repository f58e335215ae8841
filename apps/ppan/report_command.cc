#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ppan/command_line.h"
#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/output.h"
#include "ppan/report/html.h"
#include "ppan/report/terminal.h"

namespace ppan::cli {
namespace {

struct ReportOptions {
  std::string run;
  std::string output;
  bool text = false;
  InformationUnit unit = InformationUnit::kNats;
};

// Whatever lies in the run may be read for the page, but for pages.
void protect_run(const ReportOptions& options) {
  std::vector<NamedPath> inputs;
  for (const std::string& name : files_of_run(options.run)) {
    if (!name.ends_with(".html")) inputs.push_back({"run", std::filesystem::path(options.run) / name});
  }
  const std::array output{NamedPath{"-o", options.output}};
  require_distinct(inputs, output);
}

int run_report(const ReportOptions& options) {
  if (options.unit != InformationUnit::kNats && !options.text) {
    throw Error(ErrorCode::kUsage, "the page shows nats only", "--unit goes with --text");
  }
  if (options.text) {
    const CurveTable curve = read_run(options.run).curve;
    const TerminalStyle style{.unit = options.unit};
    write_stdout(plot_text(curve, style) + "\n" + table_text(curve, style));
  } else if (options.output.empty()) {
    write_stdout(write_report(options.run).string() + "\n");
  } else if (options.output == "-") {
    write_stdout(to_html(read_run(options.run)));
  } else {
    const std::string page = to_html(read_run(options.run));
    protect_run(options);
    write_file(options.output, page);
    write_stdout(options.output + "\n");
  }
  return 0;
}

}  // namespace

void add_report_command(CommandLine& line) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = line.app.add_subcommand("report", "Rebuild the report of a finished run");
  command->footer(
      R"(Reads the files of the run and writes report.html and curve.svg next to them; prints the path of the page.
Examples:
  ppan report run
  ppan report run -o for-the-board.html
  ppan report run --text --unit bits)");
  option(*command, "run", options->run, "RUN", "Directory that 'ppan paper' or 'ppan curve' wrote")
      ->required();
  option(*command, "-o,--output", options->output, "FILE",
         "Write the page here instead; - is standard output");
  command->add_flag("--text", options->text, "Print the curve as plot and table instead");
  add_unit_option(*command, options->unit);
  command->callback([options, &line] { line.run = [options] { return run_report(*options); }; });
}

}  // namespace ppan::cli
