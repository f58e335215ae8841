#include "ppan/read/png.h"

#include <gmock/gmock.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <string>

#include "ppan/core/error.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string four(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

std::string chunk(const std::string& type, const std::string& body) {
  const std::string sealed = type + body;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(sealed.data()), static_cast<uInt>(sealed.size()));
  return four(static_cast<std::uint32_t>(body.size())) + sealed + four(static_cast<std::uint32_t>(sum));
}

std::string packed(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
           static_cast<uLong>(bytes.size()));
  out.resize(size);
  return out;
}

constexpr int kGrey = 0;
constexpr int kColour = 2;
constexpr int kPalette = 3;
constexpr int kGreyAlpha = 4;
constexpr int kColourAlpha = 6;

std::string header(std::uint32_t width, std::uint32_t height, int depth, int type, int interlace = 0) {
  return std::string("\x89PNG\r\n\x1a\n", 8) +
         chunk("IHDR", four(width) + four(height) +
                           std::string{static_cast<char>(depth), static_cast<char>(type), 0, 0,
                                       static_cast<char>(interlace)});
}

// A file of one row; `row` holds its samples.
std::string one_row(std::uint32_t width, int depth, int type, const std::string& row,
                    const std::string& extra = {}) {
  return header(width, 1, depth, type) + extra + chunk("IDAT", packed(std::string(1, '\0') + row)) +
         chunk("IEND", "");
}

std::vector<std::uint8_t> grey(const std::string& png) {
  return decode_png(png, "p.png").bytes;
}

template <typename Call>
std::string error_of(Call call, ErrorCode code = ErrorCode::kBadInput) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_FALSE(error.fix().empty()) << error.what();
    return error.what_with_values() + "\n  fix: " + error.fix_with_values();
  }
  return "no error";
}
std::string png_error(const std::string& bytes) {
  return error_of([&] { decode_png(bytes, "p.png"); });
}

TEST(Png, GreyOfEveryDepth) {
  EXPECT_THAT(grey(one_row(3, 8, kGrey, std::string("\x00\x7f\xff", 3))), ElementsAre(0, 127, 255));
  EXPECT_THAT(grey(one_row(4, 1, kGrey, "\xA0")), ElementsAre(255, 0, 255, 0));
  EXPECT_THAT(grey(one_row(4, 2, kGrey, "\x1B")), ElementsAre(0, 85, 170, 255));
  EXPECT_THAT(grey(one_row(2, 4, kGrey, "\x5F")), ElementsAre(85, 255));
  EXPECT_THAT(grey(one_row(3, 16, kGrey, std::string("\x00\x00\x80\x00\xff\xff", 6))),
              ElementsAre(0, 128, 255));
}

TEST(Png, ColourBecomesItsLuma) {
  // 299, 587 and 114 thousandths of 255; white stays white.
  EXPECT_THAT(grey(one_row(4, 8, kColour, std::string("\xff\0\0\0\xff\0\0\0\xff\xff\xff\xff", 12))),
              ElementsAre(76, 150, 29, 255));
  EXPECT_THAT(grey(one_row(1, 16, kColour, std::string("\xff\xff\0\0\0\0", 6))), ElementsAre(76));
  EXPECT_THAT(grey(one_row(2, 8, kPalette, std::string("\x01\x00", 2),
                           chunk("PLTE", std::string("\xff\xff\xff\x00\x00\xff", 6)))),
              ElementsAre(29, 255));
}

TEST(Png, TransparencyLiesOverWhite) {
  EXPECT_THAT(grey(one_row(3, 8, kGreyAlpha, std::string("\x00\xff\x00\x00\x64\x80", 6))),
              ElementsAre(0, 255, 177));
  EXPECT_THAT(grey(one_row(2, 8, kColourAlpha, std::string("\xff\0\0\xff\xff\0\0\0", 8))),
              ElementsAre(76, 255));
  // The palette's second colour is transparent.
  EXPECT_THAT(grey(one_row(2, 8, kPalette, std::string("\x00\x01", 2),
                           chunk("PLTE", std::string("\x0a\x0a\x0a\x0a\x0a\x0a", 6)) +
                               chunk("tRNS", std::string("\xff\x00", 2)))),
              ElementsAre(10, 255));
}

