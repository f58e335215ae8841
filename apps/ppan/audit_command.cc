#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <numbers>
#include <optional>
#include <string>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/output.h"
#include "ppan/trade_off/audit_files.h"

namespace ppan::cli {
namespace {

struct AuditCommand : AuditFiles {
  bool ignore_order = false;
  std::optional<double> limit{};  // in `unit`
};

int run_audit(AuditCommand command) {
  command.version = PPAN_VERSION;
  command.options.features.row_position = !command.ignore_order;
  const double nats = command.unit == InformationUnit::kBits ? std::numbers::ln2 : 1;
  if (command.limit) command.options.limit = *command.limit * nats;
  const AuditFindings found = audit_files(command);
  if (!command.json.empty() && command.json != "-") write_file(command.json, found.json);
  write_stdout(command.json == "-" ? found.json : found.text);
  if (found.over_limit.empty()) return 0;
  say("ppan: not shown to be within the limit of {:g} {}: {}\n", *command.limit, to_string(command.unit),
      fmt::join(found.over_limit, ", "));
  return exit_status(ErrorCode::kLimitExceeded);
}

}  // namespace

void add_audit_command(CommandLine& line) {
  const auto options = std::make_shared<AuditCommand>();
  CLI::App* command =
      line.app.add_subcommand("audit", "Measure how much a release reveals, with fresh attackers");
  command->footer(
      R"(Audits a model on rows that it was not trained on (the model releases them itself, several times), or a
released table against its original, whoever made the release.
The rows of the two tables must be the same records in the same order, and no mechanism may have been trained
on them. --limit is compared with the upper end of every finding: the largest of the upper end of its 99 %
interval, that of the forecast for ten times the rows, and the smallest leak that the audit would have found.
Exit status 6 means that the limit is exceeded, or that more rows are needed to decide.
Examples:
  ppan audit model.ppan --data holdout.csv --save
  ppan audit model.ppan --data t10k-images-idx3-ubyte --save
  ppan audit --original holdout.csv --released released.csv --sensitive marital
  ppan audit --original holdout.csv --released released.csv --sensitive marital --limit 0.05 --unit bits
  ppan audit --original holdout.csv --released released.csv --sensitive age --side region --scan --json a.json
  ppan audit --original people.csv --released synthetic.csv --control others.csv --sensitive income --unaligned
  ppan audit --original visits.csv --released released.csv --sensitive diagnosis --together patient --out audit)");
  option(*command, "model", options->model, "MODEL", "Model file to audit, with --data");
  option(*command, "--data", options->data, "FILE",
         "Table (CSV, Parquet, SQL, ...) the model was not trained on, including the sensitive columns; or "
         "images: a directory of PNG files or an IDX file");
  option(*command, "--labels", options->labels, "FILE",
         "Labels of the images; default: the file next to them");
  command->add_flag("--save", options->save,
                    "Save the findings in the model file, and in the report of the run that it is part of");
  option(*command, "--sign", options->sign, "KEY",
         "With --save: sign the model with this private key (Ed25519, PEM)");
  option(*command, "--fingerprint-key", options->fingerprint_key, "FILE",
         "File with a secret for the fingerprint of --data; without it no fingerprint is saved");
  option(*command, "--out", options->out, "DIR", "Directory to write the findings and a report to");
  command->add_flag("--force", options->force, "Write into a directory that is not empty");
  option(*command, "--original", options->original, "FILE",
         "Table (CSV, Parquet, SQL, ...) with the sensitive columns");
  option(*command, "--released", options->released, "FILE",
         "Table (CSV, Parquet, SQL, ...) that was or will be released, row by row");
  option(*command, "--sensitive", options->sensitive, "COLUMN",
         "Column of the original to protect; several are also attacked jointly; default for a model: as in "
         "its job");
  option(*command, "--side", options->side, "COLUMN", "Column of the original that attackers already know");
  option(*command, "--group", options->groups, "COLUMN",
         "Column of the original whose values are groups to report on");
  option(*command, "--together", options->together, "COLUMN",
         "Column of the original that identifies persons: rows of one person stay on one side of the "
         "split; default for a model: as in its job");
  option(*command, "--type", options->types, "COLUMN=TYPE",
         "Type of a column: COLUMN=category or COLUMN=number; default: guessed, or as in the model");
  command->add_flag("--aligned", options->aligned,
                    "The rows do correspond, even if they agree no more often than by chance");
  command->add_flag("--unaligned", options->unaligned,
                    "The release is not row by row (synthetic data): infer the sensitive columns from it");
  option(*command, "--control", options->control, "FILE",
         "With --unaligned: table (CSV, Parquet, SQL, ...) of records that the release was not made from");
  command->add_flag("--scan", options->scan,
                    "Attack every other column of the original that is not released");
  command->add_flag("--quick", options->options.quick, "Fewer attackers and rows");
  command->add_flag("--ignore-order", options->ignore_order,
                    "The rows will be shuffled before publication: do not attack by position");
  option(*command, "--limit", options->limit, "X",
         "Largest leakage allowed, in --unit; exit status 6 if it is exceeded");
  option(*command, "--alpha", options->options.alpha, "A", "Orders of \u03b1-leakage to report, each above 1")
      ->delimiter(',');
  option(*command, "--gain", options->gain, "FILE",
         "Gains for g-leakage (CSV): a row for each guess, a column named for each value of the attribute");
  option(*command, "--bins", options->options.target.bins, "N", "Bins of a continuous sensitive column");
  option(*command, "--json", options->json, "FILE",
         "Write the whole report as JSON ('-': to standard output, instead of the text)");
  option(*command, "--threads", options->options.threads, "N", "Threads; 0: one per core");
  option(*command, "--seed", options->options.seed, "N", "Seed of the split and the attackers");
  add_unpacked_option(*command, options->max_unpacked);
  add_unit_option(*command, options->unit);
  command->callback([options, &line] { line.run = [options] { return run_audit(*options); }; });
}

}  // namespace ppan::cli
