#pragma once

#include <string>
#include <vector>

namespace ppan {

/// Warnings that say the same of several points ("point 3: ..."), as one each: "points 3, 4 and 7: ...".
/// Where only the numbers differ, those of the first point are shown, and that they are.
std::vector<std::string> group_warnings(const std::vector<std::string>& warnings);

}  // namespace ppan
