#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "ppan/audit/alignment.h"
#include "ppan/audit/audit.h"
#include "ppan/audit/audit_text.h"
#include "ppan/audit/unaligned_audit.h"
#include "ppan/command_line.h"
#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/core/suggest.h"
#include "ppan/image/image_files.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/release_model.h"
#include "ppan/output.h"
#include "ppan/read/csv.h"
#include "ppan/trade_off/audit_run.h"
#include "ppan/trade_off/image_audit.h"
#include "ppan/trade_off/model_audit.h"

namespace ppan::cli {
namespace {

struct AuditCommand {
  std::string model;
  std::string data;
  std::string labels;  // of images
  bool save = false;
  std::string original;
  std::string released;
  std::vector<std::string> sensitive;
  std::vector<std::string> side;
  std::vector<std::string> groups;
  std::string together;
  std::string out;
  bool force = false;
  std::string typed;               // the command
  std::vector<std::string> types;  // COLUMN=category or COLUMN=number
  bool aligned = false;
  bool unaligned = false;
  std::string control;
  bool scan = false;
  bool quick = false;
  bool ignore_order = false;
  std::optional<double> limit;
  InformationUnit unit = InformationUnit::kNats;
  std::string json;
  std::uint64_t max_unpacked = kMostUnpackedInMemory;
  int bins = TargetOptions{}.bins;
  int threads = 0;
  std::uint64_t seed = 1;
};

// What --type says of the columns.
std::map<std::string, CellKind> kinds_of(const AuditCommand& command) {
  std::map<std::string, CellKind> kinds;
  ProblemList problems;
  for (const std::string& given : command.types) {
    const std::size_t sign = given.rfind('=');
    const std::string type = sign == std::string::npos ? "" : given.substr(sign + 1);
    problems.require(type == "category" || type == "number", "--type",
                     fmt::format("\"{}\" is not COLUMN=category or COLUMN=number", given));
    kinds[given.substr(0, sign)] = type == "category" ? CellKind::kCategory : CellKind::kNumber;
  }
  require_none(problems.take(), "this audit cannot be made:");
  return kinds;
}

AuditTable read_table_of(const AuditCommand& command, const std::string& path) {
  CsvReader reader = open_csv(path, {.limits = {.unpacked_bytes = command.max_unpacked}});
  return table_of_csv(reader, kinds_of(command));
}

// An audit of rows that do not belong together finds nothing and means nothing.
void require_alignment(const AuditTable& original, const AuditTable& released) {
  const Alignment found = compare_rows(original, released);
  if (!found.by_chance()) return;
  const char* fix =
      "Give tables of the same records in the same order. For releases that are not row by row (synthetic "
      "data) use "
      "--unaligned; if the rows do belong together and the release has changed everything, --aligned.";
  if (found.shift != 0) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "row 1 of the release does not look like row 1 of the original: it agrees best when moved by {} "
            "row{} (compared: {})",
            std::abs(found.shift), std::abs(found.shift) == 1 ? "" : "s", fmt::join(found.compared, ", ")),
        fix);
  }
  throw Error(
      ErrorCode::kBadInput,
      fmt::format(
          "row 1 of the release does not look like row 1 of the original: the rows agree no more often "
          "than rows paired at random (compared: {})",
          fmt::join(found.compared, ", ")),
      fix);
}

// A release that has the sensitive column gives it away by name, whatever attackers make of the rest.
std::vector<std::string> carried_columns(const AuditInput& input) {
  std::vector<std::string> out;
  for (const AuditColumn& column : input.sensitive) {
    const AuditColumn* released = input.released.find(column.name);
    if (released == nullptr) continue;
    out.push_back(fmt::format(
        "the release contains the sensitive column \"{}\" itself; {:.1f} % of its cells are the true ones",
        column.name, 100 * agreement(column, *released)));
  }
  return out;
}

const AuditColumn& column_of(const AuditTable& table, const std::string& name, const std::string& path) {
  if (const AuditColumn* column = table.find(name)) return *column;
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", path, unknown_name("column", name, table.names())));
}

// Each column has one role.
void refuse_repeated(const AuditCommand& command) {
  std::set<std::string> roles;
  for (const auto* names : {&command.sensitive, &command.side}) {
    for (const std::string& name : *names) {
      if (!roles.insert(name).second) {
        throw Error(ErrorCode::kUsage,
                    fmt::format("column \"{}\" is named twice under --sensitive and --side", name));
      }
    }
  }
}

// The columns of the original that the command names, or that it scans.
void take_columns(const AuditCommand& command, const AuditTable& original, const std::string& path,
                  AuditInput& input) {
  const auto take = [&](const std::vector<std::string>& names, std::vector<AuditColumn>& to) {
    for (const std::string& name : names) to.push_back(column_of(original, name, path));
  };
  take(command.sensitive, input.sensitive);
  take(command.side, input.side);
  take(command.groups, input.groups);
  if (!command.together.empty()) input.together = column_of(original, command.together, path);
  if (!command.scan) return;
  const auto named = [](const std::vector<AuditColumn>& columns, const std::string& name) {
    return AuditTable{columns}.find(name) != nullptr;
  };
  for (const AuditColumn& column : original.columns) {
    if (!input.released.find(column.name) && !named(input.sensitive, column.name) &&
        !named(input.side, column.name) && column.name != command.together) {
      input.undeclared.push_back(column);
    }
  }
}

