#include "ppan/image/image_task.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ppan/image/image_learner.h"
#include "ppan/image/image_subset.h"
#include "ppan/nn/adam.h"

namespace ppan {
namespace {

constexpr std::size_t kSelectionShare = 5;  // one image in so many chooses when to stop
constexpr int kMostEpochs = 400;

// Numbers of images: those to learn from, and those that choose when to stop.
struct Parts {
  std::vector<std::int32_t> learn;
  std::vector<std::int32_t> selection;
};
Parts split_off(Index count, SeededRandom random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  shuffle(random, order);
  const auto chosen = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, order.size() / kSelectionShare));
  return {{order.begin() + chosen, order.end()}, {order.begin(), order.begin() + chosen}};
}

Index used(const ImageSet& set, Index most) {
  return most > 0 ? std::min(most, set.size()) : set.size();
}

Matrix<float> rows_of(const Matrix<float>& from, const std::int32_t* rows, Index count) {
  Matrix<float> out(count, from.cols());
  for (Index j = 0; j < from.cols(); ++j) {
    const float* column = from.col(j).data();
    for (Index i = 0; i < count; ++i) out(i, j) = column[rows[i]];
  }
  return out;
}
Symbols codes_of(const Symbols& from, const std::int32_t* rows, Index count) {
  Symbols out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = from[static_cast<std::size_t>(rows[i])];
  return out;
}

// Mini-batches of `learn`, epoch after epoch: `step(rows, count, along)` for each, `epoch(seen)` after each
// pass.
template <typename Step, typename Epoch>
void for_batches(std::vector<std::int32_t> learn, Index batch, int epochs, SeededRandom random,
                 const Step& step, const Epoch& epoch) {
  const auto size = static_cast<Index>(learn.size());
  batch = std::min(batch, size);
  const Index batches = size / batch;
  Index done = 0;
  for (int pass = 0; pass < epochs; ++pass) {
    shuffle(random, learn);
    for (Index b = 0; b < batches; ++b, ++done) {
      const double along = static_cast<double>(done) / static_cast<double>(batches * epochs);
      step(learn.data() + b * batch, batch, along);
    }
    epoch(done * batch);
  }
}

}  // namespace

Attribute<float> task_attribute(const ImageSet& set, Index most) {
  Attribute<float> out;
  out.levels = set.task.classes;
  out.code.assign(set.task.code.begin(), set.task.code.begin() + used(set, most));
  return out;
}

Problems TeacherOptions::check() const {
  ProblemList list;
  for (const Index units : hidden) list.require_at_least("hidden", static_cast<double>(units), 1);
  list.require_at_least("batch", static_cast<double>(batch), 1);
  list.require_positive("rate", rate);
  list.require_at_least("steps", steps, 1);
  return list.take();
}

TaskTeacher fit_task_teacher(const ImageSet& train, Index most, const TeacherOptions& options) {
  require_none(options.check(), "a teacher of the task cannot be trained:");
  const SeededRandom random(options.seed);
  const Parts parts = split_off(used(train, most), random.fork("split"));
  std::vector<Attribute<float>> task(1);
  task.front().levels = train.task.classes;
  Posterior<float> teacher(options.network(), train.pixels.cols(), task);
  SeededRandom start = random.fork("parameters");
  teacher.initialise(start);
  Adam<float> adam;
  Vector<float> gradient;
  Matrix<float> d_score;
  const auto chosen = static_cast<Index>(parts.selection.size());
  const Matrix<float> held_out = rows_of(train.pixels, parts.selection.data(), chosen);
  std::vector<Attribute<float>> held_out_task = task;
  held_out_task.front().code = codes_of(train.task.code, parts.selection.data(), chosen);
  TaskTeacher best;
  const double per_pass =
      std::max(1.0, static_cast<double>(parts.learn.size()) / static_cast<double>(options.batch));
  const int epochs = std::clamp(static_cast<int>(std::ceil(options.steps / per_pass)), 1, kMostEpochs);
  for_batches(
      parts.learn, options.batch, epochs, random.fork("order"),
      [&](const std::int32_t* rows, Index count, double along) {
        const Matrix<float> images = rows_of(train.pixels, rows, count);
        task.front().code = codes_of(train.task.code, rows, count);
        teacher.score(images, false, 1, task);
        d_score.setConstant(count, 1, -1.0F / static_cast<float>(count));
        teacher.backward(images, false, 1, task, d_score, &gradient, nullptr);
        adam.step(falling_rate(options.rate, along), gradient, teacher.parameters());
      },
      [&](Index /*seen*/) {
        const double nats = -static_cast<double>(teacher.score(held_out, false, 1, held_out_task).mean());
        if (best.parameters.size() > 0 && nats >= best.nats) return;
        best = {teacher.parameters(), nats};
      });
  return best;
}

TaskScore measure_image_task(const ImageModel& model, const ImageSplit& data, Index most,
                             const ImageAttackOptions& options) {
  require_none(options.check(), "a task cannot be measured:");
  const SeededRandom random = SeededRandom(options.seed).fork("recipient");
  const std::int32_t levels = data.train.task.classes;
  SeededRandom noise = random.fork("noise");
  ImageReleaser releaser(model);
  Matrix<float> train;
  Matrix<float> test;
  releaser.release(data.train.pixels.topRows(used(data.train, most)), noise, train);
  releaser.release(data.test.pixels, noise, test);

  const Parts parts = split_off(train.rows(), random.fork("split"));
  const auto chosen = static_cast<Index>(parts.selection.size());
  const Matrix<float> selection = rows_of(train, parts.selection.data(), chosen);
  const Symbols selection_task = codes_of(data.train.task.code, parts.selection.data(), chosen);
  std::vector<ImageLearner> learners;
  if (!options.networks.empty())
    learners.emplace_back("dense",
                          MlpShape{.inputs = model.pixels(),
                                   .hidden = options.networks.back().hidden,
                                   .outputs = levels,
                                   .activation = options.networks.back().activation},
                          random.fork("learner", 0));
  if (options.convolution || learners.empty())
    learners.emplace_back("convolutional",
                          ConvShape{.height = model.height, .width = model.width, .outputs = levels},
                          random.fork("learner", 1));
  for_batches(
      parts.learn, options.batch, options.epochs, random.fork("order"),
      [&](const std::int32_t* rows, Index count, double along) {
        const Matrix<float> images = rows_of(train, rows, count);
        const Symbols task = codes_of(data.train.task.code, rows, count);
        for (ImageLearner& learner : learners) learner.step(images, task, falling_rate(options.rate, along));
      },
      [&](Index seen) {
        for (ImageLearner& learner : learners) {
          const Matrix<float> answers = learner.log_probability(selection);
          double sum = 0;
          for (Index i = 0; i < chosen; ++i)
            sum += static_cast<double>(answers(i, selection_task[static_cast<std::size_t>(i)]));
          learner.epoch_done(seen,
                             empirical_entropy(selection_task, levels) + sum / static_cast<double>(chosen));
        }
      });
  ImageLearner& best = *std::ranges::max_element(learners, {}, &ImageLearner::best_nats);
  best.take_best();
  TaskScore out{.task = data.train.task.name, .metric = task_metric(levels)};
  out.original = task_rate(best.log_probability(data.test.pixels), data.test.task.code, levels);
  out.released = task_rate(best.log_probability(test), data.test.task.code, levels);
  return out;
}

}  // namespace ppan
