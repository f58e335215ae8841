#pragma once

// The job file: which table, what its columns are and are for, how to train and release; or which images,
// whose label is to be hidden. TOML; every key comes from the one table in settings.h, and an unknown key is
// an error with a suggestion.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/source/csv.h"
#include "ppan/read/profile.h"
#include "ppan/read/schema.h"

namespace ppan {

/// What to do with a record that cannot be released: an unknown level, text where a number belongs, a missing
/// value where training saw none.
enum class UnknownRow {
  kFail,     ///< Stop, naming the row.
  kReject,   ///< Leave it out, and list it with the reason.
  kNearest,  ///< Take the grouped level (or the most frequent one), or the column's mean.
};
enum class MechanismFamily { kAuto, kFinite, kNoiseInput, kNoisyCode, kCodebook, kHeads };
/// What the release should stay useful for.
enum class Usefulness { kColumns, kTask, kBoth };
enum class BudgetChoice { kDual, kExpected, kRecord };
std::string_view to_string(UnknownRow policy);
std::string_view to_string(MechanismFamily family);
std::string_view to_string(BudgetChoice form);

struct EncodeSettings {
  std::int64_t max_levels = 64;
  std::int64_t min_rows = 5;
  double grid_cost = 0.0005;
  std::string other = "other";
};
struct MechanismSettings {
  MechanismFamily family = MechanismFamily::kAuto;
  std::vector<std::int64_t> hidden{64, 64};
  std::optional<std::int64_t> code_size{};
  double code_radius = 12;
  std::int64_t noise_inputs = 8;
  std::optional<std::int64_t> codewords{};
};
struct PrivacySettings {
  std::int64_t points = 12;
  std::vector<double> budgets{};
  std::vector<double> leakages{};
  Usefulness usefulness = Usefulness::kBoth;
  double task_weight = 1;
  double row_weight = 0.3;
  BudgetChoice budget_form = BudgetChoice::kDual;
  std::optional<double> alpha = 1;  ///< Order of the adversary's loss; absent: infinite.
  double surrogate_slack = 0;
  bool bits = false;
};
struct TrainSettings {
  std::optional<std::int64_t> epochs{};
  std::int64_t batch = 256;
  std::int64_t adversary_steps = 3;
  double learning_rate = 0.003;
  std::int64_t restarts = 1;
  std::int64_t seed = 1;
  std::optional<std::int64_t> threads{};
};
struct SplitSettings {
  double validation = 0.15;
  double test = 0.25;
};
struct ReleaseSettings {
  UnknownRow unknown = UnknownRow::kFail;
};
struct AuditSettings {
  bool quick = false;
  std::optional<double> limit{};
};
struct ReportSettings {
  std::string title{};
  bool show_examples = false;
  std::int64_t examples = 10;
};

/// Images to learn from, as written in the job: relative to its file.
struct ImageSource {
  std::string images{};  ///< An IDX file, or a directory of PNG files. Empty: the job is about a table.
  std::string labels{};  ///< An IDX file, or a table that names each PNG file.
  std::string file_column = "file";    ///< Of that table.
  std::string label_column = "label";  ///< Of that table.
  /// What a recipient wants to predict: an IDX file, or a table; empty for a directory: that of the labels.
  std::string task_labels{};
  std::string task_column{};  ///< Of that table. Both empty: there is no task.

  [[nodiscard]] bool has_task() const { return !task_labels.empty() || !task_column.empty(); }
};

/// A job as plain values. settings() says what each means and what values it takes.
struct JobFile {
  std::string source{};  ///< As written: relative to the job file, or "-".
  std::string fingerprint_key{};  ///< File with a secret, relative to the job file. Empty: no fingerprints.
  ImageSource images{};
  CsvOptions csv{};
  Schema schema{};
  EncodeSettings encode{};
  MechanismSettings mechanism{};
  PrivacySettings privacy{};
  TrainSettings train{};
  SplitSettings split{};
  ReleaseSettings release{};
  AuditSettings audit{};
  ReportSettings report{};

  std::filesystem::path directory{};   ///< Of the job file; empty for a job that was not a file.
  std::map<std::string, int> given{};  ///< Keys that were written, with their lines; others have defaults.

  /// Where the data are: `source`, taken relative to the job file.
  [[nodiscard]] std::filesystem::path source_path() const;
  /// Whether the job is about images instead of a table.
  [[nodiscard]] bool about_images() const { return !images.images.empty(); }
  /// Problems between settings; single values were checked when they were set.
  [[nodiscard]] Problems check() const;
};

/// Throws one Error(kUsage) that lists every problem with its line. `name` is what messages call the job.
JobFile parse_job(std::string_view text, std::string_view name = "job");
/// parse_job() of a file.
JobFile load_job(const std::filesystem::path& path);
/// Changes one setting of a job, as `--set train.epochs=5` does; `value` is TOML, or bare text where text is
/// wanted. Throws Error(kUsage).
void set_job_value(JobFile& job, std::string_view key, std::string_view value);

/// One setting of a job as its file would write it.
struct ShownSetting {
  std::string key{};
  std::string value{};  ///< TOML.
  bool given = false;   ///< Otherwise the default.
};
/// Every setting of the job, in the order of its file; columns are not among them.
std::vector<ShownSetting> shown_settings(const JobFile& job);

/// Remark printed behind a column of a job file.
struct ColumnRemark {
  std::string text{};
  bool commented_out = false;
};
/// The job as a commented TOML file: what was given as values, everything else as comments that show the
/// defaults. parse_job() reads it back.
std::string write_job(const JobFile& job, const std::map<std::string, ColumnRemark>& remarks = {});

/// A job file without its comments and empty lines, as reports show it: comments may quote the table.
std::string without_comments(std::string_view toml);

/// Roles that are known when a job is drafted; what is left empty is for a person to fill in.
struct DraftRoles {
  std::vector<std::string> sensitive{};
  /// Empty: every column that has no other role and is neither an identifier nor the same everywhere.
  std::vector<std::string> useful{};
  std::vector<std::string> observed{};
  std::vector<std::string> keep{};
  std::vector<std::string> side{};
  std::vector<std::string> group{};  ///< At most one.
  std::vector<std::string> task{};
};

/// A first job file for a table: guesses how the file is written and what its columns are, and says in
/// comments where it is unsure. `data` is read once and cannot be "-"; `source` is what the job calls it,
/// `data` itself if empty. Throws Error(kUsage) for roles that name no column or contradict each other.
std::string draft_job(const std::filesystem::path& data, const DraftRoles& roles = {},
                      const std::string& source = {}, std::uint64_t most_unpacked = kMostUnpacked);

}  // namespace ppan
