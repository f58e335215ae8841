#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/image/image_files.h"
#include "ppan/model/image_release_model.h"
#include "ppan/trade_off/image_data.h"
#include "ppan/trade_off/image_rows.h"
#include "ppan/trade_off/image_run.h"
#include "ppan/trade_off/model_names.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;

class ImageCurveTask final : public CurveTask {
 public:
  ImageCurveTask(CurveRun run, CurveEvents events) : run_(std::move(run)), events_(std::move(events)) {
    const ImageSet all = load_images(run_.job);
    data_ = split_images(all, run_.job);
    options_ = image_options(run_.job.image, data_);
    require_none(options_.check(), "this job cannot be run");
    identify_data(run_, images_sha256(all));
    hooks_.interrupted = events_.interrupted;
    hooks_.epoch = [this](Index point, const EpochReport& epoch, double leakage) {
      const int number = static_cast<int>(point) + 1;
      if (events_.epoch) events_.epoch({number, image_metrics(number, epoch, leakage, options_)});
      if (events_.finished && number == 0 && epoch.epoch == epoch.epochs) events_.finished(0);
    };
    hooks_.finished = [this](const ImagePoint& point) { finished(point); };
  }

  [[nodiscard]] const CurveRun& run() const override { return run_; }
  [[nodiscard]] const std::vector<std::string>& notices() const override { return notices_; }
  [[nodiscard]] int threads() const override { return options_.threads; }
  [[nodiscard]] int planned() const override { return static_cast<int>(image_targets(options_).size()); }
  [[nodiscard]] int epochs() const override { return image_epochs(options_); }
  [[nodiscard]] bool start_counts() const override { return true; }
  [[nodiscard]] Domain& domain() override {
    if (!domain_) domain_.emplace(data_, options_, hooks_, run_.fingerprint);
    return *domain_;
  }

  [[nodiscard]] CurveOutcome write(const Pieces& pieces, const fs::path& directory, double seconds) override {
    run_.seconds = seconds;
    static_cast<void>(domain());
    const ImageCurveResult result = domain_->finish(pieces);
    CurveOutcome out{
        image_curve_table(result), {}, static_cast<int>(result.points.size()), result.interrupted, {}};
    for (const ImagePoint& point : result.points) {
      for (const std::string& text : image_warnings(point, result))
        out.warnings.push_back(fmt::format("point {}: {}", point.plan + 1, text));
      const ImageAttack& attack = point.measure.attack;
      const Estimate& found = attack.strongest().leakage;
      out.points.push_back({static_cast<int>(point.plan) + 1, point.measure.distortion,
                            found.interval95.value_or(Interval{found.nats, found.nats}),
                            attack.upper_end(point.measure.upper), attack.still_rising});
    }
    if (!result.points.empty()) {
      write_image_run(directory, result, data_, run_);
    } else if (!result.interrupted) {
      throw Error(ErrorCode::kDiverged, "no point of the curve could be trained",
                  "try a smaller train.learning_rate");
    }
    return out;
  }

 private:
  void finished(const ImagePoint& point) {
    const int number = static_cast<int>(point.plan) + 1;
    if (events_.place) {
      const fs::path place = events_.place(number);
      if (!place.empty())
        save_model(place / model_name(number),
                   image_point_model(point, options_, data_.train, image_origin(run_, data_)));
    }
    if (events_.finished) events_.finished(number);
  }

  CurveRun run_;
  CurveEvents events_;
  ImageSplit data_;
  ImageCurveOptions options_;
  ImageCurveHooks hooks_;
  std::vector<std::string> notices_;
  std::optional<ImageDomain> domain_;
};

}  // namespace

std::unique_ptr<CurveTask> make_image_task(CurveRun run, CurveEvents events) {
  return std::make_unique<ImageCurveTask>(std::move(run), std::move(events));
}

}  // namespace ppan
