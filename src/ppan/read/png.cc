#include "ppan/read/png.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csetjmp>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "ppan/core/cell_text.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/core/temporary.h"
#include "ppan/source/csv.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;

// Largest PNG file: far above any image within the limits, far below what fills a machine.
constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{1} << 28U;
// Most memory that libpng may take for one chunk of metadata.
constexpr png_alloc_size_t kMostChunkBytes = 1U << 20U;
constexpr int kSignatureBytes = 8;
// In png_set_keep_unknown_chunks(): every chunk that libpng can do without when it decodes pixels.
constexpr int kAllButPixels = -1;
// Deflate turns one byte into at most 1,032 (a match of 258 bytes takes two bits at least: RFC 1951, 3.2.5).
constexpr std::size_t kMostInflation = 1032;

[[noreturn]] void bad(std::string_view where, std::string_view what, std::string fix) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", where, what), std::move(fix));
}

// libpng reports errors by longjmp, which skips destructors: so everything that owns memory lives here,
// outside the functions that call setjmp, and those hold nothing with a destructor.
struct PngState {
  png_structp png = nullptr;
  png_infop info = nullptr;
  bool writing = false;
  std::string_view unread{};  // reading
  std::string written{};      // writing
  std::array<char, 128> message{};
  png_uint_32 width = 0;
  png_uint_32 height = 0;
  std::size_t stored_bytes = 0;  // of the pixels before they are compressed
  std::vector<png_byte> samples{};
  std::vector<png_bytep> rows{};

  PngState() = default;
  PngState(const PngState&) = delete;
  PngState& operator=(const PngState&) = delete;
  ~PngState() {
    if (writing) {
      png_destroy_write_struct(&png, &info);
    } else {
      png_destroy_read_struct(&png, &info, nullptr);
    }
  }
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto& state = *static_cast<PngState*>(png_get_error_ptr(png));
  std::strncpy(state.message.data(), message, state.message.size() - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp /*png*/, png_const_charp /*message*/) {}

void on_read(png_structp png, png_bytep to, std::size_t count) {
  auto& state = *static_cast<PngState*>(png_get_io_ptr(png));
  if (count > state.unread.size()) png_error(png, "it ends too early");
  std::memcpy(to, state.unread.data(), count);
  state.unread.remove_prefix(count);
}

void on_write(png_structp png, png_bytep bytes, std::size_t count) {
  auto& state = *static_cast<PngState*>(png_get_io_ptr(png));
  bool stored = true;
  try {
    state.written.append(reinterpret_cast<const char*>(bytes), count);
  } catch (const std::bad_alloc&) {
    stored = false;  // no exception may cross libpng's own frames
  }
  if (!stored) png_error(png, "out of memory");
}

void on_flush(png_structp /*png*/) {}

// Takes the header and asks for 8-bit samples: grey, grey with alpha, RGB or RGBA.
bool decode_header(PngState& state) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  png_set_user_limits(state.png, kMostImageSide, kMostImageSide);
  png_set_chunk_malloc_max(state.png, kMostChunkBytes);
  png_set_chunk_cache_max(state.png, 16);
  png_set_keep_unknown_chunks(state.png, PNG_HANDLE_CHUNK_NEVER, nullptr, kAllButPixels);
  png_set_read_fn(state.png, &state, on_read);
  png_read_info(state.png, state.info);
  state.stored_bytes =
      std::size_t{png_get_image_height(state.png, state.info)} * png_get_rowbytes(state.png, state.info);
  png_set_scale_16(state.png);
  png_set_expand(state.png);  // palettes, fewer than 8 bits, a transparent colour
  png_set_interlace_handling(state.png);
  png_read_update_info(state.png, state.info);
  state.width = png_get_image_width(state.png, state.info);
  state.height = png_get_image_height(state.png, state.info);
  return true;
}

bool decode_samples(PngState& state) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  png_read_image(state.png, state.rows.data());
  png_read_end(state.png, nullptr);
  return true;
}

