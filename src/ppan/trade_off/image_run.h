#pragma once

// The curve of a job about images and its files: reads and splits them, trains a noisy code for each budget,
// attacks each on images it never saw, and writes the run.

#include <memory>
#include <string>
#include <vector>

#include "ppan/image/image_curve.h"
#include "ppan/job/job.h"
#include "ppan/read/idx.h"
#include "ppan/trade_off/curve_task.h"

namespace ppan {

/// The images of a job with their labels: an IDX pair, or a directory of PNG files with a table. Throws
/// what the readers throw.
ImageSet load_images(const JobFile& job);

/// At random, by the job's seed: split.test of the images held out, the others to train on. Throws
/// Error(kBadInput) if a part would have fewer than `kLeastImages`, or a class would be missing from what
/// is trained on.
inline constexpr Index kLeastImages = 50;
ImageSplit split_images(const ImageSet& set, const JobFile& job);

/// The options of the job. Settings that it does not give depend on the number of images: with fewer images
/// there are more passes, so that networks make the same number of steps. Budgets are spread from a fifth to
/// nine tenths of the way between the distortion of the images themselves and that of their mean.
ImageCurveOptions image_options(const ImageJob& job, const ImageSplit& data);

std::unique_ptr<CurveTask> make_image_task(CurveRun run, CurveEvents events);

}  // namespace ppan
