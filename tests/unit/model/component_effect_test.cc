#include "ppan/model/component_effect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ppan/model/release_model.h"
#include "unit/release/release_support.h"

namespace ppan {
namespace {

using release_test::People;
using testing::HasSubstr;
using testing::Not;

TEST(ComponentEffect, ALabelDoesNotHideWhatIsReleasedUnchanged) {
  const People people;
  TableComponent forged = people.unchanged().table.components()[0];
  forged.label = "point 7: noisy-code, 4096 parameters";
  ReleaseModel model = people.model(TableModel(people.schema, people.encoding, {forged}));
  const std::string text = describe(model);
  EXPECT_THAT(text, HasSubstr("100 % of the rows: released unchanged; labelled \"point 7"));
}

TEST(ComponentEffect, WhatIsTriedOutIsTold) {
  const People people;
  EXPECT_EQ(try_component(people.unchanged().table, 0)->changed, 0);
  EXPECT_TRUE(try_component(people.constant().table, 0)->constant);
  const auto network = try_component(people.random().table, 0);
  EXPECT_GT(network->changed, 0.3);
  EXPECT_FALSE(network->constant);
  EXPECT_THAT(component_text(people.random().table, 0), HasSubstr("a network that changes"));
}

TEST(ComponentEffect, ANetworkThatIsAConstantIsCalledOne) {
  const People people;
  TableComponent zeros = people.random_model().components()[0];
  zeros.parameters.setZero();
  const TableModel model(people.schema, people.encoding, {zeros});
  const auto effect = try_component(model, 0);
  ASSERT_TRUE(effect.has_value());
  // Categories are still drawn, numbers are all the same.
  EXPECT_THAT(component_text(model, 0), Not(HasSubstr("released unchanged")));
}

TEST(ComponentEffect, ControlCharactersAreShownEscaped) {
  const People people;
  ReleaseModel model = people.unchanged();
  model.origin.label = "point 1\n\x1b[2Jaudit      0 nats";
  model.origin.title =
      "a\xE2\x80\xAE"
      "b";
  const std::string text = describe(model);
  EXPECT_THAT(text, HasSubstr("point 1\\n\\x1B[2Jaudit"));
  EXPECT_THAT(text, HasSubstr("a\\u202Eb"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ppan
