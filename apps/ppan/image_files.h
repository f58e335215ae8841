#pragma once

// Pictures named on the command line: what is there, which file holds their labels, and a first job file.

#include <filesystem>
#include <string>

#include "ppan/read/image_set.h"
#include "ppan/read/png.h"

namespace ppan::cli {

/// Whether `path` is a directory or is named as IDX pictures: pictures, where a table could be meant.
bool names_pictures(const std::filesystem::path& path);

/// Labelled pictures as a user names them.
struct PictureFiles {
  std::filesystem::path images{};
  std::filesystem::path labels{};
  LabelColumns columns{};  ///< Of a table of labels.
  bool sure = true;        ///< False: the table has several columns that could hold the label.
};

/// Finds what `labels` (possibly empty) leaves out. Labels of x-images-idx3-ubyte are looked for in
/// x-labels-idx1-ubyte, those of x-idx3-ubyte in x-idx1-ubyte, either also with or without ".gz"; those of a
/// directory in the only CSV file in it, or in DIR.csv. In a table the column whose first value ends in .png
/// names the files; the label is in the column `label`, or in the first other one. Throws Error(kUsage),
/// saying what to give, if nothing is found.
PictureFiles find_picture_files(const std::string& images, const std::string& labels);

/// Reads them. Throws what the readers throw.
ImageSet read_pictures(const PictureFiles& files);

/// SHA-256 of the pictures as bytes and of their labels: the same for the same pictures, whatever the format.
std::string pictures_sha256(const ImageSet& set);

/// A first job file for pictures, which are read once. `images` and `labels` are what the job calls them.
std::string draft_image_job(const PictureFiles& files, const std::string& images, const std::string& labels);

}  // namespace ppan::cli
