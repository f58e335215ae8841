#include "ppan/job/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/suggest.h"
#include "ppan/job/job.h"
#include "ppan/job/settings.h"
#include "ppan/read/dependency.h"
#include "ppan/read/profile.h"
#include "ppan/read/revealing.h"
#include "ppan/read/table.h"
#include "ppan/source/byte_source.h"
#include "ppan/source/csv_source.h"

namespace ppan {
namespace {

constexpr std::int64_t kMostDependencyRows = 500'000;  // that are read whole to look for dependencies
// Of what there is to know about a secret: a column that tells so much by itself may be the secret in other
// words, and what is released as it is sets a floor under the leakage.
constexpr double kRevealingShare = 0.2;
constexpr double kRevealingKeptShare = 0.02;

bool listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A comment ends with its line, whatever a column is called.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

// The roles known when a job is drafted, each column of them among `names`.
void take_roles(const DraftRoles& roles, const std::vector<std::string>& names, JobFile& job) {
  ProblemList problems;
  const auto take = [&](const char* role, const std::vector<std::string>& columns,
                        std::vector<std::string>& to) {
    for (const std::string& name : columns)
      problems.require(listed(names, name), role, unknown_name("column", name, names));
    if (!columns.empty()) job.given[fmt::format("roles.{}", role)] = 0;
    to = columns;
  };
  std::vector<std::string> group;
  job.table.schema.everything_observed =
      roles.sensitive.size() == 1 && roles.sensitive.front() == kEverythingObserved;
  if (!job.table.schema.everything_observed) take("sensitive", roles.sensitive, job.table.schema.sensitive);
  take("useful", roles.useful, job.table.schema.useful);
  take("observed", roles.observed, job.table.schema.observed);
  take("keep", roles.keep, job.table.schema.keep);
  take("side", roles.side, job.table.schema.side);
  take("task", roles.task, job.table.schema.task);
  take("group", roles.group, group);
  problems.require(group.size() <= 1, "group", "only one column can group the rows");
  if (!group.empty()) job.table.schema.group = group.front();
  Problems found = problems.take();
  // A column that is not there does not hide what else is wrong.
  if (!found.empty()) {
    for (Problem& problem : job.table.schema.check_conflicts()) found.push_back(std::move(problem));
  }
  require_none(found, "these roles cannot be used");
}

// What follows from another column in every row is derived from it, where both are released; behind what does
// so in nearly every row stands how a job says so.
void note_dependencies(const Table& table, Schema& schema, std::map<std::string, ColumnRemark>& remarks) {
  for (const Dependency& dependency : find_dependencies(table)) {
    std::string& text = remarks[dependency.column].text;
    const bool released =
        listed(schema.useful, dependency.column) && listed(schema.useful, dependency.source);
    // Whoever still moves columns between the roles would move one of the two.
    if (dependency.share >= 1 && released && !schema.sensitive.empty()) {
      const auto spec =
          std::find_if(schema.columns.begin(), schema.columns.end(),
                       [&](const ColumnSpec& column) { return column.name == dependency.column; });
      spec->derived_from = dependency.source;
      text += fmt::format("; follows from {} in every row, and in every released one", dependency.source);
    } else {
      const std::string how =
          released ? fmt::format(": derived_from = {} keeps it so", toml_quoted(dependency.source)) : "";
      text += fmt::format(
          "; follows from {} in {} % of the rows{}", dependency.source,
          dependency.share >= 1 ? "100" : fmt::format("{:.2f}", std::floor(1e4 * dependency.share) / 100),
          how);
    }
  }
}

// Says beside each column what it tells about a secret, if that is much; returns what the head of the job
// should say. Shares only: the job is no place for values.
std::vector<std::string> note_revealing_columns(const Table& table, const Schema& schema,
                                                std::map<std::string, ColumnRemark>& remarks) {
  std::vector<std::string> out;
  const std::vector<std::string> kept = schema.kept_columns();
  std::vector<std::string> released = schema.useful;
  released.insert(released.end(), kept.begin(), kept.end());
  for (const std::string& secret : schema.sensitive) {
    for (const RevealingColumn& found : find_revealing_columns(table, secret, released)) {
      const bool as_it_is = listed(kept, found.column);
      if (found.share < (as_it_is ? kRevealingKeptShare : kRevealingShare)) continue;
      const std::string how =
          fmt::format("reveals at least {:.0f} % of the information about {}", 100 * found.share, secret);
      remarks[found.column].text += fmt::format("; {} on its own", how);
      if (!as_it_is) continue;
      const bool task = listed(schema.task, found.column);
      out.push_back(fmt::format(
          "{} is released unchanged and {} ({:.3f} nats; lower bound, 95 % interval {:.3f} to {:.3f}, "
          "frequencies in one half of the rows scored on the other): no release of this job reveals less. {}",
          found.column, how, found.nats, std::max(0.0, found.nats - 1.96 * found.error),
          found.nats + 1.96 * found.error,
          task ? "release.task = \"drop\" omits it" : "Move it to roles.useful if that is too much"));
    }
  }
  return out;
}

std::string draft_columns(JobFile& job, RowSource& reader, const DraftRoles& roles,
                          const std::function<std::unique_ptr<RowSource>()>& again,
                          const std::vector<std::string>& unsure) {
  take_roles(roles, reader.column_names(), job);
  const TableProfile table = profile_table(reader);
  std::map<std::string, ColumnRemark> remarks;
  std::vector<ColumnSpec> for_reading;
  for (const ColumnProfile& column : table.columns) {
    const TypeGuess type = guess_type(column);
    ColumnSpec spec;
    spec.name = column.name;
    spec.type = type.type;
    spec.missing = type.missing;
    std::string text = (type.sure ? "" : "UNSURE: ") + type.reason;
    const bool has_role = job.table.schema.dropped_columns(std::span(&column.name, 1)).empty();
    // Whoever gives numbers a role of their own does not take them for names of records.
    if (has_role && type.type == ColumnType::kIdentifier && column.numbers == column.present() &&
        !listed(job.table.schema.keep, column.name) && job.table.schema.group != column.name) {
      spec.type = column.whole == column.numbers ? ColumnType::kInteger : ColumnType::kReal;
      text += "; a number because of its role";
    }
    const Schema& given = job.table.schema;
    const bool elsewhere = listed(given.sensitive, column.name) || listed(given.keep, column.name) ||
                           listed(given.side, column.name) || listed(given.task, column.name) ||
                           given.group == column.name;
    if (roles.useful.empty() && !type.constant && type.type != ColumnType::kIdentifier && !elsewhere)
      job.table.schema.useful.push_back(column.name);
    if (column.missing > 0 && !type.constant) text += fmt::format("; {} missing", column.missing);
    remarks[column.name] = {std::move(text), type.constant && !has_role};
    for_reading.push_back(spec);
    for_reading.back().missing.insert(for_reading.back().missing.end(), type.of_few.begin(),
                                      type.of_few.end());
    job.table.schema.columns.push_back(std::move(spec));
  }
  if (!roles.sensitive.empty()) require_none(job.table.schema.check(), "these roles cannot be used");
  std::vector<std::string> warnings;
  if (table.rows <= kMostDependencyRows) {
    if (const auto second = again()) {
      const Table whole = read_table(*second, for_reading);
      note_dependencies(whole, job.table.schema, remarks);
      warnings = note_revealing_columns(whole, job.table.schema, remarks);
    }
  }
  for (auto& entry : remarks) entry.second.text = one_line(std::move(entry.second.text));
  std::string out = write_job(job, remarks);
  std::string head = fmt::format("# {} rows, {} columns.\n", table.rows, table.columns.size());
  for (const std::string& note : unsure) head += fmt::format("# UNSURE: {}.\n", note);
  for (const std::string& warning : warnings) head += fmt::format("# WARNING: {}.\n", one_line(warning));
  head += roles.sensitive.empty() ? "# To do: move what must stay secret from roles.useful to "
                                    "roles.sensitive, and check every UNSURE.\n"
                                  : "# Check every UNSURE.\n";
  return head + out;
}

}  // namespace

std::string draft_job(const std::filesystem::path& data, const DraftRoles& roles, const std::string& source,
                      std::uint64_t most_unpacked) {
  if (data == "-")
    throw Error(ErrorCode::kUsage,
                "a job file cannot be drafted from standard input: it has to name the table",
                "save it to a file first");
  JobFile job;
  auto input = open_source(data, most_unpacked);
  std::string sample = sample_of(*input);
  const CsvGuess guess = guess_csv(sample);
  job.table.source = source.empty() ? data.string() : source;
  job.table.csv.delimiter = guess.delimiter;
  job.table.csv.header = guess.header;
  job.table.csv.trim = guess.trim;
  job.table.csv.decimal = guess.decimal;
  for (const char* key : {"data.source", "read.delimiter", "read.header", "read.decimal", "read.trim",
                          "read.missing", "roles.sensitive", "roles.useful"})
    job.given[key] = 0;

  // Read once: a pipe cannot be opened again.
  CsvSource reader(continued_source(std::move(sample), std::move(input)), job.table.csv);
  const auto again = [&]() -> std::unique_ptr<RowSource> {
    if (!can_be_read_again(data)) return nullptr;
    return std::make_unique<CsvSource>(open_source(data, most_unpacked), job.table.csv);
  };
  return draft_columns(job, reader, roles, again, guess.unsure);
}

std::string draft_job(const std::string& source, RowSource& rows, const DraftRoles& roles,
                      const std::function<std::unique_ptr<RowSource>()>& again) {
  JobFile job;
  job.table.source = source;
  for (const char* key : {"data.source", "roles.sensitive", "roles.useful"}) job.given[key] = 0;
  return draft_columns(job, rows, roles, again, {});
}

}  // namespace ppan
