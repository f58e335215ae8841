#pragma once

// Maps data to the drawing: the range of an axis, its ticks, and the position of a value. Private to this
// stage.

#include <string>
#include <vector>

#include "ppan/report/figure.h"

namespace ppan {

/// Grows to cover values; ignores values that are not finite.
class DataRange {
 public:
  void cover(double value);
  [[nodiscard]] bool empty() const { return !(low_ <= high_); }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  double low_ = 1;
  double high_ = 0;
};

class Scale {
 public:
  /// `from` and `to` are the positions of the range's ends on the drawing.
  Scale(const FigureAxis& axis, const DataRange& data, double from, double to);

  [[nodiscard]] double at(double value) const;
  [[nodiscard]] bool inside(double value) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  /// About one tick per `spacing` units of the drawing.
  [[nodiscard]] std::vector<double> ticks(double spacing) const;

 private:
  double low_ = 0;
  double high_ = 1;
  double from_;
  double to_;
  bool logarithmic_;
};

}  // namespace ppan
