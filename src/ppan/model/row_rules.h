#pragma once

// Rules that hold in every released row, whatever the mechanism: derived columns are looked up again from the
// released value of their source, and cells that violate a constraint are changed until it holds. Both are
// functions of the released row alone, so they reveal nothing more about the record, and bounds on the
// leakage still hold.

#include <cstdint>
#include <string>
#include <vector>

#include "ppan/encode/encoder.h"
#include "ppan/read/constraint.h"
#include "ppan/read/schema.h"

namespace ppan {

class RowRules {
 public:
  RowRules() = default;
  /// Rules among the released (useful) columns of the schema.
  RowRules(const Schema& schema, const Encoding& encoding);

  [[nodiscard]] bool empty() const { return derived_.empty() && constraints_.empty(); }
  /// Applies the rules to every row of `rows`.
  void apply(EncodedRows& rows) const;
  /// Whether row `row` keeps constraint `number` (of schema.constraints). A missing value keeps every
  /// constraint.
  [[nodiscard]] bool holds(const EncodedRows& rows, std::size_t row, std::size_t number) const;

 private:
  struct Bound {
    Constraint rule;
    std::int32_t left = 0;
    std::int32_t right = -1;  // -1: a number
  };
  void meet(EncodedRows& rows, std::size_t row, const Bound& bound) const;
  void meet_all(EncodedRows& rows) const;
  void derive(EncodedRows& rows) const;

  const Encoding* encoding_ = nullptr;
  std::vector<std::int32_t> derived_;
  bool derived_again_ = false;  // some follow from a number, which a constraint may change
  std::vector<Bound> constraints_;
};

/// How many rows keep every constraint of the schema, and each by itself.
struct ConstraintCount {
  std::int64_t rows = 0;
  std::int64_t all = 0;
  std::vector<std::int64_t> each{};
};
ConstraintCount count_constraints(const EncodedRows& rows, const Schema& schema, const Encoding& encoding);

}  // namespace ppan
