#pragma once

// Training of one mechanism for a table. All points of a curve start from the same mechanism, which hides
// nothing and presents every column as it is; each then gives up what its budget allows.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/core/records.h"
#include "ppan/encode/encoder.h"
#include "ppan/encode/layout.h"
#include "ppan/game/mechanism.h"
#include "ppan/model/table_model.h"
#include "ppan/read/schema.h"
#include "ppan/train/train.h"

namespace ppan {

enum class MechanismFamily { kAuto, kFinite, kNoiseInput, kNoisyCode, kCodebook, kHeads };
std::string_view to_string(MechanismFamily family);

struct TableTrainingOptions {
  MechanismFamily family = MechanismFamily::kAuto;  ///< See choose_family().
  std::vector<Index> hidden{64, 64};                ///< Of encoder, decoder and adversary.
  std::optional<Index> code_size{};  ///< Absent: by the width of the released columns, 4 to 24.
  double code_radius = 12;           ///< R. Above 0.
  Index noise_inputs = 8;            ///< Noise-input only. At least 1.
  BudgetForm budget_form = BudgetForm::kDual;
  double alpha = 1;             ///< Order of the adversary's loss, 1 to infinity (GameOptions::alpha).
  std::optional<int> epochs{};  ///< Absent: enough for a fixed number of steps, see epochs_for().
  Index batch = 256;
  int adversary_steps = 3;
  double rate = 0.003;  ///< Adam's, of both players, until it decays. Above 0.
  int restarts = 1;     ///< Trainings of each point, the best on the validation rows is kept. At least 1.
  [[nodiscard]] Problems check() const;
};

/// Epochs of one point when none are asked for.
int epochs_for(Index rows, Index batch);

/// The rows of a table as the game is played on them.
struct TableGame {
  MechanismKind kind = MechanismKind::kNoiseInput;
  Records<float> records{};
  Layout observed{};
  Layout released{};
  Index cells = 0;                  ///< Finite only: size of the joint alphabet of the released columns.
  Matrix<float> cell_distortion{};  ///< Finite only: d(y, z).
};

/// `rows` holds every modelled column. Throws Error(kUsage) when the family asked for cannot be used.
TableGame make_game(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                    const TableTrainingOptions& options);

/// Parameters that every point starts from: a mechanism that hides nothing. Noise-input mechanisms (and
/// finite ones that look at what they release) begin with copying through their direct path, noisy codes as
/// an autoencoder trained for usefulness alone. Empty parameters: at random.
struct TableStart {
  MechanismOptions mechanism{};
  Vector<float> parameters{};
};
TableStart train_start(const TableGame& game, const TableTrainingOptions& options, std::uint64_t seed,
                       const std::vector<Observer>& observers = {});

struct TrainedMechanism {
  MechanismOptions mechanism{};
  Vector<float> parameters{};
  double belief = 0;  ///< What the adversary of the game finds in the last epoch, nats: h(X) + mean log
                      ///< Q(x|z), or with another alpha the alpha-leakage (game/alpha_prior.h).
  TrainSummary summary{};
};
TrainedMechanism train_point(const TableGame& game, const TableStart& start, double budget,
                             const TableTrainingOptions& options, std::uint64_t seed,
                             const std::vector<Observer>& observers = {});

}  // namespace ppan