bool encode_samples(PngState& state) {
  if (setjmp(png_jmpbuf(state.png)) != 0) return false;
  png_set_write_fn(state.png, &state, on_write, on_flush);
  png_set_IHDR(state.png, state.info, state.width, state.height, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(state.png, state.info);
  png_write_image(state.png, state.rows.data());
  png_write_end(state.png, state.info);
  return true;
}

// One pixel of 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA) samples.
std::uint8_t grey_of(const png_byte* sample, int channels) {
  const int colours = channels < 3 ? 1 : 3;
  const int luma = colours == 1 ? 1000 * sample[0] : 299 * sample[0] + 587 * sample[1] + 114 * sample[2];
  if (channels == colours) return static_cast<std::uint8_t>((luma + 500) / 1000);
  const int alpha = sample[colours];
  return static_cast<std::uint8_t>((luma * alpha + 255000 * (255 - alpha) + 127500) / 255000);
}

void add_image(ImageSet& set, std::vector<std::uint8_t>& bytes, const GreyImage& image, const fs::path& path,
               const fs::path& first) {
  if (bytes.empty()) {
    set.height = image.height;
    set.width = image.width;
  } else if (image.height != set.height || image.width != set.width) {
    bad(path.string(),
        fmt::format("has {} x {} pixels (height x width), where {} has {} x {}", image.height, image.width,
                    first.filename().string(), set.height, set.width),
        "bring the images of a directory to one size");
  }
  if (static_cast<Index>(bytes.size() + image.bytes.size()) > kMostImageValues)
    bad(path.parent_path().string(), fmt::format("holds more than {} pixels", kMostImageValues),
        "divide the directory, or scale the images");
  bytes.insert(bytes.end(), image.bytes.begin(), image.bytes.end());
}

// The images of these names, which exist.
ImageSet read_images(const fs::path& directory, std::vector<std::string> files) {
  ImageSet set;
  std::vector<std::uint8_t> bytes;
  for (const auto& file : files)
    add_image(set, bytes, read_png(directory / file), directory / file, directory / files.front());
  using Bytes = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  set.pixels = Eigen::Map<const Bytes>(bytes.data(), static_cast<Index>(files.size()), set.height * set.width)
                   .cast<float>() /
               255.0F;
  set.files = std::move(files);
  return set;
}

// One of many files of a directory that is flushed as a whole.
void write_unflushed(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file)
    throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
}

void flush_file_system_of(const fs::path& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool flushed = descriptor >= 0 && ::syncfs(descriptor) == 0;
  const int error_number = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!flushed)
    throw Error(ErrorCode::kIo,
                fmt::format("cannot write {}: {}", directory.string(), std::strerror(error_number)));
}

bool is_png_name(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending == ".png";
}

std::vector<std::string> png_names(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error))
    throw Error(ErrorCode::kIo, fmt::format("{} is not a directory with images", directory.string()),
                "name the directory that holds the PNG files");
  std::vector<std::string> names;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    if (is_png_name(entry->path())) names.push_back(entry->path().filename().string());
  if (error)
    throw Error(ErrorCode::kIo, fmt::format("cannot read {}: {}", directory.string(), error.message()));
  if (names.empty())
    bad(directory.string(), "holds no PNG files", "name the directory that holds the images themselves");
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<long> whole_number(std::string_view text) {
  long value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::size_t named_column(const CsvReader& reader, const fs::path& table, const std::string& name,
                         std::string_view keys) {
  const auto at = reader.find(name);
  if (!at)
    bad(table.string(),
        fmt::format("has no column '{}'; its columns are {}", name, fmt::join(reader.names(), ", ")),
        fmt::format("name the columns with {}", keys));
  return *at;
}

}  // namespace

