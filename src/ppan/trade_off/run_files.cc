#include "ppan/trade_off/run_files.h"

#include <algorithm>
#include <array>
#include <string>
#include <system_error>
#include <vector>

namespace ppan {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 17> kNames{
    ".fingerprint", "curve.csv",      "summary.json",  "metrics.jsonl",    "columns.json", "details.json",
    "audit.json",   "findings.json",  "examples.json", "curve.svg",        "report.html",  "job.toml",
    "images.svg",   "unchanged.ppan", "constant.ppan", "independent.ppan", "task.svg"};

// "point-07.ppan" for "point-", with as many digits as the number has.
bool is_numbered(std::string_view name, std::string_view begin) {
  constexpr std::string_view kEnd = ".ppan";
  if (!name.starts_with(begin) || !name.ends_with(kEnd) || name.size() < begin.size() + kEnd.size() + 2)
    return false;
  name.remove_prefix(begin.size());
  name.remove_suffix(kEnd.size());
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<fs::path> run_files(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const auto type = entry->symlink_status(ignored).type();
    const bool file = type == fs::file_type::regular || type == fs::file_type::symlink;
    if (file && is_run_file(entry->path().filename().string())) found.push_back(entry->path());
  }
  return found;
}

}  // namespace

bool is_run_file(std::string_view name) {
  return is_numbered(name, "point-") || is_numbered(name, "redrawn-") ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool holds_run(const fs::path& directory) {
  return !run_files(directory).empty();
}

void remove_old_run(const fs::path& directory) {
  std::error_code ignored;
  for (const fs::path& path : run_files(directory)) fs::remove(path, ignored);
}

void protect_inputs(const fs::path& directory, std::span<const NamedPath> inputs) {
  // Those that are there, through their links, and those that would be made.
  std::vector<fs::path> written = run_files(directory);
  for (const NamedPath& input : inputs) {
    if (is_run_file(input.path.filename().string())) written.push_back(directory / input.path.filename());
  }
  for (const fs::path& path : written) {
    const std::array output{NamedPath{"--out", path}};
    require_distinct(inputs, output);
  }
}

}  // namespace ppan
