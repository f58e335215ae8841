#pragma once

// A curve for people at a terminal: a compact plot and an aligned table, in plain text.

#include <string>

#include "ppan/core/estimate.h"
#include "ppan/report/curve_file.h"

namespace ppan {

struct TerminalStyle {
  int width = 80;       ///< Columns of the terminal. At least 40 are used.
  int height = 16;      ///< Lines of the plot, axis not counted. At least 4.
  bool unicode = true;  ///< Otherwise nothing but ASCII is written.
  bool colour = false;  ///< ANSI colours, for terminals.
  InformationUnit unit = InformationUnit::kNats;
};

/// Distortion to the right, leakage upwards; each series its own letter, the optimum as dots. Rows without
/// both numbers are left out; empty when none is left.
std::string plot_text(const CurveTable& table, const TerminalStyle& style);

/// The points; of the references only the unchanged table and the constant row.
CurveTable without_references(const CurveTable& table);

/// The rows as an aligned table: series, budget or weight, distortion, leakage with its interval, the upper
/// end of its audit, kind, optimum, excess. Leakage that an audit did not see is "not seen", not 0. Columns
/// that are empty throughout are left out, and long series names are truncated to fit.
std::string table_text(const CurveTable& table, const TerminalStyle& style);

}  // namespace ppan