GreyImage decode_png(std::string_view bytes, const std::string& name) {
  if (bytes.size() < kSignatureBytes ||
      png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, kSignatureBytes) != 0)
    bad(name, "is not a PNG file", "convert the image to PNG");
  PngState state;
  state.unread = bytes;
  state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
  if (state.png != nullptr) state.info = png_create_info_struct(state.png);
  if (state.info == nullptr) throw Error(ErrorCode::kInternal, "cannot start reading PNG");
  const auto damaged = [&] {
    bad(name, fmt::format("cannot be read as PNG: {}", state.message.data()),
        fmt::format("write the file again; sides may be 1 to {} pixels", kMostImageSide));
  };
  if (!decode_header(state)) damaged();
  // A header of a few bytes can claim an image that fills the memory.
  if (state.stored_bytes > kMostInflation * bytes.size())
    bad(name, fmt::format("is too short for {} x {} pixels", state.height, state.width),
        "write the file again");
  const int channels = png_get_channels(state.png, state.info);
  const std::size_t row_bytes = png_get_rowbytes(state.png, state.info);
  if (channels < 1 || channels > 4 || row_bytes != static_cast<std::size_t>(channels) * state.width)
    throw Error(ErrorCode::kInternal, fmt::format("{}: unexpected layout of samples", name));
  state.samples.resize(row_bytes * state.height);
  state.rows.resize(state.height);
  for (std::size_t i = 0; i < state.rows.size(); ++i) state.rows[i] = state.samples.data() + i * row_bytes;
  if (!decode_samples(state)) damaged();
  GreyImage image{.height = static_cast<Index>(state.height), .width = static_cast<Index>(state.width)};
  image.bytes.resize(static_cast<std::size_t>(state.height) * state.width);
  for (std::size_t i = 0; i < image.bytes.size(); ++i)
    image.bytes[i] = grey_of(state.samples.data() + i * static_cast<std::size_t>(channels), channels);
  return image;
}

std::string encode_png(const GreyImage& image) {
  PngState state;
  state.writing = true;
  state.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
  if (state.png != nullptr) state.info = png_create_info_struct(state.png);
  if (state.info == nullptr) throw Error(ErrorCode::kInternal, "cannot start writing PNG");
  state.width = static_cast<png_uint_32>(image.width);
  state.height = static_cast<png_uint_32>(image.height);
  state.samples.assign(image.bytes.begin(), image.bytes.end());
  state.rows.resize(state.height);
  for (std::size_t i = 0; i < state.rows.size(); ++i) state.rows[i] = state.samples.data() + i * state.width;
  if (!encode_samples(state))
    throw Error(ErrorCode::kInternal, fmt::format("cannot write PNG: {}", state.message.data()));
  return std::move(state.written);
}

GreyImage read_png(const fs::path& path) {
  std::error_code ignored;
  const auto size = fs::file_size(path, ignored);
  if (!ignored && size > kMostFileBytes)
    bad(path.string(), fmt::format("is larger than {} bytes", kMostFileBytes), "scale the image");
  return decode_png(read_file(path), path.string());
}

void write_png(const fs::path& path, const GreyImage& image) {
  write_file(path, encode_png(image));
}

GreyImage grey_image(const ImageSet& set, Index index) {
  GreyImage image{.height = set.height, .width = set.width};
  image.bytes.reserve(static_cast<std::size_t>(set.pixels.cols()));
  for (Index j = 0; j < set.pixels.cols(); ++j) image.bytes.push_back(pixel_byte(set.pixels(index, j)));
  return image;
}

ImageSet read_png_directory(const fs::path& directory) {
  return read_images(directory, png_names(directory));
}

ImageSet read_labelled_png_directory(const fs::path& directory, const fs::path& labels,
                                     const LabelColumns& columns) {
  const auto names = png_names(directory);
  std::set<std::string> unlisted(names.begin(), names.end());
  CsvReader reader = open_csv(labels);
  constexpr std::string_view kKeys = "data.file_column and data.label_column";
  const std::size_t file_column = named_column(reader, labels, columns.file, kKeys);
  const std::size_t label_column = named_column(reader, labels, columns.label, kKeys);
  std::vector<std::string> files;
  std::vector<std::string> label;
  CsvChunk chunk;
  while (reader.next(chunk)) {
    for (std::int64_t row = 0; row < chunk.rows(); ++row) {
      std::string file(chunk.cell(row, file_column));
      const auto where = fmt::format("{}, line {}", labels.string(), chunk.line(row));
      if (unlisted.erase(file) == 0) {
        if (std::binary_search(names.begin(), names.end(), file))
          bad(where, fmt::format("{} is listed a second time", quoted_text(file)),
              "keep one line for each image");
        bad(where, fmt::format("there is no image {} in {}", quoted_text(file), directory.string()),
            "give the name of a PNG file in that directory, without folders, or remove the line");
      }
      const auto text = chunk.cell(row, label_column);
      if (is_missing(text, reader.options().missing))
        bad(where, fmt::format("{} has no label", quoted_text(file)),
            "fill it in, or remove the image and its line");
      files.push_back(std::move(file));
      label.emplace_back(text);
    }
  }
  if (!unlisted.empty())
    bad(labels.string(),
        fmt::format("{} of the {} images in {} have no line, {} among them", unlisted.size(), names.size(),
                    directory.string(), quoted_text(*unlisted.begin())),
        "add a line for each image, or remove the images");
  ImageSet set = read_images(directory, std::move(files));
  ImageTask numbered = task_of_texts({}, label);
  set.labels = std::move(numbered.code);
  set.classes = numbered.classes;
  set.class_names = std::move(numbered.names);
  if (set.classes < 2)
    bad(labels.string(),
        fmt::format("every label is {}, so there is nothing to hide",
                    marked_value(quoted_text(set.class_names[0]), "the same")),
        "name another column with data.label_column");
  return set;
}

