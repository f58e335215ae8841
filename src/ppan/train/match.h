#pragma once

// The players of one game: mechanism, adversary and, if requested, a discriminator and a learned distortion,
// each with its optimiser. A match knows how each player makes one step on a mini-batch; the loop decides who
// steps when (train.h).
//
// Loss of the mechanism, over a batch of n records with K weighted draws each (game/draws.h):
//     1/n sum_i sum_k weight_ik u(Q(x_i|z_ik))  +  penalty(d)  +  price mean d'  +  gamma mean log D(z),
//     d_i = sum_k weight_ik d(y_i, z_ik),  d'_i = sum_k weight_ik d'(y'_i, z_ik),
// where u(q) = log q, or with an alpha-loss of order alpha > 1
//     u(q) = alpha/(alpha-1) (q^((alpha-1)/alpha) - 1),
// minus the loss of the adversary, who ascends the mean of the same u. Its best answer is then not the
// posterior but the posterior raised to alpha and normalised, and the game is about Arimoto's information of
// that order (theory/leakage_measures.h). alpha = infinity, u(q) = q - 1, is Bayes vulnerability.

#include <memory>
#include <optional>

#include "ppan/game/budget.h"
#include "ppan/game/discriminator.h"
#include "ppan/game/distortion.h"
#include "ppan/game/mechanism.h"
#include "ppan/game/posterior.h"
#include "ppan/game/symbol_game.h"
#include "ppan/nn/adam.h"

namespace ppan {

/// d': a second distortion, of Records::second, at a fixed price.
struct SecondDistortion {
  DistortionKind kind = DistortionKind::kInformation;
  double price = 0;  ///< Nats of leakage for a unit of d'. At least 0; 0: none.
};

struct GameOptions {
  MechanismOptions mechanism;
  PosteriorOptions adversary;
  DistortionKind distortion = DistortionKind::kSquared;
  PosteriorOptions utility;  ///< Q', for DistortionKind::kInformation of either distortion.
  BudgetOptions budget;
  DiscriminatorOptions discriminator;
  /// beta of a noisy code: beta/2 times the mean squared length of its centres, of those records that go
  /// through it, is added to the loss. It keeps codes within reach of the noise. There a mechanism cannot
  /// hide its leakage in folds that its adversary has not yet learned but another one will. At least 0.
  double code_weight = 0;
  AdamOptions adam;
  /// Order of the adversary's loss: 1, the log-loss, to infinity. Other than 1 only for finite X.
  double alpha = 1;
  SecondDistortion second{};
  /// Q' stays at its start (TrainStart::utility): a teacher, which judges every mechanism in the same way.
  bool utility_frozen = false;

  [[nodiscard]] Problems check() const;
};

/// What the mechanism's step saw, before its update. Nats where it is information.
struct StepReport {
  double log_likelihood = 0;  ///< mean u(Q(x|z)); mean log Q(x|z) for alpha = 1
  double distortion = 0;      ///< mean d
  double penalty = 0;         ///< Of the budget, and of the length of a code.
  double discriminator = 0;   ///< gamma mean log D(z)
  double second = 0;          ///< price mean d'
  [[nodiscard]] double loss() const { return log_likelihood + penalty + discriminator + second; }
};

/// A learning player between two steps.
template <typename Scalar>
struct PlayerState {
  Vector<Scalar> parameters;
  typename Adam<Scalar>::State adam;
  bool averages_started = false;  ///< Posterior::averages_started(), where the player is one.
};

/// Everything that the following steps of a match depend on. Players that do not take part are empty.
template <typename Scalar>
struct MatchState {
  PlayerState<Scalar> mechanism;
  PlayerState<Scalar> adversary;
  PlayerState<Scalar> discriminator;
  PlayerState<Scalar> utility;
  double multiplier = 0;                     ///< Of a dual budget.
  typename Budget<Scalar>::Running running;  ///< Of a dual budget with memory.
};

template <typename Scalar>
class Match {
 public:
  /// Shapes of the networks are taken from `records`. A `distortion` of the caller's own is used instead of
  /// the one that `options` name. Throws Error(kUsage) listing every problem.
  Match(const GameOptions& options, const Records<Scalar>& records,
        std::unique_ptr<Distortion<Scalar>> distortion = nullptr);

  /// Random parameters for every player, from separate streams.
  void initialise(const SeededRandom& random);

  [[nodiscard]] Mechanism<Scalar>& mechanism() { return *mechanism_; }
  [[nodiscard]] Posterior<Scalar>& adversary() { return adversary_; }
  [[nodiscard]] Distortion<Scalar>& distortion() { return *distortion_; }
  [[nodiscard]] Discriminator<Scalar>* discriminator() { return discriminator_ ? &*discriminator_ : nullptr; }
  [[nodiscard]] const Budget<Scalar>& budget() const { return budget_; }
  void set_multiplier(double multiplier) { budget_.set_multiplier(multiplier); }
  [[nodiscard]] MatchState<Scalar> state();
  /// Continues from `state`. Throws Error(kUsage) if it belongs to a match with other players.
  void resume(const MatchState<Scalar>& state);
  [[nodiscard]] std::unique_ptr<Mechanism<Scalar>> take_mechanism() { return std::move(mechanism_); }

