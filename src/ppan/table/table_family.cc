#include "ppan/table/table_family.h"

#include <fmt/format.h>

#include <algorithm>

namespace ppan {
namespace {

// Of heads: the work of finding which columns exclude each other and tell about each other grows with their
// square.
constexpr std::size_t kMostColumns = 256;

// Why heads cannot be used; empty if they can.
std::string obstacle(const TableCurveOptions& options, const Schema& schema) {
  const auto& observed = schema.observed_columns();
  for (const std::string& name : schema.useful) {
    if (std::find(observed.begin(), observed.end(), name) == observed.end())
      return fmt::format("'{}' is released but not observed", name);
  }
  if (options.training.alpha != 1) return "privacy.alpha is not 1";
  if (options.training.budget_form != BudgetForm::kDual) return "privacy.budget_form is not \"dual\"";
  if (schema.useful.size() > kMostColumns)
    return fmt::format("more than {} columns are released", kMostColumns);
  return {};
}

}  // namespace

FamilyChoice choose_family(const TableCurveOptions& options, const Schema& schema, const Encoding& encoding) {
  const MechanismFamily asked = options.training.family;
  if (asked != MechanismFamily::kAuto) return {asked};
  const auto cells = joint_levels(encoding, encoding.indices_of(schema.useful));
  const bool finite = cells && *cells >= 2 && *cells <= kMostCells;
  // The finite mechanism knows nothing of tasks.
  const bool tasks = !schema.task.empty() && options.heads.task_weight > 0;
  std::string why = obstacle(options, schema);
  if (finite && (!tasks || !why.empty())) return {MechanismFamily::kFinite};
  if (why.empty()) return {MechanismFamily::kHeads};
  return {MechanismFamily::kNoiseInput, std::move(why)};
}

}  // namespace ppan
