#pragma once

// What files record about a training, for tables, images and known worlds alike.

#include <optional>
#include <string>

#include "ppan/model/model_origin.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/run_summary.h"
#include "ppan/train/train.h"

namespace ppan {

/// Why and when it stopped.
void record_training(const TrainSummary& training, PointSummary& point);
void record_training(const TrainSummary& training, CurveRow& row);
void record_training(const TrainSummary& training, ModelOrigin& origin);

/// A line of metrics.jsonl. `leakage`: what the adversary of the game believes, nats.
MetricsLine make_metrics_line(std::string series, int point, const EpochReport& epoch,
                              std::optional<double> leakage);

}  // namespace ppan
