#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ppan/command_line.h"
#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/open/address.h"
#include "ppan/output.h"
#include "ppan/trade_off/draft_request.h"

namespace ppan::cli {
namespace {

struct InitOptions : DraftRequest {
  bool force = false;
};

int run_init(const InitOptions& options) {
  if (!options.into_file()) {
    write_stdout(draft(options));
    return 0;
  }
  if (!options.force && std::filesystem::exists(options.output)) {
    throw Error(ErrorCode::kUsage, options.output + " exists", "give another -o, or --force to replace it");
  }
  const std::array inputs{NamedPath{"data", file_of(options.data)}, NamedPath{"--labels", options.labels}};
  const std::array output{NamedPath{"-o", options.output}};
  require_distinct(inputs, output);
  write_file(options.output, draft(options));
  return 0;
}

}  // namespace

void add_init_command(CommandLine& line) {
  const auto options = std::make_shared<InitOptions>();
  CLI::App* command = line.app.add_subcommand("init", "Draft a job file for a table or for images");
  command->footer(
      R"(Guesses the format of the table and the types of its columns, and marks with UNSURE what a person should
check. Without --sensitive, edit the roles in the file.
Images are a directory of PNG files with a table of labels, or an IDX pair.
Examples:
  ppan init people.csv > job.toml
  ppan init people.csv --sensitive illness --useful age,job,income -o job.toml
  ppan init visits.csv.gz --sensitive diagnosis --keep visit --group patient > job.toml
  ppan init sales.parquet > job.toml
  ppan init 'sqlite:shop.db?table=people' --sensitive illness > job.toml
  ppan init scans --labels scans.csv -o job.toml
  ppan init train-images-idx3-ubyte.gz > job.toml)");
  option(*command, "data", options->data, "DATA",
         "CSV or TSV file, also .gz, pattern of files, Parquet, JSON lines, SQL, sqlite: or postgresql:// "
         "address; directory of PNG files; IDX images")
      ->required();
  option(*command, "-o,--output", options->output, "FILE",
         "Write the job file here; default standard output");
  command->add_flag("--force", options->force, "Replace an existing job file");
  add_unpacked_option(*command, options->max_unpacked);
  option(
      *command, "--labels", options->labels, "FILE",
      "Labels of images: a table that names each PNG file, or an IDX file; default: the file next to them");
  const auto add_role = [&](const char* name, std::vector<std::string>& columns, const char* help) {
    option(*command, name, columns, "COLUMN,...", help)->delimiter(',');
  };
  add_role("--sensitive", options->roles.sensitive,
           "Columns that must not be inferred from the release, or \"everything observed\"");
  add_role("--useful", options->roles.useful, "Columns to release; default: all that have no other role");
  add_role("--observed", options->roles.observed, "Columns the mechanism sees; default: the useful ones");
  add_role("--keep", options->roles.keep, "Columns copied into the release unchanged");
  add_role("--side", options->roles.side, "Columns an attacker is assumed to know");
  add_role("--task", options->roles.task, "Columns that a recipient wants to predict");
  add_role("--group", options->roles.group, "Column that identifies rows of the same person");
  command->callback([options, &line] { line.run = [options] { return run_init(*options); }; });
}

}  // namespace ppan::cli
