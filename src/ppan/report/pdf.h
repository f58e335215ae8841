#pragma once

// Figures as PDF, for papers: the drawing that to_svg() makes, drawn again with PDF operators. Written here
// because the drawings use a handful of shapes and three styles of text; a library would bring fonts and
// image codecs that nothing here needs.

#include <string>

namespace ppan {

/// One page of the size of the drawing, in Helvetica. `svg` is a document made by to_svg() of figure.h;
/// anything else is an Error(kUsage). The same bytes for the same drawing.
std::string figure_pdf(const std::string& svg);

}  // namespace ppan
