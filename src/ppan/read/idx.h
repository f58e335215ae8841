#pragma once

// IDX, the format of MNIST and Fashion-MNIST: a big-endian header (two zero bytes, type 8 for unsigned bytes,
// the number of dimensions, then each dimension in four bytes), then the bytes. Three dimensions hold
// images (images, height, width), one holds labels. Names that end in ".gz" are compressed.

#include <filesystem>

#include "ppan/read/image_set.h"
#include "ppan/source/byte_source.h"

namespace ppan {

// Each of these reads the source to its end and throws Error(kBadInput), naming it, for a wrong header, sizes
// of zero or beyond the limits of image_set.h, missing bytes and extra bytes. Memory is allocated as bytes
// arrive, never by the header alone.

/// Images without labels.
ImageSet read_idx_images(ByteSource& source);
ImageSet read_idx_images(const std::filesystem::path& path);
/// Labels 0..255.
Symbols read_idx_labels(ByteSource& source);
Symbols read_idx_labels(const std::filesystem::path& path);
/// Images with their labels, of which there must be as many. The classes are 0 to the largest label.
ImageSet read_idx_pair(const std::filesystem::path& images, const std::filesystem::path& labels);

struct ImageSplit {
  ImageSet train{};
  ImageSet test{};
};
/// The four files of MNIST under their original names: train-images-idx3-ubyte, train-labels-idx1-ubyte and
/// the same with t10k, or spelt train-images.idx3-ubyte; each plain or with ".gz". Both sets have the same
/// size of image and the same classes. Throws Error(kIo), saying how to get them, if one is not there.
ImageSplit read_mnist_directory(const std::filesystem::path& directory);

/// Whether `path` is named as a file of images in this format: it ends in idx3-ubyte or idx3-ubyte.gz.
bool is_idx_name(const std::filesystem::path& path);
/// Writes the images, each pixel as the nearest byte, as open_sink() writes: "-" is standard output, a name
/// ending in ".gz" is compressed, and a file is there only once it is whole.
void write_idx_images(const std::filesystem::path& path, const ImageSet& set);
/// Writes labels 0..255 in the same way.
void write_idx_labels(const std::filesystem::path& path, const Symbols& labels);

}  // namespace ppan
