#pragma once

// What a job about images learns from and how: reading and splitting the images, and the options that the job
// leaves to their number and size.

#include "ppan/image/image_curve.h"
#include "ppan/job/job.h"
#include "ppan/read/image_set.h"

namespace ppan {

/// The images of a job with their labels: an IDX pair, or a directory of PNG files with a table. Throws
/// what the readers throw.
ImageSet load_images(const JobFile& job);

/// Splits at random, by the job's seed: a share `split.test` of the images is held out, the others are
/// trained on. Throws Error(kBadInput) if a part would have fewer than `kLeastImages`, or if a held-out class
/// would be missing from the training images.
inline constexpr Index kLeastImages = 50;
ImageSplit split_images(const ImageSet& set, const JobFile& job);

/// The options of the job. Settings it does not give follow the number of images: fewer images are gone
/// through more often, so that networks make as many steps. Budgets are spread from a fifth to nine tenths of
/// the way from the distortion of the images themselves to that of their mean.
ImageCurveOptions image_options(const ImageJob& job, const ImageSplit& data);

}  // namespace ppan
