#include "ppan/theory/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "ppan/core/suggest.h"
#include "ppan/theory/bottleneck.h"
#include "ppan/theory/gaussian_scalar.h"
#include "ppan/theory/gaussian_vector.h"
#include "ppan/theory/information.h"
#include "ppan/theory/rate_distortion.h"
#include "ppan/theory/symmetric_pair.h"

namespace ppan::theory {
namespace {

std::optional<double> parse_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Reads the parameters of one request, noting every problem; unreadable values read as their defaults.
class Reader {
 public:
  Reader(const std::map<std::string, std::string>& values, ProblemList& problems)
      : values_(values), problems_(problems) {}

  double number(const std::string& name, double fallback) {
    const std::string& text = values_.at(name);
    if (const auto value = parse_number(text)) return *value;
    problems_.require(false, name, fmt::format("'{}' is not a number", text));
    return fallback;
  }
  int integer(const std::string& name, int fallback) {
    const double value = number(name, fallback);
    if (value == std::floor(value) && std::abs(value) <= 1e6) return static_cast<int>(value);
    problems_.require(false, name, fmt::format("{} is not a whole number up to a million", value));
    return fallback;
  }
  Vector<double> numbers(const std::string& name) {
    std::vector<double> list;
    const std::string& text = values_.at(name);
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t comma = std::min(text.find(',', start), text.size());
      const std::string part = text.substr(start, comma - start);
      if (const auto value = parse_number(part))
        list.push_back(*value);
      else
        problems_.require(false, fmt::format("{}[{}]", name, list.size()),
                          fmt::format("'{}' is not a number", part));
      start = comma + 1;
    }
    return Eigen::Map<const Vector<double>>(list.data(), static_cast<Index>(list.size()));
  }
  /// True when the value is `yes`; a value that is neither is a problem.
  bool choice(const std::string& name, const std::string& yes, const std::string& no) {
    const std::string& text = values_.at(name);
    const std::vector<std::string> known{yes, no};
    if (text != yes && text != no) problems_.require(false, name, unknown_name("value", text, known));
    return text == yes;
  }

