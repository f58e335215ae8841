#pragma once

// Picks a point of a finished curve by its distortion or its leakage. Any point of the completed curve is
// available: between trained points, as a mixture of two (core/hull.h).

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/hull.h"
#include "ppan/core/problem.h"
#include "ppan/model/image_release_model.h"
#include "ppan/report/curve_file.h"

namespace ppan {

/// Exactly one of leakage, budget, point, task_loss and measure.
struct Choice {
  /// At most this leakage, nats: the least distortion, but see `least_distortion`.
  std::optional<double> leakage{};
  std::optional<double> budget{};  ///< The least leakage at a distortion of at most this.
  std::optional<int> point{};      ///< A trained point, by its number.
  std::optional<double>
      task_loss{};  ///< The least leakage at which no task loses more (points, no mixtures).
  /// Points whose value of this measure (a column of the curve such as "bayes-vulnerability") is at most
  /// `measure_limit`, or at least that if larger values are better; no mixtures. Chosen as by leakage.
  std::optional<std::string> measure{};
  double measure_limit = 0;
  /// By leakage and by measure: the least distortion, whatever a task loses. Otherwise, in a run with a task,
  /// the least distortion among those that serve it as well as the best, within one standard error of its
  /// score.
  bool least_distortion = false;
  /// Judge points by what was found. Otherwise by the upper end of their audit, which includes what it may
  /// have missed.
  bool found = false;
  /// Include points whose audit was inconclusive: attackers would find more with more rows. They are judged
  /// by the forecast of how much more, where there is one.
  bool accept_inconclusive = false;
  [[nodiscard]] Problems check() const;
};

/// The points of a curve that have a model.
struct Candidates {
  std::vector<HullPoint> points{};
  std::vector<std::string> files{};  ///< Of their models, within the run directory.
  std::vector<int> numbers{};        ///< Of the trained points; 0 for the ends.
  std::vector<std::optional<double>> task_losses{};
  std::vector<double> task_errors{};  ///< Standard errors of the scores of the first task; 0 without one.
  std::vector<std::optional<double>> measured{};  ///< Of Choice::measure, as it is judged.
  /// Smallest leakage that the audit finds with probability 0.9, nats; absent where a bound is known without
  /// an audit.
  std::vector<std::optional<double>> powers{};
  std::vector<std::string> left_out{};  ///< Points whose audit was inconclusive.
  /// The leakage of rows drawn independently of the person, found and judged. All of it comes from columns
  /// that are released unchanged.
  std::optional<std::pair<double, double>> floor{};
  std::optional<std::size_t> floor_at{};  ///< Which of the points that is.
};
/// Throws Error(kBadInput) for a model that is not a plain file name; `name` is for messages.
Candidates candidates_of(const CurveTable& curve, const Choice& choice, const std::string& name);
/// Of a run directory. Throws Error(kUsage) for one without a curve or without models to choose from.
Candidates candidates_of(const std::filesystem::path& run, const Choice& choice);

/// Throws Error(kUsage) if no point serves the choice, naming the nearest. `unit` is for messages.
HullMixture choose(const Candidates& from, const Choice& choice,
                   InformationUnit unit = InformationUnit::kNats);

/// The model of a choice: `model_of` gives that of a file of `from`. Throws Error(kBadInput) for a mixture of
/// a table and images.
AnyModel chosen_model(const Candidates& from, const HullMixture& mixture, const Choice& choice,
                      const std::function<AnyModel(const std::string& file)>& model_of);

/// The task loss of a mixture: the mean of the losses of its parts. Nothing if one was not measured.
std::optional<double> task_loss_of(const Candidates& from, const HullMixture& mixture);

struct Picked {
  AnyModel model;
  double leakage = 0;                   ///< By which it was chosen, nats.
  std::vector<std::string> left_out{};  ///< As in Candidates.
  /// What Choice::accept_inconclusive would give instead, where points were left out and it would cost less.
  std::optional<HullPoint> with_inconclusive{};
  bool found = false;                 ///< As in Choice.
  std::optional<double> task_loss{};  ///< Of a mixture: the mean of the losses of its parts.
  /// If the audit is not powerful enough to show the requested leakage: its power, nats, and the share of the
  /// rows that come from a release of known leakage instead.
  std::optional<std::pair<double, double>> beyond_power{};
  /// Where columns that are released as they are tell half or more of what was asked for: what they tell, as
  /// judged, nats, and the share of the rows that are drawn independently of the person instead.
  std::optional<std::pair<double, double>> kept_tell{};
};
/// What it is and what it leaks, a line for each fact.
std::string to_text(const Picked& picked, InformationUnit unit);
/// The model of the choice from a run directory.
Picked pick(const std::filesystem::path& run, const Choice& choice,
            InformationUnit unit = InformationUnit::kNats);

}  // namespace ppan
