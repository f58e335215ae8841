#include "ppan/read/idx.h"

#include <gmock/gmock.h>
#include <unistd.h>

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

std::string idx(std::initializer_list<std::uint32_t> sizes, const std::string& body, char type = 8) {
  std::string bytes{'\0', '\0', type, static_cast<char>(sizes.size())};
  for (const auto size : sizes) bytes += four(size);
  return bytes + body;
}

// Two images of 2 rows and 3 columns.
const std::string kTwo = idx({2, 2, 3}, std::string("\x00\x01\x02\x03\x04\x05\xff\xfe\x80\x00\x33\x66", 12));

ImageSet images_of(std::string bytes) {
  return read_idx_images(*memory_source(std::move(bytes), "images"));
}
Symbols labels_of(std::string bytes) {
  return read_idx_labels(*memory_source(std::move(bytes), "labels"));
}

// what() and fix(), as a person would see them.
template <typename Call>
std::string error_of(Call call, ErrorCode code = ErrorCode::kBadInput) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_FALSE(error.fix().empty()) << error.what();
    return std::string(error.what()) + "\n  fix: " + error.fix();
  }
  return "no error";
}
std::string image_error(std::string bytes) {
  return error_of([&] { images_of(std::move(bytes)); });
}
std::string label_error(std::string bytes) {
  return error_of([&] { labels_of(std::move(bytes)); });
}

class IdxFiles : public testing::Test {
 protected:
  IdxFiles() { fs::create_directories(directory_); }
  ~IdxFiles() override { fs::remove_all(directory_); }
  fs::path put(const std::string& name, const std::string& bytes) {
    write_file(directory_ / name, bytes);
    return directory_ / name;
  }
  fs::path directory_ = fs::temp_directory_path() / ("ppan-idx-" + std::to_string(::getpid()));
};

TEST(Idx, ImagesRowByRowWithBytesAsBrightness) {
  const ImageSet set = images_of(kTwo);
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.height, 2);
  EXPECT_EQ(set.width, 3);
  ASSERT_EQ(set.pixels.cols(), 6);
  for (Index j = 0; j < 6; ++j) EXPECT_EQ(set.pixels(0, j), static_cast<float>(j) / 255.0F);
  EXPECT_EQ(set.pixels(1, 0), 1.0F);
  EXPECT_EQ(set.pixels(1, 4), 0.2F);
  EXPECT_TRUE(set.labels.empty());
}

TEST(Idx, BlocksOfManyImagesKeepTheirOrder) {
  std::string body;
  for (int i = 0; i < 200; ++i) body += {static_cast<char>(i), static_cast<char>(255 - i)};
  const ImageSet set = images_of(idx({200, 1, 2}, body));
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(pixel_byte(set.pixels(i, 0)), i);
    EXPECT_EQ(pixel_byte(set.pixels(i, 1)), 255 - i);
  }
}

TEST(Idx, PixelBytesAreTheNearestAndStayInRange) {
  for (int b = 0; b < 256; ++b) EXPECT_EQ(pixel_byte(static_cast<float>(b) / 255.0F), b);
  EXPECT_EQ(pixel_byte(-0.5F), 0);
  EXPECT_EQ(pixel_byte(7.0F), 255);
  EXPECT_EQ(pixel_byte(std::nanf("")), 0);
}

TEST(Idx, Labels) {
  EXPECT_THAT(labels_of(idx({4}, std::string("\x00\x09\xff\x01", 4))), ElementsAre(0, 9, 255, 1));
}

TEST(Idx, FilesThatAreSomethingElse) {
  EXPECT_THAT(image_error(""), HasSubstr("images: is not an IDX file"));
  EXPECT_THAT(image_error(std::string("\0\0\x08", 3)), HasSubstr("is not an IDX file"));
  EXPECT_THAT(image_error("\x89PNG\r\n"), HasSubstr("is not an IDX file"));
  EXPECT_THAT(image_error("\x1f\x8b\x08\x00"), AllOf(HasSubstr("gzip"), HasSubstr("rename it")));
  EXPECT_THAT(image_error(idx({1, 1, 1}, "x", 0x0D)), AllOf(HasSubstr("0x0d"), HasSubstr("unsigned bytes")));
}

