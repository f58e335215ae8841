#include "ppan/table/table_bound.h"

#include <algorithm>
#include <string>

#include "ppan/audit/attack_numbers.h"
#include "ppan/audit/attack_target.h"

namespace ppan {
namespace {

std::vector<Estimate> component_bounds(const TableModel& model, const TableComponent& component,
                                       const EncodedRows& rows, const HiddenCode& x,
                                       const DensityBoundOptions& options) {
  switch (component.kind) {
    case ComponentKind::kUnchanged:
      return {};
    case ComponentKind::kConstant:
      return {{.nats = 0,
               .interval95 = std::nullopt,
               .bound = Bound::kUpper,
               .method = "every row is released alike",
               .samples = 0}};
    case ComponentKind::kTrained:
      break;
  }
  if (component.mechanism.kind == MechanismKind::kNoiseInput) return {};
  const auto observed = cast<double>(
      observed_attribute(rows, model.encoding(), model.observed_layout(), component.mechanism.kind));
  const auto mechanism = make_mechanism<double>(component.mechanism, observed);
  mechanism->parameters() = component.parameters.cast<double>();
  std::vector<Estimate> bounds =
      mechanism_upper_bounds(*mechanism, observed, x.code, x.levels, x.whole, options);
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const Estimate& a, const Estimate& b) { return a.nats < b.nats; });
  return bounds;
}

Estimate entropy_bound(const HiddenCode& x) {
  return {.nats = empirical_entropy(x.code, x.levels),
          .interval95 = std::nullopt,
          .bound = Bound::kUpper,
          .method = "entropy of what is hidden: all there is to know",
          .samples = static_cast<std::int64_t>(x.code.size())};
}

}  // namespace

std::vector<Estimate> table_upper_bounds(const TableModel& model, const EncodedRows& rows,
                                         const HiddenCode& x, const DensityBoundOptions& options) {
  if (!model.schema().keep.empty() || rows.rows != static_cast<std::int64_t>(x.code.size())) return {};
  const std::vector<TableComponent>& components = model.components();
  if (components.size() == 1) return component_bounds(model, components.front(), rows, x, options);
  Estimate sum{.nats = 0,
               .interval95 = Interval{0, 0},
               .bound = Bound::kUpper,
               .method = "mixture of mechanisms, as if it were shown which one a row went through",
               .samples = 0};
  bool any = false;
  for (const TableComponent& component : components) {
    std::vector<Estimate> bounds = component_bounds(model, component, rows, x, options);
    any = any || !bounds.empty();
    if (bounds.empty()) {
      if (!x.whole) return {};
      bounds.push_back(entropy_bound(x));
    }
    const Estimate& best = bounds.front();
    sum.nats += component.weight * best.nats;
    sum.interval95->low += component.weight * (best.interval95 ? best.interval95->low : best.nats);
    sum.interval95->high += component.weight * (best.interval95 ? best.interval95->high : best.nats);
    sum.samples = std::max(sum.samples, best.samples);
  }
  if (!any) return {};
  return {sum};
}

}  // namespace ppan
