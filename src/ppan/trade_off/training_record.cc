#include "ppan/trade_off/training_record.h"

#include <utility>

namespace ppan {

void record_training(const TrainSummary& training, PointSummary& point) {
  point.stop = to_string(training.stop);
  point.message = training.message;
  point.epochs = static_cast<int>(training.epochs.size());
  point.iterations = training.iterations;
}

void record_training(const TrainSummary& training, CurveRow& row) {
  row.set(curve_column::kStop, to_string(training.stop));
}

void record_training(const TrainSummary& training, ModelOrigin& origin) {
  origin.stop = training.message.empty() ? std::string(to_string(training.stop)) : training.message;
  origin.epochs = static_cast<int>(training.epochs.size());
  origin.iterations = training.iterations;
}

MetricsLine make_metrics_line(std::string series, int point, const EpochReport& epoch,
                              std::optional<double> leakage) {
  MetricsLine line{.series = std::move(series), .number = point, .epoch = epoch.epoch};
  line.distortion = epoch.mean.distortion;
  line.leakage = leakage;
  line.loss = epoch.mean.loss();
  line.penalty = epoch.mean.penalty;
  return line;
}

}  // namespace ppan
