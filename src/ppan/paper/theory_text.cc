#include "ppan/paper/theory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/paper/request_problems.h"
#include "ppan/paper/world.h"
#include "ppan/theory/convex_baseline.h"
#include "ppan/theory/least_vulnerability.h"

namespace ppan {
namespace {

// Columns that hold information name their unit: leakage_nats.
struct Columns {
  std::string x;
  std::string optimum;
};

Columns columns_of(const theory::CurveInfo& info, InformationUnit unit) {
  const auto with_unit = [&](const std::string& name) { return fmt::format("{}_{}", name, to_string(unit)); };
  return {info.x_is_information ? with_unit(info.x_name) : info.x_name, with_unit(info.optimum_name)};
}

theory::CurvePoint in_unit(const theory::CurvePoint& point, const theory::CurveInfo& info,
                           InformationUnit unit) {
  return {info.x_is_information ? from_nats(point.x, unit) : point.x, from_nats(point.optimum, unit),
          point.release};
}

}  // namespace

std::string to_csv(const theory::Curve& curve, InformationUnit unit) {
  const Columns columns = columns_of(curve.info, unit);
  std::string text = fmt::format("{},{}", columns.x, columns.optimum);
  for (const std::string& name : curve.release_names) text += "," + name;
  text += "\n";
  for (const theory::CurvePoint& point : curve.points) {
    const auto [x, optimum, release] = in_unit(point, curve.info, unit);
    text += fmt::format("{:.12g},{:.12g}", x, optimum);  // the digits beyond differ between processors
    for (const double number : release) text += fmt::format(",{:.12g}", number);
    text += "\n";
  }
  return text;
}

// JSON has no infinity: an infinite optimum is null.
std::string to_json(const theory::Curve& curve, InformationUnit unit) {
  const Columns columns = columns_of(curve.info, unit);
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const theory::CurvePoint& point : curve.points) {
    const auto [x, optimum, release] = in_unit(point, curve.info, unit);
    nlohmann::ordered_json entry{{columns.x, x}, {columns.optimum, optimum}};
    for (std::size_t i = 0; i < release.size(); ++i) entry[curve.release_names[i]] = release[i];
    points.push_back(std::move(entry));
  }
  const nlohmann::ordered_json document{{"curve", curve.info.name},
                                        {"summary", curve.info.summary},
                                        {"parameters", curve.parameters},
                                        {"unit", to_string(unit)},
                                        {"points", points}};
  return document.dump(2) + "\n";
}

namespace {

// One budget of a finite distribution, in the measure that was asked for.
struct SolvedPoint {
  double distortion = 0;
  double value = 0;
  double gap = 0;         ///< Certified: the least value is at most this far below.
  double multiplier = 0;  ///< Of the value, per unit of distortion.
  Matrix<double> mechanism;
};

}  // namespace

const std::vector<std::string>& theory_measures() {
  static const std::vector<std::string> list{"mutual-information", "bayes-vulnerability",
                                             "min-entropy-leakage"};
  return list;
}

