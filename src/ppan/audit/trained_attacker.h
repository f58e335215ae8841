#pragma once

// One attacker of the suite after it has learned and was calibrated.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ppan/audit/attack_data.h"
#include "ppan/audit/calibration.h"

namespace ppan {

struct Learner {
  AttackerKind kind{};
  LearnFrom from = LearnFrom::kAll;
  [[nodiscard]] std::string name() const;
};

struct TrainedAttacker {
  Learner learner{};
  std::string failure;  ///< Empty: it could be trained.
  std::unique_ptr<Attacker> attacker;
  Calibration calibration;
  Matrix<float> on_selection;  ///< Calibrated log Q(x|z), rows x levels.
  Matrix<float> on_test;
  double selection_score = 0;  ///< mean_i log Q(x_i|z_i) on the selection rows.
};

/// Never throws for an attacker that cannot be trained: what the others find is worth having. `stream` names
/// its random numbers.
TrainedAttacker train_attacker(const AttackData& data, const Learner& learner, const AttackRows& train,
                               std::string_view stream);

/// The strongest on the selection rows. Whoever knows nothing wins ties.
std::size_t strongest(const std::vector<TrainedAttacker>& trained);

/// log Q(x_i|z_i) of every row.
Vector<double> scores_of(const Matrix<float>& log_probability, const Symbols& x);

}  // namespace ppan
