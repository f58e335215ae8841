#pragma once

// The job file: which table, the types and roles of its columns, how to train and release; or which images,
// whose label is to be hidden. The format is TOML. Every key comes from the one table in settings.h, and an
// unknown key is an error with a suggestion.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/job/image_job.h"
#include "ppan/job/table_job.h"

namespace ppan {

/// A job as plain values: the options of a table or of images, and those that both have. settings() maps each
/// key of a job file to its value.
struct JobFile {
  TableJob table{};  ///< Unless about_images().
  ImageJob image{};
  std::string fingerprint_key{};  ///< File with a secret, relative to the job file. Empty: no fingerprints.
  bool bits = false;              ///< Unit in which information is shown; otherwise nats.
  std::optional<double> limit{};  ///< Largest leakage allowed, nats. At least 0.
  std::string title{};            ///< Of the report. Empty: the name of the data.
  bool show_examples = false;     ///< Show some records, or images, before and after.

  std::filesystem::path directory{};   ///< Of the job file; empty for a job that is not from a file.
  std::map<std::string, int> given{};  ///< Keys that were written, with their lines; others have defaults.

  /// Where the data are: `table.source`, taken relative to the job file.
  [[nodiscard]] std::filesystem::path source_path() const;
  /// Whether the job is about images instead of a table.
  [[nodiscard]] bool about_images() const { return !image.images.empty(); }
  /// Problems between settings, and keys that were given and do not apply; single values were checked when
  /// they were set.
  [[nodiscard]] Problems check() const;
};

/// Throws one Error(kUsage) that lists every problem with its line. `name` is what messages call the job.
JobFile parse_job(std::string_view text, std::string_view name = "job");
/// parse_job() of a file.
JobFile load_job(const std::filesystem::path& path);
/// Changes one setting of a job, as `--set train.epochs=5` does; `value` is TOML, or bare text where text is
/// expected. Throws Error(kUsage).
void set_job_value(JobFile& job, std::string_view key, std::string_view value);

/// One setting of a job as its file would write it.
struct ShownSetting {
  std::string key{};
  std::string value{};  ///< TOML.
  bool given = false;   ///< Otherwise the default.
};
/// Every setting that applies to the job, in the order of its file; columns are not among them.
std::vector<ShownSetting> shown_settings(const JobFile& job);
/// Key and value of those that were given.
std::vector<std::pair<std::string, std::string>> given_settings(const JobFile& job);

/// Remark printed after a column of a job file.
struct ColumnRemark {
  std::string text{};
  bool commented_out = false;
};
/// The job as a commented TOML file: what was given as values, everything else that can be given as comments
/// that show the defaults. parse_job() reads it back.
std::string write_job(const JobFile& job, const std::map<std::string, ColumnRemark>& remarks = {});

/// A job file without its comments and empty lines, as reports show it: comments may quote the table.
std::string without_comments(std::string_view toml);

}  // namespace ppan
