#pragma once

// Releases image files: an IDX file, or a directory of PNG files.

#include <string>

#include "ppan/core/random.h"
#include "ppan/model/image_release_model.h"

namespace ppan {

/// Releases the images of `from` to `to`, all or nothing: as IDX where `to` has such a name or is "-"
/// (standard output), as a directory of PNG files otherwise. Throws Error(kUsage) for an existing directory,
/// unless `force`.
void release_image_files(const ImageReleaseModel& model, const std::string& from, const std::string& to,
                         bool force, RandomSource& random);

}  // namespace ppan