std::vector<std::string> read_png_column(const fs::path& table, const LabelColumns& columns,
                                         const std::vector<std::string>& files) {
  CsvReader reader = open_csv(table);
  constexpr std::string_view kKeys = "data.file_column and data.task_column";
  const std::size_t file_column = named_column(reader, table, columns.file, kKeys);
  const std::size_t text_column = named_column(reader, table, columns.label, kKeys);
  std::map<std::string, std::string, std::less<>> cells;
  CsvChunk chunk;
  while (reader.next(chunk)) {
    for (std::int64_t row = 0; row < chunk.rows(); ++row) {
      const auto text = chunk.cell(row, text_column);
      if (!is_missing(text, reader.options().missing))
        cells[std::string(chunk.cell(row, file_column))] = text;
    }
  }
  std::vector<std::string> out;
  for (const std::string& file : files) {
    const auto at = cells.find(file);
    out.push_back(at == cells.end() ? std::string() : at->second);
  }
  return out;
}

ImageTask task_of_texts(std::string name, const std::vector<std::string>& texts) {
  ImageTask out{.name = std::move(name)};
  const std::set<std::string> different(texts.begin(), texts.end());
  out.names.assign(different.begin(), different.end());
  if (std::all_of(different.begin(), different.end(), whole_number))
    std::stable_sort(out.names.begin(), out.names.end(),
                     [](const auto& a, const auto& b) { return *whole_number(a) < *whole_number(b); });
  std::map<std::string_view, std::int32_t> code;
  for (const auto& each : out.names) code.emplace(each, static_cast<std::int32_t>(code.size()));
  out.classes = static_cast<int>(out.names.size());
  for (const auto& text : texts) out.code.push_back(code.at(text));
  return out;
}

void write_png_directory(const fs::path& directory, const ImageSet& set, bool replace) {
  std::error_code error;
  const bool there = fs::exists(directory, error);
  if (there && !replace)
    throw Error(ErrorCode::kUsage, fmt::format("{} exists already", directory.string()),
                "give another name, or --force to replace it");
  if (there) {
    if (!fs::is_directory(directory, error))
      throw Error(ErrorCode::kUsage, fmt::format("{} is not a directory", directory.string()),
                  "give another name");
    for (const auto& entry : fs::directory_iterator(directory))
      if (!is_png_name(entry.path()) || !entry.is_regular_file() || entry.is_symlink())
        throw Error(ErrorCode::kUsage,
                    fmt::format("{} holds {}, which is not an image, and is not replaced", directory.string(),
                                entry.path().filename().string()),
                    "give another name");
  }
  fs::path target = follow_links(directory);
  if (!target.has_filename()) target = target.parent_path();
  const auto fail = [&](int error_number) {
    throw Error(ErrorCode::kIo,
                fmt::format("cannot write {}: {}", directory.string(), std::strerror(error_number)));
  };
  std::optional<Temporary> temporary;
  try {
    temporary.emplace(target.parent_path(), Temporary::Kind::kDirectory, 0777);
  } catch (const std::system_error& fault) {
    fail(fault.code().value());
  }
  for (Index i = 0; i < set.size(); ++i) {
    const auto name =
        set.files.empty() ? fmt::format("{:06}.png", i) : set.files[static_cast<std::size_t>(i)];
    write_unflushed(temporary->path() / name, encode_png(grey_image(set, i)));
  }
  flush_file_system_of(temporary->path());
  if (const int error_number = temporary->replace(target.filename().string())) fail(error_number);
}

}  // namespace ppan
