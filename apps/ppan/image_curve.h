#pragma once

// `ppan curve` for a job about images: reads and splits them, trains a noisy code for each budget, attacks
// each on images it never saw, and writes the run.

#include <string>

#include "ppan/paper/mnist.h"
#include "ppan/read/idx.h"
#include "ppan/read/job.h"

namespace ppan::cli {

/// The images of a job with their labels: an IDX pair, or a directory of PNG files with a table. Throws
/// what the readers throw.
ImageSet load_images(const JobFile& job);

/// At random, by the job's seed: split.test of the images held out, the others to train on. Throws
/// Error(kBadInput) if a part would have fewer than `kLeastImages`, or a class would be missing from what
/// is trained on.
inline constexpr Index kLeastImages = 50;
ImageSplit split_images(const ImageSet& set, const JobFile& job);

/// What the job asks for. Settings it does not give follow the number of images: fewer of them are gone
/// through more often, so that networks make as many steps. Budgets are spread from a fifth to nine tenths of
/// the way between the distortion of the images themselves and that of their mean.
MnistOptions image_options(const JobFile& job, const ImageSplit& data);

struct ImageCurveRun {
  JobFile job{};
  std::string job_text{};  ///< The job file, verbatim.
  std::string command{};   ///< As typed.
  std::string version{};   ///< Of this program.
  std::string out{};       ///< Directory to write to.
  bool force = false;
  bool quiet = false;
};
/// Returns the exit status.
int run_image_curve(const ImageCurveRun& run);

}  // namespace ppan::cli