TEST(Png, Interlaced) {
  // Adam7 of 2 x 2: pass 1 holds the top left, pass 6 the top right, pass 7 the row below.
  const std::string passes =
      std::string("\0\x01", 2) + std::string("\0\x02", 2) + std::string("\0\x03\x04", 3);
  const std::string png = header(2, 2, 8, kGrey, 1) + chunk("IDAT", packed(passes)) + chunk("IEND", "");
  EXPECT_THAT(grey(png), ElementsAre(1, 2, 3, 4));
}

TEST(Png, WhatIsWrittenIsReadBack) {
  GreyImage image{.height = 3, .width = 5};
  for (int i = 0; i < 15; ++i) image.bytes.push_back(static_cast<std::uint8_t>(i * 17));
  const GreyImage back = decode_png(encode_png(image), "p.png");
  EXPECT_EQ(back.bytes, image.bytes);
  EXPECT_EQ(back.height, 3);
  EXPECT_EQ(back.width, 5);
}

TEST(Png, FilesThatAreSomethingElse) {
  EXPECT_THAT(png_error(""), HasSubstr("p.png: is not a PNG file"));
  EXPECT_THAT(png_error("GIF89a and more"), HasSubstr("is not a PNG file"));
}

TEST(Png, TruncatedAtEveryByte) {
  GreyImage image{.height = 4, .width = 4, .bytes = std::vector<std::uint8_t>(16, 9)};
  const std::string whole = encode_png(image);
  for (std::size_t kept = 0; kept < whole.size(); ++kept)
    EXPECT_NE(png_error(whole.substr(0, kept)), "no error") << kept;
  EXPECT_THAT(png_error(whole.substr(0, 40)), HasSubstr("ends too early"));
}

TEST(Png, EveryAlteredByteOfTheDataIsNoticed) {
  GreyImage image{.height = 4, .width = 4, .bytes = std::vector<std::uint8_t>(16, 9)};
  const std::string whole = encode_png(image);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ 0x15);
    EXPECT_NE(png_error(altered), "no error") << at;
  }
}

TEST(Png, SidesBeyondTheLimitTakeNoMemory) {
  EXPECT_THAT(png_error(header(4097, 1, 8, kGrey) + chunk("IEND", "")), HasSubstr("1 to 4096"));
  EXPECT_THAT(png_error(header(0x7FFFFFFF, 0x7FFFFFFF, 16, kColourAlpha) + chunk("IEND", "")),
              HasSubstr("1 to 4096"));
  EXPECT_NE(png_error(header(0, 1, 8, kGrey) + chunk("IEND", "")), "no error");
}

TEST(Png, PixelsThatCannotBeInTheFileTakeNoMemory) {
  // 64 MiB of samples by the header, in a file of less than a hundred bytes.
  const std::string claimed = header(4096, 4096, 8, kColourAlpha) + chunk("IDAT", packed(std::string(99, 0)));
  EXPECT_THAT(png_error(claimed + chunk("IEND", "")), HasSubstr("too short for 4096 x 4096 pixels"));
}

TEST(Png, PixelsThatPackBestAreRead) {
  const std::uint32_t side = 2048;
  const std::string rows((side + 1) * std::size_t{side}, '\0');
  const std::string png = header(side, side, 8, kGrey) + chunk("IDAT", packed(rows)) + chunk("IEND", "");
  EXPECT_EQ(grey(png), std::vector<std::uint8_t>(std::size_t{side} * side, 0));
}

