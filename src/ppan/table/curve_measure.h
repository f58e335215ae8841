#pragma once

// Measures releases of the held-out rows of a curve.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ppan/table/curve_rows.h"
#include "ppan/table/table_measure.h"
#include "ppan/table/task_measure.h"

namespace ppan {

/// What the attackers find of planted leaks in these rows, whatever the mechanism: planted once for all of
/// them, into the table as it is.
std::vector<AttackPower> measure_power(const CurveRows& rows);

class CurveMeasure {
 public:
  /// One release of some rows, told apart by its number.
  using Releases = std::function<EncodedRows(const EncodedRows&, std::int64_t)>;

  /// `rows` must outlive it.
  CurveMeasure(const CurveRows& rows, std::vector<AttackPower> power)
      : rows_(rows), power_(std::move(power)) {}

  /// Releases of a model, which must outlive them.
  [[nodiscard]] Releases releases(const TableModel& model) const;
  /// Attackers of held-out rows learn from releases of the training rows as well.
  [[nodiscard]] AuditReport leakage(const CurvePart& part, const Releases& release,
                                    LeakageDetail detail = LeakageDetail::kNumber,
                                    const TableModel* model = nullptr) const;
  /// `release` releases any rows once.
  [[nodiscard]] std::vector<TaskScore> tasks(
      const std::function<EncodedRows(const EncodedRows&)>& release) const;
  /// A reference that is no model.
  [[nodiscard]] MeasuredRelease measure(std::string series, std::string label, const Releases& release) const;
  [[nodiscard]] MeasuredRelease measure_model(std::string series, std::string label,
                                              const TableModel& model) const;

 private:
  void look_at(const Releases& release, MeasuredRelease& out) const;

  const CurveRows& rows_;
  std::vector<AttackPower> power_;
};

}  // namespace ppan
