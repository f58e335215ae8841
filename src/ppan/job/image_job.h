#pragma once

// A job about images whose label is to be hidden: which images, and the options of all processing.

#include <optional>
#include <string>

#include "ppan/image/image_curve.h"
#include "ppan/job/usefulness.h"
#include "ppan/read/png.h"
#include "ppan/table/table_training.h"

namespace ppan {

struct ImageJob {
  std::string
      images{};  ///< An IDX file, or a directory of PNG files, relative to the job file. Empty: no such job.
  std::string labels{};    ///< An IDX file, or a table that names each PNG file.
  LabelColumns columns{};  ///< Of that table.
  /// What a recipient wants to predict: an IDX file, or a table; empty for a directory: that of the labels.
  std::string task_labels{};
  std::string task_column{};  ///< Of that table. Both empty: there is no task.
  Usefulness usefulness = Usefulness::kBoth;
  double task_weight =
      1;  ///< Nats of leakage that a nat about the task is worth, with Usefulness::kBoth. At least 0.
  MechanismFamily family = MechanismFamily::kAuto;  ///< Auto or noisy-code, which are equivalent here.
  std::optional<Index> code_size{};                 ///< Absent: as `curve` says.
  int points = 8;                                   ///< Unless curve.targets says which. 1 to 200.
  double test = 0.25;                               ///< Share of the images that the mechanism never sees.
  bool quick = false;                               ///< Smaller attackers.
  /// The decoder has the layers of the encoder in reverse order. There is no gate: no image is released
  /// unchanged.
  ImageCurveOptions curve{.code = {}};

  [[nodiscard]] bool has_task() const { return !task_labels.empty() || !task_column.empty(); }
};

}  // namespace ppan