TEST(Idx, ImagesAndLabelsExchanged) {
  EXPECT_THAT(image_error(idx({3}, "abc")),
              AllOf(HasSubstr("holds labels (1 dimension), where images are wanted"), HasSubstr("exchange")));
  EXPECT_THAT(label_error(kTwo), AllOf(HasSubstr("holds images (3 dimensions)"), HasSubstr("exchange")));
  EXPECT_THAT(image_error(idx({1, 1, 1, 1}, "x")), HasSubstr("4 dimensions"));
}

TEST(Idx, SizesOfNoughtOrTooLarge) {
  EXPECT_THAT(image_error(idx({0, 2, 2}, "")), HasSubstr("holds no images"));
  EXPECT_THAT(label_error(idx({0}, "")), HasSubstr("holds no labels"));
  EXPECT_THAT(image_error(idx({1, 0, 2}, "")), HasSubstr("0 x 2"));
  EXPECT_THAT(image_error(idx({1, 2, 0}, "")), HasSubstr("2 x 0"));
  EXPECT_THAT(image_error(idx({1, 4097, 1}, "")), HasSubstr("4097 x 1"));
  // The product of these passes every 64-bit integer.
  EXPECT_THAT(image_error(idx({0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "")),
              HasSubstr("4294967295 x 4294967295"));
  EXPECT_THAT(image_error(idx({0xFFFFFFFF, 4096, 4096}, "")), HasSubstr("more than 536870912 pixels"));
  EXPECT_THAT(label_error(idx({0xFFFFFFFF}, "")), HasSubstr("4294967295 labels are more"));
}

TEST(Idx, TruncatedAtEveryByte) {
  for (std::size_t kept = 0; kept < kTwo.size(); ++kept)
    EXPECT_NE(image_error(kTwo.substr(0, kept)), "no error") << kept;
  EXPECT_THAT(image_error(kTwo.substr(0, 10)), HasSubstr("ends within its header"));
  EXPECT_THAT(image_error(kTwo.substr(0, kTwo.size() - 1)),
              AllOf(HasSubstr("holds 11 of the 12 bytes"), HasSubstr("cut short")));
  // Half a gigabyte announced, three bytes there: found by reading them, not by reserving room.
  EXPECT_THAT(image_error(idx({32, 4096, 4096}, "abc")), HasSubstr("holds 3 of the 536870912 bytes"));
}

TEST(Idx, BytesLeftOver) {
  EXPECT_THAT(image_error(kTwo + "x"), HasSubstr("continues after the 12 bytes"));
  EXPECT_THAT(label_error(idx({1}, "xy")), HasSubstr("continues after the 1 bytes"));
}

TEST_F(IdxFiles, PairHasClassesUpToTheLargestLabel) {
  const auto set = read_idx_pair(put("i", kTwo), put("l", idx({2}, std::string("\x03\x00", 2))));
  EXPECT_THAT(set.labels, ElementsAre(3, 0));
  EXPECT_EQ(set.classes, 4);
  EXPECT_THAT(set.class_names, ElementsAre("0", "1", "2", "3"));
}

TEST_F(IdxFiles, CountsThatDisagree) {
  const auto images = put("i", kTwo);
  const auto labels = put("l", idx({3}, "abc"));
  EXPECT_THAT(error_of([&] { read_idx_pair(images, labels); }), HasSubstr("holds 2 images, but"));
}

TEST_F(IdxFiles, WhatIsWrittenIsReadBack) {
  ImageSet set = images_of(kTwo);
  for (const char* name : {"a-idx3-ubyte", "a-idx3-ubyte.gz"}) {
    write_idx_images(directory_ / name, set);
    const ImageSet back = read_idx_images(directory_ / name);
    EXPECT_EQ(back.pixels, set.pixels) << name;
    EXPECT_EQ(back.height, 2);
  }
  EXPECT_EQ(read_file(directory_ / "a-idx3-ubyte"), kTwo);
  EXPECT_EQ(read_file(directory_ / "a-idx3-ubyte.gz").substr(0, 2), "\x1f\x8b");
  write_idx_labels(directory_ / "l", {7, 0, 255});
  EXPECT_THAT(read_idx_labels(directory_ / "l"), ElementsAre(7, 0, 255));
  EXPECT_THAT(error_of([&] { write_idx_labels(directory_ / "m", {256}); }), HasSubstr("label 256"));
  EXPECT_FALSE(fs::exists(directory_ / "m"));
}

TEST_F(IdxFiles, CompressedInSeveralPieces) {
  ImageSet set{.height = 100, .width = 100};
  set.pixels.resize(400, 10000);
  for (Index i = 0; i < set.size(); ++i)
    for (Index j = 0; j < 10000; ++j) set.pixels(i, j) = static_cast<float>((i * 31 + j * 17) % 256) / 255.0F;
  write_idx_images(directory_ / "b-idx3-ubyte.gz", set);
  EXPECT_EQ(read_idx_images(directory_ / "b-idx3-ubyte.gz").pixels, set.pixels);
}

TEST_F(IdxFiles, DamagedGzip) {
  write_idx_images(directory_ / "a-idx3-ubyte.gz", images_of(kTwo));
  const std::string whole = read_file(directory_ / "a-idx3-ubyte.gz");
  const auto cut = put("cut.gz", whole.substr(0, whole.size() - 9));
  EXPECT_THAT(error_of([&] { read_idx_images(cut); }), HasSubstr("damaged gzip file"));
}

TEST(Idx, Names) {
  EXPECT_TRUE(is_idx_name("d/train-images-idx3-ubyte"));
  EXPECT_TRUE(is_idx_name("out.idx3-ubyte.gz"));
  EXPECT_FALSE(is_idx_name("train-labels-idx1-ubyte"));
  EXPECT_FALSE(is_idx_name("idx3-ubyte/images"));
}

TEST_F(IdxFiles, MnistDirectoryInEitherSpelling) {
  put("train-images.idx3-ubyte", kTwo);
  put("train-labels-idx1-ubyte", idx({2}, std::string("\x01\x00", 2)));
  write_idx_images(directory_ / "t10k-images-idx3-ubyte.gz", images_of(kTwo));
  write_idx_labels(directory_ / "t10k-labels.idx1-ubyte.gz", {4, 2});
  const auto split = read_mnist_directory(directory_);
  EXPECT_EQ(split.train.size(), 2);
  EXPECT_THAT(split.test.labels, ElementsAre(4, 2));
  EXPECT_EQ(split.train.classes, 5);
  EXPECT_EQ(split.train.class_names, split.test.class_names);
}

TEST_F(IdxFiles, MnistDirectoryThatLacksSomething) {
  EXPECT_THAT(error_of([&] { read_mnist_directory(directory_ / "nowhere"); }, ErrorCode::kIo),
              AllOf(HasSubstr("is not a directory"), HasSubstr("script/fetch-mnist")));
  put("train-images-idx3-ubyte", kTwo);
  EXPECT_THAT(error_of([&] { read_mnist_directory(directory_); }, ErrorCode::kIo),
              AllOf(HasSubstr("holds no train-labels-idx1-ubyte"), HasSubstr("script/fetch-mnist")));
  put("train-labels-idx1-ubyte", idx({2}, "\x01\x01"));
  put("t10k-images-idx3-ubyte", idx({1, 1, 1}, "x"));
  put("t10k-labels-idx1-ubyte", idx({1}, "\x01"));
  EXPECT_THAT(error_of([&] { read_mnist_directory(directory_); }),
              HasSubstr("2 x 3 pixels, test images 1 x 1"));
}

}  // namespace
}  // namespace ppan
