#pragma once

// PNG images, as single files and as a directory of images of one size with their labels in a table.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/read/image_set.h"

namespace ppan {

/// One grey image: bytes row by row from the top left.
struct GreyImage {
  Index height = 0;
  Index width = 0;
  std::vector<std::uint8_t> bytes{};
};

/// Any PNG as 8-bit grey. 16-bit samples keep their upper half (rounded), palettes are looked up, transparent
/// pixels are laid over white, and colour becomes its luma by ITU-R BT.601, (299 R + 587 G + 114 B) / 1000,
/// rounded. Stated gamma and colour profiles are not applied. Throws Error(kBadInput), naming `name`, for
/// anything that does not decode whole, and for sides above kMostImageSide.
GreyImage decode_png(std::string_view bytes, const std::string& name);
/// The image as an 8-bit grey PNG.
std::string encode_png(const GreyImage& image);

GreyImage read_png(const std::filesystem::path& path);
/// Atomic.
void write_png(const std::filesystem::path& path, const GreyImage& image);

/// Image `index` of a set.
GreyImage grey_image(const ImageSet& set, Index index);

/// The images *.png directly in `directory`, in the order of their names, without labels. Throws
/// Error(kBadInput) if there are none or if two differ in size, naming both.
ImageSet read_png_directory(const std::filesystem::path& directory);

/// Names of the columns in a table of labels.
struct LabelColumns {
  std::string file = "file";
  std::string label = "label";
};
/// The images that a table (CSV, first row its names) lists, in its order, with their labels. The table
/// names each image of `directory` exactly once. Classes are the different labels, in the order of their
/// numbers if all are whole numbers and in alphabetical order otherwise. Throws Error(kBadInput) for a
/// image that is missing, listed twice or not listed, an empty label, fewer than two classes and sizes that
/// differ.
ImageSet read_labelled_png_directory(const std::filesystem::path& directory,
                                     const std::filesystem::path& labels, const LabelColumns& columns = {});

/// A cell for each of `files`, from the column `columns.label` of a table that names them in `columns.file`;
/// empty for those that the table does not name or whose cell is missing. Throws Error(kBadInput) for a
/// column that is not there.
std::vector<std::string> read_png_column(const std::filesystem::path& table, const LabelColumns& columns,
                                         const std::vector<std::string>& files);
/// Texts as classes: in the order of their numbers if all are whole numbers, otherwise in alphabetical order.
ImageTask task_of_texts(std::string name, const std::vector<std::string>& texts);

/// Writes every image as a file of its own into a new directory: under the names in `files`, or 000000.png,
/// 000001.png and so on where there are none. The directory appears when all are written; one that is there
/// already is an Error(kUsage), unless `replace`: then it must hold nothing but PNG files, and is exchanged.
void write_png_directory(const std::filesystem::path& directory, const ImageSet& set, bool replace = false);

}  // namespace ppan