namespace {

SolvedPoint solve_point(const std::string& measure, const World& world, double budget) {
  if (measure == "mutual-information") {
    const theory::ConvexSolution s = theory::solve_convex(*world.distribution, world.distortion, budget);
    return {s.distortion, s.leakage, s.gap(), s.multiplier, s.mechanism};
  }
  const theory::LeastVulnerability s =
      theory::least_vulnerability(*world.distribution, world.distortion, budget);
  if (measure == "bayes-vulnerability")
    return {s.distortion, s.vulnerability, s.gap(), s.multiplier, s.mechanism};
  return {s.distortion, s.leakage(), s.leakage_gap(), s.multiplier / s.vulnerability, s.mechanism};
}

std::vector<SolvedPoint> solve_finite(const TheoryOptions& options, const World& world) {
  std::vector<double> budgets = options.request.at;
  if (budgets.empty()) {
    const double from = options.request.from.value_or(world.least_budget);
    const double to = options.request.to.value_or(std::max(from, world.most_budget));
    const int points = options.request.points;
    for (int i = 0; i < points; ++i)
      budgets.push_back(i == 0 ? from : from + (to - from) * (static_cast<double>(i) / (points - 1)));
  }
  ProblemList problems;
  for (const double b : budgets) {
    problems.require(
        b >= world.least_budget - 1e-12, "at",
        fmt::format("no mechanism has a distortion of {}; the least is {}", b, world.least_budget));
  }
  require_none(problems.take(), "this curve cannot be computed");
  std::vector<SolvedPoint> points;
  for (const double b : budgets)
    points.push_back(solve_point(options.finite->measure, world, std::max(b, world.least_budget)));
  return points;
}

World finite_world(const FiniteRequest& request, int points) {
  RequestProblems problems;
  problems.require_at_least("points", points, 1);
  problems.require(!request.pmf.empty(), "pmf", "no file given; add --pmf FILE");
  ObservationOptions observation;
  if (!request.observation.empty()) {
    try {
      observation.kind = observation_kind(request.observation);
      problems.require(!observation.information(), "observation",
                       "information as usefulness is not a convex problem; it must be a distortion");
    } catch (const Error& error) {
      problems.require(false, "observation", error.what());
    }
  }
  problems.require(!request.flip || observation.kind == ObservationKind::kNoisy, "flip",
                   "needs --observation noisy");
  problems.require(!request.erase || observation.kind == ObservationKind::kPartial, "erase",
                   "needs --observation partial");
  if (request.flip) observation.flip = *request.flip;
  if (request.erase) observation.erase = *request.erase;
  WorldOptions options;
  options.kind = WorldKind::kFinite;
  options.from_file = request.distortion != "error" && request.distortion != "squared";
  std::optional<FiniteTableFile> table;
  if (!request.pmf.empty())
    problems.read("pmf", [&] { table = parse_finite_table(read_file(request.pmf), request.pmf); });
  problems.read("distortion", [&] {
    if (table) options.distortion = finite_distortion(request.distortion, *table);
    if (!table && options.from_file)
      check_distortion(parse_matrix(read_file(request.distortion), request.distortion), {},
                       request.distortion);
  });
  // Any table will do for what is to be said of the other options.
  options.table =
      table.value_or(FiniteTableFile{finite_table(Matrix<double>::Identity(2, 2) / 2), {}, {}, {}, true});
  if (request.observation.empty() && options.table.observation_given)
    observation.kind = ObservationKind::kGiven;
  for (const Problem& p : options.check({observation})) problems.require(false, p.field, p.what);
  problems.require_none("this curve cannot be computed");
  return make_world(options, observation);
}

// Names of the columns: a probability has no unit.
struct FiniteColumns {
  std::string value, gap, multiplier;
};

FiniteColumns finite_columns(const TheoryOptions& options) {
  if (options.finite->measure == "bayes-vulnerability") return {"bayes_vulnerability", "gap", "multiplier"};
  const auto with_unit = [&](const char* name) {
    return fmt::format("{}_{}", name, to_string(options.unit));
  };
  return {with_unit(options.finite->measure == "mutual-information" ? "leakage" : "min_entropy_leakage"),
          with_unit("gap"), with_unit("multiplier")};
}

std::string finite_json(const TheoryOptions& options, const World& world,
                        const std::vector<SolvedPoint>& points, const std::function<double(double)>& show) {
  const FiniteColumns columns = finite_columns(options);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const SolvedPoint& p : points) {
    nlohmann::ordered_json entry{{"distortion", p.distortion},
                                 {columns.value, show(p.value)},
                                 {columns.gap, show(p.gap)},
                                 {columns.multiplier, show(p.multiplier)}};
    if (options.request.release) {
      nlohmann::ordered_json rows = nlohmann::ordered_json::array();
      for (Index w = 0; w < p.mechanism.rows(); ++w)
        rows.push_back(std::vector<double>(p.mechanism.row(w).begin(), p.mechanism.row(w).end()));
      entry["mechanism"] = rows;
    }
    list.push_back(std::move(entry));
  }
  nlohmann::ordered_json document{
      {"curve", "finite"}, {"measure", options.finite->measure}, {"unit", to_string(options.unit)}};
  if (options.request.release) {
    document["w"] = world.observed_names;
    document["z"] = world.released_names;
  }
  document["points"] = list;
  return document.dump(2) + "\n";
}

std::string finite_csv(const TheoryOptions& options, const World& world,
                       const std::vector<SolvedPoint>& points, const std::function<double(double)>& show) {
  const FiniteColumns columns = finite_columns(options);
  std::string text = fmt::format("distortion,{},{},{}\n", columns.value, columns.gap,
                                 options.request.release ? "w,z,probability" : columns.multiplier);
  for (const SolvedPoint& p : points) {
    const std::string head = fmt::format("{:.10g},{:.10g},{:.3g}", p.distortion, show(p.value), show(p.gap));
    if (!options.request.release) {
      text += fmt::format("{},{:.6g}\n", head, show(p.multiplier));
      continue;
    }
    for (Index w = 0; w < p.mechanism.rows(); ++w) {
      for (Index z = 0; z < p.mechanism.cols(); ++z)
        text += fmt::format("{},{},{},{:.8g}\n", head, world.observed_names[static_cast<std::size_t>(w)],
                            world.released_names[static_cast<std::size_t>(z)], p.mechanism(w, z));
    }
  }
  return text;
}

}  // namespace

std::string finite_theory(const TheoryOptions& options) {
  const World world = finite_world(*options.finite, options.request.points);
  const std::vector<SolvedPoint> points = solve_finite(options, world);
  const bool probability = options.finite->measure == "bayes-vulnerability";
  const auto show = [&](double value) { return probability ? value : from_nats(value, options.unit); };
  return options.format == "json" ? finite_json(options, world, points, show)
                                  : finite_csv(options, world, points, show);
}

std::string theory_list() {
  std::string text =
      "finite\n    the exact optimum of any finite distribution given as a table, with a certified gap\n"
      "    --pmf          CSV with columns x, y, w, probability; without w, W = Y\n"
      "    --distortion   error, squared, or a file with d(y,z), a row per y (default error)\n"
      "    --observation  useful-only, full-data, noisy, partial, given (default: as the table says)\n"
      "    --flip, --erase  of noisy and partial: the probability of another symbol, of none\n"
      "    --measure      mutual-information, bayes-vulnerability, min-entropy-leakage\n";
  for (const theory::CurveInfo& info : theory::curves()) {
    text += fmt::format("{}\n    {}\n", info.name, info.summary);
    for (const theory::CurveParameter& p : info.parameters) {
      text += fmt::format("    --{:<12} {} ({}; default {})\n", p.name, p.meaning, p.range, p.default_value);
    }
  }
  return text;
}

}  // namespace ppan
