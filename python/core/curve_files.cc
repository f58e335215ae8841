#include "curve_files.h"

#include <filesystem>

#include "complete_job.h"
#include "ppan/core/file.h"
#include "ppan/core/temporary.h"
#include "ppan/model/model_file.h"
#include "ppan/source/held_rows.h"
#include "ppan/trade_off/image_rows.h"

namespace ppan::python {

namespace fs = std::filesystem;

const std::string& CurveFiles::at(const std::string& name) const {
  const auto found = files.find(name);
  if (found == files.end()) throw Error(ErrorCode::kBadInput, "the run has no file '" + name + "'");
  return found->second;
}

AnyModel CurveFiles::model(const std::string& name) const {
  return any_model_from_container(parse_model(at(name), name), name);
}

std::map<std::string, std::string> files_in(const fs::path& directory) {
  std::map<std::string, std::string> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (auto bytes = read_regular_file(entry.path()))
      out.emplace(entry.path().filename().string(), std::move(*bytes));
  }
  return out;
}

namespace {

template <typename AnyCurve>
CurveFiles written(const AnyCurve& curve) {
  CurveFiles out;
  const Temporary directory(fs::temp_directory_path(), Temporary::Kind::kDirectory, 0700);
  write_run(curve, directory.path());
  out.files = files_in(directory.path());
  out.interrupted = curve.result.interrupted;
  return out;
}

}  // namespace

CurveFiles files_of(const ImageCurve& curve) {
  CurveFiles out = written(curve);
  for (const ImagePoint& point : curve.result.points) {
    for (const std::string& text : image_warnings(point, curve.result))
      out.warnings.push_back("point " + std::to_string(point.plan + 1) + ": " + text);
  }
  return out;
}

CurveFiles files_of(const Curve& curve, const Dataset& data) {
  CurveFiles out = written(curve);
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
