#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/output.h"
#include "ppan/read/job.h"

namespace ppan::cli {
namespace {

struct InitOptions {
  std::string data;
  std::string output;
  bool force = false;
  DraftRoles roles;
};

// What a job file in the directory of `output` calls the table: a relative name, so that both can be moved
// together, unless the user gave an absolute one.
std::string source_for(const std::filesystem::path& data, const std::filesystem::path& output) {
  if (data.is_absolute()) return data.string();
  std::error_code error;
  const auto relative = std::filesystem::relative(
      data, output.has_parent_path() ? output.parent_path() : std::filesystem::path("."), error);
  return error || relative.empty() ? std::filesystem::absolute(data).string() : relative.string();
}

int run_init(const InitOptions& options) {
  if (options.output.empty() || options.output == "-") {
    write_stdout(draft_job(options.data, options.roles));
    return 0;
  }
  if (!options.force && std::filesystem::exists(options.output)) {
    throw Error(ErrorCode::kUsage, options.output + " exists", "give another -o, or --force to replace it");
  }
  write_file(options.output,
             draft_job(options.data, options.roles, source_for(options.data, options.output)));
  return 0;
}

}  // namespace

void add_init_command(CommandLine& line) {
  const auto options = std::make_shared<InitOptions>();
  CLI::App* command = line.app.add_subcommand("init", "Draft a job file for a table");
  command->footer(
      "Guesses how the table is written and what its columns are, and marks with UNSURE what a person "
      "should\n"
      "look at. Without --sensitive, the roles are left to edit in the file.\n"
      "Examples:\n"
      "  ppan init people.csv > job.toml\n"
      "  ppan init people.csv --sensitive illness --useful age,job,income -o job.toml\n"
      "  ppan init visits.csv.gz --sensitive diagnosis --keep visit --group patient > job.toml");
  command->add_option("table", options->data, "CSV or TSV file, also .gz")
      ->required()
      ->type_name("TABLE")
      ->default_str("");
  command->add_option("-o,--output", options->output, "Write the job file here; default standard output")
      ->type_name("FILE")
      ->default_str("");
  command->add_flag("--force", options->force, "Replace an existing job file");
  const auto add_role = [&](const char* name, std::vector<std::string>& columns, const char* help) {
    command->add_option(name, columns, help)->type_name("COLUMN,...")->delimiter(',')->default_str("");
  };
  add_role("--sensitive", options->roles.sensitive,
           "Columns that must not be learned from the release, or \"everything observed\"");
  add_role("--useful", options->roles.useful, "Columns to release; default: all that have no other role");
  add_role("--observed", options->roles.observed, "Columns the mechanism looks at; default: the useful ones");
  add_role("--keep", options->roles.keep, "Columns copied into the release untouched");
  add_role("--side", options->roles.side, "Columns an attacker is assumed to know");
  add_role("--group", options->roles.group, "Column that tells which rows belong together");
  command->callback([options, &line] { line.run = [options] { return run_init(*options); }; });
}

}  // namespace ppan::cli
