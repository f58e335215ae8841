#include "ppan/game/budget.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ppan/core/suggest.h"

namespace ppan {
namespace {

constexpr std::array<std::pair<BudgetForm, std::string_view>, 5> kNames{{
    {BudgetForm::kWeighted, "weighted"},
    {BudgetForm::kRecord, "record"},
    {BudgetForm::kRecordMean, "record-mean"},
    {BudgetForm::kExpected, "expected"},
    {BudgetForm::kDual, "dual"},
}};

}  // namespace

std::string_view to_string(BudgetForm form) {
  for (const auto& [f, name] : kNames) {
    if (f == form) return name;
  }
  return "unknown";
}

std::vector<std::string> budget_form_names() {
  std::vector<std::string> names;
  for (const auto& [form, name] : kNames) names.emplace_back(name);
  return names;
}

BudgetForm budget_form(std::string_view name) {
  for (const auto& [form, n] : kNames) {
    if (n == name) return form;
  }
  throw Error(ErrorCode::kUsage, unknown_name("budget form", name, budget_form_names()));
}

Problems BudgetOptions::check() const {
  ProblemList list;
  if (form != BudgetForm::kWeighted) list.require_at_least("limit", limit, 0);
  list.require_positive("weight", weight);
  if (form == BudgetForm::kDual) {
    list.require_positive("dual_rate", dual_rate);
    list.require_between("memory", memory, 0, 1);
    list.require_positive("unit", unit);
    list.require_at_least("idle_price", idle_price, 0);
  }
  return list.take();
}

template <typename Scalar>
Budget<Scalar>::Budget(BudgetOptions options) : options_(options) {
  require_none(options_.check(), "a budget with these options cannot be set:");
}

template <typename Scalar>
double Budget<Scalar>::error() const {
  if (running_.steps == 0) return 0;
  return std::min(1.0, (running_.mean - options_.limit) / options_.unit);
}

template <typename Scalar>
void Budget<Scalar>::cost(const Matrix<Scalar>& d, Matrix<Scalar>& value, Matrix<Scalar>& slope) const {
  const auto weight = static_cast<Scalar>(options_.weight);
  const auto over = (d.array() - static_cast<Scalar>(options_.limit)).max(Scalar(0));
  value = (weight * over.square()).matrix();
  slope = (2 * weight * over).matrix();
}

template <typename Scalar>
Scalar Budget<Scalar>::cost(Scalar d) const {
  const Scalar over = std::max(Scalar(0), d - static_cast<Scalar>(options_.limit));
  return static_cast<Scalar>(options_.weight) * over * over;
}

template <typename Scalar>
double Budget<Scalar>::evaluate(const Vector<Scalar>& d, Vector<Scalar>& slope) const {
  slope.resize(d.size());
  const auto n = static_cast<double>(d.size());
  const double weight = options_.weight;
  if (by_draw()) throw Error(ErrorCode::kInternal, "a penalty on each draw needs the draws");
  if (options_.form == BudgetForm::kRecordMean) {
    const auto over = (d.array() - static_cast<Scalar>(options_.limit)).max(Scalar(0));
    slope.array() = over * static_cast<Scalar>(2 * weight / n);
    return weight * static_cast<double>(over.square().mean());
  }
  double each = 0;
  const double penalty = evaluate_mean(static_cast<double>(d.mean()), each);
  slope.setConstant(static_cast<Scalar>(each / n));
  return penalty;
}

template <typename Scalar>
double Budget<Scalar>::evaluate_mean(double mean, double& slope) const {
  if (!by_mean()) throw Error(ErrorCode::kInternal, "a penalty on each record needs the records");
  const double weight = options_.weight;
  const double over = mean - options_.limit;
  if (options_.form == BudgetForm::kWeighted) {
    slope = weight;
    return weight * mean;
  }
  if (options_.form == BudgetForm::kExpected) {
    slope = 2 * weight * std::max(0.0, over);
    return weight * std::max(0.0, over) * std::max(0.0, over);
  }
  if (options_.memory > 0) {
    const double force = std::max(0.0, multiplier_ + weight * error());
    slope = force + options_.idle_price;
    return force * over + options_.idle_price * mean;
  }
  const double force = std::max(0.0, multiplier_ + weight * over);
  slope = force + options_.idle_price;
  return (force * force - multiplier_ * multiplier_) / (2 * weight) + options_.idle_price * mean;
}

template <typename Scalar>
void Budget<Scalar>::update(double mean_distortion, double share) {
  if (options_.form != BudgetForm::kDual) return;
  const double rate = options_.dual_rate * (options_.settle ? share : 1);
  double over = mean_distortion - options_.limit;
  if (options_.memory > 0) {
    const double window = std::max(1.0, options_.memory * static_cast<double>(++running_.steps));
    running_.mean += (mean_distortion - running_.mean) / window;
    over = error();
  }
  multiplier_ = std::max(0.0, multiplier_ + rate * over);
}

template class Budget<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class Budget<double>;
#endif

}  // namespace ppan
