#include "ppan/trade_off/pick.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <variant>

#include "ppan/audit/leakage_measures.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/core/printable.h"
#include "ppan/core/suggest.h"
#include "ppan/report/not_seen.h"

namespace ppan {

Problems Choice::check() const {
  ProblemList list;
  const int given = int{leakage.has_value()} + int{budget.has_value()} + int{point.has_value()} +
                    int{task_loss.has_value()} + int{measure.has_value()};
  list.require(given == 1, "choice", "needs exactly one of leakage, budget, point, task loss and measure");
  if (task_loss) list.require_between("task_loss", *task_loss, 0, 1);
  if (leakage) list.require_between("leakage", *leakage, 0, 1e6);
  if (budget) list.require_between("budget", *budget, 0, 1e6);
  // Nothing is greater than what is no number: every point would pass.
  list.require(!measure || std::isfinite(measure_limit), "measure",
               fmt::format("has {} as its limit, which is none", measure_limit));
  return list.take();
}

namespace {

bool is_point(const CurveRow& row) {
  return row.series == "ppan/table" || row.series == "ppan/images";
}

// A bound that holds whatever an audit finds. The entropy of the secret bounds every release: of a reference
// it says all there is to know, for its name tells what it is; a point of the curve whose audit could have
// said more is not vouched for by it.
std::optional<double> known_bound(const CurveRow& row) {
  const auto bound = row.number(curve_column::kUpperBound);
  const auto end = row.number(curve_column::kUpperEnd);
  const auto power = row.number(curve_column::kPower);
  return bound && end && *bound <= *end && (!is_point(row) || !power || *bound <= *power) ? bound
                                                                                          : std::nullopt;
}

bool inconclusive(const CurveRow& row) {
  return row.text(curve_column::kInconclusive) == "yes" && !known_bound(row);
}

double judged_leakage(const CurveRow& row, bool found) {
  double leakage = *row.leakage;
  if (const auto known = known_bound(row); known && !found) {
    // A bound may have an interval of its own, whose end the model states; what is known exactly has none.
    const double high = row.number(curve_column::kUpperBoundHigh).value_or(*known);
    return std::max(0.0, std::min(*row.number(curve_column::kUpperEnd), std::max(*known, high)));
  }
  if (inconclusive(row)) leakage = std::max(leakage, row.number(curve_column::kForecast).value_or(leakage));
  if (!found) leakage = row.number(curve_column::kLeakageHigh).value_or(leakage);
  if (!found) leakage = std::max(leakage, row.number(curve_column::kUpperEnd).value_or(leakage));
  return std::max(0.0, leakage);  // what was measured may lie a little below 0; what is leaked does not
}

double task_error(const CurveRow& row) {
  constexpr double kNormal95 = 1.96;
  const auto low = row.number(curve_column::kTaskLow);
  const auto high = row.number(curve_column::kTaskHigh);
  return low && high ? (*high - *low) / (2 * kNormal95) : 0;
}

// The point of least leakage that costs a recipient no more. Of mixtures it was not measured.
HullMixture choose_by_task(double most, const Candidates& from) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < from.points.size(); ++i) {
    if (!from.task_losses[i] || *from.task_losses[i] > most) continue;
    if (!best || from.points[i].leakage < from.points[*best].leakage) best = i;
  }
  const bool measured = std::any_of(from.task_losses.begin(), from.task_losses.end(),
                                    [](const auto& loss) { return loss.has_value(); });
  if (!measured)
    throw Error(
        ErrorCode::kUsage, "this run measured no task",
        "name a column in roles.task, or of images their task with data.task_labels, and run 'ppan curve'");
  if (!best) throw Error(ErrorCode::kUsage, fmt::format("no point loses {:g} or less of its task", most));
  return {.first = *best, .second = *best, .second_weight = 0, .point = from.points[*best]};
}

// The end of the interval that counts against the point, or what was found.
std::optional<double> judged_measure(const CurveRow& row, const Choice& choice) {
  if (!choice.measure) return std::nullopt;
  const std::optional<double> value = row.number(*choice.measure);
  if (choice.found || !value) return value;
  return row.number(*choice.measure + (more_is_worse(*choice.measure) ? "_high" : "_low"));
}

