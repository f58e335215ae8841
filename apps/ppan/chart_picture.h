#pragma once

// A figure as pixels, for places that take no SVG. Drawn here, in grey, without fonts or libraries: series
// are told apart by dash, marker and shade, and letters are strokes on a small grid.

#include <string_view>

#include "ppan/read/png.h"
#include "ppan/report/figure.h"

namespace ppan::cli {

/// Lines, markers, whiskers, axes with round ticks, a legend under the plot. Series kinds other than lines
/// and markers, logarithmic axes and categories are not drawn: throws Error(kUsage) for them. `magnify` is
/// the number of pixels for each unit of the figure's size.
GreyImage chart_picture(const Figure& figure, int magnify = 2);

/// Whether every character of `text` (UTF-8) has a shape; others are drawn as a box.
bool can_be_written(std::string_view text);

}  // namespace ppan::cli
