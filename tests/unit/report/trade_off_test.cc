#include "ppan/report/trade_off.h"

#include <gtest/gtest.h>

#include <set>

namespace ppan {
namespace {

// All that a curve of a table may hold at once: none may look like another.
TEST(TradeOff, SeriesOfOneCurveLookDifferent) {
  CurveTable table;
  for (const char* name : {"ppan/table", "reference/unchanged", "reference/constant", "reference/noise",
                           "reference/randomized-response", "reference/gaussian-noise", "reference/dropped",
                           "reference/time-sharing", "ppan/hull"}) {
    CurveRow row;
    row.series = name;
    row.distortion = 0.1;
    row.leakage = 0.1;
    table.rows.push_back(std::move(row));
  }
  std::set<SeriesRole> roles;
  for (const CurveRow& row : table.rows) roles.insert(series_role(row.series, table));
  EXPECT_EQ(roles.size(), table.rows.size());
}

}  // namespace
}  // namespace ppan
