#pragma once

// The game of a noisy code for pictures, with two adversaries at once: one sees the code, the other the
// picture drawn from it. The mechanism feels the mean of both. Neither does alone: one on the code misses
// what the decoder makes plain to a network of its size, and from one on the picture the decoder learns to
// hide what the code still tells (docs/decisions/0007-images.md).
//
// Loss of the mechanism over a batch of n pictures:
//     1/n sum_i [log Q_code(x_i|c_i) + log Q_picture(x_i|z_i)] / 2  +  penalty(mean d(y_i, z_i)).

#include <memory>
#include <vector>

#include "ppan/core/records.h"
#include "ppan/game/posterior.h"
#include "ppan/train/train.h"

namespace ppan {

struct TrainedCode {
  Trained<float> trained;                     ///< With the adversary on the code.
  std::unique_ptr<Posterior<float>> picture;  ///< The one on the picture, of the same shape.
};

/// As train() (train/train.h) plays a game: epochs, steps, rates, budget, observers, start and resumption
/// mean the same, and the same arguments give the same bits. Warm-up, ramp, helpers and weight decay are not
/// part of it. The state keeps the adversary on the picture where other games keep a learned distortion. What
/// is reported as the adversary's is that of the stronger one. Throws Error(kUsage) for a mechanism that is
/// not a noisy code with a sigmoid.
TrainedCode train_code(const Records<float>& records, const TrainOptions& options,
                       const std::vector<Observer>& observers = {}, TrainStart<float> start = {});

}  // namespace ppan