AuditInput input_of(const AuditCommand& command, std::optional<double>& changed) {
  if (command.original == "-" && command.released == "-") {
    throw Error(ErrorCode::kUsage, "--original and --released cannot both be standard input");
  }
  refuse_repeated(command);
  const AuditTable original = read_table_of(command, command.original);
  AuditInput input;
  input.released = read_table_of(command, command.released);
  if (original.rows() != input.released.rows()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} has {} rows, {} has {}", command.original, original.rows(), command.released,
                            input.released.rows()),
                "The audit compares row by row: give tables of the same records in the same order. For "
                "releases that are "
                "not row by row (synthetic data) use --unaligned.");
  }
  if (!command.aligned) require_alignment(original, input.released);
  take_columns(command, original, command.original, input);
  changed = changed_cells(original, input.released);
  return input;
}

// A model releases the rows itself. What the job called sensitive and side is taken unless said otherwise.
AuditInput input_of(AuditCommand command, const ReleaseModel& model, const ModelAuditData& data,
                    std::optional<double>& changed) {
  const Schema& schema = model.table.schema();
  if (command.sensitive.empty()) command.sensitive = schema.hidden_columns();
  if (command.side.empty()) command.side = schema.side;
  if (command.together.empty()) command.together = schema.group.value_or("");
  refuse_repeated(command);
  AuditInput input;
  input.released = data.release(0);
  take_columns(command, data.original(), command.data, input);
  changed = changed_cells(data.original(), input.released);
  input.draw_again = [&data](std::int64_t number) { return data.release(number + 1); };
  input.upper_bounds = [&data](const AttackTarget& target) { return data.upper_bounds(target); };
  return input;
}

void check_sources(const AuditCommand& command) {
  const bool tables = !command.original.empty() || !command.released.empty();
  if (!command.model.empty() && (tables || command.data.empty())) {
    throw Error(ErrorCode::kUsage, "a model is audited on rows of its own input",
                "ppan audit MODEL --data TABLE");
  }
  if (command.model.empty() && (!command.data.empty() || !command.labels.empty() || command.save)) {
    throw Error(ErrorCode::kUsage, "--data, --labels and --save go with a model",
                "ppan audit MODEL --data TABLE");
  }
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

int audit_image_model(const AuditCommand& command, const AuditOptions& options, ImageReleaseModel model) {
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
    save_model(command.model, model);
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
  if (command.json == "-") {
    write_stdout(to_json(report));
  } else {
    if (!command.json.empty()) write_file(command.json, to_json(report));
    write_stdout(to_text(report, command.unit));
  }
  return report.over_limit().empty() ? 0 : exit_status(ErrorCode::kLimitExceeded);
}

void protect_audited(const AuditCommand& command) {
  const std::array inputs{
      NamedPath{"model", command.model},         NamedPath{"--data", command.data},
      NamedPath{"--labels", command.labels},     NamedPath{"--original", command.original},
      NamedPath{"--released", command.released}, NamedPath{"--control", command.control}};
  const std::array output{NamedPath{"--json", command.json}};
  require_distinct(inputs, output);
  if (command.out.empty()) return;
  const std::vector<std::string> names{"findings.json", "audit.json", "summary.json",
                                       "curve.csv",     "curve.svg",  "report.html"};
  require_distinct(inputs, files_in("--out", command.out, names));
}

int run_audit(const AuditCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  check_sources(command);
  AuditOptions options{.quick = command.quick, .threads = command.threads, .seed = command.seed};
  options.target.bins = command.bins;
  options.features.row_position = !command.ignore_order;
  if (command.limit) {
    options.limit =
        command.unit == InformationUnit::kBits ? *command.limit * std::numbers::ln2 : *command.limit;
  }
  require_none(options.check(), "this audit cannot be made:");
  protect_audited(command);
  if (command.unaligned) return run_unaligned(command, options);
  std::optional<ReleaseModel> model;
  std::optional<ModelAuditData> data;
  if (!command.model.empty()) {
    AnyModel any = load_any_model(command.model);
    if (std::holds_alternative<ImageReleaseModel>(any)) {
      refuse_for_images(command);
      return audit_image_model(command, options, std::get<ImageReleaseModel>(std::move(any)));
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
        data ? input_of(command, *model, *data, run.changed) : input_of(command, run.changed);
    AuditReport made = audit(input, options);
    const std::vector<std::string> carried = carried_columns(input);
    made.attributes.front().notes.insert(made.attributes.front().notes.begin(), carried.begin(),
                                         carried.end());
    return made;
  });
  std::vector<std::filesystem::path> pages;
  if (command.save) {
    model->audit = findings_of(report, data->fingerprint());
    save_model(command.model, *model);
    if (const auto page = add_to_run(command.model, report)) pages.push_back(*page);
  }
  if (!command.out.empty()) {
    run.released = std::filesystem::path(model ? command.model : command.released).filename().string();
    if (data) {
      run.facts.emplace_back("table", std::filesystem::path(command.data).filename().string());
      run.facts.emplace_back("sha256 of the table", data->fingerprint());
    } else {
      run.facts.emplace_back("original", std::filesystem::path(command.original).filename().string());
    }
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    pages.push_back(write_audit_run(command.out, report, run));
  }
  if (command.json == "-") {
    write_stdout(to_json(report));
  } else {
    if (!command.json.empty()) write_file(command.json, to_json(report));
    std::string text = to_text(report, command.unit);
    for (const std::filesystem::path& page : pages) text += fmt::format("report: {}\n", page.string());
    write_stdout(text);
  }
  if (report.within_limit()) return 0;
  say("ppan: the limit of {:g} {} is not shown to be kept for {}\n", *command.limit, to_string(command.unit),
      fmt::join(report.over_limit(), ", "));
  return exit_status(ErrorCode::kLimitExceeded);
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
