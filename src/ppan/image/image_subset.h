#pragma once

#include <cstdint>
#include <span>

#include "ppan/read/image_set.h"

namespace ppan {

/// The images of these numbers, in this order.
ImageSet take_images(const ImageSet& set, std::span<const std::int32_t> which);

}  // namespace ppan