  /// Weight of the adversary in the mechanism's loss. At 0 the adversary still learns, but does not affect
  /// the mechanism.
  void feel_adversary(double weight) { adversary_weight_ = weight; }
  /// With an alpha-loss: (alpha-1)/alpha times `share`, 0 to 1, is the power in the players' loss from now
  /// on; 0 is the log-loss. Reported numbers stay of order alpha.
  void sharpen(double share) { power_ = share * whole_power_; }
  /// Q', if one of the distortions is learned; otherwise null.
  [[nodiscard]] Posterior<Scalar>* learner();
  /// True if step_discriminator() or step_utility() do anything.
  [[nodiscard]] bool has_helpers() { return discriminator_ || (learner() && !utility_frozen_); }

  /// New draws for this batch; the steps below are taken on them, with the same batch. `noise` must outlive
  /// them.
  void draw(const Records<Scalar>& batch, const Matrix<Scalar>& noise, DrawScope scope = {});
  /// Ascends mean u(Q(x|z)); returns it as it was before the step.
  double step_adversary(const Records<Scalar>& batch, double rate);
  /// Ascends the discriminator's objective, if there is one; returns it as it was before the step.
  double step_discriminator(const Records<Scalar>& batch, double rate);
  /// Ascends mean log Q'(y|z), if a distortion is learned and not frozen; returns it as it was before the
  /// step.
  double step_utility(const Records<Scalar>& batch, double rate);
  /// Descends the mechanism's loss and moves the budget's multiplier. `share`: `rate` divided by its maximum
  /// (Budget::update).
  StepReport step_mechanism(const Records<Scalar>& batch, double rate, double share = 1);
  /// Mean distortion of the current draws.
  double measure_distortion(const Records<Scalar>& batch);
  /// The adversary's mean u(Q(x|z)) and minus its parameter gradient, without a step.
  double evaluate_adversary(const Records<Scalar>& batch, Vector<Scalar>& descent);
  /// The mechanism's loss and its parameter gradient, without a step.
  StepReport evaluate_mechanism(const Records<Scalar>& batch, Vector<Scalar>& gradient);

 private:
  // The fast path where everything is finite and both players are tables; otherwise absent.
  [[nodiscard]] std::optional<SymbolGame<Scalar>> symbol_game(const GameOptions& options,
                                                              const Records<Scalar>& records) const;
  StepReport evaluate_by_symbol(const Records<Scalar>& batch, Vector<Scalar>& gradient);
  // sum_ik weight_ik value_ik / n
  [[nodiscard]] double weighted_mean(const Matrix<Scalar>& value) const;
  // The adversary's scores log Q(x|z) of the current draws as utilities u and their derivative in log Q; the
  // latter is 1, and is not written, for the log-loss.
  const Matrix<Scalar>& utility(const Matrix<Scalar>& score);
  // Mean u(Q), of order alpha, of the scores and the utilities made of them.
  double mean_utility(const Matrix<Scalar>& score, const Matrix<Scalar>& utility) const;
  // d_score_ = weight du/dscore factor
  void weigh_scores(Scalar factor);
  // Distortion, its penalty and their gradients, except those of the weights.
  void add_distortion(const Records<Scalar>& batch, StepReport& report);
  // The same of the second distortion.
  void add_second(const Records<Scalar>& batch, StepReport& report);
  // The part of the weights' gradient that comes from the penalty, of draw k.
  void add_weight_price(Index k);
  // beta/2 mean |centre|^2 and its gradient
  void add_code_length(StepReport& report);

  std::unique_ptr<Mechanism<Scalar>> mechanism_;
  Posterior<Scalar> adversary_;
  std::unique_ptr<Distortion<Scalar>> distortion_;
  std::unique_ptr<Distortion<Scalar>> second_;  // null: none
  double second_price_;
  bool utility_frozen_;
  Budget<Scalar> budget_;
  double code_weight_;
  double whole_power_;  // (alpha - 1) / alpha
  double power_;        // and the part of it in the loss
  std::optional<Discriminator<Scalar>> discriminator_;
  std::optional<SymbolGame<Scalar>> symbols_;
  bool by_symbol_ = false;  // the current draws are those of symbols_
  Adam<Scalar> mechanism_adam_;
  Adam<Scalar> adversary_adam_;
  Adam<Scalar> discriminator_adam_;
  Adam<Scalar> utility_adam_;

  double adversary_weight_ = 1;
  const Matrix<Scalar>* noise_ = nullptr;  // of the current draws; belongs to the caller
  // Reused from step to step.
  Draws<Scalar> draws_;
  DrawsGradient<Scalar> draws_gradient_;
  Vector<Scalar> mechanism_gradient_;  // one per player: resizing a shared vector would allocate
  Vector<Scalar> adversary_gradient_;
  Vector<Scalar> discriminator_gradient_;
  Vector<Scalar> utility_gradient_;
  Matrix<Scalar> d_score_;
  Matrix<Scalar> utility_value_;  // with an alpha-loss: u(Q) and
  Matrix<Scalar> utility_slope_;  // du / dlog Q
  Matrix<Scalar> distortion_value_;
  Matrix<Scalar> d_distortion_;
  Matrix<Scalar> second_value_;
  Matrix<Scalar> draw_cost_;    // of a penalty on each draw
  Matrix<Scalar> code_length_;  // squared, records x K
  Vector<Scalar> rest_;         // probability of being released unchanged, where a gate gives one
  Vector<Scalar> unchanged_;    // and what that costs
  Vector<Scalar> record_distortion_;
  Vector<Scalar> slope_;
  Matrix<Scalar> center_;
};

}  // namespace ppan