std::vector<std::string> measures_in(const CurveTable& curve) {
  std::set<std::string> columns;
  for (const CurveRow& row : curve.rows)
    for (const auto& [name, text] : row.more) columns.insert(name);
  std::vector<std::string> out;
  for (const std::string& name : columns) {
    const bool shown_otherwise = name == "leakage" || name == curve_column::kForecast ||
                                 name == curve_column::kKsg || name == curve_column::kUpperBound ||
                                 name.starts_with("task");
    if (!shown_otherwise && columns.contains(name + "_low") && columns.contains(name + "_high"))
      out.push_back(name);
  }
  return out;
}

HullMixture alone(const Candidates& from, std::size_t index) {
  return {.first = index, .second = index, .second_weight = 0, .point = from.points[index]};
}

// Of what serves the choice: the least distortion among those that lose a task hardly more than the one that
// loses least. What one standard error cannot tell apart does not decide. Of what was measured no task, the
// least distortion.
HullMixture best_of(const std::vector<HullMixture>& serving, const Candidates& from, bool least_distortion) {
  const auto less = [](const HullMixture& a, const HullMixture& b) {
    return a.point.distortion < b.point.distortion;
  };
  std::optional<double> least;
  double error = 0;
  for (const HullMixture& mixture : serving) {
    const auto loss = task_loss_of(from, mixture);
    if (!loss || (least && *loss >= *least)) continue;
    least = loss;
    error = std::max(from.task_errors[mixture.first], from.task_errors[mixture.second]);
  }
  std::vector<HullMixture> good;
  for (const HullMixture& mixture : serving) {
    const auto loss = task_loss_of(from, mixture);
    if (least_distortion || !least || (loss && *loss <= *least + error)) good.push_back(mixture);
  }
  return *std::min_element(good.begin(), good.end(), less);
}

// Points that leak at most `most`, and every coin between one that does and one that does not.
std::vector<HullMixture> at_most(double most, const Candidates& from) {
  std::vector<HullMixture> out;
  for (std::size_t i = 0; i < from.points.size(); ++i) {
    const HullPoint& a = from.points[i];
    if (a.leakage > most) continue;
    out.push_back(alone(from, i));
    for (std::size_t j = 0; j < from.points.size(); ++j) {
      const HullPoint& b = from.points[j];
      if (b.leakage <= most || a.leakage >= most) continue;
      const double share = (b.leakage - most) / (b.leakage - a.leakage);
      out.push_back({.first = j,
                     .second = i,
                     .second_weight = share,
                     .point = {b.distortion + share * (a.distortion - b.distortion), most}});
    }
  }
  return out;
}

constexpr std::string_view kRemedy = "release.task = \"drop\" omits a task, and roles.keep may be too long";

// Rows that do not depend on the person reveal more than is asked for only by columns that are released
// unchanged.
std::string why_no_less(const Candidates& from, double most, InformationUnit unit) {
  if (!from.left_out.empty())
    return fmt::format("{} {} left out as inconclusive: --accept-inconclusive includes {}",
                       fmt::join(from.left_out, "; "), from.left_out.size() == 1 ? "was" : "were",
                       from.left_out.size() == 1 ? "it" : "them");
  if (!from.floor || from.floor->second <= most) return {};
  if (from.floor->first > most)
    return fmt::format("columns that are released unchanged reveal {:g} {} on their own: {}",
                       from_nats(from.floor->first, unit), to_string(unit), kRemedy);
  return fmt::format(
      "columns that are released unchanged may reveal {:g} {} on their own, as far as so few rows can show: "
      "{}; --found judges by the finding alone",
      from_nats(from.floor->second, unit), to_string(unit), kRemedy);
}

