#include "ppan/trade_off/dataset.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "ppan/core/error.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DatasetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) / "dataset_test";
    std::filesystem::create_directories(directory_);
    std::string table = "id,age,job,ill\n";
    for (int i = 0; i < 40; ++i)
      table += "p" + std::to_string(i) + "," + std::to_string(20 + i) + (i % 2 ? ",nurse," : ",clerk,") +
               (i % 3 ? "no\n" : "yes\n");
    write_file(directory_ / "people.csv", table);
    write_file(
        directory_ / "job.toml",
        "[data]\nsource = \"people.csv\"\n[roles]\nsensitive = [\"ill\"]\nuseful = [\"age\", \"job\"]\n"
        "keep = [\"id\"]\n[columns]\nid = \"identifier\"\nage = \"integer\"\n"
        "job = \"category\"\nill = \"category\"\n");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::filesystem::path directory_;
};

TEST_F(DatasetTest, HoldsTheTableOfTheJob) {
  const Dataset data = open_dataset(load_job(directory_ / "job.toml"));
  EXPECT_EQ(data.table->rows, 40);
  EXPECT_THAT(data.names, ElementsAre("id", "age", "job", "ill"));
  EXPECT_THAT(data.schema.useful, ElementsAre("age", "job"));
  EXPECT_EQ(data.sha256.size(), 64U);
  EXPECT_NO_THROW((void)data.table->at("id")) << "kept columns are read too";
}

TEST_F(DatasetTest, AColumnThatIsNotThereIsRefused) {
  write_file(directory_ / "people.csv", "id,age,job\np1,3,clerk\n");
  try {
    (void)open_dataset(load_job(directory_ / "job.toml"));
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("ill"));
  }
}

}  // namespace
}  // namespace ppan