TEST(Png, HeadersThatContradictThemselves) {
  EXPECT_NE(png_error(header(1, 1, 3, kGrey) + chunk("IEND", "")), "no error");  // no such depth
  EXPECT_NE(png_error(header(1, 1, 8, 5) + chunk("IEND", "")), "no error");      // no such colours
  EXPECT_NE(png_error(one_row(1, 8, kPalette, "\x01")), "no error");             // palette missing
  EXPECT_NE(png_error(header(1, 1, 8, kGrey) + chunk("IEND", "")), "no error");  // no pixels
  EXPECT_NE(
      png_error(header(2, 2, 8, kGrey) + chunk("IDAT", packed(std::string("\0\1\2", 3))) + chunk("IEND", "")),
      "no error");  // one row of two
}

TEST(Png, MetadataThatUnpacksToMuchIsNoDanger) {
  // 64 MiB of text in a few kilobytes: skipped, not unpacked.
  const std::string bomb = chunk("zTXt", std::string("k\0\0", 3) + packed(std::string(64U << 20U, 'a')));
  EXPECT_THAT(grey(one_row(1, 8, kGrey, "\x07", bomb)), ElementsAre(7));
}

class PngFiles : public testing::Test {
 protected:
  PngFiles() { fs::create_directories(images_); }
  ~PngFiles() override { fs::remove_all(directory_); }
  void image(const std::string& name, std::uint8_t value, Index side = 2) {
    GreyImage image{.height = side, .width = side};
    image.bytes.assign(static_cast<std::size_t>(side * side), value);
    write_png(images_ / name, image);
  }
  ImageSet labelled(const std::string& csv, const LabelColumns& columns = {}) {
    write_file(directory_ / "labels.csv", csv);
    return read_labelled_png_directory(images_, directory_ / "labels.csv", columns);
  }
  std::string labelled_error(const std::string& csv) {
    return error_of([&] { labelled(csv); });
  }
  fs::path directory_ = fs::temp_directory_path() / ("ppan-png-" + std::to_string(::getpid()));
  fs::path images_ = directory_ / "images";
};

TEST_F(PngFiles, DirectoryInOrderOfNames) {
  image("b.png", 2);
  image("a.PNG", 1);
  write_file(images_ / "notes.txt", "x");
  const ImageSet set = read_png_directory(images_);
  EXPECT_THAT(set.files, ElementsAre("a.PNG", "b.png"));
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.pixels(1, 3), 2.0F / 255.0F);
}

TEST_F(PngFiles, LabelsInOrderOfTheTable) {
  image("a.png", 1);
  image("b.png", 2);
  image("c.png", 3);
  const ImageSet set = labelled("label,file\n10,c.png\n9,a.png\n10,b.png\n");
  EXPECT_THAT(set.files, ElementsAre("c.png", "a.png", "b.png"));
  EXPECT_THAT(set.class_names, ElementsAre("9", "10"));
  EXPECT_THAT(set.labels, ElementsAre(1, 0, 1));
  EXPECT_EQ(set.classes, 2);
  const ImageSet other =
      labelled("who,name\nzoe,a.png\nann,b.png\nann,c.png\n", {.file = "name", .label = "who"});
  EXPECT_THAT(other.class_names, ElementsAre("ann", "zoe"));
}

TEST_F(PngFiles, DirectoriesThatDoNotServe) {
  EXPECT_THAT(error_of([&] { read_png_directory(directory_ / "nowhere"); }, ErrorCode::kIo),
              HasSubstr("not a directory"));
  EXPECT_THAT(error_of([&] { read_png_directory(images_); }), HasSubstr("holds no PNG files"));
  image("a.png", 1);
  image("b.png", 1, 3);
  EXPECT_THAT(error_of([&] { read_png_directory(images_); }),
              AllOf(HasSubstr("b.png: has 3 x 3 pixels"), HasSubstr("where a.png has 2 x 2")));
  write_file(images_ / "b.png", "text");
  EXPECT_THAT(error_of([&] { read_png_directory(images_); }), HasSubstr("b.png: is not a PNG file"));
}

