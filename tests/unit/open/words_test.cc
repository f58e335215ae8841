#include <gmock/gmock.h>

#include "ppan/core/cell_text.h"
#include "ppan/open/backends.h"

namespace ppan {
namespace {

TEST(WordsAboutData, HideWhatIsQuotedButNotTheNameOfTheSource) {
  const std::string words = "Failed to read file \"t.parquet\": page is corrupt at \"Meier\"";
  EXPECT_EQ(words_about_data(words),
            "Failed to read file " +
                marked_value("\"t.parquet\": page is corrupt at \"Meier\"", "a value of the table"));
  EXPECT_EQ(words_about_data(words, "t.parquet"), "Failed to read file \"t.parquet\": page is corrupt at " +
                                                      marked_value("\"Meier\"", "a value of the table"));
  // A value that begins like the name is a value.
  EXPECT_EQ(words_about_data("bad cell 't.parquets'", "t.parquet"),
            "bad cell " + marked_value("'t.parquets'", "a value of the table"));
  EXPECT_EQ(words_about_data("no quotes", "t.parquet"), "no quotes");
  EXPECT_EQ(words_about_data("ends in 't.parquet", "t.parquet"),
            "ends in " + marked_value("'t.parquet", "a value of the table"));
}

}  // namespace
}  // namespace ppan
