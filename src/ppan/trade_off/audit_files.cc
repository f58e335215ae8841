#include "ppan/trade_off/audit_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <variant>

#include "ppan/audit/audit_text.h"
#include "ppan/audit/surrogate_slack.h"
#include "ppan/audit/unaligned_audit.h"
#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/image/image_files.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_signature.h"
#include "ppan/open/address.h"
#include "ppan/trade_off/audit_run.h"
#include "ppan/trade_off/data_fingerprint.h"
#include "ppan/trade_off/image_audit.h"
#include "ppan/trade_off/model_audit.h"

namespace ppan {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check_sources(const AuditFiles& files) {
  const bool tables = !files.original.empty() || !files.released.empty();
  if (!files.model.empty() && (tables || files.data.empty())) {
    throw Error(ErrorCode::kUsage, "a model is audited on rows of its own input",
                "ppan audit MODEL --data TABLE");
  }
  if (files.model.empty() &&
      (!files.data.empty() || !files.labels.empty() || files.save || !files.sign.empty())) {
    throw Error(ErrorCode::kUsage, "--data, --labels, --save and --sign go with a model",
                "ppan audit MODEL --data TABLE");
  }
  if (files.model.empty() && !files.fingerprint_key.empty())
    throw Error(ErrorCode::kUsage, "--fingerprint-key goes with a model", "leave it out");
  if (!files.sign.empty() && !files.save)
    throw Error(ErrorCode::kUsage, "--sign goes with --save", "give both, or neither");
  if (files.unaligned && (!files.model.empty() || !files.out.empty() || !files.side.empty() || files.scan ||
                          !files.together.empty() || !files.groups.empty() || files.aligned)) {
    throw Error(ErrorCode::kUsage,
                "--unaligned goes with --original, --released, --sensitive, --control, --type, --limit, "
                "--json and --quick");
  }
  if (!files.control.empty() && !files.unaligned)
    throw Error(ErrorCode::kUsage, "--control goes with --unaligned");
  if (!files.model.empty() && (!files.types.empty() || files.aligned))
    throw Error(ErrorCode::kUsage,
                "--type and --aligned are for two tables; a model knows its columns and its rows");
  if (files.model.empty() && (files.original.empty() || files.released.empty() || files.sensitive.empty())) {
    throw Error(ErrorCode::kUsage, "give --original, --released and --sensitive, or a model and --data",
                "'ppan audit --help' shows examples");
  }
}

// Saving writes the file anew, so a signature would be gone without a word.
std::optional<SigningKey> signing_key(const AuditFiles& files, const std::string& signer) {
  if (!files.save) return std::nullopt;
  if (!files.sign.empty()) return SigningKey(files.sign);
  if (signer.empty()) return std::nullopt;
  throw Error(ErrorCode::kUsage,
              fmt::format("{} is signed, and --save would write it without a signature", files.model),
              "sign what is saved with --sign KEY, or leave --save out");
}

// Images have one sensitive label and no columns.
void refuse_for_images(const AuditFiles& files) {
  const auto refuse = [](bool given, const char* option) {
    if (given)
      throw Error(ErrorCode::kUsage, fmt::format("{} is for tables, but this is a model of images", option),
                  "leave it out");
  };
  refuse(!files.sensitive.empty(), "--sensitive");
  refuse(!files.side.empty(), "--side");
  refuse(!files.groups.empty(), "--group");
  refuse(!files.together.empty(), "--together");
  refuse(files.scan, "--scan");
  refuse(!files.options.features.row_position, "--ignore-order");
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

void protect_audited(const AuditFiles& files) {
  const std::array inputs{NamedPath{"model", files.model},
                          NamedPath{"--data", file_of(files.data)},
                          NamedPath{"--labels", files.labels},
                          NamedPath{"--original", file_of(files.original)},
                          NamedPath{"--released", file_of(files.released)},
                          NamedPath{"--control", file_of(files.control)}};
  const std::array output{NamedPath{"--json", files.json}};
  require_distinct(inputs, output);
  if (files.out.empty()) return;
  const std::vector<std::string> names{"findings.json", "audit.json", "summary.json",
                                       "curve.csv",     "curve.svg",  "report.html"};
  require_distinct(inputs, files_in("--out", files.out, names));
}

AuditRun run_of(const AuditFiles& files) {
  return {.command = files.command(), .version = files.version, .seed = files.options.seed};
}

AuditFindings audit_image_model(const AuditFiles& files, ImageReleaseModel model, const SigningKey* key) {
  const auto start = Clock::now();
  if (std::error_code ignored; std::filesystem::exists(files.data, ignored) && !names_images(files.data))
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{} is a model of images, but {} is not named as images are", files.model, files.data),
        "give a directory of PNG files, or a file that ends in idx3-ubyte or idx3-ubyte.gz");
  const ImageSet set = read_images(find_image_files(files.data, files.labels));
  const AuditOptions& options = files.options;
  const ImageFindings found = work_into<ImageFindings>(files.out, files.force, [&] {
    return audit_images(model, set, {files.data, options.quick, options.limit, options.seed});
  });
  if (files.save) {
    model.audit = findings_of(found, data_fingerprint(files.fingerprint_key, images_sha256(set)));
    save_model(files.model, model, key);
  }
  AuditFindings out{.text = to_text(found, files.model, files.unit), .json = to_json(found)};
  if (!files.out.empty()) {
    AuditRun run = run_of(files);
    run.released = std::filesystem::path(files.model).filename().string();
    run.seconds = seconds_since(start);
    out.text += fmt::format("report: {}\n", write_image_audit(files.out, found, run).string());
  }
  if (!found.within_limit()) out.over_limit.emplace_back("the label");
  return out;
}

AuditFindings audit_unaligned_tables(const AuditFiles& files, const AuditOptions& options) {
  UnalignedInput input{
      read_table_of(files, files.original), read_table_of(files, files.released), {}, files.sensitive};
  if (!files.control.empty()) input.control = read_table_of(files, files.control);
  for (const std::string& name : files.sensitive)
    static_cast<void>(column_of(input.original, name, files.original));
  const UnalignedReport report = audit_unaligned(input, options);
  return {to_text(report, files.unit), to_json(report), report.over_limit()};
}

// Two tables, or a model and the rows that it releases itself.
struct Subject {
  std::optional<ReleaseModel> model{};
  std::optional<ModelAuditData> data{};
};

// Keeps the findings where that is asked for; returns the pages that show them.
std::vector<std::filesystem::path> keep(const AuditFiles& files, const AuditReport& report, AuditRun run,
                                        Subject& subject, const SigningKey* key) {
  std::vector<std::filesystem::path> pages;
  const std::string fingerprint =
      subject.data ? data_fingerprint(files.fingerprint_key, subject.data->sha256()) : std::string();
  if (files.save) {
    subject.model->audit = findings_of(report, fingerprint);
    save_model(files.model, *subject.model, key);
    if (const auto page = add_to_run(files.model, report)) pages.push_back(*page);
  }
  if (files.out.empty()) return pages;
  if (subject.model) {
    run.released = std::filesystem::path(files.model).filename().string();
    run.facts.emplace_back("table", short_name(parse_address(files.data)));
    if (!fingerprint.empty()) run.facts.emplace_back("fingerprint of the table", fingerprint);
  } else {
    run.released = short_name(parse_address(files.released));
    run.facts.emplace_back("original", short_name(parse_address(files.original)));
  }
  pages.push_back(write_audit_run(files.out, report, run));
  return pages;
}

AuditReport report_on(const AuditFiles& files, const AuditOptions& options, const Subject& subject,
                      std::optional<double>& changed) {
  const AuditInput input = subject.model ? audit_input(files, *subject.model, *subject.data, changed)
                                         : audit_input(files, changed);
  AuditReport report = audit(input, options);
  if (subject.model) add_surrogate_slack(report, surrogate_slack_of(subject.model->origin));
  const std::vector<std::string> carried = carried_columns(input);
  std::vector<std::string>& notes = report.attributes.front().notes;
  notes.insert(notes.begin(), carried.begin(), carried.end());
  return report;
}

}  // namespace

