// Tables with more columns than attackers are given the digits of.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ppan/audit/audit.h"
#include "ppan/audit/trace_screen.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr Index kRows = 1500;
constexpr int kColumns = 100;
constexpr int kLeaking = 71;
const std::vector<std::string> kNoMarkers;

enum class Leak { kNone, kValue, kLastDigit };

// Numbers with one decimal that know nothing of the secret, but for one column.
AuditInput wide_table(Leak leak) {
  SeededRandom random(11);
  Symbols x;
  for (Index i = 0; i < kRows; ++i) x.push_back(static_cast<std::int32_t>(random.index(2)));
  AuditInput input;
  for (int c = 0; c < kColumns; ++c) {
    std::vector<std::string> cells;
    for (Index i = 0; i < kRows; ++i) {
      const bool secret = x[static_cast<std::size_t>(i)] == 1;
      std::int64_t tenths = 1000 + random.index(1000);
      if (c == kLeaking && leak == Leak::kValue) tenths += secret ? 800 : 0;
      // Even last digits for one group; the values stay where they are.
      if (c == kLeaking && leak == Leak::kLastDigit) tenths = tenths / 2 * 2 + (secret ? 1 : 0);
      cells.push_back(fmt::format("{}.{}", tenths / 10, tenths % 10));
    }
    input.released.columns.push_back(column_of_cells(fmt::format("c{:03}", c), cells, kNoMarkers));
  }
  input.sensitive = {column_of_codes("secret", x, 2)};
  return input;
}

AuditOptions quick() {
  AuditOptions options;
  options.quick = true;
  options.measure_power = false;
  options.features.row_position = false;
  return options;
}

bool says(const AttributeAudit& attribute, const std::string& words) {
  return std::any_of(attribute.notes.begin(), attribute.notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

TEST(WideTable, ALeakInTheDigitsOfOneColumnIsFoundAndNamed) {
  const AuditReport report = audit(wide_table(Leak::kLastDigit), quick());
  const AttributeAudit& found = report.attributes.front();
  EXPECT_GT(found.leakage.interval95->low, 0.9 * std::log(2.0));
  ASSERT_FALSE(found.sources.empty());
  EXPECT_EQ(found.sources.front().where.column, fmt::format("c{:03}", kLeaking));
  EXPECT_TRUE(says(found, "100 columns are too many to attack by digits"));
}

TEST(WideTable, ALeakInTheValuesOfOneColumnIsFoundAndNamed) {
  const AttributeAudit found = audit(wide_table(Leak::kValue), quick()).attributes.front();
  EXPECT_GT(found.leakage.interval95->low, 0.3);
  ASSERT_FALSE(found.sources.empty());
  EXPECT_EQ(found.sources.front().where, (FeatureSource{fmt::format("c{:03}", kLeaking), "value"}));
}

// A fixed seed; by chance the interval of right code stays above 0 in one table of forty.
TEST(WideTable, NothingIsFoundInACleanOne) {
  const AttributeAudit found = audit(wide_table(Leak::kNone), quick()).attributes.front();
  EXPECT_EQ(found.leakage.interval95->low, 0);
  EXPECT_EQ(found.verdict, AuditVerdict::kNothingFound);
}

TEST(WideTable, TheColumnsThatTellMostAreTraced) {
  const AuditInput input = wide_table(Leak::kLastDigit);
  const AttackSplit split = make_split(kRows, 1);
  const std::vector<AttackTarget> targets{target_of(input.sensitive.front(), split.train, {})};
  FeatureOptions options;
  const std::vector<bool> traced = traced_columns(input.released, targets, split, options, 1);
  EXPECT_EQ(std::count(traced.begin(), traced.end(), true), options.screened_columns);
  EXPECT_TRUE(traced[kLeaking]);
  options.trace_columns = kColumns;
  EXPECT_EQ(left_out_note(traced_columns(input.released, targets, split, options, 1)), "");
  // By their values they all look the same.
  const AuditInput value = wide_table(Leak::kValue);
  EXPECT_EQ(informative_columns(value.released, targets, split, 1, 1), std::vector<std::size_t>{kLeaking});
}

TEST(WideTable, DeviationsAreThoseOfChanceForWhatTellsNothing) {
  SeededRandom random(5);
  Symbols x;
  Eigen::Matrix<std::int32_t, Eigen::Dynamic, 1> key(4000);
  Vector<float> feature(4000);
  std::vector<std::int32_t> rows;
  for (Index i = 0; i < 4000; ++i) {
    x.push_back(static_cast<std::int32_t>(random.index(3)));
    key[i] = static_cast<std::int32_t>(random.index(50)) - 1;
    feature[i] = static_cast<float>(random.uniform());
    rows.push_back(static_cast<std::int32_t>(i));
  }
  EXPECT_LT(std::abs(class_deviations(feature, x, rows, 3)), 4);
  EXPECT_LT(std::abs(key_deviations(key, 49, x, rows, 3)), 4);
  for (Index i = 0; i < 400; ++i) key[i] = x[static_cast<std::size_t>(i)];
  EXPECT_GT(key_deviations(key, 49, x, rows, 3), 20);
}

TEST(WideTable, RoomForRowsFallsWithTheFeatures) {
  const SuiteOptions options{.most_cells = 1'000'000};
  EXPECT_EQ(room_for_rows(options, 100), 10'000);
  EXPECT_EQ(room_for_rows(options, 100'000), 2'000);
  EXPECT_FALSE((SuiteOptions{.most_cells = 0}).check().empty());
}

// Noise that hides the secret in one release is averaged away over several.
TEST(WideTable, SeveralReleasesAreAttackedByTheirMean) {
  AuditInput input = wide_table(Leak::kNone);
  const auto draw = [truth = input.sensitive.front().code](std::int64_t number) {
    SeededRandom random = SeededRandom(3).fork("release", static_cast<std::uint64_t>(number));
    AuditTable table;
    for (int c = 0; c < kColumns; ++c) {
      Matrix<double> value(kRows, 1);
      fill_normal(random, value);
      if (c == kLeaking)
        value.col(0) += Eigen::Map<const Eigen::VectorXi>(truth.data(), kRows).cast<double>();
      table.columns.push_back(column_of_numbers(fmt::format("c{:03}", c), Vector<double>(value.col(0))));
    }
    return table;
  };
  input.released = draw(0);
  input.draw_again = draw;
  AuditOptions options = quick();
  options.repeats = {8};
  const AttributeAudit found = audit(input, options).attributes.front();
  ASSERT_EQ(found.repeats.size(), 1U);
  EXPECT_GT(found.repeats.front().leakage.interval95->low, 0.1);
  EXPECT_TRUE(says(found, "too many to attack each of several releases"));
}

}  // namespace
}  // namespace ppan