 private:
  const std::map<std::string, std::string>& values_;
  ProblemList& problems_;
};

/// A curve with its parameters bound.
struct Bound {
  Problems problems;  ///< Of the parameters' values.
  double from = 0;
  double to = 1;
  std::function<double(double)> optimum;
  bool swapped = false;  ///< The two columns change places.
  std::vector<std::string> release_names{};
  std::function<std::vector<double>(double)> release{};
};

struct Definition {
  CurveInfo info;
  Bound (*bind)(Reader&);
};

const CurveParameter kObservation{"observation", "what the mechanism sees: W = Y, or W = (X, Y)",
                                  "useful-only or full-data", "useful-only"};
const CurveParameter kGiven{"given", "the information on the first axis: I(Y;Z) (useful) or I(X;Z) (leakage)",
                            "useful or leakage", "useful"};

Bound bind_symmetric_pair(Reader& read) {
  const SymmetricPair pair{.m = read.integer("m", 10), .p = read.number("p", 0.4)};
  const bool full = read.choice("observation", "full-data", "useful-only");
  Bound bound{.problems = pair.check(), .from = 0, .to = 1, .optimum = [=](double d) {
                return full ? least_leakage_full_data(pair, d) : least_leakage_useful_only(pair, d);
              }};
  const double blind = 1 - 1.0 / pair.m;
  if (!full) {
    bound.release_names = {"keep"};
    bound.release = [=](double d) { return std::vector<double>{1 - std::min(d, blind)}; };
    return bound;
  }
  // Pr[X != Z] is moved by the distortion towards 1 - 1/m: by changing Y where it equals X, or by changing it
  // to X.
  bound.release_names = {"keep_if_equal", "keep_if_different"};
  bound.release = [=](double d) {
    const double moved = std::min(d, std::abs(blind - pair.p));
    return pair.p < blind ? std::vector<double>{1 - moved / (1 - pair.p), 1.0}
                          : std::vector<double>{1.0, pair.p > 0 ? 1 - moved / pair.p : 1.0};
  };
  return bound;
}

Bound bind_gaussian_scalar(Reader& read) {
  const GaussianScalar pair{.rho = read.number("rho", 0.85), .variance_y = read.number("variance_y", 1)};
  const bool full = read.choice("observation", "full-data", "useful-only");
  Bound bound{.problems = pair.check(), .from = 0, .to = pair.variance_y, .optimum = [=](double d) {
                return full ? least_leakage_full_data(pair, d) : least_leakage_useful_only(pair, d);
              }};
  bound.release_names = {"from_x", "from_y", "noise_variance"};
  bound.release = [=](double d) {
    const GaussianRelease z = full ? best_release_full_data(pair, d) : best_release_useful_only(pair, d);
    return std::vector<double>{z.from_x, z.from_y, z.noise_variance};
  };
  return bound;
}

// gain_1, gain_2, ..., noise_1, noise_2, ...
std::vector<std::string> vector_release_names(Index components) {
  std::vector<std::string> names;
  for (const char* what : {"gain", "noise"}) {
    for (Index i = 1; i <= components; ++i) names.push_back(fmt::format("{}_{}", what, i));
  }
  return names;
}

// Z_i = (1 - e_i) Y_i + N(0, v_i e_i (1 - e_i)), e_i the share of the variance v_i that is lost.
std::vector<double> vector_release(const Vector<double>& lost, const Vector<double>& variance) {
  std::vector<double> numbers;
  for (const double e : lost) numbers.push_back(1 - e);
  for (Index i = 0; i < lost.size(); ++i) numbers.push_back(variance[i] * lost[i] * (1 - lost[i]));
  return numbers;
}

// from_x_1, from_x_2, ..., from_y_1, from_y_2, ...: of each component, as of a scalar pair. Without noise.
Bound bind_gaussian_vector_full_data(const GaussianVector& pair) {
  Bound bound{.problems = pair.check(),
              .from = 0,
              .to = pair.scale * static_cast<double>(pair.rho.size()),
              .optimum = [=](double d) { return least_leakage_full_data(pair, d).leakage; }};
  for (const char* what : {"from_x", "from_y"}) {
    for (Index i = 1; i <= pair.rho.size(); ++i) bound.release_names.push_back(fmt::format("{}_{}", what, i));
  }
  bound.release = [=](double d) {
    const Vector<double> lost = pair.scale * least_leakage_full_data(pair, d).component_distortion;
    std::vector<double> from_x;
    std::vector<double> both;
    for (Index i = 0; i < lost.size(); ++i) {
      const GaussianRelease z =
          best_release_full_data({.rho = pair.rho[i], .variance_y = pair.scale}, lost[i]);
      from_x.push_back(z.from_x);
      both.push_back(z.from_y);
    }
    both.insert(both.begin(), from_x.begin(), from_x.end());
    return both;
  };
  return bound;
}

Bound bind_gaussian_vector(Reader& read) {
  const GaussianVector pair{.rho = read.numbers("rho"), .scale = read.number("scale", 1)};
  if (read.choice("observation", "full-data", "useful-only")) return bind_gaussian_vector_full_data(pair);
  return {.problems = pair.check(),
          .from = 0,
          .to = pair.scale * static_cast<double>(pair.rho.size()),
          .optimum = [=](double d) { return least_leakage(pair, d).leakage; },
          .release_names = vector_release_names(pair.rho.size()),
          .release =
              [=](double d) {
                return vector_release(least_leakage(pair, d).component_distortion,
                                      Vector<double>::Constant(pair.rho.size(), pair.scale));
              }};
}

Bound bind_rate_distortion(Reader& read) {
  const GaussianSource source{.variances = read.numbers("variances")};
  const double total = source.variances.size() > 0 ? source.variances.sum() : 1;
  // The rate is infinite at 0, so the default range leaves it out.
  return {.problems = source.check(),
          .from = 0.05 * total,
          .to = total,
          .optimum = [=](double d) { return least_rate(source, d).rate; },
          .release_names = vector_release_names(source.variances.size()),
          .release =
              [=](double d) {
                return vector_release(
                    least_rate(source, d).component_distortion.cwiseQuotient(source.variances),
                    source.variances);
              }};
}

template <typename Pair>
Bound bind_bottleneck(const Pair& pair, bool leakage_given, double longest_rate) {
  const Problems problems = pair.check();
  const double most = problems.empty() ? mutual_information(pair) : 1;
  if (leakage_given)
    return {.problems = problems,
            .from = 0,
            .to = longest_rate,
            .optimum = [=](double rate) { return greatest_useful(pair, rate); },
            .swapped = true};
  return {.problems = problems, .from = 0, .to = most, .optimum = [=](double useful) {
            return least_rate(pair, useful);
          }};
}

Bound bind_bottleneck_gaussian(Reader& read) {
  Bound bound = bind_bottleneck(BottleneckGaussian{.rho = read.number("rho", 0.8)},
                                read.choice("given", "leakage", "useful"), 3);
  // I(Y;Z) = I(X;Y) takes an infinite rate, so the default range stops short of it.
  if (!bound.swapped) bound.to *= 0.95;
  // The rate of X + N(0, v) is 1/2 log(1 + 1/v).
  bound.release_names = {"noise_variance"};
  bound.release = [optimum = bound.optimum, swapped = bound.swapped](double x) {
    return std::vector<double>{1 / std::expm1(2 * (swapped ? x : optimum(x)))};
  };
  return bound;
}

Bound bind_bottleneck_binary(Reader& read) {
  Bound bound = bind_bottleneck(BottleneckBinary{.p = read.number("p", 0.1)},
                                read.choice("given", "leakage", "useful"), std::numbers::ln2);
  bound.release_names = {"flip"};
  bound.release = [optimum = bound.optimum, swapped = bound.swapped](double x) {
    const double rate = swapped ? x : optimum(x);
    return std::vector<double>{
        inverse_binary_entropy(std::clamp(std::numbers::ln2 - rate, 0.0, std::numbers::ln2))};
  };
  return bound;
}

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all{
      {{.name = "symmetric-pair",
        .summary =
            "X and Y on m symbols, different with probability p; distortion is the probability of error",
        .parameters = {{"m", "size of the alphabet", "whole number, at least 2", "10"},
                       {"p", "probability that X and Y differ", "from 0 to 1", "0.4"},
                       kObservation},
        .x_name = "distortion",
        .optimum_name = "leakage"},
       bind_symmetric_pair},
      {{.name = "gaussian-scalar",
        .summary = "jointly Gaussian scalars; distortion is squared error",
        .parameters = {{"rho", "correlation of X and Y", "greater than -1, less than 1", "0.85"},
                       {"variance_y", "variance of Y", "greater than 0", "1"},
                       kObservation},
        .x_name = "distortion",
        .optimum_name = "leakage"},
       bind_gaussian_scalar},
      {{.name = "gaussian-vector",
        .summary = "jointly Gaussian vectors; distortion is squared error, summed",
        .parameters = {{"rho", "correlation of each pair of components",
                        "comma-separated, each between -1 and 1", "0.47,0.24,0.85,0.07,0.66"},
                       {"scale", "variance of every component of Y", "greater than 0", "1"},
                       kObservation},
        .x_name = "distortion",
        .optimum_name = "leakage"},
       bind_gaussian_vector},
      {{.name = "rate-distortion",
        .summary = "a Gaussian vector that is both sensitive and useful; distortion is squared error, summed",
        .parameters = {{"variances", "variance of each component", "comma-separated, each greater than 0",
                        "0.47,0.24,0.85,0.07,0.66"}},
        .x_name = "distortion",
        .optimum_name = "leakage"},
       bind_rate_distortion},
      {{.name = "bottleneck-gaussian",
        .summary = "information bottleneck of jointly Gaussian scalars, W = X",
        .parameters = {{"rho", "correlation of X and Y", "greater than -1, less than 1", "0.8"}, kGiven},
        .x_name = "useful",
        .optimum_name = "leakage",
        .x_is_information = true},
       bind_bottleneck_gaussian},
      {{.name = "bottleneck-binary",
        .summary = "information bottleneck of a doubly symmetric binary source, W = X",
        .parameters = {{"p", "probability that X and Y differ", "from 0 to 1", "0.1"}, kGiven},
        .x_name = "useful",
        .optimum_name = "leakage",
        .x_is_information = true},
       bind_bottleneck_binary},
  };
  return all;
}

