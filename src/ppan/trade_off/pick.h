#pragma once

// A point of a finished curve, chosen by what it may cost or leak. Any point of the completed curve is
// available: between trained points, as a mixture of two (core/hull.h).

#include <filesystem>
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
  /// What leaks at most this, nats: with the least distortion, or see `least_distortion`.
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
  /// Judge points by what was found, or by the forecast for ten times the rows where attackers were still
  /// getting stronger. Otherwise by what their audit allows for: the upper end of the interval and of what it
  /// may have missed.
  bool found = false;
  /// Take points too whose audit would have found more with more rows. By leakage, budget and task loss they
  /// are taken anyway if there is a forecast of how much more: it is part of what they are judged by.
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
  /// Least leakage that the audit finds with probability 0.9, nats; absent where a bound is known without
  /// one.
  std::vector<std::optional<double>> powers{};
  std::vector<std::string> left_out{};  ///< Points whose audit was inconclusive.
  /// Rows that look at nobody: what they tell, found and judged. All of it comes from columns that are
  /// released as they are.
  std::optional<std::pair<double, double>> floor{};
  std::optional<std::size_t> floor_at{};  ///< Which of the points that is.
};
/// Throws Error(kBadInput) for a model that is no plain file name; `name` is for messages.
Candidates candidates_of(const CurveTable& curve, const Choice& choice, const std::string& name);
/// Of a run directory. Throws Error(kUsage) for one without a curve or without models to choose from.
Candidates candidates_of(const std::filesystem::path& run, const Choice& choice);

/// Throws Error(kUsage) if no point serves the choice, naming the nearest. `unit` is for messages.
HullMixture choose(const Candidates& from, const Choice& choice,
                   InformationUnit unit = InformationUnit::kNats);

/// What a task loses by a mixture: the mean of what its parts lose. Nothing if one was not measured.
std::optional<double> task_loss_of(const Candidates& from, const HullMixture& mixture);

struct Picked {
  AnyModel model;
  double leakage = 0;                   ///< By which it was chosen, nats.
  std::vector<std::string> left_out{};  ///< As in Candidates.
  bool found = false;                   ///< As in Choice.
  std::optional<double> task_loss{};    ///< Of a mixture the mean of what its parts lose.
  /// Where the audit could not have shown so little: its power, nats, and the share of the rows that a
  /// release of known leakage has instead.
  std::optional<std::pair<double, double>> beyond_power{};
  /// Where columns that are released as they are tell half or more of what was asked for: what they tell, as
  /// judged, nats, and the share of the rows that look at nobody instead.
  std::optional<std::pair<double, double>> kept_tell{};
};
/// What it is and what it leaks, a line for each fact.
std::string to_text(const Picked& picked, InformationUnit unit);
/// The model of the choice from a run directory.
Picked pick(const std::filesystem::path& run, const Choice& choice,
            InformationUnit unit = InformationUnit::kNats);

}  // namespace ppan