std::string AuditFiles::command() const {
  std::string text = !model.empty() ? fmt::format("ppan audit {} --data {}", model, data)
                                    : fmt::format("ppan audit --original {} --released {} --sensitive {}",
                                                  original, released, fmt::join(sensitive, " "));
  if (options.quick) text += " --quick";
  return text;
}

AuditFindings audit_files(const AuditFiles& files) {
  const auto start = Clock::now();
  check_sources(files);
  AuditOptions options = files.options;
  if (!files.gain.empty()) options.gain = read_gain_table(files.gain);
  require_none(options.check(), "this audit cannot be made:");
  protect_audited(files);
  if (files.unaligned) return audit_unaligned_tables(files, options);
  Subject subject;
  std::optional<SigningKey> key;
  if (!files.model.empty()) {
    AnyModel any = load_any_model(files.model);
    key = signing_key(files, signer_of(any));
    if (std::holds_alternative<ImageReleaseModel>(any)) {
      refuse_for_images(files);
      return audit_image_model(files, std::get<ImageReleaseModel>(std::move(any)), key ? &*key : nullptr);
    }
    if (!files.labels.empty())
      throw Error(ErrorCode::kUsage, "--labels is for images, but this is a model of a table",
                  "leave it out");
    subject.model = std::get<ReleaseModel>(std::move(any));
    subject.data.emplace(*subject.model, files.data, options.seed, files.max_unpacked);
  }
  AuditRun run = run_of(files);
  const AuditReport report = work_into<AuditReport>(
      files.out, files.force, [&] { return report_on(files, options, subject, run.changed); });
  run.seconds = seconds_since(start);
  AuditFindings out{
      .text = to_text(report, files.unit), .json = to_json(report), .over_limit = report.over_limit()};
  for (const std::filesystem::path& page :
       keep(files, report, std::move(run), subject, key ? &*key : nullptr))
    out.text += fmt::format("report: {}\n", page.string());
  return out;
}

}  // namespace ppan
