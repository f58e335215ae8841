#include "ppan/core/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ppan/core/error.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    std::string pattern = (fs::temp_directory_path() / "ppan_file_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override { fs::remove_all(directory_); }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_)) found.push_back(entry.path().filename());
    return found;
  }

  fs::path directory_;
};

std::optional<Error> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

TEST_F(FileTest, GivesBackEveryByte) {
  std::string bytes;
  for (int i = 0; i < 100000; ++i) bytes.push_back(static_cast<char>(i % 256));
  write_file(directory_ / "a", bytes);
  EXPECT_EQ(read_file(directory_ / "a"), bytes);
}

TEST_F(FileTest, AnEmptyFileIsAFile) {
  write_file(directory_ / "a", "");
  EXPECT_EQ(read_file(directory_ / "a"), "");
}

TEST_F(FileTest, ReplacesAndLeavesNothingElse) {
  write_file(directory_ / "a", "a long first version");
  write_file(directory_ / "a", "second");
  EXPECT_EQ(read_file(directory_ / "a"), "second");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(FileTest, MissingFileIsAnInputOutputErrorThatNamesIt) {
  const auto error = error_of([&] { (void)read_file(directory_ / "absent"); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kIo);
  EXPECT_THAT(error->what(), HasSubstr((directory_ / "absent").string()));
  EXPECT_THAT(error->what(), HasSubstr("No such file"));
}

TEST_F(FileTest, ADirectoryCannotBeReadAsAFile) {
  const auto error = error_of([&] { (void)read_file(directory_); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kIo);
  EXPECT_THAT(error->what(), HasSubstr("directory"));
}

TEST_F(FileTest, DoesNotReplaceWhatIsNoFile) {
  const auto pipe = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string heard;
  std::thread reader([&] { heard = read_file(pipe); });
  write_file(pipe, "through the pipe");
  reader.join();
  EXPECT_EQ(heard, "through the pipe");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_THAT(names(), ElementsAre("pipe"));
}

TEST_F(FileTest, WritingIntoAMissingDirectoryFails) {
  const auto error = error_of([&] { write_file(directory_ / "absent" / "a", "x"); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kIo);
}

TEST_F(FileTest, ATargetThatIsADirectoryIsKeptAndNothingIsLeftBehind) {
  fs::create_directories(directory_ / "a" / "inside");
  const auto error = error_of([&] { write_file(directory_ / "a", "x"); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kIo);
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_TRUE(fs::is_directory(directory_ / "a" / "inside"));
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777U;
}

TEST_F(FileTest, ModesOfNewAndOfReplacedFiles) {
  const mode_t before = ::umask(022);
  write_file(directory_ / "shared", "x");
  write_file(directory_ / "private", "x", Access::kPrivate);
  EXPECT_EQ(mode_of(directory_ / "shared"), 0644U);
  EXPECT_EQ(mode_of(directory_ / "private"), 0600U);
  for (const mode_t mode : {0600U, 0640U, 0666U}) {
    ASSERT_EQ(::chmod((directory_ / "shared").c_str(), mode), 0);
    write_file(directory_ / "shared", "y");
    EXPECT_EQ(mode_of(directory_ / "shared"), mode);
  }
  ASSERT_EQ(::chmod((directory_ / "private").c_str(), 0644), 0);
  write_file(directory_ / "private", "y", Access::kPrivate);
  EXPECT_EQ(mode_of(directory_ / "private"), 0644U);
  ASSERT_EQ(::chmod((directory_ / "private").c_str(), 04755), 0);
  write_file(directory_ / "private", "z");
  EXPECT_EQ(mode_of(directory_ / "private"), 0755U);
  ::umask(before);
}

TEST_F(FileTest, WritesThroughALinkUnlessItIsToBeReplaced) {
  fs::create_directory(directory_ / "sub");
  fs::create_symlink("sub/target", directory_ / "link");
  write_file(directory_ / "link", "one");  // to what is not there yet
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(read_file(directory_ / "sub" / "target"), "one");
  write_file(directory_ / "link", "two");
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(read_file(directory_ / "sub" / "target"), "two");
  write_file(directory_ / "link", "three", Access::kShared, Links::kReplace);
  EXPECT_FALSE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(read_file(directory_ / "sub" / "target"), "two");
  EXPECT_EQ(read_file(directory_ / "link"), "three");
}

TEST_F(FileTest, ALongNameNeedsNoShorterOne) {
  const std::string name(255, 'x');
  write_file(directory_ / name, "x");
  EXPECT_THAT(names(), ElementsAre(name));
  const auto error = error_of([&] { write_file(directory_ / (name + "x"), "x"); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kIo);
  EXPECT_THAT(error->what(), HasSubstr("File name too long"));
}

TEST_F(FileTest, WithoutFinishNothingIsLeft) {
  write_file(directory_ / "a", "old");
  {
    OutputFile file(directory_ / "a");
    file.write("half");
  }
  EXPECT_EQ(read_file(directory_ / "a"), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(FileTest, OnlyRegularFilesAreReadFromAStrangersDirectory) {
  write_file(directory_ / "file", "x");
  fs::create_symlink("file", directory_ / "link");
  ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);  // nobody writes: must not wait
  EXPECT_EQ(read_regular_file(directory_ / "file"), "x");
  EXPECT_EQ(read_regular_file(directory_ / "file", 0), std::nullopt);
  for (const char* name : {"link", "pipe", "absent", "."})
    EXPECT_EQ(read_regular_file(directory_ / name), std::nullopt) << name;
}

TEST_F(FileTest, ReadsNoMoreThanAllowed) {
  EXPECT_EQ(error_of([] { (void)read_file("/dev/zero", 1000); })->code(), ErrorCode::kIo);
}

// A write that runs out of room half way, as on a full disk: the child process may write no file larger than
// 4 kB. Exit 0: an Error(kIo) was thrown; 1: it was not.
TEST_F(FileTest, OutOfRoomKeepsTheOldContentsAndLeavesNothingBehind) {
  write_file(directory_ / "a", "old contents");
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto error = error_of([&] { write_file(directory_ / "a", std::string(100000, 'x')); });
    ::_exit(error && error->code() == ErrorCode::kIo ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(directory_ / "a"), "old contents");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(FileTest, OutputDirectoryIsMadeWithItsParents) {
  make_output_directory(directory_ / "x" / "y", false);
  EXPECT_TRUE(fs::is_directory(directory_ / "x" / "y"));
}

TEST_F(FileTest, AnEmptyOutputDirectoryIsTaken) {
  make_output_directory(directory_, false);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(FileTest, AnOutputDirectoryWithFilesIsRefusedUnlessForced) {
  write_file(directory_ / "a", "precious");
  const auto error = error_of([&] { make_output_directory(directory_, false); });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code(), ErrorCode::kUsage);
  EXPECT_THAT(error->what(), HasSubstr("not empty"));
  EXPECT_THAT(error->fix(), HasSubstr("--force"));
  make_output_directory(directory_, true);
  EXPECT_EQ(read_file(directory_ / "a"), "precious");
}

TEST_F(FileTest, AFileInTheWayOfTheOutputDirectoryIsRefusedEvenWithForce) {
  write_file(directory_ / "a", "precious");
  for (const bool force : {false, true}) {
    const auto error = error_of([&] { make_output_directory(directory_ / "a", force); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::kUsage);
  }
  const auto below = error_of([&] { make_output_directory(directory_ / "a" / "b", false); });
  ASSERT_TRUE(below.has_value());
  EXPECT_EQ(below->code(), ErrorCode::kIo);
  EXPECT_EQ(read_file(directory_ / "a"), "precious");
}

}  // namespace
}  // namespace ppan
