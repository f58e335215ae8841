#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "ppan/command_line.h"
#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/image/image_files.h"
#include "ppan/open/address.h"
#include "ppan/open/open_rows.h"
#include "ppan/output.h"
#include "ppan/read/draft.h"
#include "ppan/read/job.h"
#include "ppan/row_progress.h"

namespace ppan::cli {
namespace {

struct InitOptions {
  std::string data;
  std::string labels;  // of images
  std::string output;
  bool force = false;
  std::uint64_t max_unpacked = kMostUnpackedInMemory;
  DraftRoles roles;
};

// What a job file in the directory of `output` calls the data: a relative name, so that both can be moved
// together, unless the user gave an absolute one.
std::string path_for(const std::filesystem::path& data, const std::filesystem::path& output) {
  if (data.is_absolute()) return data.string();
  std::error_code error;
  const auto relative = std::filesystem::relative(
      data, output.has_parent_path() ? output.parent_path() : std::filesystem::path("."), error);
  return error || relative.empty() ? std::filesystem::absolute(data).string() : relative.string();
}

// The same for an address.
std::string source_for(const std::string& data, const std::filesystem::path& output) {
  const Address address = parse_address(data);
  if (address.kind == AddressKind::kQuery || address.kind == AddressKind::kPostgres) return data;
  const std::string path = path_for(address.place, output);
  if (address.kind != AddressKind::kSqlite) return path;
  return fmt::format("sqlite:{}{}", path, data.substr(data.find('?')));
}

// A table that is not one file of delimited text says itself what its columns are.
std::string draft_rows(const InitOptions& options, const std::string& source) {
  const OpenOptions open{.csv = {.limits = {.unpacked_bytes = options.max_unpacked}}};
  const auto rows = open_rows(options.data, open);
  return draft_job(source, *rows, options.roles, [&] { return open_rows(options.data, open); });
}

std::string draft(const InitOptions& options, bool into_file) {
  const auto called = [&](const std::string& data) {
    return into_file ? source_for(data, options.output) : data;
  };
  if (!names_images(options.data)) {
    if (!options.labels.empty())
      throw Error(ErrorCode::kUsage, "--labels goes with images, but " + options.data + " is a table",
                  "name a directory of PNG files or a file that ends in idx3-ubyte");
    if (parse_address(options.data).kind != AddressKind::kText)
      return draft_rows(options, called(options.data));
    return draft_job(std::filesystem::path(options.data), options.roles, called(options.data),
                     options.max_unpacked);
  }
  const DraftRoles& roles = options.roles;
  for (const auto* columns : {&roles.sensitive, &roles.useful, &roles.observed, &roles.keep, &roles.side,
                              &roles.group, &roles.task}) {
    if (columns->empty()) continue;
    throw Error(ErrorCode::kUsage, "roles are for the columns of a table; of images the label is hidden",
                "leave --sensitive and the like out");
  }
  const ImageFiles files = find_image_files(options.data, options.labels);
  return draft_image_job(files, called(std::filesystem::path(files.images).string()),
                         called(std::filesystem::path(files.labels).string()));
}

int run_init(const InitOptions& options) {
  if (options.output.empty() || options.output == "-") {
    write_stdout(draft(options, false));
    return 0;
  }
  if (!options.force && std::filesystem::exists(options.output)) {
    throw Error(ErrorCode::kUsage, options.output + " exists", "give another -o, or --force to replace it");
  }
  const std::array inputs{NamedPath{"data", file_of(options.data)}, NamedPath{"--labels", options.labels}};
  const std::array output{NamedPath{"-o", options.output}};
  require_distinct(inputs, output);
  write_file(options.output, draft(options, true));
  return 0;
}

}  // namespace

void add_init_command(CommandLine& line) {
  const auto options = std::make_shared<InitOptions>();
  CLI::App* command = line.app.add_subcommand("init", "Draft a job file for a table or for images");
  command->footer(
      "Guesses how the table is written and what its columns are, and marks with UNSURE what a person "
      "should\n"
      "look at. Without --sensitive, the roles are left to edit in the file.\n"
      "Images are a directory of PNG files with a table of labels, or an IDX pair.\n"
      "Examples:\n"
      "  ppan init people.csv > job.toml\n"
      "  ppan init people.csv --sensitive illness --useful age,job,income -o job.toml\n"
      "  ppan init visits.csv.gz --sensitive diagnosis --keep visit --group patient > job.toml\n"
      "  ppan init sales.parquet > job.toml\n"
      "  ppan init 'sqlite:shop.db?table=people' --sensitive illness > job.toml\n"
      "  ppan init scans --labels scans.csv -o job.toml\n"
      "  ppan init train-images-idx3-ubyte.gz > job.toml");
  command->add_option("data", options->data, "CSV or TSV file, also .gz, pattern of files, Parquet, JSON lines, SQL, sqlite: or "
                       "postgresql:// address; directory of PNG files; IDX images")
      ->required()
      ->type_name("DATA")
      ->default_str("");
  command->add_option("-o,--output", options->output, "Write the job file here; default standard output")
      ->type_name("FILE")
      ->default_str("");
  command->add_flag("--force", options->force, "Replace an existing job file");
  add_unpacked_option(*command, options->max_unpacked);
  command
      ->add_option("--labels", options->labels,
                   "Labels of images: a table that names each PNG file, or an IDX file; default: the one "
                   "beside them")
      ->type_name("FILE")
      ->default_str("");
  const auto add_role = [&](const char* name, std::vector<std::string>& columns, const char* help) {
    command->add_option(name, columns, help)->type_name("COLUMN,...")->delimiter(',')->default_str("");
  };
  add_role("--sensitive", options->roles.sensitive,
           "Columns that must not be learned from the release, or \"everything observed\"");
  add_role("--useful", options->roles.useful, "Columns to release; default: all that have no other role");
  add_role("--observed", options->roles.observed, "Columns the mechanism looks at; default: the useful ones");
  add_role("--keep", options->roles.keep, "Columns copied into the release untouched");
  add_role("--side", options->roles.side, "Columns an attacker is assumed to know");
  add_role("--task", options->roles.task, "Columns that a recipient wants to predict");
  add_role("--group", options->roles.group, "Column that tells which rows belong together");
  command->callback([options, &line] { line.run = [options] { return run_init(*options); }; });
}

}  // namespace ppan::cli
