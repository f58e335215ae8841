#include "ppan/table/task_measure.h"

#include <gtest/gtest.h>

#include "ppan/table/table_references.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using testing::encoded;
using testing::EncodedTable;

// Two levels, three levels and a number to predict from a score; the noise is uniform on (0, 1).
std::string scores_csv(int rows, std::uint64_t seed) {
  SeededRandom random(seed);
  std::string csv = "x,score,two,three,number\n";
  for (int r = 0; r < rows; ++r) {
    const double score = random.uniform();
    const double noisy = score + 0.5 * random.uniform();
    csv += fmt::format("{},{:.3f},{},{},{:.3f}\n", random.index(2), score, noisy > 0.75 ? "yes" : "no",
                       noisy > 1     ? "high"
                       : noisy > 0.5 ? "middle"
                                     : "low",
                       noisy);
  }
  return csv;
}

Schema scores_schema() {
  Schema schema;
  schema.columns = {testing::category("x"), testing::real("score"), testing::category("two"),
                    testing::category("three"), testing::real("number")};
  schema.sensitive = {"x"};
  schema.useful = {"score"};
  schema.task = {"two", "three", "number"};
  return schema;
}

EncodedTable scores(int rows, std::uint64_t seed) {
  return encoded(scores_csv(rows, seed), scores_schema());
}

// Other rows, encoded as the table is.
EncodedRows rows_like(const EncodedTable& table, int rows, std::uint64_t seed) {
  EncodedRows out;
  std::vector<std::int32_t> every(table.encoding.columns.size());
  std::iota(every.begin(), every.end(), 0);
  Encoder(table.encoding)
      .encode(testing::table_of(scores_csv(rows, seed), table.schema), every, UnknownRow::kNearest, out);
  return out;
}

// Var(score) = 1/12, Var(noise) = 1/48: nothing explains more than 0.8 of the number. The best guess of `two`
// has the AUC that 0.91 is close to; the bars are wide of the sampling error of 2,000 rows (0.007).
TEST(TaskMeasure, FindsWhatCanBePredicted) {
  const EncodedTable train = scores(3000, 1);
  const EncodedRows test = rows_like(train, 2000, 2);
  const auto found = measure_tasks({train.rows, train.rows, test, test}, train.schema, train.encoding);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].metric, TaskMetric::kAuc);
  EXPECT_EQ(found[1].metric, TaskMetric::kAccuracy);
  EXPECT_EQ(found[2].metric, TaskMetric::kR2);
  EXPECT_GT(found[0].original.value, 0.93);
  EXPECT_GT(found[1].original.value, 0.6);
  EXPECT_NEAR(found[2].original.value, 0.8, 0.05);
  for (const TaskScore& score : found) {
    EXPECT_LT(score.original.interval95.low, score.original.value);
    EXPECT_GT(score.original.interval95.high, score.original.value);
  }
  EXPECT_EQ(task_loss(found, found), 0);
}

TEST(TaskMeasure, NoiseLosesAndWrittenAnswersAreNoticed) {
  const EncodedTable train = scores(3000, 1);
  const EncodedRows test = rows_like(train, 2000, 2);
  const auto columns = train.encoding.indices_of(train.schema.useful);
  SeededRandom random(5);
  const EncodedRows a = add_noise(train.rows, columns, train.encoding, 4, random);
  const EncodedRows b = add_noise(test, columns, train.encoding, 4, random);
  const auto unchanged = measure_tasks({train.rows, train.rows, test, test}, train.schema, train.encoding);
  const auto noisy = measure_tasks({train.rows, a, test, b}, train.schema, train.encoding);
  EXPECT_GT(task_loss(unchanged, noisy), 0.05);
  EXPECT_TRUE(inflated_tasks(unchanged, noisy).empty());
  // A mechanism that saw the answer and wrote it into the score.
  const auto written = [&](EncodedRows rows) {
    for (std::size_t r = 0; r < rows.columns[1].value.size(); ++r)
      rows.columns[1].value[r] = rows.columns[2].code[r] == 0 ? -1 : 1;
    return rows;
  };
  const auto inflated =
      measure_tasks({train.rows, written(train.rows), test, written(test)}, train.schema, train.encoding);
  const auto named = inflated_tasks(unchanged, inflated);
  ASSERT_FALSE(named.empty());
  EXPECT_EQ(named.front(), "two");
}

}  // namespace
}  // namespace ppan
