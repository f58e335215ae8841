#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "ppan/audit/audit.h"
#include "ppan/audit/audit_text.h"
#include "ppan/audit/surrogate_slack.h"
#include "ppan/audit/unaligned_audit.h"
#include "ppan/command_line.h"
#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/image/image_files.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_signature.h"
#include "ppan/model/release_model.h"
#include "ppan/open/address.h"
#include "ppan/output.h"
#include "ppan/row_progress.h"
#include "ppan/trade_off/audit_request.h"
#include "ppan/trade_off/audit_run.h"
#include "ppan/trade_off/image_audit.h"
#include "ppan/trade_off/model_audit.h"

namespace ppan::cli {
namespace {

struct AuditCommand : AuditRequest {
  std::string model{};
  std::string labels{};  // of images
  bool save = false;
  std::string sign{};  // key to sign what is saved with
  std::string out{};
  bool force = false;
  std::string typed{};  // the command
  bool unaligned = false;
  std::string control{};
  bool quick = false;
  bool ignore_order = false;
  std::optional<double> limit{};
  InformationUnit unit = InformationUnit::kNats;
  std::string json{};
  std::vector<double> alpha = LeakageMeasureOptions{}.alpha;
  std::string gain{};
  int bins = TargetOptions{}.bins;
  int threads = 0;
  std::uint64_t seed = 1;
};

void check_sources(const AuditCommand& command) {
  const bool tables = !command.original.empty() || !command.released.empty();
  if (!command.model.empty() && (tables || command.data.empty())) {
    throw Error(ErrorCode::kUsage, "a model is audited on rows of its own input",
                "ppan audit MODEL --data TABLE");
  }
  if (command.model.empty() &&
      (!command.data.empty() || !command.labels.empty() || command.save || !command.sign.empty())) {
    throw Error(ErrorCode::kUsage, "--data, --labels, --save and --sign go with a model",
                "ppan audit MODEL --data TABLE");
  }
  if (!command.sign.empty() && !command.save)
    throw Error(ErrorCode::kUsage, "--sign goes with --save", "give both, or neither");
  if (command.unaligned &&
      (!command.model.empty() || !command.out.empty() || !command.side.empty() || command.scan ||
       !command.together.empty() || !command.groups.empty() || command.aligned)) {
    throw Error(ErrorCode::kUsage,
                "--unaligned goes with --original, --released, --sensitive, --control, --type, --limit, "
                "--json and --quick");
  }
  if (!command.control.empty() && !command.unaligned)
    throw Error(ErrorCode::kUsage, "--control goes with --unaligned");
  if (!command.model.empty() && (!command.types.empty() || command.aligned))
    throw Error(ErrorCode::kUsage,
                "--type and --aligned are for two tables; a model knows its columns and its rows");
  if (command.model.empty() &&
      (command.original.empty() || command.released.empty() || command.sensitive.empty())) {
    throw Error(ErrorCode::kUsage, "give --original, --released and --sensitive, or a model and --data",
                "'ppan audit --help' shows examples");
  }
}

// Saving writes the file anew, so a signature would be gone without a word.
std::optional<SigningKey> signing_key(const AuditCommand& command, const std::string& signer) {
  if (!command.save) return std::nullopt;
  if (!command.sign.empty()) return SigningKey(command.sign);
  if (signer.empty()) return std::nullopt;
  throw Error(ErrorCode::kUsage,
              fmt::format("{} is signed, and --save would write it without a signature", command.model),
              "sign what is saved with --sign KEY, or leave --save out");
}

// Images have one sensitive label and no columns.
void refuse_for_images(const AuditCommand& command) {
  const auto refuse = [](bool given, const char* option) {
    if (given)
      throw Error(ErrorCode::kUsage, fmt::format("{} is for tables, but this is a model of images", option),
                  "leave it out");
  };
  refuse(!command.sensitive.empty(), "--sensitive");
  refuse(!command.side.empty(), "--side");
  refuse(!command.groups.empty(), "--group");
  refuse(!command.together.empty(), "--together");
  refuse(command.scan, "--scan");
  refuse(command.ignore_order, "--ignore-order");
}

// A directory that cannot be used is known before the work, and one for an audit that failed is not left.
template <typename Report>
Report work_into(const std::string& out, bool force, const std::function<Report()>& work) {
  if (out.empty()) return work();
  const bool was_there = std::filesystem::exists(out);
  make_output_directory(out, force);
  try {
    return work();
  } catch (...) {
    std::error_code ignored;
    if (!was_there) std::filesystem::remove(out, ignored);
    throw;
  }
}

// Findings as text, and as JSON where that is asked for.
void show_findings(const AuditCommand& command, const std::string& text, const std::string& json) {
  if (command.json == "-") {
    write_stdout(json);
    return;
  }
  if (!command.json.empty()) write_file(command.json, json);
  write_stdout(text);
}

int audit_image_model(const AuditCommand& command, const AuditOptions& options, ImageReleaseModel model,
                      const SigningKey* key) {
  const auto start = std::chrono::steady_clock::now();
  if (std::error_code ignored; std::filesystem::exists(command.data, ignored) && !names_images(command.data))
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is a model of images, but {} is not named as images are", command.model, command.data),
                "give a directory of PNG files, or a file that ends in idx3-ubyte or idx3-ubyte.gz");
  const ImageSet set = read_images(find_image_files(command.data, command.labels));
  const ImageFindings found = work_into<ImageFindings>(command.out, command.force, [&] {
    return audit_images(model, set, {command.data, command.quick, options.limit, command.seed});
  });
  if (command.save) {
    model.audit = findings_of(found, set);
    save_model(command.model, model, key);
  }
  std::string text = to_text(found, command.model, command.unit);
  if (!command.out.empty()) {
    const AuditRun run{.command = command.typed,
                       .version = PPAN_VERSION,
                       .released = std::filesystem::path(command.model).filename().string(),
                       .seed = command.seed,
                       .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
    text += fmt::format("report: {}\n", write_image_audit(command.out, found, run).string());
  }
  show_findings(command, text, to_json(found));
  if (found.within_limit()) return 0;
  say("ppan: the limit of {:g} {} is not shown to be kept for the label\n", *command.limit, to_string(command.unit));
  return exit_status(ErrorCode::kLimitExceeded);
}

int run_unaligned(const AuditCommand& command, const AuditOptions& options) {
  UnalignedInput input{read_table_of(command, command.original),
                       read_table_of(command, command.released),
                       {},
                       command.sensitive};
  if (!command.control.empty()) input.control = read_table_of(command, command.control);
  for (const std::string& name : command.sensitive)
    static_cast<void>(column_of(input.original, name, command.original));
  const UnalignedReport report = audit_unaligned(input, options);
  show_findings(command, to_text(report, command.unit), to_json(report));
  return report.over_limit().empty() ? 0 : exit_status(ErrorCode::kLimitExceeded);
}

void protect_audited(const AuditCommand& command) {
  const std::array inputs{
      NamedPath{"model", command.model},         NamedPath{"--data", file_of(command.data)},
      NamedPath{"--labels", command.labels},     NamedPath{"--original", file_of(command.original)},
      NamedPath{"--released", file_of(command.released)}, NamedPath{"--control", file_of(command.control)}};
  const std::array output{NamedPath{"--json", command.json}};
  require_distinct(inputs, output);
  if (command.out.empty()) return;
  const std::vector<std::string> names{"findings.json", "audit.json", "summary.json",
                                       "curve.csv",     "curve.svg",  "report.html"};
  require_distinct(inputs, files_in("--out", command.out, names));
}

// Keeps the findings where that is asked for, and shows them.
int tell(const AuditCommand& command, const AuditReport& report, AuditRun run, ReleaseModel* model,
         const ModelAuditData* data, const SigningKey* key) {
  std::vector<std::filesystem::path> pages;
  if (command.save) {
    model->audit = findings_of(report, data->fingerprint());
    save_model(command.model, *model, key);
    if (const auto page = add_to_run(command.model, report)) pages.push_back(*page);
  }
  if (!command.out.empty()) {
    run.released = model ? std::filesystem::path(command.model).filename().string()
                         : short_name(parse_address(command.released));
    if (data) {
      run.facts.emplace_back("table", short_name(parse_address(command.data)));
      run.facts.emplace_back("sha256 of the table", data->fingerprint());
    } else {
      run.facts.emplace_back("original", short_name(parse_address(command.original)));
    }
    pages.push_back(write_audit_run(command.out, report, run));
  }
  std::string text = to_text(report, command.unit);
  for (const std::filesystem::path& page : pages) text += fmt::format("report: {}\n", page.string());
  show_findings(command, text, to_json(report));
  if (report.within_limit()) return 0;
  say("ppan: the limit of {:g} {} is not shown to be kept for {}\n", *command.limit, to_string(command.unit),
      fmt::join(report.over_limit(), ", "));
  return exit_status(ErrorCode::kLimitExceeded);
}

int run_audit(const AuditCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  check_sources(command);
  AuditOptions options{.quick = command.quick, .threads = command.threads, .seed = command.seed};
  options.target.bins = command.bins;
  options.features.row_position = !command.ignore_order;
  options.alpha = command.alpha;
  if (!command.gain.empty()) options.gain = read_gain_table(command.gain);
  if (command.limit) {
    options.limit =
        command.unit == InformationUnit::kBits ? *command.limit * std::numbers::ln2 : *command.limit;
  }
  require_none(options.check(), "this audit cannot be made:");
  protect_audited(command);
  if (command.unaligned) return run_unaligned(command, options);
  std::optional<ReleaseModel> model;
  std::optional<ModelAuditData> data;
  std::optional<SigningKey> key;
  if (!command.model.empty()) {
    AnyModel any = load_any_model(command.model);
    key = signing_key(command, signer_of(any));
    if (std::holds_alternative<ImageReleaseModel>(any)) {
      refuse_for_images(command);
      return audit_image_model(command, options, std::get<ImageReleaseModel>(std::move(any)),
                               key ? &*key : nullptr);
    }
    if (!command.labels.empty())
      throw Error(ErrorCode::kUsage, "--labels is for images, but this is a model of a table",
                  "leave it out");
    model = std::get<ReleaseModel>(std::move(any));
    data.emplace(*model, command.data, command.seed, command.max_unpacked);
  }
  AuditRun run{.command = command.typed, .version = PPAN_VERSION, .seed = command.seed};
  const AuditReport report = work_into<AuditReport>(command.out, command.force, [&] {
    const AuditInput input =
        data ? audit_input(command, *model, *data, run.changed) : audit_input(command, run.changed);
    AuditReport made = audit(input, options);
    if (model) add_surrogate_slack(made, surrogate_slack_of(model->origin));
    const std::vector<std::string> carried = carried_columns(input);
    made.attributes.front().notes.insert(made.attributes.front().notes.begin(), carried.begin(),
                                         carried.end());
    return made;
  });
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return tell(command, report, std::move(run), model ? &*model : nullptr, data ? &*data : nullptr,
              key ? &*key : nullptr);
}

}  // namespace

void add_audit_command(CommandLine& line) {
  const auto options = std::make_shared<AuditCommand>();
  CLI::App* command =
      line.app.add_subcommand("audit", "Measure how much a release gives away, with fresh attackers");
  command->footer(
      "A model is audited on rows that it was not trained on; it releases them itself, several times. So are "
      "two\n"
      "tables: any release, whoever made it.\n"
      "Rows of the two tables must be about the same records, in the same order, and no mechanism may have "
      "been\n"
      "trained on them. What a finding allows for is held against --limit: the upper end of its 95 % "
      "interval, of the\n"
      "forecast for ten times the rows, and the least leak that the audit would have seen. Exit status 6 "
      "says that it\n"
      "is exceeded, or that more rows are needed to tell.\n"
      "Examples:\n"
      "  ppan audit model.ppan --data holdout.csv --save\n"
      "  ppan audit model.ppan --data t10k-images-idx3-ubyte --save\n"
      "  ppan audit --original holdout.csv --released released.csv --sensitive marital\n"
      "  ppan audit --original holdout.csv --released released.csv --sensitive marital --limit 0.05 --unit "
      "bits\n"
      "  ppan audit --original holdout.csv --released released.csv --sensitive age --side region --scan "
      "--json a.json\n"
      "  ppan audit --original people.csv --released synthetic.csv --control others.csv --sensitive income "
      "--unaligned\n"
      "  ppan audit --original visits.csv --released released.csv --sensitive diagnosis --together patient "
      "--out audit");
  command->add_option("model", options->model, "Model file to audit, with --data")
      ->type_name("MODEL")
      ->default_str("");
  command
      ->add_option("--data", options->data,
                   "Table (CSV) the model was not trained on, sensitive columns and all; or images, a "
                   "directory of PNG files or an IDX file")
      ->type_name("FILE")
      ->default_str("");
  command->add_option("--labels", options->labels, "Labels of the images; default: those beside them")
      ->type_name("FILE")
      ->default_str("");
  command->add_flag("--save", options->save,
                    "Keep what was found in the model file, and in the report of the run it lies in");
  command
      ->add_option("--sign", options->sign,
                   "With --save: sign the model with this private key (Ed25519, PEM)")
      ->type_name("KEY")
      ->default_str("");
  command->add_option("--out", options->out, "Directory to write the findings and a report to")
      ->type_name("DIR")
      ->default_str("");
  command->add_flag("--force", options->force, "Write into a directory that is not empty");
  command->add_option("--original", options->original, "Table (CSV) with the sensitive columns")
      ->type_name("FILE")
      ->default_str("");
  command->add_option("--released", options->released, "Table (CSV) that was or will be released, row by row")
      ->type_name("FILE")
      ->default_str("");
  command
      ->add_option(
          "--sensitive", options->sensitive,
          "Column of the original to protect; several are also attacked jointly; of a model: as in its job")
      ->type_name("COLUMN")
      ->default_str("");
  command->add_option("--side", options->side, "Column of the original that attackers know anyway")
      ->type_name("COLUMN");
  command
      ->add_option("--group", options->groups, "Column of the original whose values are groups to report on")
      ->type_name("COLUMN");
  command
      ->add_option(
          "--together", options->together,
          "Column of the original that names persons or the like: rows of one stay on one side of the "
          "split; of a model: as in its job")
      ->type_name("COLUMN")
      ->default_str("");
  command
      ->add_option(
          "--type", options->types,
          "What a column is, as COLUMN=category or COLUMN=number; default: guessed. A model knows it")
      ->type_name("COLUMN=TYPE")
      ->default_str("");
  command->add_flag("--aligned", options->aligned,
                    "The rows do belong together, though they agree no more often than by chance");
  command->add_flag("--unaligned", options->unaligned,
                    "The release is not row by row (synthetic data): infer the sensitive columns from it");
  command
      ->add_option("--control", options->control,
                   "With --unaligned: table (CSV) of records that the release was not made from")
      ->type_name("FILE")
      ->default_str("");
  command->add_flag("--scan", options->scan,
                    "Attack every other column of the original that is not released");
  command->add_flag("--quick", options->quick, "Fewer attackers and rows");
  command->add_flag("--ignore-order", options->ignore_order,
                    "The rows will be shuffled before publication: do not attack by position");
  command->add_option("--limit", options->limit, "Most leakage allowed, in --unit; exit status 6 beyond it")
      ->type_name("X");
  command->add_option("--alpha", options->alpha, "Orders of \u03b1-leakage to report, each above 1")
      ->type_name("A")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option(
          "--gain", options->gain,
          "Gains for g-leakage (CSV): a row for each guess, a column named for each value of the attribute")
      ->type_name("FILE")
      ->default_str("");
  command->add_option("--bins", options->bins, "Bins of a continuous sensitive column")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--json", options->json,
                   "Write the whole report there ('-': to standard output, instead of the text)")
      ->type_name("FILE");
  command->add_option("--threads", options->threads, "Threads; 0: one per core")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the split and the attackers")
      ->type_name("N")
      ->capture_default_str();
  add_unpacked_option(*command, options->max_unpacked);
  add_unit_option(*command, options->unit);
  command->callback([options, &line] {
    options->typed =
        !options->model.empty()
            ? fmt::format("ppan audit {} --data {}", options->model, options->data)
            : fmt::format("ppan audit --original {} --released {} --sensitive {}", options->original,
                          options->released, fmt::join(options->sensitive, " "));
    if (options->quick) options->typed += " --quick";
    line.run = [options] { return run_audit(*options); };
  });
}

}  // namespace ppan::cli