TEST_F(PngFiles, LabelsThatDoNotFit) {
  image("a.png", 1);
  image("b.png", 2);
  EXPECT_THAT(labelled_error("file,label\na.png,x\n"), HasSubstr("1 of the 2 images"));
  EXPECT_THAT(labelled_error("file,label\na.png,x\nb.png,y\nc.png,y\n"),
              AllOf(HasSubstr("line 4"), HasSubstr("no image \"c.png\"")));
  EXPECT_THAT(labelled_error("file,label\na.png,x\na.png,y\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("second time")));
  EXPECT_THAT(labelled_error("file,label\na.png,x\nb.png,\n"), HasSubstr("has no label"));
  EXPECT_THAT(labelled_error("file,label\na.png,x\nb.png,x\n"), HasSubstr("every label is \"x\""));
  EXPECT_THAT(
      labelled_error("name,label\na.png,x\nb.png,y\n"),
      AllOf(HasSubstr("no column 'file'; its columns are name, label"), HasSubstr("data.file_column")));
  EXPECT_THAT(labelled_error("file,label\n../images/a.png,x\nb.png,y\n"), HasSubstr("without folders"));
}

TEST_F(PngFiles, AnotherColumnForTheSameImages) {
  const fs::path table = directory_ / "tasks.csv";
  write_file(table, "file,smile\nc.png,yes\na.png,no\nb.png,\n");
  const std::vector<std::string> files{"a.png", "b.png", "c.png", "d.png"};
  EXPECT_THAT(read_png_column(table, {.label = "smile"}, files), ElementsAre("no", "", "yes", ""));
  EXPECT_THAT(error_of([&] { read_png_column(table, {.label = "frown"}, files); }),
              HasSubstr("has no column 'frown'; its columns are file, smile"));
  const ImageTask task = task_of_texts("age", {"10", "9", "10"});
  EXPECT_EQ(task.name, "age");
  EXPECT_THAT(task.names, ElementsAre("9", "10"));
  EXPECT_THAT(task.code, ElementsAre(1, 0, 1));
  EXPECT_FALSE(task.empty());
}

TEST_F(PngFiles, DirectoryWrittenWholeOrNotAtAll) {
  image("a.png", 1);
  image("b.png", 2);
  const ImageSet set = read_png_directory(images_);
  const auto out = directory_ / "out";
  write_png_directory(out, set);
  EXPECT_EQ(read_png_directory(out).pixels, set.pixels);
  EXPECT_THAT(read_png_directory(out).files, ElementsAre("a.png", "b.png"));

  ImageSet nameless = set;
  nameless.files.clear();
  nameless.pixels *= 2;
  EXPECT_THAT(error_of([&] { write_png_directory(out, nameless); }, ErrorCode::kUsage),
              HasSubstr("exists already"));
  EXPECT_EQ(read_png_directory(out).pixels, set.pixels);
  write_png_directory(out, nameless, true);
  EXPECT_THAT(read_png_directory(out).files, ElementsAre("000000.png", "000001.png"));

  write_file(out / "notes.txt", "mine");
  EXPECT_THAT(error_of([&] { write_png_directory(out, set, true); }, ErrorCode::kUsage),
              HasSubstr("holds notes.txt"));
  EXPECT_EQ(read_file(out / "notes.txt"), "mine");

  ImageSet broken = set;
  broken.files[1] = "no/such/folder.png";
  EXPECT_THROW(write_png_directory(directory_ / "half", broken), Error);
  EXPECT_FALSE(fs::exists(directory_ / "half"));
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(directory_))
    left.push_back(entry.path().filename().string());
  EXPECT_THAT(left, testing::UnorderedElementsAre("images", "out"));
}

}  // namespace
}  // namespace ppan
