#include "ppan/trade_off/curve_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/open/address.h"
#include "ppan/trade_off/run_files.h"

namespace ppan {
namespace {

// The job with what the command line says instead.
JobFile job_of(const CurveRequest& request) {
  JobFile job = load_job(request.job);
  for (const std::string& assignment : request.set) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos)
      throw Error(ErrorCode::kUsage, fmt::format("--set {} is not KEY=VALUE", assignment));
    set_job_value(job, assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  const auto set = [&](const char* key, const auto& value) {
    if (value) set_job_value(job, key, fmt::to_string(*value));
  };
  set("privacy.points", request.points);
  set("train.epochs", request.epochs);
  set("train.seed", request.seed);
  set("train.threads", request.threads);
  if (request.points && !job.table.curve.budgets.empty())
    throw Error(ErrorCode::kUsage, "--points goes with budgets that are spread automatically",
                "remove privacy.budgets from the job, or --points");
  job.table.csv.limits.unpacked_bytes = request.max_unpacked;
  require_none(job.check(), "this job cannot be run");
  return job;
}

std::vector<NamedPath> inputs_of(const std::string& path, const JobFile& job) {
  std::vector<NamedPath> inputs{{"job", path}};
  if (!job.about_images()) {
    inputs.push_back({"data.source", file_of(job.table.source, job.directory)});
    return inputs;
  }
  inputs.push_back({"data.images", job.directory / job.image.images});
  inputs.push_back({"data.labels", job.directory / job.image.labels});
  return inputs;
}

// "3", "5-7" or "references" as names of pieces.
void add_pieces(const std::string& text, const Domain& domain, std::vector<std::string>& names) {
  const auto refuse = [&] {
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--only {}: the curve has points 1 to {}, and references", text, domain.planned()),
        "for example --only 3, --only 5-7 or --only references");
  };
  const auto add = [&](std::vector<std::string> more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  if (text == "references") return add(domain.reference_pieces());
  const std::size_t dash = text.find('-');
  const auto number = [&](std::string_view part) {
    int value = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), value);
    if (read.ec != std::errc() || read.ptr != part.data() + part.size() || value < 1 ||
        value > domain.planned())
      refuse();
    return value;
  };
  const int first = number(std::string_view(text).substr(0, dash));
  const int last = dash == std::string::npos ? first : number(std::string_view(text).substr(dash + 1));
  if (last < first) refuse();
  for (int point = first; point <= last; ++point) add(domain.point_pieces(point));
}

}  // namespace

RunMode CurveRequest::mode() const {
  if (force) return RunMode::kForce;
  return resume || in_parts() ? RunMode::kResume : RunMode::kNew;
}

std::string CurveRequest::command() const {
  std::string text = fmt::format("ppan curve {} --out {}", job, out);
  const auto add = [&](const char* name, const auto& value) {
    if (value) text += fmt::format(" {} {}", name, *value);
  };
  add("--points", points);
  add("--epochs", epochs);
  add("--seed", seed);
  for (const std::string& assignment : set) text += " --set " + assignment;
  return text;
}

CurveRun read_curve_run(const CurveRequest& request, const std::string& version) {
  CurveRun run;
  run.job = job_of(request);
  run.job_text = read_file(request.job);
  run.command = request.command();
  run.version = version;
  protect_inputs(request.out, inputs_of(request.job, run.job));
  return run;
}

std::vector<std::string> wanted_pieces(const CurveRequest& request, const Domain& domain) {
  std::vector<std::string> names;
  if (request.prepare) names = domain.start_pieces();
  for (const std::string& text : request.only) add_pieces(text, domain, names);
  return names;
}

void require_points(const Domain& domain, Store& store) {
  std::vector<int> missing;
  for (int point = 1; point <= domain.planned(); ++point) {
    const std::vector<std::string> pieces = domain.point_pieces(point);
    if (!std::all_of(pieces.begin(), pieces.end(), [&](const std::string& name) { return store.get(name); }))
      missing.push_back(point);
  }
  if (missing.empty()) return;
  throw Error(
      ErrorCode::kUsage, fmt::format("points are missing: {}", fmt::join(missing, ", ")),
      fmt::format("make them with --only {}, or give --resume instead of --finish", fmt::join(missing, ",")));
}

}  // namespace ppan
