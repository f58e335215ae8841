#pragma once

// Training of heads (model/heads.h). With rows drawn by the mechanism, its loss is
//
//     mean log q(x|z,t)  +  price * ( a cost(w,z) + b KL(teacher(w) || teacher(z)) + g log D(z) )
//                        +  m sum_h KL(shares of the cells of head h that are released || shares in the
//                        training rows),
//
// cost: the distortion of the table (TableChange) and what leaving or entering a spike costs, both by exact
// expectation; q: an adversary that learns along, conditioned on the tasks t that are released as they are;
// teacher: a model of the tasks that was fitted to original rows and then frozen; D: a discriminator that
// tells released rows from original ones. Without the last term a mechanism hides by moving everybody to one
// side (husbands become wives, who tell nothing any more); with it, people change places. What depends on a
// cell that was drawn has the straight-through gradient. A point begins with those columns redrawn
// (heads_path.h, heads_links.h) that its budget pays for, and with the others kept. The price is that of a
// budget (game/budget.h): moved until the distortion is what is allowed; with budget left, it is a price that
// falls along the training, so that a mechanism with nothing left to hide gives the rest back.

#include <cstdint>
#include <optional>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/table/heads_players.h"
#include "ppan/table/heads_shape.h"
#include "ppan/train/train.h"

namespace ppan {

struct HeadsOptions {
  std::vector<Index> hidden{64, 64};  ///< Of mechanism, adversary, teacher and discriminator.
  Index noise_inputs = 8;             ///< At least 1.
  std::optional<int> epochs{};        ///< Of a point; absent: enough for a fixed number of steps.
  Index batch = 256;                  ///< At least 1.
  int adversary_steps = 3;            ///< At least 1.
  double rate = 0.003;                ///< Adam's, until it decays. Above 0.
  double task_weight = 1;             ///< b; without tasks it says nothing. At least 0.
  double row_weight = 0.3;            ///< g. At least 0.
  double margin_weight = 0.5;         ///< m. At least 0.
  std::int64_t least_rows = 5;        ///< People for each cell. At least 1.
  LevelOptions levels{.most_bins = 24};
  [[nodiscard]] Problems check() const;
};

/// Epochs of one point for so many training rows.
int heads_epochs(Index rows, const HeadsOptions& options);

/// What every point starts with: heads that keep their cells, what they are redrawn from, and the teacher.
struct HeadsLearned {
  std::vector<std::int32_t> order{};  ///< See HeadsPath, like the following.
  std::vector<double> redrawn{};
  std::vector<HeadLink> links{};  ///< See HeadLinks, like the following; heads in that order.
  std::vector<Vector<float>> base{};
  Vector<float> parameters{};
  Vector<float> teacher{};  ///< Empty without tasks.
  /// Of the weights of the game's adversary, times the rate in each step. A point falls from here towards 1
  /// where its budget is not spent.
  double adversary_decay = 1;
};
HeadsLearned learn_heads(const HeadsFit& fit, const HeadsRows& rows, const HeadsOptions& options,
                         std::uint64_t seed);

/// The same with the rows, heads in the order in which they are drawn.
struct HeadsStart {
  HeadsFit fit{};
  HeadsRows rows{};
  HeadsLearned learned{};
};
HeadsStart start_heads(const HeadsFit& fit, const HeadsRows& rows, const HeadsLearned& learned);
/// Heads as a point begins, every cell kept.
Heads first_heads(const HeadsStart& start, const HeadsOptions& options);

struct TrainedHeads {
  Heads heads{};
  double belief = 0;           ///< I(X;Z,T) as the adversary of the game believes it in the last epoch, nats.
  double adversary_decay = 1;  ///< At the end; see HeadsLearned.
  TrainSummary summary{};
};
/// A point with a mean distortion of at most `budget` on the training rows.
TrainedHeads train_heads(const HeadsStart& start, double budget, const HeadsOptions& options,
                         std::uint64_t seed, const std::vector<Observer>& observers = {});

}  // namespace ppan
