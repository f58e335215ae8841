// Every kept input goes through its target in the ordinary build too.

#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/targets.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

TEST(Replay, EveryKeptInput) {
  for (const fuzz::Target& target : fuzz::kTargets) {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(PPAN_TEST_DATA) /
                                                                 "fuzz/corpus" / target.name)) {
      SCOPED_TRACE(entry.path().string());
      const std::string bytes = read_file(entry.path());
      target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++files;
    }
    EXPECT_GE(files, 10) << target.name;
  }
}

TEST(ReplayDeathTest, BrokenPromisesAreSeen) {
  EXPECT_DEATH(fuzz::require(false, "water is dry"), "broken promise: water is dry");
}

}  // namespace
}  // namespace ppan
