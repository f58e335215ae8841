#include "ppan/release/release_image_files.h"

#include <filesystem>
#include <system_error>

#include "ppan/core/error.h"
#include "ppan/read/idx.h"
#include "ppan/read/png.h"

namespace ppan {

void release_image_files(const ImageReleaseModel& model, const std::string& from, const std::string& to,
                         bool force, RandomSource& random) {
  const bool to_idx = to == "-" || is_idx_name(to);
  std::error_code ignored;
  if (!to_idx && std::filesystem::exists(to, ignored) && !force)
    throw Error(ErrorCode::kUsage, to + " exists already",
                "give another -o, or --force to replace a directory of images");
  const ImageSet set =
      std::filesystem::is_directory(from, ignored) ? read_png_directory(from) : read_idx_images(from);
  const ImageSet released = release_images(model, set, random, from);
  if (to_idx) {
    write_idx_images(to, released);
  } else {
    write_png_directory(to, released, force);
  }
}

}  // namespace ppan
