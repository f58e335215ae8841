#pragma once

// What the binding keeps of a curve, and how one is begun.

#include <map>
#include <string>
#include <vector>

#include "binding.h"
#include "ppan/ppan.h"
#include "ppan/report/curve_file.h"

namespace ppan::python {

/// A finished curve as the files of its run directory, in memory: what it is in Python, in a pickle and on
/// disk is the same.
struct CurveFiles {
  std::map<std::string, std::string> files{};
  bool interrupted = false;
  std::vector<std::string> notices{};
  std::vector<std::string> warnings{};

  /// Throws Error(kBadInput) for a file that is not there.
  [[nodiscard]] const std::string& at(const std::string& name) const;
  [[nodiscard]] AnyModel model(const std::string& name) const;
  [[nodiscard]] CurveTable table() const { return from_csv(at("curve.csv")); }
};

/// The regular files of a directory.
std::map<std::string, std::string> files_in(const std::filesystem::path& directory);
CurveFiles files_of(const Curve& curve, const Dataset& data);
CurveFiles files_of(const ImageCurve& curve);

/// A frame that a job was made ready for.
struct Prepared {
  JobFile job;
  Dataset data;
};
Prepared prepare_frame(RowSource& source, JobFile job);

/// Hooks that stop when `stop` says so and leave messages.
Hooks hooks_of(std::atomic<bool>& stop, Messages& messages);

}  // namespace ppan::python
