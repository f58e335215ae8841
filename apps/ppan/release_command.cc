#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "ppan/command_line.h"
#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/core/printable.h"
#include "ppan/core/random.h"
#include "ppan/interrupt.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_signature.h"
#include "ppan/open/open_rows.h"
#include "ppan/output.h"
#include "ppan/read/idx.h"
#include "ppan/read/png.h"
#include "ppan/release/release_table.h"
#include "ppan/row_progress.h"

namespace ppan::cli {
namespace {

struct ReleaseCommand {
  std::string model;
  std::string table;
  std::string output = "-";
  std::string unknown;
  std::string rejects;
  std::string delimiter;
  std::string trust;
  std::uint64_t max_unpacked = kMostUnpacked;
  int threads = 0;
  bool force = false;
  bool quiet = false;
  std::optional<std::uint64_t> insecure_seed;
};

UnknownRow policy_of(const std::string& name) {
  for (const UnknownRow policy : {UnknownRow::kReject, UnknownRow::kNearest}) {
    if (name == to_string(policy)) return policy;
  }
  return UnknownRow::kFail;
}

std::optional<char> delimiter_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "tab") return '\t';
  if (text.size() == 1) return text.front();
  throw Error(ErrorCode::kUsage, fmt::format("--delimiter '{}' is neither one character nor \"tab\"", text));
}

// A release that replaced its own input while reading it would be neither, and rejected rows are raw.
void refuse_overlap(const ReleaseCommand& command) {
  const std::array inputs{NamedPath{"model", command.model}, NamedPath{"table", file_of(command.table)}};
  const std::array outputs{NamedPath{"-o", file_of(command.output)}, NamedPath{"--rejects", command.rejects}};
  require_distinct(inputs, outputs);
}

void tell(const ReleaseSummary& summary, const ReleaseCommand& command) {
  if (command.quiet) return;
  if (!summary.dropped.empty())
    say("dropped columns: {}\n", printable(fmt::format("{}", fmt::join(summary.dropped, ", "))));
  if (summary.replaced > 0)
    say("{} cells that could not be released took the nearest value\n", summary.replaced);
  if (summary.rejected > 0)
    say("{} of {} rows rejected: {}\n", summary.rejected, summary.rows, command.rejects);
}

// Images in and out: an IDX file, or a directory of PNG files.
int release_images(const ImageReleaseModel& model, const ReleaseCommand& command) {
  const auto only_tables = [](const std::string& value, const char* name) {
    if (!value.empty())
      throw Error(ErrorCode::kUsage, fmt::format("{} is for tables, but the model is for images", name),
                  "leave it out");
  };
  only_tables(command.unknown, "--unknown");
  only_tables(command.rejects, "--rejects");
  only_tables(command.delimiter, "--delimiter");
  const bool to_idx = command.output == "-" || is_idx_name(command.output);
  std::error_code ignored;
  if (!to_idx && std::filesystem::exists(command.output, ignored) && !command.force)
    throw Error(ErrorCode::kUsage, command.output + " exists already",
                "give another -o, or --force to replace a directory of images");
  const ImageSet set = std::filesystem::is_directory(command.table, ignored)
                           ? read_png_directory(command.table)
                           : read_idx_images(command.table);
  SecureRandom secure;
  SeededRandom seeded(command.insecure_seed.value_or(0));
  RandomSource& random = command.insecure_seed ? static_cast<RandomSource&>(seeded) : secure;
  const ImageSet released = release_images(model, set, random, command.table);
  if (to_idx) {
    write_idx_images(command.output, released);
  } else {
    write_png_directory(command.output, released, command.force);
  }
  return 0;
}

