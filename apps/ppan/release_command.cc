#include <memory>
#include <string>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/interrupt.h"
#include "ppan/output.h"
#include "ppan/row_progress.h"
#include "ppan/trade_off/release_files.h"

namespace ppan::cli {
namespace {

struct ReleaseCommand : ReleaseFiles {
  std::string unknown;
  bool quiet = false;
};

int run_release(ReleaseCommand command) {
  for (const UnknownRow policy : {UnknownRow::kFail, UnknownRow::kReject, UnknownRow::kNearest}) {
    if (command.unknown == to_string(policy)) command.options.unknown = policy;
  }
  if (command.options.insecure_seed)
    say("ppan: WARNING: seeded noise; anyone who knows the seed can undo this release\n");
  const InterruptScope scope("\nppan: stopping; press again to stop at once\n");
  command.options.interrupted = interrupted;
  ReleaseSummary summary;
  {
    RowProgress progress(command.quiet);
    command.progress = [&](std::int64_t rows, double share) { progress.rows(rows, share); };
    summary = release_files(command);
  }
  if (summary.interrupted) {
    say("ppan: interrupted after {} rows; nothing was saved\n", summary.rows);
    return interrupt_status();
  }
  if (!command.quiet) write_stderr(to_text(summary, command));
  return 0;
}

}  // namespace

void add_release_command(CommandLine& line) {
  const auto options = std::make_shared<ReleaseCommand>();
  CLI::App* command = line.app.add_subcommand("release", "Release a table or images through a model");
  command->footer(
      R"(Rows are released in the order of the input. Columns are matched by name. Noise is cryptographic and fresh:
releasing the same row twice gives two different releases, which together reveal more than one.
A row that cannot be released (unknown level, not a number) ends the command with status 3 and no output
file, unless the job or --unknown says otherwise. Rows already written to standard output stay there.
Images are an IDX file or a directory of PNG files. They are written as IDX if the name of the output ends in
idx3-ubyte or idx3-ubyte.gz, otherwise as a directory of PNG files.
Examples:
  ppan release run/point-07.ppan new.csv -o released.csv
  cat new.csv | ppan release model.ppan - > released.csv
  ppan release model.ppan people.parquet -o released.parquet
  ppan release model.ppan 'postgresql://localhost/shop?table=people' -o 'postgresql://localhost/shop?table=people_released'
  ppan release model.ppan 'sqlite:shop.db?query=select * from people' -o -
  ppan release model.ppan new.csv.gz -o released.csv.gz --unknown reject --rejects rejected.csv
  ppan release digits.ppan t10k-images-idx3-ubyte.gz -o released-idx3-ubyte.gz
  ppan release digits.ppan scans -o released)");
  option(*command, "model", options->model, "MODEL", "Model file that 'ppan curve' or 'ppan pick' wrote")
      ->required();
  option(*command, "table", options->table, "TABLE",
         "CSV or TSV file, also .gz, pattern of files, Parquet, JSON lines, SQL, sqlite: or postgresql:// "
         "address, or images; - is standard input")
      ->required();
  option(*command, "-o,--output", options->output, "FILE",
         "Output: a file (.csv, .parquet or .jsonl; .gz is compressed) or a table of a database; - is "
         "standard output");
  add_choice(*command, "--unknown", options->unknown, {"fail", "reject", "nearest"},
             "What to do with rows that cannot be released; default: as in the job");
  option(*command, "--rejects", options->rejects, "FILE", "File for rejected rows, with line and reason");
  option(*command, "--delimiter", options->delimiter, "CHAR",
         "One character or \"tab\"; default: as in training");
  add_trust_option(*command, options->trust);
  add_unpacked_option(*command, options->max_unpacked);
  option(*command, "--threads", options->options.threads, "N", "Threads; 0: one per core");
  command->add_flag(
      "--force", options->force,
      "Replace an existing table of a database or directory of images; files are always replaced");
  command->add_flag("--quiet", options->quiet, "No notices");
  option(*command, "--insecure-test-noise", options->options.insecure_seed, "SEED",
         "Seeded noise, for tests only");
  command->callback([options, &line] { line.run = [options] { return run_release(*options); }; });
}

}  // namespace ppan::cli
