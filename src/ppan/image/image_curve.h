#pragma once

// The trade-off curve of images: operating points, each trained, attacked by fresh attackers on images it has
// not seen, and compared with time-sharing; by a noisy code, or by the paper's mechanism at the paper's
// settings, in which fresh attackers find far more (docs/decisions/0007-images.md). It consists of pieces
// (engine/domain.h), so that several processes can make it and resume it.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/core/hull.h"
#include "ppan/core/problem.h"
#include "ppan/engine/domain.h"
#include "ppan/image/image_attack.h"
#include "ppan/image/image_task.h"
#include "ppan/image/image_training.h"
#include "ppan/model/image_model.h"
#include "ppan/read/idx.h"
#include "ppan/train/train.h"

namespace ppan {

/// How images are protected.
enum class ImageMethod {
  kPaper,  ///< The paper's mechanism: points are weights of the distortion.
  kCode,   ///< A noisy code: points are budgets.
};
std::string_view to_string(ImageMethod method);

struct ImageCurveOptions {
  ImageMethod method = ImageMethod::kCode;
  std::vector<double> targets;  ///< lambda (paper) or budgets (best) of the points; empty: the usual ones.
  std::optional<int> points;    ///< How many of the usual ones. 1 to 1000.
  std::optional<int> epochs;    ///< Of each point.
  Index train = 0;              ///< Images to train on; 0: all.
  int threads = 0;              ///< 0: one per core. Does not affect results.
  std::uint64_t seed = 1;
  PaperImageOptions paper;
  CodeImageOptions code{.gate = {200}};
  ImageAttackOptions attack;
  Index bound_images = 10'000;  ///< Whose codes make the upper bound, at most. 0: no bound.

  [[nodiscard]] Problems check() const;
};

/// lambda (paper) or distortion budget (best) of each point, in the order of the plan. The paper's weights
/// go down from 35 to 8 without a discriminator and from 15 to 2 with one, evenly in their logarithm.
std::vector<double> image_targets(const ImageCurveOptions& options);
/// How long the trainings are.
int image_epochs(const ImageCurveOptions& options);
/// Everything that determines a training, as text: equal for equal trainings, whatever is measured
/// afterwards. Data are included by their fingerprint.
std::string image_fingerprint(const ImageCurveOptions& options, const ImageSplit& data);

/// What was measured on images the mechanism has not seen.
struct ImageMeasure {
  double distortion = 0;  ///< Pixel cross-entropy, nats per pixel.
  Interval distortion95;
  double unchanged = 0;  ///< Share of the images that a gate releases unchanged.
  ImageAttack attack;
  std::vector<Estimate> upper;  ///< Upper bounds, if the mechanism allows any; the least first.
  /// I(X;Z) as the training adversary believes it on these images, nats, and how many it recognises. Never
  /// evidence.
  double belief = 0;
  double belief_accuracy = 0;
  std::vector<TaskScore> task{};  ///< What a recipient loses; empty without a task.
  double seconds = 0;
};

struct ImagePoint {
  Index plan = 0;
  double target = 0;
  ImageModel model;
  TrainSummary training;
  double training_distortion = 0;  ///< Of the quantity that has the budget: mean over the last epoch.
  double seconds = 0;              ///< Of training, this time.
  ImageMeasure measure;
};

struct ImageCurveResult {
  ImageCurveOptions given;
  std::vector<double> targets;
  std::vector<ImagePoint> points;  ///< Finished ones, in the order of the plan.
  bool interrupted = false;
  double entropy = 0;               ///< H(X) of the labels trained on, nats.
  double unchanged_distortion = 0;  ///< Of the test images released unchanged.
  double constant_distortion = 0;   ///< Of the mean training image released for all of them.
  Index train_images = 0;
  Index test_images = 0;
  std::vector<TaskScore> task_unchanged{};  ///< Of the unchanged images; empty without a task.
  std::vector<TaskScore> task_constant{};   ///< Of the mean image for everybody.

  /// Leakage of time-sharing at a distortion between those two: H(X) falling to 0 along a line.
  [[nodiscard]] double time_sharing(double distortion) const;
  /// What can be served: unchanged first, then the points, constant last.
  [[nodiscard]] std::vector<HullPoint> servable() const;
  /// Leakage of the completed curve, the lower hull of what can be served, as a share of time-sharing.
  /// Nothing where time-sharing is not defined or leaks nothing.
  [[nodiscard]] std::optional<double> share_of_time_sharing(double distortion) const;
};

struct ImageCurveHooks {
  std::function<bool()> interrupted;
  /// After each epoch, with the leakage as its own adversary sees it, nats.
  std::function<void(Index point, const EpochReport&, double leakage)> epoch;
  /// When the attack on a point begins.
  std::function<void(Index point)> attacking;
  std::function<void(const ImagePoint&)> finished;  ///< One call at a time.
};

class ImageDomain final : public Domain {
 public:
  /// Throws Error(kUsage) listing every problem of `options`, Error(kBadInput) for images of one class.
  /// `data` and `hooks` must outlive it; `identity` distinguishes this job, these images and this version
  /// from others.
  ImageDomain(const ImageSplit& data, const ImageCurveOptions& options, const ImageCurveHooks& hooks,
              std::string identity = {});
  ~ImageDomain() override;

  [[nodiscard]] std::string fingerprint() const override;
  [[nodiscard]] std::vector<Piece> pieces() const override;
  [[nodiscard]] int planned() const override;
  [[nodiscard]] std::vector<std::string> start_pieces() const override;
  [[nodiscard]] std::vector<std::string> point_pieces(int number) const override;
  [[nodiscard]] std::vector<std::string> reference_pieces() const override;
  [[nodiscard]] std::optional<std::string> make(const std::string& name, const Pieces& needed,
                                                const Checkpoint& checkpoint) override;
  void finished(const std::string& name, const std::string& bytes, bool made) override;

  /// The curve of the finished pieces.
  [[nodiscard]] ImageCurveResult finish(const Pieces& pieces) const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// Makes the whole curve in this process. Throws as ImageDomain does.
ImageCurveResult image_curve(const ImageSplit& data, const ImageCurveOptions& options,
                             const ImageCurveHooks& hooks = {});

/// The fully known part of a release: distortion, what the adversary of the training believes (null: there is
/// none), attackers, bounds; of images with a task what a recipient loses.
ImageMeasure measure_images(const ImageModel& model, Posterior<float>* adversary, const ImageSplit& data,
                            const ImageCurveOptions& options);

}  // namespace ppan
