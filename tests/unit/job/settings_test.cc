#include "ppan/job/settings.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <string>

#include "ppan/core/file.h"

namespace ppan {
namespace {

using testing::HasSubstr;

TEST(Settings, EachHasAnOwnKeyAndAHelpText) {
  std::set<std::string> keys;
  for (const Setting& s : settings()) {
    EXPECT_TRUE(keys.insert(s.key).second) << s.key;
    EXPECT_FALSE(s.help.empty()) << s.key;
    EXPECT_TRUE(!s.help.ends_with('.') || s.help.ends_with("...")) << s.key;
  }
}

// Writing a default and reading it back must change nothing, for every setting there is.
TEST(Settings, DefaultsAreAllowedValues) {
  for (const Setting& s : settings()) {
    JobFile job;
    EXPECT_NO_THROW(set_job_value(job, s.key, s.show(JobFile{}))) << s.key;
    EXPECT_EQ(s.show(job), s.show(JobFile{})) << s.key;
  }
}

TEST(Settings, DocumentationIsUpToDate) {
  const std::string page = read_file(std::filesystem::path(PPAN_TEST_DATA) / ".." / "docs" / "formats.md");
  EXPECT_THAT(page, HasSubstr(settings_documentation())) << "replace the tables of docs/formats.md by\n"
                                                         << settings_documentation();
}

// A key that stands for members of several options has one default: theirs are the same.
TEST(Settings, DefaultsAreTheSameForEveryFamily) {
  for (const Setting& s : settings()) {
    if (s.key == "mechanism.family") continue;
    for (const MechanismFamily family : {MechanismFamily::kFinite, MechanismFamily::kNoisyCode,
                                         MechanismFamily::kCodebook, MechanismFamily::kHeads}) {
      JobFile job;
      job.table.curve.training.family = family;
      EXPECT_EQ(s.show(job), s.show({})) << s.key;
    }
  }
}

// Every setting belongs to some job, and to none twice.
TEST(Settings, EachBelongsToSomePart) {
  for (const Setting& s : settings()) {
    EXPECT_FALSE(s.parts.empty()) << s.key;
    EXPECT_EQ(std::set(s.parts.begin(), s.parts.end()).size(), s.parts.size()) << s.key;
    EXPECT_EQ(find_setting(s.key), &s);
  }
  EXPECT_EQ(find_setting("train.epoch"), nullptr);
}

}  // namespace
}  // namespace ppan