// The point that keeps the measure within its limit. Of mixtures it was not measured.
HullMixture choose_by_measure(const Choice& choice, const Candidates& from) {
  const bool worse = more_is_worse(*choice.measure);
  std::vector<HullMixture> serving;
  std::optional<double> nearest;
  for (std::size_t i = 0; i < from.points.size(); ++i) {
    if (!from.measured[i]) continue;
    const double value = *from.measured[i];
    if (!nearest || (worse ? value < *nearest : value > *nearest)) nearest = value;
    if (worse ? value > choice.measure_limit : value < choice.measure_limit) continue;
    serving.push_back(alone(from, i));
  }
  if (serving.empty())
    throw Error(ErrorCode::kUsage, fmt::format("no point has a {} of {:g} or {}; the {} is {:g}",
                                               *choice.measure, choice.measure_limit, worse ? "less" : "more",
                                               worse ? "least" : "greatest", nearest.value_or(0)));
  return best_of(serving, from, choice.least_distortion);
}

}  // namespace

Candidates candidates_of(const CurveTable& curve, const Choice& choice, const std::string& name) {
  const std::vector<int> numbers = point_numbers(curve);
  Candidates out;
  if (choice.measure) {
    const std::vector<std::string> known = measures_in(curve);
    if (std::find(known.begin(), known.end(), *choice.measure) == known.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("{}: {}", name, unknown_name("measure", *choice.measure, known)));
  }
  // Independent rows tell as little as one row for everybody, and a recipient can use them.
  const bool independent = std::any_of(curve.rows.begin(), curve.rows.end(), [](const CurveRow& row) {
    return row.series == "reference/independent";
  });
  for (std::size_t i = 0; i < curve.rows.size(); ++i) {
    const CurveRow& row = curve.rows[i];
    if (independent && row.series == "reference/constant") continue;
    const std::string model(row.text("model"));
    if (model.empty() || row.series == "ppan/hull" || !row.distortion || !row.leakage) continue;
    if (model != std::filesystem::path(model).filename().string())
      throw Error(ErrorCode::kBadInput, fmt::format("{}: model '{}' is not a file of the run", name, model));
    if (inconclusive(row) && !choice.accept_inconclusive) {
      out.left_out.push_back(is_point(row) ? fmt::format("point {}", numbers[i])
                                           : fmt::format("'{}'", row.text("label")));
      continue;
    }
    out.points.push_back({*row.distortion, judged_leakage(row, choice.found)});
    if (row.series == "reference/independent" || row.series == "reference/constant") {
      out.floor = {judged_leakage(row, true), out.points.back().leakage};
      out.floor_at = out.points.size() - 1;
    }
    out.files.push_back(model);
    out.task_losses.push_back(row.number(curve_column::kTaskLoss));
    out.task_errors.push_back(task_error(row));
    out.powers.push_back(known_bound(row) ? std::nullopt : row.number(curve_column::kPower));
    out.measured.push_back(judged_measure(row, choice));
    out.numbers.push_back(is_point(row) ? numbers[i] : 0);
  }
  return out;
}

Candidates candidates_of(const std::filesystem::path& run, const Choice& choice) {
  const std::filesystem::path file = run / "curve.csv";
  if (!std::filesystem::exists(file)) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{} is not the directory of a run: it has no curve.csv", run.string()),
                "give the directory that 'ppan curve' wrote");
  }
  Candidates out = candidates_of(from_csv(read_file(file), file.string()), choice, file.string());
  if (out.points.empty() && !out.left_out.empty())
    throw Error(ErrorCode::kUsage,
                fmt::format("the audit of every point of {} was inconclusive", run.string()),
                "use more rows, or accept them with --accept-inconclusive");
  if (out.points.empty()) {
    throw Error(ErrorCode::kUsage, fmt::format("{} has no models", run.string()),
                "give the directory that 'ppan curve' wrote");
  }
  return out;
}

std::optional<double> task_loss_of(const Candidates& from, const HullMixture& mixture) {
  const auto& first = from.task_losses[mixture.first];
  const auto& second = from.task_losses[mixture.second];
  if (!first || !second) return std::nullopt;
  return *first + mixture.second_weight * (*second - *first);
}

