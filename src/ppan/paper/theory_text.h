#pragma once

// Closed-form and solved optimum curves as text: what `ppan theory` prints.

#include <optional>
#include <string>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/theory/curve.h"

namespace ppan {

/// A known finite distribution, to be solved.
struct FiniteRequest {
  std::string pmf;
  std::string distortion = "error";
  std::string observation;
  std::string measure = "mutual-information";
  std::optional<double> flip, erase;
};

struct TheoryOptions {
  theory::CurveRequest request;
  std::optional<FiniteRequest> finite;
  std::string format = "csv";
  InformationUnit unit = InformationUnit::kNats;
  bool list = false;
};

/// A closed-form curve. JSON has no infinity: an infinite optimum is null.
std::string to_csv(const theory::Curve& curve, InformationUnit unit);
std::string to_json(const theory::Curve& curve, InformationUnit unit);
/// The curve of options.finite. Throws Error(kUsage) or Error(kBadInput) for a request that cannot be met.
std::string finite_theory(const TheoryOptions& options);
/// What FiniteRequest::measure may be.
const std::vector<std::string>& theory_measures();
/// Every curve with its parameters.
std::string theory_list();

}  // namespace ppan
