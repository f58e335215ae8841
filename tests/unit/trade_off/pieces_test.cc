// A curve in pieces, through the facade: the same as one made at once, whoever made which piece.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ppan/core/archive.h"
#include "ppan/core/random.h"
#include "ppan/ppan.h"

namespace ppan {
namespace {

using ::testing::HasSubstr;

class PiecesTest : public testing::Test {
 protected:
  PiecesTest() : directory_(std::filesystem::path(testing::TempDir()) / "ppan_pieces") {
    std::filesystem::create_directories(directory_);
    std::ofstream csv(directory_ / "people.csv");
    csv << "ill,age,job\n";
    SeededRandom random(3);
    for (int i = 0; i < 300; ++i) {
      const bool ill = random.uniform() < 0.4;
      csv << (ill ? "yes" : "no") << ',' << static_cast<int>(40 + (ill ? 10 : 0) + 12 * random.uniform())
          << ',' << (random.uniform() < (ill ? 0.7 : 0.3) ? "clerk" : "nurse") << '\n';
    }
    csv.close();
    job_ = parse_job(
        "[data]\nsource = \"people.csv\"\n[roles]\nsensitive = [\"ill\"]\nuseful = [\"age\", \"job\"]\n"
        "[columns]\nill = \"category\"\nage = \"integer\"\njob = \"category\"\n"
        "[privacy]\npoints = 2\n[train]\nepochs = 1\n[audit]\nquick = true\n",
        "job.toml");
    job_.directory = directory_;
    data_ = open_dataset(job_);
  }
  ~PiecesTest() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_;
  Job job_;
  Dataset data_;
};

std::string rows_of(const Curve& curve) {
  Curve timeless = curve;
  for (TablePoint& point : timeless.result.points) point.seconds = 0;
  return to_csv(curve_of(timeless.result));
}

TEST_F(PiecesTest, GiveTheCurveOfOneRunWhateverTheOrderAndTheProcess) {
  const Curve whole = trade_off(job_, data_);
  const std::string sent = to_bytes(prepare(job_, data_));
  // Another process, which has the job and the data.
  const Start start = start_from_bytes(sent, job_, data_);
  ASSERT_EQ(start.points(), 2);
  std::vector<PointResult> points;
  for (const int number : {2, 1})
    points.push_back(point_from_bytes(to_bytes(train_point(start, number).value()), start));
  const Curve curve = finish(start, points);
  EXPECT_FALSE(curve.result.interrupted);
  EXPECT_EQ(rows_of(curve), rows_of(whole));
  EXPECT_EQ(to_bytes(train_point(start, 1).value()).size(), to_bytes(points[1]).size());

  const Curve part = finish(start, std::span(points).first(1));
  EXPECT_TRUE(part.result.interrupted);
  EXPECT_EQ(part.result.points.size(), 1U);
  EXPECT_EQ(part.result.points.front().number, 2);
}

TEST_F(PiecesTest, OfAnotherJobAreRefused) {
  const Start start = prepare(job_, data_);
  Job other = job_;
  other.table.curve.seed = 9;
  EXPECT_THROW(start_from_bytes(to_bytes(start), other, data_), Error);
  EXPECT_THROW(train_point(start, 3), Error);
  PointResult foreign = train_point(start, 1).value();
  foreign.fingerprint = fingerprint(other, data_);
  EXPECT_THROW(finish(start, std::span(&foreign, 1)), Error);
  Job threads = job_;
  threads.table.curve.threads = 1;
  EXPECT_EQ(fingerprint(threads, data_), fingerprint(job_, data_));
  Job options = job_;  // what no key of a job file stands for counts as well
  options.table.curve.leakage.training_releases = 2;
  EXPECT_NE(fingerprint(options, data_), fingerprint(job_, data_));
}

TEST_F(PiecesTest, AStoreKeepsWhatWasFinished) {
  Store store(directory_ / "pieces", fingerprint(job_, data_));
  Hooks hooks;
  int finished = 0;
  hooks.finished = [&](const TablePoint&) { ++finished; };
  hooks.interrupted = [&] { return finished > 0; };
  Job alone = job_;  // with two threads both points may be finished before anybody asks
  alone.table.curve.threads = 1;
  const Curve part = trade_off(alone, data_, hooks, &store);
  EXPECT_TRUE(part.result.interrupted);
  hooks.interrupted = {};
  hooks.epoch = [](int point, const EpochReport&) { EXPECT_EQ(point, 1) << "only this one was left"; };
  EXPECT_EQ(rows_of(trade_off(job_, data_, hooks, &store)), rows_of(trade_off(job_, data_)));
}

TEST(Archive, GivesValuesBackBitForBit) {
  const std::map<std::string, std::vector<double>> value{{"a", {0.1, -0.0, 1e300}}, {"b", {}}};
  const std::string bytes = archived(value);
  EXPECT_EQ((unarchived<std::map<std::string, std::vector<double>>>(bytes)), value);
  EXPECT_THROW((unarchived<std::map<std::string, std::vector<double>>>(bytes.substr(1))), Error);
  EXPECT_THROW((unarchived<std::map<std::string, std::vector<double>>>(bytes + "x")), Error);
  Matrix<float> matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ(unarchived<Matrix<float>>(archived(matrix)), matrix);
  // A size that the bytes cannot hold.
  EXPECT_THROW(unarchived<std::string>(std::string(8, '\x7f')), Error);
  EXPECT_EQ(unarchived<std::optional<int>>(archived(std::optional<int>())), std::nullopt);
}

}  // namespace
}  // namespace ppan