int run_release(const ReleaseCommand& command) {
  refuse_overlap(command);
  const AnyModel any = load_any_model(command.model);
  if (!command.trust.empty()) require_trusted(signer_of(any), command.model, command.trust);
  if (command.insecure_seed)
    say("ppan: WARNING: seeded noise; whoever knows the seed can undo this release\n");
  if (const auto* images = std::get_if<ImageReleaseModel>(&any)) return release_images(*images, command);
  const auto& model = std::get<ReleaseModel>(any);
  ReleaseOptions options{.threads = command.threads, .insecure_seed = command.insecure_seed};
  if (!command.unknown.empty()) options.unknown = policy_of(command.unknown);
  require_none(options.check(), "this release cannot be made");

  const InterruptScope scope("\nppan: stopping; press again to stop at once\n");
  options.interrupted = interrupted;
  const auto in = open_rows(
      command.table, {.csv = table_options(model, delimiter_of(command.delimiter), command.max_unpacked)});
  const auto out =
      create_rows(command.output, {.style = in->style(), .force = command.force, .input = command.table});
  const auto rejects = command.rejects.empty() ? nullptr : open_sink(command.rejects, Access::kPrivate);
  RowProgress progress(command.quiet, *in);
  options.written = [&](std::int64_t rows) { progress.rows(rows); };
  const ReleaseSummary summary = release_table(model, *in, *out, rejects.get(), options);
  if (summary.interrupted) {
    say("ppan: interrupted after {} rows; nothing was saved\n", summary.rows);
    return interrupt_status();
  }
  if (rejects) rejects->finish();
  out->finish();
  tell(summary, command);
  return 0;
}

}  // namespace

void add_release_command(CommandLine& line) {
  const auto options = std::make_shared<ReleaseCommand>();
  CLI::App* command = line.app.add_subcommand("release", "Release a table or images through a model");
  command->footer(
      "Rows come out in the order they went in. Columns are found by name. Noise is cryptographic and "
      "fresh:\n"
      "releasing the same row twice gives two releases, and both together tell more than one.\n"
      "A row that cannot be released (unknown level, not a number) ends the command with status 3 and no "
      "output\n"
      "file, unless the job or --unknown says otherwise. Rows already written to standard output stay "
      "there.\n"
      "Images are an IDX file or a directory of PNG files; they are written as IDX where the name of the "
      "output\n"
      "ends in idx3-ubyte or idx3-ubyte.gz, and as a directory of PNG files otherwise.\n"
      "Examples:\n"
      "  ppan release run/point-07.ppan new.csv -o released.csv\n"
      "  cat new.csv | ppan release model.ppan - > released.csv\n"
      "  ppan release model.ppan people.parquet -o released.parquet\n"
      "  ppan release model.ppan 'postgresql://localhost/shop?table=people' -o "
      "'postgresql://localhost/shop?table=people_released'\n"
      "  ppan release model.ppan 'sqlite:shop.db?query=select * from people' -o -\n"
      "  ppan release model.ppan new.csv.gz -o released.csv.gz --unknown reject --rejects rejected.csv\n"
      "  ppan release digits.ppan t10k-images-idx3-ubyte.gz -o released-idx3-ubyte.gz\n"
      "  ppan release digits.ppan scans -o released");
  command->add_option("model", options->model, "Model file that 'ppan curve' or 'ppan pick' wrote")
      ->required()
      ->type_name("MODEL")
      ->default_str("");
  command->add_option("table", options->table, "CSV or TSV file, also .gz, pattern of files, Parquet, JSON lines, SQL, sqlite: or "
                       "postgresql:// address, or images; - is standard input")
      ->required()
      ->type_name("TABLE")
      ->default_str("");
  command
      ->add_option("-o,--output", options->output,
                   "Where to: a file (.gz is compressed, .parquet and .jsonl are what they say) or a table "
                       "of a database; - is standard output")
      ->type_name("FILE");
  add_choice(*command, "--unknown", options->unknown, {"fail", "reject", "nearest"},
             "Rows that cannot be released; default: as the job said");
  command->add_option("--rejects", options->rejects, "File for rejected rows, with line and reason")
      ->type_name("FILE")
      ->default_str("");
  command->add_option("--delimiter", options->delimiter, "One character or \"tab\"; default: as in training")
      ->type_name("CHAR")
      ->default_str("");
  add_trust_option(*command, options->trust);
  add_unpacked_option(*command, options->max_unpacked);
  command->add_option("--threads", options->threads, "Threads; 0: one per core")->type_name("N");
  command->add_flag("--force", options->force,
                    "Replace an existing table of a database or directory of images; a file is replaced anyway");
  command->add_flag("--quiet", options->quiet, "No notices");
  command->add_option("--insecure-test-noise", options->insecure_seed, "Seeded noise, for tests only")
      ->type_name("SEED");
  command->callback([options, &line] { line.run = [options] { return run_release(*options); }; });
}

}  // namespace ppan::cli