/// A request with everything read; `problems` says whether the rest can be used.
struct Prepared {
  Problems problems;
  const Definition* definition = nullptr;
  std::map<std::string, std::string> values;
  Bound bound;
};

Prepared prepare(const CurveRequest& request) {
  Prepared prepared;
  ProblemList problems;
  problems.require_at_least("points", request.points, 1);
  if (request.from) problems.require_at_least("from", *request.from, 0);
  if (request.to) problems.require_at_least("to", *request.to, 0);
  for (std::size_t i = 0; i < request.at.size(); ++i)
    problems.require_at_least(fmt::format("at[{}]", i), request.at[i], 0);

  for (const Definition& definition : definitions())
    if (definition.info.name == request.name) prepared.definition = &definition;
  if (prepared.definition == nullptr) {
    problems.require(false, "name", unknown_name("curve", request.name, curve_names()));
    prepared.problems = problems.take();
    return prepared;
  }

  std::vector<std::string> known;
  for (const CurveParameter& parameter : prepared.definition->info.parameters) {
    known.push_back(parameter.name);
    prepared.values[parameter.name] = parameter.default_value;
  }
  for (const auto& [name, text] : request.parameters) {
    if (prepared.values.contains(name))
      prepared.values[name] = text;
    else
      problems.require(false, name, unknown_name("parameter", name, known));
  }
  Reader reader(prepared.values, problems);
  prepared.bound = prepared.definition->bind(reader);
  for (const Problem& p : prepared.bound.problems) problems.require(false, p.field, p.what);

  if (prepared.bound.problems.empty() && request.at.empty()) {
    const double from = request.from.value_or(prepared.bound.from);
    const double to = request.to.value_or(prepared.bound.to);
    if (request.from && !request.to)
      problems.require(to >= from, "from", fmt::format("{} lies beyond the end of the curve, {}", from, to));
    else
      problems.require(to >= from, "to", fmt::format("{} is not allowed; it must be at least {}", to, from));
    prepared.bound.from = from;
    prepared.bound.to = to;
  }
  prepared.problems = problems.take();
  return prepared;
}

}  // namespace

