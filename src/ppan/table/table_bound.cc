#include "ppan/table/table_bound.h"

#include <algorithm>
#include <string>

#include "ppan/audit/attack_numbers.h"
#include "ppan/audit/attack_target.h"
#include "ppan/audit/code_certificate.h"

namespace ppan {
namespace {

constexpr std::int32_t kMostKeptLevels = 4096;

std::vector<std::int32_t> kept_tasks(const TableModel& model) {
  return model.schema().task_kept ? model.encoding().indices_of(model.schema().task)
                                  : std::vector<std::int32_t>{};
}

// Whether every column that is released as it is is a task with a code.
bool kept_is_coded(const TableModel& model, const EncodedRows& rows) {
  const std::vector<std::int32_t> tasks = kept_tasks(model);
  if (tasks.size() != model.schema().kept_columns().size()) return false;
  const auto levels = joint_levels(model.encoding(), tasks);
  return tasks.empty() ||
         (levels && *levels <= kMostKeptLevels &&
          std::all_of(tasks.begin(), tasks.end(), [&](std::int32_t column) {
            return std::find(rows.which.begin(), rows.which.end(), column) != rows.which.end();
          }));
}

Symbols kept_code(const TableModel& model, const EncodedRows& rows, std::int32_t& levels) {
  const std::vector<std::int32_t> tasks = kept_tasks(model);
  if (tasks.empty()) return {};
  levels = joint_levels(model.encoding(), tasks).value();
  return join_codes(rows, model.encoding(), tasks);
}

// Whether nothing of the record goes into what is released for it.
bool forgets(const TableModel& model, const TableComponent& component) {
  return component.kind == ComponentKind::kConstant ||
         (component.kind == ComponentKind::kHeads &&
          forgets_rows(*component.heads,
                       codebook_features(model.observed_layout(), component.heads->observed)));
}

// All that is told is what is released as it is.
std::vector<Estimate> constant_bounds(const TableModel& model, const EncodedRows& rows, const HiddenCode& x) {
  if (!x.whole) return {};
  CodeDistribution distribution;
  distribution.probability = Matrix<float>::Ones(rows.rows, 1);
  distribution.kept = kept_code(model, rows, distribution.kept_levels);
  return {asymptotic_code_certificate(distribution, x.code, x.levels)};
}

// With the code of what is released as it is, if that is given.
std::vector<Estimate> codebook_bounds(const TableModel& model, const TableComponent& component,
                                      const EncodedRows& rows, const HiddenCode& x) {
  if (!x.whole) return {};
  CodebookReleaser releaser(*component.codebook, model.encoding(), model.observed_layout());
  CodeDistribution distribution;
  distribution.probability = releaser.probabilities(rows);
  distribution.kept = kept_code(model, rows, distribution.kept_levels);
  return {asymptotic_code_certificate(distribution, x.code, x.levels),
          distribution_free_code_certificate(distribution, x.code, x.levels)};
}

std::vector<Estimate> component_bounds(const TableModel& model, const TableComponent& component,
                                       const EncodedRows& rows, const HiddenCode& x,
                                       const DensityBoundOptions& options) {
  switch (component.kind) {
    case ComponentKind::kUnchanged:
      return {};
    case ComponentKind::kHeads:
    case ComponentKind::kConstant:
      if (!forgets(model, component)) return {};  // a number whose cell stays is released as it is
      if (!kept_tasks(model).empty()) return constant_bounds(model, rows, x);
      return {{.nats = 0,
               .interval95 = std::nullopt,
               .bound = Bound::kUpper,
               .method = component.kind == ComponentKind::kConstant
                             ? "every row is released alike"
                             : "rows are drawn without looking at the record",
               .samples = 0}};
    case ComponentKind::kCodebook:
      return codebook_bounds(model, component, rows, x);
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
  // What is released as it is counts with a codeword and where nothing else is told; with other densities it
  // does not.
  const auto& parts = model.components();
  const bool counts_kept =
      std::any_of(
          parts.begin(), parts.end(),
          [](const TableComponent& component) { return component.kind == ComponentKind::kCodebook; }) ||
      std::all_of(parts.begin(), parts.end(),
                  [&](const TableComponent& component) { return forgets(model, component); });
  if (counts_kept ? !kept_is_coded(model, rows) : !model.schema().kept_columns().empty()) return {};
  if (rows.rows != static_cast<std::int64_t>(x.code.size())) return {};
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
