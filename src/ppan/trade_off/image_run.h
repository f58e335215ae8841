#pragma once

// The files of a run on images: models, metrics, and what the report is made from. docs/run_directory.md says
// what each holds.

#include <filesystem>
#include <memory>

#include "ppan/image/image_curve.h"
#include "ppan/model/model_origin.h"
#include "ppan/trade_off/curve_task.h"

namespace ppan {

/// What all models of a run have in common.
ModelOrigin image_origin(const CurveRun& run, const ImageSplit& data);

/// Writes models, metrics.jsonl, details.json, summary.json, curve.csv and the report into a directory;
/// returns the path of the report.
std::filesystem::path write_image_run(const std::filesystem::path& directory, const ImageCurveResult& result,
                                      const ImageSplit& data, const CurveRun& run);

std::unique_ptr<CurveTask> make_image_task(CurveRun run, CurveEvents events);

}  // namespace ppan
