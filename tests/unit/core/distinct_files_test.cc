#include "ppan/core/distinct_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class DistinctFiles : public ::testing::Test {
 protected:
  DistinctFiles() {
    std::string pattern = (fs::temp_directory_path() / "ppan_distinct_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    write_file(directory_ / "in.csv", "x");
  }
  ~DistinctFiles() override { fs::remove_all(directory_); }

  // What require_distinct() says, or nothing.
  static std::string message(const std::vector<fs::path>& in, const std::vector<fs::path>& out) {
    std::vector<NamedPath> inputs;
    std::vector<NamedPath> outputs;
    for (const fs::path& path : in) inputs.push_back({"table", path});
    for (const fs::path& path : out) outputs.push_back({"-o", path});
    try {
      require_distinct(inputs, outputs);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUsage) << error.what();
      return error.what();
    }
    return "";
  }

  fs::path directory_;
};

TEST_F(DistinctFiles, DifferentFilesAreFine) {
  EXPECT_EQ(message({directory_ / "in.csv"}, {directory_ / "a", directory_ / "b"}), "");
  EXPECT_EQ(message({""}, {"", ""}), "");
}

TEST_F(DistinctFiles, SpellingsOfOneFileAreSeenThrough) {
  const fs::path in = directory_ / "in.csv";
  for (const fs::path& same :
       {in, directory_ / "." / "in.csv", directory_ / ".." / directory_.filename() / "in.csv"})
    EXPECT_THAT(message({in}, {same}), HasSubstr("is also an input")) << same;
}

TEST_F(DistinctFiles, FilesThatAreNotThereYetAreComparedByTheirPlace) {
  fs::create_directory_symlink(directory_, directory_ / "here");
  EXPECT_THAT(message({}, {directory_ / "new.csv", directory_ / "here" / "new.csv"}),
              HasSubstr("same place"));
  EXPECT_EQ(message({}, {directory_ / "new.csv", directory_ / "here" / "other.csv"}), "");
}

TEST_F(DistinctFiles, LinksOfBothKindsAreSeenThrough) {
  fs::create_symlink("in.csv", directory_ / "soft");
  fs::create_symlink("soft", directory_ / "softer");
  fs::create_hard_link(directory_ / "in.csv", directory_ / "hard");
  fs::create_symlink("new.csv", directory_ / "dangling");
  for (const char* name : {"soft", "softer", "hard"})
    EXPECT_THAT(message({directory_ / "in.csv"}, {directory_ / name}), HasSubstr("is also an input")) << name;
  EXPECT_THAT(message({}, {directory_ / "dangling", directory_ / "new.csv"}), HasSubstr("same place"));
}

TEST_F(DistinctFiles, StandardOutputIsAPlaceToo) {
  EXPECT_THAT(message({}, {"-", "-"}), HasSubstr("same place"));
  const int before = ::dup(STDOUT_FILENO);
  const int file = ::open((directory_ / "in.csv").c_str(), O_WRONLY);
  ::dup2(file, STDOUT_FILENO);
  const std::string input = message({directory_ / "in.csv"}, {"-"});
  const std::string twice = message({}, {"-", directory_ / "in.csv"});
  ::dup2(before, STDOUT_FILENO);
  EXPECT_THAT(input, HasSubstr("is also an input"));
  EXPECT_THAT(twice, HasSubstr("same place"));
}

TEST_F(DistinctFiles, WhatStoresNothingMayBeUsedTwiceAndAPipeMayNot) {
  EXPECT_EQ(message({"/dev/null"}, {"/dev/null", "/dev/null"}), "");
  ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(message({}, {directory_ / "pipe", directory_ / "pipe"}), HasSubstr("same place"));
}

TEST_F(DistinctFiles, AnOutputThatCannotBeLookedUpIsAnInputOutputError) {
  fs::create_symlink("loop", directory_ / "loop");
  const std::vector<NamedPath> outputs{{"-o", directory_ / "loop"}};
  try {
    require_distinct({}, outputs);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_THAT(error.what(), HasSubstr("loop: Too many levels"));
  }
  // That of an input is for its reader to report.
  EXPECT_EQ(message({directory_ / "loop"}, {directory_ / "a"}), "");
}

}  // namespace
}  // namespace ppan
