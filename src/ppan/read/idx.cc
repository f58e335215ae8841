#include "ppan/read/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/source/csv_writer.h"

namespace ppan {
namespace {

constexpr std::size_t kPieceBytes = 1U << 20U;
constexpr std::uint8_t kUnsignedByte = 8;

[[noreturn]] void bad(const ByteSource& source, std::string_view what, std::string fix) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", source.name(), what), std::move(fix));
}

// Up to `count` bytes appended to `to`; fewer only at the end of the source. The buffer grows with what
// arrives.
void read_upto(ByteSource& source, std::size_t count, std::string& to) {
  while (count > 0) {
    const std::size_t before = to.size();
    const std::size_t piece = std::min(count, kPieceBytes);
    to.resize(before + piece);
    const std::size_t got = source.read(to.data() + before, piece);
    to.resize(before + got);
    if (got == 0) return;
    count -= got;
  }
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = (value << 8U) | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

std::string dimensions_text(unsigned dimensions) {
  return dimensions == 1 ? "labels (1 dimension)" : fmt::format("{} dimensions", dimensions);
}

// Checks the header and returns its sizes.
template <std::size_t kDimensions>
std::array<Index, kDimensions> read_header(ByteSource& source) {
  constexpr std::string_view kWanted = kDimensions == 3 ? "images" : "labels";
  std::string header;
  read_upto(source, 4, header);
  if (header.size() >= 2 && header[0] == '\x1f' && header[1] == '\x8b')
    bad(source, "holds gzip data, but its name does not end in .gz", "rename it, or decompress it");
  if (header.size() < 4 || header[0] != 0 || header[1] != 0)
    bad(source, "is not an IDX file: it does not begin with its mark",
        fmt::format("give an IDX file of {}, such as {}", kWanted,
                    kDimensions == 3 ? "train-images-idx3-ubyte" : "train-labels-idx1-ubyte"));
  if (static_cast<std::uint8_t>(header[2]) != kUnsignedByte)
    bad(source,
        fmt::format("holds values of type {:#04x}; only unsigned bytes (0x08) are read",
                    static_cast<std::uint8_t>(header[2])),
        "convert the values to bytes 0..255");
  const unsigned dimensions = static_cast<std::uint8_t>(header[3]);
  if (dimensions != kDimensions)
    bad(source,
        fmt::format("holds {}, where {} are wanted ({} dimensions)",
                    dimensions == 3 ? "images (3 dimensions)" : dimensions_text(dimensions), kWanted,
                    kDimensions),
        dimensions == 1 || dimensions == 3 ? "exchange the two files" : "give a file of the other kind");
  read_upto(source, 4 * kDimensions, header);
  if (header.size() < 4 + 4 * kDimensions)
    bad(source, "ends within its header", "fetch or write the file again: it was cut short");
  std::array<Index, kDimensions> sizes{};
  for (std::size_t i = 0; i < kDimensions; ++i) sizes[i] = big_endian(header, 4 + 4 * i);
  if (sizes[0] == 0) bad(source, fmt::format("holds no {}", kWanted), "give a file with at least one");
  return sizes;
}

// Exactly `count` bytes and then the end.
std::string read_body(ByteSource& source, Index count) {
  std::string bytes;
  read_upto(source, static_cast<std::size_t>(count), bytes);
  if (static_cast<Index>(bytes.size()) < count)
    bad(source, fmt::format("holds {} of the {} bytes that its header announces", bytes.size(), count),
        "fetch or write the file again: it was cut short");
  char more = 0;
  if (source.read(&more, 1) != 0)
    bad(source, fmt::format("continues after the {} bytes that its header announces", count),
        "fetch or write the file again: its header and its contents disagree");
  return bytes;
}

// The file called `stem` in one of its spellings, or an empty path.
std::filesystem::path spelt(const std::filesystem::path& directory, std::string_view stem,
                            std::string_view kind) {
  for (const char separator : {'-', '.'})
    for (const std::string_view ending : {"", ".gz"}) {
      auto path = directory / fmt::format("{}{}{}{}", stem, separator, kind, ending);
      std::error_code ignored;
      if (std::filesystem::exists(path, ignored)) return path;
    }
  return {};
}

void append_big_endian(std::string& to, Index value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to.push_back(
        static_cast<char>((static_cast<std::uint64_t>(value) >> static_cast<unsigned>(shift)) & 0xFFU));
}

std::string header_of(std::initializer_list<Index> sizes) {
  std::string header{'\0', '\0', static_cast<char>(kUnsignedByte), static_cast<char>(sizes.size())};
  for (const Index size : sizes) append_big_endian(header, size);
  return header;
}

}  // namespace

ImageSet read_idx_images(ByteSource& source) {
  const auto [count, height, width] = read_header<3>(source);
  if (height == 0 || width == 0 || height > kMostImageSide || width > kMostImageSide)
    bad(source,
        fmt::format("images of {} x {} pixels; each side may be 1 to {}", height, width, kMostImageSide),
        "fetch or write the file again if its header is damaged; otherwise scale the images");
  const Index per_image = height * width;
  if (count > kMostImageValues / per_image)
    bad(source,
        fmt::format("{} images of {} x {} pixels are more than {} pixels", count, height, width,
                    kMostImageValues),
        "fetch or write the file again if its header is damaged; otherwise divide it into several");
  const std::string bytes = read_body(source, count * per_image);
  using Bytes = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Bytes> stored(reinterpret_cast<const std::uint8_t*>(bytes.data()), count, per_image);
  ImageSet set{.height = height, .width = width};
  set.pixels.resize(count, per_image);
  // Stored an image after the other, wanted a pixel after the other: blocks keep both in the cache.
  constexpr Index kBlock = 64;
  for (Index first = 0; first < count; first += kBlock) {
    const Index rows = std::min(kBlock, count - first);
    set.pixels.middleRows(first, rows) = stored.middleRows(first, rows).cast<float>() / 255.0F;
  }
  return set;
}

ImageSet read_idx_images(const std::filesystem::path& path) {
  return read_idx_images(*open_source(path));
}

Symbols read_idx_labels(ByteSource& source) {
  const auto [count] = read_header<1>(source);
  if (count > kMostImageValues)
    bad(source, fmt::format("{} labels are more than {}", count, kMostImageValues),
        "fetch or write the file again: its header is damaged");
  const std::string bytes = read_body(source, count);
  Symbols labels(bytes.size());
  std::transform(bytes.begin(), bytes.end(), labels.begin(),
                 [](char byte) { return static_cast<std::uint8_t>(byte); });
  return labels;
}

Symbols read_idx_labels(const std::filesystem::path& path) {
  return read_idx_labels(*open_source(path));
}

ImageSet read_idx_pair(const std::filesystem::path& images, const std::filesystem::path& labels) {
  // Labels first: they are small, so a mistake shows at once.
  Symbols label = read_idx_labels(labels);
  ImageSet set = read_idx_images(images);
  if (set.size() != static_cast<Index>(label.size()))
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} holds {} images, but {} holds {} labels", images.string(), set.size(),
                            labels.string(), label.size()),
                "give the two files of one set");
  set.labels = std::move(label);
  set.classes = *std::max_element(set.labels.begin(), set.labels.end()) + 1;
  for (int k = 0; k < set.classes; ++k) set.class_names.push_back(std::to_string(k));
  return set;
}

