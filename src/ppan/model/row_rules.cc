#include "ppan/model/row_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ppan {
namespace {

constexpr int kMostRounds = 20;

// The next value of the column's grid.
double step_of(const ColumnEncoding& column, double x) {
  if (is_whole(column.type)) return 1;
  if (column.format.decimals) return std::pow(10.0, -*column.format.decimals);
  return std::max(std::abs(x), 1e-300) * 1e-11;  // numbers without a grid have 12 digits
}

bool present(const EncodedColumn& column, std::size_t row) {
  return column.code[row] == 0;
}

}  // namespace

RowRules::RowRules(const Schema& schema, const Encoding& encoding) : encoding_(&encoding) {
  for (const std::int32_t column : encoding.indices_of(schema.useful)) {
    const std::string& source = encoding.columns[static_cast<std::size_t>(column)].derived_from;
    if (source.empty()) continue;
    derived_.push_back(column);
    const auto from = static_cast<std::size_t>(encoding.index_of(source));
    derived_again_ = derived_again_ || encoding.columns[from].numeric();
  }
  for (const std::string& text : schema.constraints) {
    const auto rule = parse_constraint(text);
    if (!rule) continue;  // schema.check() has said so
    constraints_.push_back(
        {*rule, encoding.index_of(rule->left), rule->number ? -1 : encoding.index_of(rule->right)});
  }
}

bool RowRules::holds(const EncodedRows& rows, std::size_t row, std::size_t number) const {
  const Bound& bound = constraints_[number];
  const EncodedColumn& left = rows.columns[rows.position_of(bound.left)];
  const ColumnEncoding& how = encoding_->columns[static_cast<std::size_t>(bound.left)];
  if (!present(left, row)) return true;
  if (bound.right < 0) return bound.rule.holds(how.decode(left.value[row]), *bound.rule.number);
  const EncodedColumn& right = rows.columns[rows.position_of(bound.right)];
  if (!present(right, row)) return true;
  return bound.rule.holds(how.decode(left.value[row]),
                          encoding_->columns[static_cast<std::size_t>(bound.right)].decode(right.value[row]));
}

// Moves the left value to where the rule begins to hold; if its range ends before that, the right one.
void RowRules::meet(EncodedRows& rows, std::size_t row, const Bound& bound) const {
  const ColumnEncoding& left_how = encoding_->columns[static_cast<std::size_t>(bound.left)];
  EncodedColumn& left = rows.columns[rows.position_of(bound.left)];
  double goal = 0;
  if (bound.right < 0) {
    goal = *bound.rule.number;
  } else {
    const EncodedColumn& right = rows.columns[rows.position_of(bound.right)];
    goal = encoding_->columns[static_cast<std::size_t>(bound.right)].decode(right.value[row]);
  }
  const double step = step_of(left_how, goal);
  if (bound.rule.comparison == Comparison::kAbove) goal = std::floor(goal / step + 1e-9) * step + step;
  if (bound.rule.comparison == Comparison::kBelow) goal = std::ceil(goal / step - 1e-9) * step - step;
  // A bound between two values of the grid: the first one beyond it.
  if (bound.rule.comparison == Comparison::kAtLeast) goal = std::ceil(goal / step - 1e-9) * step;
  if (bound.rule.comparison == Comparison::kAtMost) goal = std::floor(goal / step + 1e-9) * step;
  left.value[row] = left_how.encode(goal);
  if (bound.right < 0) return;
  const ColumnEncoding& right_how = encoding_->columns[static_cast<std::size_t>(bound.right)];
  EncodedColumn& right = rows.columns[rows.position_of(bound.right)];
  const double reached = left_how.decode(left.value[row]);
  if (bound.rule.holds(reached, right_how.decode(right.value[row]))) return;
  const double back = bound.rule.comparison == Comparison::kAbove   ? reached - step_of(right_how, reached)
                      : bound.rule.comparison == Comparison::kBelow ? reached + step_of(right_how, reached)
                                                                    : reached;
  right.value[row] = right_how.encode(back);
}

void RowRules::derive(EncodedRows& rows) const {
  for (const std::int32_t column : derived_) {
    const ColumnEncoding& how = encoding_->columns[static_cast<std::size_t>(column)];
    const std::int32_t from = encoding_->index_of(how.derived_from);
    const ColumnEncoding& source_how = encoding_->columns[static_cast<std::size_t>(from)];
    const EncodedColumn& source = rows.columns[rows.position_of(from)];
    EncodedColumn& to = rows.columns[rows.position_of(column)];
    for (std::size_t r = 0; r < to.code.size(); ++r) {
      const std::size_t place =
          how.derived_place(source_how, source.code[r], source.value.empty() ? 0 : source.value[r]);
      to.code[r] = how.derived_code[place];
      if (!to.value.empty()) to.value[r] = how.derived_value[place];
    }
  }
}

void RowRules::meet_all(EncodedRows& rows) const {
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows.rows); ++r) {
    bool kept = false;
    for (int round = 0; round < kMostRounds && !kept; ++round) {
      kept = true;
      for (std::size_t i = 0; i < constraints_.size(); ++i) {
        if (holds(rows, r, i)) continue;
        kept = false;
        meet(rows, r, constraints_[i]);
      }
    }
    if (!kept) {
      throw Error(ErrorCode::kBadInput, "a released row cannot meet every constraint of the job",
                  "look for constraints that contradict each other or a column's range");
    }
  }
}

void RowRules::apply(EncodedRows& rows) const {
  derive(rows);
  if (constraints_.empty()) return;
  meet_all(rows);
  if (!derived_again_) return;
  derive(rows);  // numbers that others follow from may have been moved
}

ConstraintCount count_constraints(const EncodedRows& rows, const Schema& schema, const Encoding& encoding) {
  ConstraintCount out{.rows = rows.rows};
  out.each.assign(schema.constraints.size(), 0);
  const RowRules rules(schema, encoding);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows.rows); ++r) {
    bool all = true;
    for (std::size_t i = 0; i < out.each.size(); ++i) {
      const bool holds = rules.holds(rows, r, i);
      out.each[i] += holds ? 1 : 0;
      all = all && holds;
    }
    out.all += all ? 1 : 0;
  }
  return out;
}

}  // namespace ppan
