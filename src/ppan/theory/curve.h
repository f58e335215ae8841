#pragma once

// Every closed form by name, so that one command can list, check and print them all.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/problem.h"

namespace ppan::theory {

/// One parameter of a curve: what it is called, what it means, what it may be.
struct CurveParameter {
  std::string name;
  std::string meaning;
  std::string range;          ///< For people, for example "integer, at least 2".
  std::string default_value;  ///< As it would be typed.
};

struct CurveInfo {
  std::string name;
  std::string summary;
  std::vector<CurveParameter> parameters;
  std::string x_name;             ///< Heading of the first column, for example "distortion".
  std::string optimum_name;       ///< Heading of the second, for example "leakage"; always information, nats.
  bool x_is_information = false;  ///< The first column is in nats too (information bottleneck).
};

/// All curves: symmetric-pair, gaussian-scalar, gaussian-vector, rate-distortion, bottleneck-gaussian,
/// bottleneck-binary.
const std::vector<CurveInfo>& curves();
/// Their names, in the same order.
std::vector<std::string> curve_names();

/// What to compute. Parameters are text, as typed; those not named keep their defaults.
struct CurveRequest {
  std::string name;
  std::map<std::string, std::string> parameters;
  int points = 21;             ///< Equally spaced from `from` to `to`. At least 1 (then only `from`).
  std::optional<double> from;  ///< At least 0. Default: the start of the curve.
  std::optional<double> to;    ///< At least `from`. Default: where the curve ends or has flattened.
  std::vector<double> at;      ///< When not empty, exactly these x instead. Each at least 0.
  bool release = false;        ///< With the release that attains each point.

  /// Every problem at once: unknown curve or parameter (with the nearest known names), unreadable number,
  /// value out of range.
  [[nodiscard]] Problems check() const;
};

struct CurvePoint {
  double x = 0;
  double optimum = 0;  ///< nats; may be infinite (rate-distortion at 0).
  /// Parameters of the release that attains it, in the order of Curve::release_names; empty unless asked for.
  std::vector<double> release{};
};

struct Curve {
  CurveInfo info;
  std::map<std::string, std::string> parameters;  ///< All of them, defaults filled in.
  std::vector<CurvePoint> points;
  /// What the numbers of CurvePoint::release are. Symmetric pair: `keep`, the probability of releasing Y, and
  /// with full data keep_if_equal and keep_if_different (others are equally likely; where X and Y differ the
  /// only other is X). Scalar Gaussian: Z = from_x X/sigma_X + from_y Y + N(0, noise_variance). Vectors: Z_i
  /// = gain_i Y_i + N(0, noise_i). Gaussian bottleneck: Z = X + N(0, noise_variance), X of variance 1. Binary
  /// bottleneck: `flip`.
  std::vector<std::string> release_names;
};

/// Throws Error(kUsage) listing every problem of the request.
Curve evaluate(const CurveRequest& request);

}  // namespace ppan::theory
