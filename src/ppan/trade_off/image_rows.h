#pragma once

// The files of a curve of images, for jobs and for the paper's digits alike: rows of curve.csv, points of
// summary.json, lines of metrics.jsonl, models.

#include <filesystem>
#include <string>
#include <vector>

#include "ppan/image/image_curve.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_origin.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/details.h"
#include "ppan/report/run_summary.h"

namespace ppan {

inline constexpr const char* kImageSeries = "ppan/images";

/// What a reader must know about a point: training diverged, attackers found 0.05 nats more than the
/// adversary of the training believed or were still getting better, a mixture of other points or time-sharing
/// leaks less, or the distortion is above the budget by more than a tenth and 0.005.
std::vector<std::string> image_warnings(const ImagePoint& point, const ImageCurveResult& result);
/// As table points are (core/hull.h).
bool image_dominated(const ImagePoint& point, const ImageCurveResult& result);
/// What the report shows of the attack on a point. `note`: by whom, on what.
AuditDetail image_audit_detail(const ImagePoint& point, std::string target, std::string note);

/// Upper bound, upper end, least leakage that could be seen, and whether the attack was inconclusive.
void set_allowance(const ImageAttack& attack, const std::vector<Estimate>& upper, CurveRow& row);
/// Points of the curve and what it is compared with.
CurveTable image_curve_table(const ImageCurveResult& result);
/// Points, missing points, and units; the caller adds the descriptions.
void summarize_images(const ImageCurveResult& result, RunSummary& out);
/// `leakage`: what the adversary of the game believes, nats.
MetricsLine image_metrics(int point, const EpochReport& epoch, double leakage,
                          const ImageCurveOptions& given);
std::string image_metrics(const ImageCurveResult& result);

/// `common`: what is the same for all models of a run.
ImageReleaseModel image_point_model(const ImagePoint& point, const ImageCurveOptions& given,
                                    const ImageSet& train, ModelOrigin common);
/// The model of a row of image_curve_table(): of a point, of the images as they are, or of their mean. Throws
/// Error(kInternal) for a file that no row names.
ImageReleaseModel image_model(const std::string& file, const ImageCurveResult& result, const ImageSet& train,
                              const ModelOrigin& common);
/// Saves the models of all rows.
void save_image_models(const std::filesystem::path& directory, const ImageCurveResult& result,
                       const ImageSet& train, const ModelOrigin& common);

}  // namespace ppan
