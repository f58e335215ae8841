#include "ppan/core/crypto.h"

#include <gtest/gtest.h>

namespace ppan {
namespace {

// Test case 2 of RFC 4231.
TEST(Hmac, AgreesWithThePublishedVector) {
  EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hmac, DependsOnTheKey) {
  EXPECT_NE(hmac_sha256("one", "data"), hmac_sha256("two", "data"));
  EXPECT_EQ(hmac_sha256("one", "data").size(), 64U);
}

}  // namespace
}  // namespace ppan
