#include "ppan/read/image_set.h"

#include <fmt/format.h>

#include <string_view>

namespace ppan {
namespace {

void check_codes(ProblemList& list, std::string_view field, const Symbols& code, int classes,
                 std::size_t names, Index images) {
  list.require(std::ssize(code) == images, field,
               fmt::format("there are {} for {} images", code.size(), images));
  list.require(classes >= 2, field, "there must be at least two classes");
  list.require(names == static_cast<std::size_t>(std::max(classes, 0)), field,
               fmt::format("{} classes have {} names", classes, names));
  list.require(std::all_of(code.begin(), code.end(), [&](std::int32_t k) { return k >= 0 && k < classes; }),
               field, fmt::format("each must be one of 0 to {}", classes - 1));
}

}  // namespace

Problems ImageSet::check() const {
  ProblemList list;
  list.require_between("height", static_cast<double>(height), 1, static_cast<double>(kMostImageSide));
  list.require_between("width", static_cast<double>(width), 1, static_cast<double>(kMostImageSide));
  list.require(pixels.cols() == height * width, "pixels",
               fmt::format("{} for each image of {} x {}", pixels.cols(), height, width));
  list.require(pixels.size() <= kMostImageValues, "pixels", fmt::format("more than {}", kMostImageValues));
  // False for NaN.
  list.require((pixels.array() >= 0.0F && pixels.array() <= 1.0F).all(), "pixels", "each must lie in [0, 1]");
  check_codes(list, "labels", labels, classes, class_names.size(), size());
  if (!task.empty()) check_codes(list, "task", task.code, task.classes, task.names.size(), size());
  return list.take();
}

}  // namespace ppan