const std::vector<CurveInfo>& curves() {
  static const std::vector<CurveInfo> all = [] {
    std::vector<CurveInfo> infos;
    for (const Definition& definition : definitions()) infos.push_back(definition.info);
    return infos;
  }();
  return all;
}

std::vector<std::string> curve_names() {
  std::vector<std::string> names;
  for (const Definition& definition : definitions()) names.push_back(definition.info.name);
  return names;
}

Problems CurveRequest::check() const {
  return prepare(*this).problems;
}

Curve evaluate(const CurveRequest& request) {
  Prepared prepared = prepare(request);
  require_none(prepared.problems, "this curve cannot be computed");

  Curve curve{.info = prepared.definition->info,
              .parameters = std::move(prepared.values),
              .points = {},
              .release_names = {}};
  if (prepared.bound.swapped) std::swap(curve.info.x_name, curve.info.optimum_name);
  std::vector<double> places = request.at;
  if (places.empty()) {
    const double from = prepared.bound.from;
    const double width = prepared.bound.to - from;
    for (int i = 0; i < request.points; ++i)
      places.push_back(i == 0 ? from : from + width * (static_cast<double>(i) / (request.points - 1)));
  }
  if (request.release) curve.release_names = prepared.bound.release_names;
  for (const double x : places) {
    CurvePoint point{.x = x, .optimum = prepared.bound.optimum(x)};
    if (request.release) point.release = prepared.bound.release(x);
    curve.points.push_back(std::move(point));
  }
  return curve;
}

}  // namespace ppan::theory