ImageSplit read_mnist_directory(const std::filesystem::path& directory) {
  constexpr std::string_view kFetch =
      "script/fetch-mnist DIR fetches MNIST; or name a directory that holds the four files with --data";
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory, ignored))
    throw Error(ErrorCode::kIo, fmt::format("{} is not a directory with images", directory.string()),
                std::string(kFetch));
  const auto pair = [&](std::string_view part) {
    const auto images = spelt(directory, fmt::format("{}-images", part), "idx3-ubyte");
    const auto labels = spelt(directory, fmt::format("{}-labels", part), "idx1-ubyte");
    if (images.empty() || labels.empty())
      throw Error(ErrorCode::kIo,
                  fmt::format("{} holds no {}-{}", directory.string(), part,
                              images.empty() ? "images-idx3-ubyte" : "labels-idx1-ubyte"),
                  std::string(kFetch));
    return std::pair{images, labels};
  };
  // Found before anything is read, so that a missing file costs no wait.
  const auto train = pair("train");
  const auto test = pair("t10k");
  ImageSplit split{.train = read_idx_pair(train.first, train.second),
                   .test = read_idx_pair(test.first, test.second)};
  if (split.train.height != split.test.height || split.train.width != split.test.width)
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{}: training images have {} x {} pixels, test images {} x {}", directory.string(),
                    split.train.height, split.train.width, split.test.height, split.test.width),
        "put the four files of one set into the directory");
  auto& fewer = split.train.classes < split.test.classes ? split.train : split.test;
  const auto& more = split.train.classes < split.test.classes ? split.test : split.train;
  fewer.classes = more.classes;
  fewer.class_names = more.class_names;
  return split;
}

bool is_idx_name(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with("idx3-ubyte") || name.ends_with("idx3-ubyte.gz");
}

void write_idx_images(const std::filesystem::path& path, const ImageSet& set) {
  const auto sink = open_sink(path);
  sink->write(header_of({set.size(), set.height, set.width}));
  std::string image(static_cast<std::size_t>(set.pixels.cols()), '\0');
  for (Index i = 0; i < set.size(); ++i) {
    for (Index j = 0; j < set.pixels.cols(); ++j)
      image[static_cast<std::size_t>(j)] = static_cast<char>(pixel_byte(set.pixels(i, j)));
    sink->write(image);
  }
  sink->finish();
}

void write_idx_labels(const std::filesystem::path& path, const Symbols& labels) {
  std::string bytes = header_of({static_cast<Index>(labels.size())});
  for (const auto label : labels) {
    if (label < 0 || label > std::numeric_limits<std::uint8_t>::max())
      throw Error(ErrorCode::kBadInput, fmt::format("label {} does not fit into a byte", label),
                  "number the classes 0 to 255");
    bytes.push_back(static_cast<char>(label));
  }
  const auto sink = open_sink(path);
  sink->write(bytes);
  sink->finish();
}

}  // namespace ppan
