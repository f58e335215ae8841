#pragma once

// Images side by side, as an image and as a drawing.

#include <string>
#include <vector>

#include "ppan/read/png.h"

namespace ppan {

/// Images side by side in rows, each magnified, with a border between them. All have the same size.
GreyImage image_grid(const std::vector<std::vector<GreyImage>>& rows, Index magnify);
/// A drawing that holds the image, with a line of text before each of its rows.
std::string grid_svg(const GreyImage& grid, const std::string& title,
                     const std::vector<std::string>& row_names, const std::string& note);

}  // namespace ppan