HullMixture choose(const Candidates& from, const Choice& choice, InformationUnit unit) {
  require_none(choice.check(), "this point cannot be picked");
  if (from.points.empty()) throw Error(ErrorCode::kUsage, "the curve has no models");
  if (choice.point) {
    const std::string wanted = fmt::format("point {}", *choice.point);
    if (std::find(from.left_out.begin(), from.left_out.end(), wanted) != from.left_out.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("the audit of {} was inconclusive: more may leak than it found", wanted),
                  "use more rows, or accept it with --accept-inconclusive");
    const auto at = std::find(from.numbers.begin(), from.numbers.end(), *choice.point);
    if (at == from.numbers.end() || *choice.point < 1) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("there is no point {}; the last one is {}", *choice.point,
                              *std::max_element(from.numbers.begin(), from.numbers.end())));
    }
    const auto index = static_cast<std::size_t>(at - from.numbers.begin());
    return alone(from, index);
  }
  if (choice.task_loss) return choose_by_task(*choice.task_loss, from);
  if (choice.measure) return choose_by_measure(choice, from);
  const std::vector<std::size_t> hull = lower_hull(from.points);
  if (choice.budget) {
    if (const auto found = at_most_distortion(from.points, hull, *choice.budget)) return *found;
    throw Error(ErrorCode::kUsage,
                fmt::format("no point of the curve has a distortion of {:g} or less; the least is {:g}",
                            *choice.budget, from.points[hull.front()].distortion));
  }
  if (const auto found = at_most_leakage(from.points, hull, *choice.leakage)) {
    const bool tasks = std::any_of(from.task_losses.begin(), from.task_losses.end(),
                                   [](const auto& loss) { return loss.has_value(); });
    return tasks && !choice.least_distortion ? best_of(at_most(*choice.leakage, from), from, false) : *found;
  }
  throw Error(ErrorCode::kUsage,
              fmt::format("no point of the curve leaks {:g} {} or less; the least is {:g}",
                          from_nats(*choice.leakage, unit), to_string(unit),
                          from_nats(from.points[hull.back()].leakage, unit)),
              why_no_less(from, *choice.leakage, unit));
}

namespace {

// A share of the rows that is there for the sake of an audit of few rows, which a newcomer takes for the
// mechanism's doing.
std::optional<std::pair<double, double>> beyond_power(const Candidates& from, const Choice& choice,
                                                      const HullMixture& mixture) {
  if (!choice.leakage || choice.found || mixture.second_weight <= 0) return std::nullopt;
  const auto& power = from.powers[mixture.first];
  if (!power || from.powers[mixture.second] || *power <= *choice.leakage) return std::nullopt;
  return std::pair(*power, mixture.second_weight);
}

constexpr double kMostKept = 0.5;  // of what was asked for, beyond which it is told

// The same for what is released as it is: it uses up what may leak, and a newcomer sees only that rows are
// drawn.
std::optional<std::pair<double, double>> kept_tell(const Candidates& from, const Choice& choice,
                                                   const HullMixture& mixture) {
  if (!choice.leakage || !from.floor || mixture.second != from.floor_at || mixture.second_weight <= 0)
    return std::nullopt;
  const double told = choice.found ? from.floor->first : from.floor->second;
  if (told < kMostKept * *choice.leakage || told <= 0) return std::nullopt;
  return std::pair(told, mixture.second_weight);
}

}  // namespace

AnyModel chosen_model(const Candidates& from, const HullMixture& mixture, const Choice& choice,
                      const std::function<AnyModel(const std::string& file)>& model_of) {
  AnyModel out = model_of(from.files[mixture.first]);
  std::visit(
      [&](auto& model) {
        using Model = std::remove_reference_t<decltype(model)>;
        if (mixture.second_weight > 0) {
          const AnyModel other = model_of(from.files[mixture.second]);
          const auto* second = std::get_if<Model>(&other);
          if (second == nullptr)
            throw Error(ErrorCode::kBadInput, "the run holds models of tables and of images",
                        "give the directory of one run");
          model = mix_models(model, *second, mixture.second_weight);
        }
        if (choice.budget) model.origin.budget = choice.budget;
      },
      out);
  return out;
}

