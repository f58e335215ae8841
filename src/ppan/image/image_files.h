#pragma once

// Images named on the command line: what exists, which file holds their labels, and a draft job file.

#include <filesystem>
#include <string>

#include "ppan/read/image_set.h"
#include "ppan/read/png.h"

namespace ppan {

/// Whether `path` means images rather than a table: a directory, or a name of IDX images.
bool names_images(const std::filesystem::path& path);

/// Labelled images as a user names them.
struct ImageFiles {
  std::filesystem::path images{};
  std::filesystem::path labels{};
  LabelColumns columns{};  ///< Of a table of labels.
  bool sure = true;        ///< False: the table has several columns that could hold the label.
};

/// Finds what `labels` (possibly empty) does not specify. Labels of x-images-idx3-ubyte are looked for in
/// x-labels-idx1-ubyte, those of x-idx3-ubyte in x-idx1-ubyte, either also with or without ".gz"; those of a
/// directory in the only CSV file in it, or in DIR.csv. In a table the column whose first value ends in .png
/// names the files; the label is in the column `label`, or in the first other one. Throws Error(kUsage),
/// saying what to give, if nothing is found.
ImageFiles find_image_files(const std::string& images, const std::string& labels);

/// Reads them. Throws what the readers throw.
ImageSet read_images(const ImageFiles& files);

/// Gives `set` its task: from an IDX file, for which `columns.label` is empty, or for images with file names
/// from a column of a table. Throws one Error(kBadInput) that lists every problem: another number of labels,
/// images without one, the same for all, the same as the label that is hidden, more than 256 different ones.
void read_task(ImageSet& set, const std::filesystem::path& labels, const LabelColumns& columns);

/// SHA-256 of the images as bytes, of their labels and of their task: the same for the same images, whatever
/// the format.
std::string images_sha256(const ImageSet& set);

/// A draft job file for images, which are read once. `images` and `labels` are their names in the job.
std::string draft_image_job(const ImageFiles& files, const std::string& images, const std::string& labels);

}  // namespace ppan
