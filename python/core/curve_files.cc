#include "curve_files.h"

#include <filesystem>

#include "complete_job.h"
#include "ppan/core/file.h"
#include "ppan/core/temporary.h"
#include "ppan/model/model_file.h"
#include "ppan/source/held_rows.h"

namespace ppan::python {

namespace fs = std::filesystem;

const std::string& CurveFiles::at(const std::string& name) const {
  const auto found = files.find(name);
  if (found == files.end()) throw Error(ErrorCode::kBadInput, "the run has no file '" + name + "'");
  return found->second;
}

ReleaseModel CurveFiles::model(const std::string& name) const {
  return from_container(parse_model(at(name), name), name);
}

std::map<std::string, std::string> files_in(const fs::path& directory) {
  std::map<std::string, std::string> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (auto bytes = read_regular_file(entry.path()))
      out.emplace(entry.path().filename().string(), std::move(*bytes));
  }
  return out;
}

CurveFiles files_of(const Curve& curve, const Dataset& data) {
  CurveFiles out;
  const Temporary directory(fs::temp_directory_path(), Temporary::Kind::kDirectory, 0700);
  write_run(curve, directory.path());
  out.files = files_in(directory.path());
  out.interrupted = curve.result.interrupted;
  out.notices = data.notices;
  out.notices.insert(out.notices.end(), curve.result.notices.begin(), curve.result.notices.end());
  out.warnings = curve.result.warnings;
  return out;
}

Prepared prepare_frame(RowSource& source, JobFile job) {
  const HeldRows rows(source);
  complete_job(profile_table(*rows.open()), job);
  require_none(job.check(), "this job cannot be run");
  Dataset data = make_dataset(job, *rows.open());
  data.sha256 = rows.fingerprint();
  return {std::move(job), std::move(data)};
}

Hooks hooks_of(std::atomic<bool>& stop, Messages& messages) {
  Hooks hooks;
  hooks.interrupted = [&stop] { return stop.load(); };
  hooks.phase = [&messages](const std::string& phase) { messages.add(phase, 0, 0, 0); };
  hooks.epoch = [&messages](int point, const EpochReport& epoch) {
    messages.add("epoch", point, epoch.epoch, epoch.epochs);
  };
  hooks.finished = [&messages](const TablePoint& point) { messages.add("finished", point.number, 0, 0); };
  return hooks;
}

}  // namespace ppan::python
