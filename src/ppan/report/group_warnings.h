#pragma once

#include <string>
#include <vector>

namespace ppan {

/// Merges equal warnings about several points ("point 3: ...") into one: "points 3, 4 and 7: ...". Where only
/// the numbers differ, those of the first point are shown, with a note.
std::vector<std::string> group_warnings(const std::vector<std::string>& warnings);

}  // namespace ppan
