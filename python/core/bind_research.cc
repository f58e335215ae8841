// Closed forms, the convex solver, estimators of mutual information and the paper's experiments, with NumPy
// arrays.

#include <nanobind/eigen/dense.h>

#include "binding.h"
#include "ppan/audit/audit.h"
#include "ppan/audit/audit_table.h"
#include "ppan/audit/finite_information.h"
#include "ppan/audit/gaussian_information.h"
#include "ppan/audit/ksg.h"
#include "ppan/paper/experiment.h"
#include "ppan/theory/convex_baseline.h"
#include "ppan/theory/curve.h"
#include "ppan/theory/finite_distribution.h"
#include "ppan/theory/gaussian_general.h"

namespace ppan::python {
namespace {

using Numbers = Eigen::MatrixXd;

template <typename Work>
auto unlocked(Work work) {
  const nb::gil_scoped_release released;
  return work();
}

nb::list curves() {
  nb::list out;
  for (const theory::CurveInfo& info : theory::curves()) {
    nb::dict parameters;
    for (const theory::CurveParameter& p : info.parameters)
      parameters[p.name.c_str()] = nb::make_tuple(p.default_value, p.range, p.meaning);
    out.append(nb::make_tuple(info.name, info.summary, parameters));
  }
  return out;
}

nb::dict evaluate(const std::string& name, std::map<std::string, std::string> parameters, int points,
                  std::optional<double> from, std::optional<double> to, std::vector<double> at,
                  bool release) {
  theory::CurveRequest request;
  request.name = name;
  request.parameters = std::move(parameters);
  request.points = points;
  request.from = from;
  request.to = to;
  request.at = std::move(at);
  request.release = release;
  const theory::Curve curve = unlocked([&] { return theory::evaluate(request); });
  std::vector<double> x;
  std::vector<double> y;
  for (const theory::CurvePoint& point : curve.points) {
    x.push_back(point.x);
    y.push_back(point.optimum);
  }
  nb::dict out;
  out[curve.info.x_name.c_str()] = x;
  out[curve.info.optimum_name.c_str()] = y;
  for (std::size_t i = 0; i < curve.release_names.size() && release; ++i) {
    std::vector<double> values;
    for (const theory::CurvePoint& point : curve.points) values.push_back(point.release[i]);
    out[curve.release_names[i].c_str()] = values;
  }
  return out;
}

nb::dict solve_convex(const Numbers& wx, const Numbers& wy, const Numbers& distortion, double budget,
                      double gap) {
  const theory::FiniteDistribution distribution{Matrix<double>(wx), Matrix<double>(wy)};
  theory::ConvexOptions options;
  options.gap = gap;
  const theory::ConvexSolution found =
      unlocked([&] { return theory::solve_convex(distribution, distortion, budget, options); });
  nb::dict out;
  out["mechanism"] = Numbers(found.mechanism);
  out["leakage"] = found.leakage;
  out["lower_bound"] = found.lower_bound;
  out["distortion"] = found.distortion;
  out["multiplier"] = found.multiplier;
  return out;
}

nb::tuple distribution_of(const Numbers& pair, const std::string& observation) {
  const auto seen = parse_observation(observation);
  if (!seen || *seen == Observation::kBottleneck)
    throw Error(ErrorCode::kUsage, "observation: '" + observation + "' is not known",
                "it is useful-only, full-data or rate-distortion");
  const theory::FiniteDistribution made = theory::distribution_of_pair(pair, *seen);
  return nb::make_tuple(Numbers(made.wx), Numbers(made.wy));
}

nb::dict gaussian(const Numbers& x, const Numbers& y, const Numbers& xy, double distortion) {
  const theory::GaussianCovariance covariance{Matrix<double>(x), Matrix<double>(y), Matrix<double>(xy)};
  const theory::GaussianGeneralOptimum found =
      unlocked([&] { return theory::least_leakage(covariance, distortion); });
  nb::dict out;
  out["leakage"] = found.leakage;
  out["lower_bound"] = found.lower_bound;
  out["gain"] = Numbers(found.gain);
  out["noise"] = Numbers(found.noise);
  return out;
}

nb::dict ksg(const Numbers& x, const Numbers& z, int neighbours, int blocks, std::uint64_t seed,
             int threads) {
  const KsgOptions options{.neighbours = neighbours, .blocks = blocks, .seed = seed, .threads = threads};
  return estimate(unlocked([&] { return ksg_information(x, z, options); }));
}

nb::dict finite(const std::vector<std::int32_t>& x, std::int32_t x_levels, const std::vector<std::int32_t>& z,
                std::int32_t z_levels, std::uint64_t seed) {
  return estimate(unlocked([&] { return finite_information(x, x_levels, z, z_levels, seed); }));
}

nb::list experiments() {
  nb::list out;
  for (const ExperimentEntry& entry : experiment_registry())
    out.append(nb::make_tuple(entry.name, entry.description));
  return out;
}

nb::list experiment(const std::string& name, const std::string& preset, std::optional<int> points,
                    std::optional<int> epochs, std::vector<double> budgets, std::uint64_t seed, int threads) {
  ExperimentOptions options;
  options.name = name;
  options.preset = preset_of(preset);
  options.points = points;
  options.epochs = epochs;
  options.budgets = std::move(budgets);
  options.seed = seed;
  options.threads = threads;
  std::atomic<bool> stop{false};
  const ExperimentResult result = run_or_raise(
      [&] {
        ExperimentHooks hooks;
        hooks.interrupted = [&stop] { return stop.load(); };
        return run_experiment(options, hooks);
      },
      stop);
  nb::list out;
  for (const ExperimentPoint& point : result.points) {
    nb::dict row;
    row["series"] = point.series;
    row["budget"] = point.budget;
    row["distortion"] = point.distortion;
    row["leakage"] = point.leakage.nats;
    row["optimum"] = point.optimum;
    row["excess"] = point.excess();
    row["ksg"] = point.ksg ? std::optional(point.ksg->nats) : std::nullopt;
    out.append(row);
  }
  return out;
}

}  // namespace

void bind_research(nb::module_& m) {
  m.def("theory_curves", &curves);
  m.def("theory_evaluate", &evaluate, nb::arg("name"), nb::arg("parameters"), nb::arg("points"),
        nb::arg("start").none(), nb::arg("stop").none(), nb::arg("at"), nb::arg("release"));
  m.def("solve_convex", &solve_convex);
  m.def("distribution_of_pair", &distribution_of);
  m.def("gaussian_optimum", &gaussian);
  m.def("ksg", &ksg);
  m.def("gaussian_information", [](const Numbers& x, const Numbers& z) {
    return estimate(unlocked([&] { return gaussian_information(x, z); }));
  });
  m.def("finite_information", &finite);
  m.def("experiments", &experiments);
  m.def("experiment", &experiment, nb::arg("name"), nb::arg("preset"), nb::arg("points").none(),
        nb::arg("epochs").none(), nb::arg("budgets"), nb::arg("seed"), nb::arg("threads"));
}

}  // namespace ppan::python
