#include "ppan/image/image_subset.h"

#include <vector>

namespace ppan {

ImageSet take_images(const ImageSet& set, std::span<const std::int32_t> which) {
  ImageSet part{
      .height = set.height, .width = set.width, .classes = set.classes, .class_names = set.class_names};
  part.pixels = set.pixels(std::vector<Index>(which.begin(), which.end()), Eigen::all);
  for (const std::int32_t i : which) part.labels.push_back(set.labels[static_cast<std::size_t>(i)]);
  if (!set.task.empty()) {
    part.task = {.name = set.task.name, .classes = set.task.classes, .names = set.task.names};
    for (const std::int32_t i : which) part.task.code.push_back(set.task.code[static_cast<std::size_t>(i)]);
  }
  return part;
}

}  // namespace ppan
