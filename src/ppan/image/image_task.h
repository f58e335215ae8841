#pragma once

// A second label of images, which a recipient wants to predict from the release: the task. The mechanism
// never sees it. A teacher that learned it from original images tells the mechanism what to preserve
// (GameOptions::utility). New networks that learn it from released images measure what a recipient loses.

#include <cstdint>
#include <vector>

#include "ppan/audit/task_score.h"
#include "ppan/core/problem.h"
#include "ppan/game/posterior.h"
#include "ppan/image/image_attack.h"
#include "ppan/model/image_model.h"
#include "ppan/read/idx.h"

namespace ppan {

/// The task as an attribute of the game; with `most` above 0 only of the first `most` images.
Attribute<float> task_attribute(const ImageSet& set, Index most = 0);

struct TeacherOptions {
  std::vector<Index> hidden{256};  ///< ReLU, with a direct linear path.
  Index batch = 100;               ///< At least 1.
  double rate = 0.001;             ///< Adam's at the start, falling_rate(). Above 0.
  double steps = 3000;             ///< Mini-batches, about. At least 1.
  std::uint64_t seed = 1;
  [[nodiscard]] PosteriorOptions network() const { return {.hidden = hidden, .skip = true}; }
  [[nodiscard]] Problems check() const;
};

/// Q'(task|image), fitted to original images; the state that does best on a held-out fifth of them is kept.
/// With `most` above 0 only the first `most` images are used.
struct TaskTeacher {
  Vector<float> parameters{};  ///< Of a Posterior of options.network().
  double nats = 0;             ///< Mean -log Q'(task|image) on those set aside.
};
TaskTeacher fit_task_teacher(const ImageSet& train, Index most, const TeacherOptions& options);

/// What a recipient loses: networks shaped and trained as those of the attack (the last dense one, and the
/// convolutional one if there is any) learn the task from one release of the first `most` training images (0:
/// all) with unscaled pixels. The one that does better on a held-out fifth is kept and tested on the held-out
/// images, original and released.
TaskScore measure_image_task(const ImageModel& model, const ImageSplit& data, Index most,
                             const ImageAttackOptions& options);

}  // namespace ppan
