// Every kept input goes through its target in the ordinary build too.

#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/targets.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

using Target = void (*)(const std::uint8_t*, std::size_t);

void replay(const char* corpus, Target target) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PPAN_TEST_DATA) / "fuzz/corpus" / corpus)) {
    SCOPED_TRACE(entry.path().filename().string());
    const std::string bytes = read_file(entry.path());
    target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++files;
  }
  EXPECT_GE(files, 10);
}

TEST(Replay, Csv) {
  replay("csv", fuzz::csv);
}
TEST(Replay, Job) {
  replay("job", fuzz::job);
}
TEST(Replay, Model) {
  replay("model", fuzz::model);
}

TEST(ReplayDeathTest, BrokenPromisesAreSeen) {
  EXPECT_DEATH(fuzz::require(false, "water is dry"), "broken promise: water is dry");
}

}  // namespace
}  // namespace ppan