namespace {

// Points that were left out may be the most useful ones, so whoever picks is told what they would give.
std::optional<HullPoint> with_inconclusive(const std::filesystem::path& run, Choice choice,
                                           const HullMixture& instead) {
  choice.accept_inconclusive = true;
  const HullPoint point = choose(candidates_of(run, choice), choice).point;
  return point.distortion < instead.point.distortion ? std::optional(point) : std::nullopt;
}

}  // namespace

Picked pick(const std::filesystem::path& run, const Choice& choice, InformationUnit unit) {
  require_none(choice.check(), "this point cannot be picked");
  const Candidates candidates = candidates_of(run, choice);
  const HullMixture mixture = choose(candidates, choice, unit);
  return {chosen_model(candidates, mixture, choice,
                       [&](const std::string& file) { return load_any_model(run / file); }),
          mixture.point.leakage,
          candidates.left_out,
          candidates.left_out.empty() ? std::nullopt : with_inconclusive(run, choice, mixture),
          choice.found,
          task_loss_of(candidates, mixture),
          beyond_power(candidates, choice, mixture),
          kept_tell(candidates, choice, mixture)};
}

namespace {

std::string leakage_text(const std::optional<Estimate>& leakage, InformationUnit unit) {
  if (!leakage) return "unknown";
  std::string text = fmt::format("{}{:.4g} {} ({}", not_seen(*leakage) ? "not seen: found " : "",
                                 from_nats(leakage->nats, unit), to_string(unit), to_string(leakage->bound));
  if (leakage->interval95) {
    text += fmt::format(", 95 % interval {:.4g} to {:.4g}", from_nats(leakage->interval95->low, unit),
                        from_nats(leakage->interval95->high, unit));
  }
  return text + "; " + leakage->method + ")";
}

}  // namespace

std::string to_text(const Picked& picked, InformationUnit unit) {
  const ModelOrigin& origin =
      std::visit([](const auto& model) -> const ModelOrigin& { return model.origin; }, picked.model);
  std::string text = fmt::format("{}\n  distortion  {:.4g}\n  leakage     {}", printable(origin.label),
                                 origin.distortion.value_or(0), leakage_text(origin.leakage, unit));
  if (!picked.found) {
    text +=
        fmt::format("\n              upper end {:.4g} {}", from_nats(picked.leakage, unit), to_string(unit));
  }
  if (origin.inconclusive)
    text += "\n              INCONCLUSIVE: attackers were still getting stronger with more rows";
  if (picked.task_loss) text += fmt::format("\n  task        loss {:.3g}", std::max(0.0, *picked.task_loss));
  if (picked.beyond_power) {
    text += fmt::format(
        "\n  few rows    with so few test rows the audit may miss up to {:.2g} {}, so {:.0f} % of the rows "
        "are "
        "drawn independently of the person\n              (fewer with more rows; --found judges by the "
        "finding alone)",
        from_nats(picked.beyond_power->first, unit), to_string(unit), 100 * picked.beyond_power->second);
  }
  if (picked.kept_tell) {
    text += fmt::format(
        "\n  kept        columns that are released unchanged may reveal {:.2g} {} on their own, so {:.0f} % "
        "of "
        "the rows are drawn independently of the person\n              ({})",
        from_nats(picked.kept_tell->first, unit), to_string(unit), 100 * picked.kept_tell->second, kRemedy);
  }
  // Labels have commas of their own: "age, job redrawn".
  if (!picked.left_out.empty())
    text += fmt::format("\n  others      left out as inconclusive: {}", fmt::join(picked.left_out, "; "));
  if (picked.with_inconclusive)
    text += fmt::format(
        "\n              --accept-inconclusive would give a distortion of {:.4g}, judged by the forecast of "
        "how "
        "much more rows would reveal",
        picked.with_inconclusive->distortion);
  const bool audited = std::visit([](const auto& model) { return model.audit.has_value(); }, picked.model);
  return audited
             ? text
             : text + "\n  audit       UNAUDITED: attack it with 'ppan audit' on rows that it has never seen";
}

}  // namespace ppan
