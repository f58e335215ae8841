#include "ppan/image/image_attack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ppan/image/image_training.h"
#include "support/drawn_digits.h"

namespace ppan {
namespace {

using testing::drawn_digits;

ImageAttackOptions small_attack() {
  ImageAttackOptions options;
  options.networks = {{{32}, Activation::kTanh}, {{32}}};
  options.code = {32};
  options.tree_images = 400;
  options.components = 8;
  options.trees = 60;
  options.epochs = 8;
  options.batch = 25;
  options.rate = 0.005;
  return options;
}

class AttackOnDigits : public ::testing::Test {
 protected:
  ImageSet learn_ = drawn_digits(1500, 8, 4, 11);
  ImageSet held_out_ = drawn_digits(800, 8, 4, 12);
};

// The same for every kind of attacker, so that none is a passenger.
TEST_F(AttackOnDigits, EveryAttackerReadsUnchangedImages) {
  const ImageAttack attack = attack_images(unchanged_model(learn_), learn_, held_out_, small_attack());
  ASSERT_EQ(attack.attackers.size(), 5U);  // two networks, a convolution, their mean, trees
  for (const ImageAttackerScore& s : attack.attackers) {
    EXPECT_GT(s.leakage.nats, 0.7 * attack.entropy) << s.name;
    EXPECT_GT(s.accuracy.value, 0.85) << s.name;
    EXPECT_EQ(s.leakage.bound, Bound::kLower);
    EXPECT_LE(s.leakage.interval95->low, s.leakage.nats);
  }
  EXPECT_FALSE(attack.code.has_value());
  EXPECT_GE(attack.attackers[0].selection, attack.attackers[1].selection);
  EXPECT_NEAR(attack.prior_accuracy, 0.25, 0.06);
}

TEST_F(AttackOnDigits, NobodyReadsTheMeanImage) {
  const ImageAttack attack = attack_images(constant_model(learn_), learn_, held_out_, small_attack());
  // A lower bound may fall short of 0 and is then 0; above it can only be luck on 560 images.
  EXPECT_LT(attack.strongest().leakage.nats, 0.01);
  EXPECT_LT(attack.strongest().accuracy.value, attack.prior_accuracy + 0.06);
}

TEST_F(AttackOnDigits, FindsWhatAMixtureLetsThrough) {
  ImageModel model = unchanged_model(learn_);
  model.components.front().weight = 0.5;
  model.components.push_back(constant_model(learn_).components.front());
  model.components.back().weight = 0.5;
  const ImageAttack attack = attack_images(model, learn_, held_out_, small_attack());
  // Half of H(X) leaks: a shown image tells everything, the mean image nothing.
  EXPECT_GT(attack.strongest().leakage.nats, 0.35 * attack.entropy);
  EXPECT_LT(attack.strongest().leakage.nats, 0.55 * attack.entropy);
}

TEST_F(AttackOnDigits, SeesTheCodeOfANoisyCodeToo) {
  const CodeImageOptions options{.encoder = {16}, .decoder = {16}, .code = 4};
  const TrainOptions training = code_training(options, 64, 0.2, 1);
  const Records<float> records = image_records(learn_);
  const auto mechanism = make_mechanism(training.game.mechanism, records.observed);
  SeededRandom random(1);
  mechanism->initialise(random);
  mechanism->parameters() *= 3;  // a code that stands out from its noise
  const ImageModel model = trained_model(learn_, *mechanism, "point 1");
  const ImageAttack attack = attack_images(model, learn_, held_out_, small_attack());
  ASSERT_TRUE(attack.code.has_value());
  EXPECT_GT(attack.code->leakage.nats, 0.1);
  ImageAttackOptions without = small_attack();
  without.code.clear();
  EXPECT_FALSE(attack_images(model, learn_, held_out_, without).code.has_value());
}

// A code that tells nothing (its parameters are 0, so that everybody's centre is the same) behind a gate that
// is open to the same share of every label: the digit is known of exactly the others.
TEST_F(AttackOnDigits, ImagesThatAGateShowsCountAsRead) {
  const CodeImageOptions options{.encoder = {4}, .decoder = {4}, .code = 2, .gate = {3}};
  const TrainOptions training = code_training(options, 64, 0.2, 1);
  const Records<float> records = image_records(learn_);
  const auto mechanism = make_mechanism(training.game.mechanism, records.observed);
  mechanism->parameters().setZero();
  for (const double open : {0.25, 0.75}) {
    mechanism->parameters().tail(1).setConstant(static_cast<float>(std::log(open / (1 - open))));
    const ImageModel model = trained_model(learn_, *mechanism, "point 1");
    const ImageAttack attack = attack_images(model, learn_, held_out_, small_attack());
    // Attackers learn the shares of the labels from 1,500 images and are scored on 560; the shares there
    // differ, which costs each at most a few thousandths of a nat.
    EXPECT_NEAR(attack.strongest().leakage.nats, (1 - open) * attack.entropy, 0.02);
    EXPECT_THAT(attack.strongest().leakage.method, ::testing::HasSubstr("count as read"));
    EXPECT_NEAR(attack.strongest().accuracy.value, 1 - open + open * 0.25, 0.06 * open);
    // The upper bound draws a coin for each of 800 images, with a deviation of 0.02 nats.
    const std::vector<Estimate> upper = image_upper_bounds(model, held_out_, 800);
    ASSERT_FALSE(upper.empty());
    EXPECT_NEAR(upper.front().nats, (1 - open) * attack.entropy, 0.1);
    EXPECT_LT(upper.front().interval95->low, (1 - open) * attack.entropy);
    EXPECT_GT(upper.front().interval95->high, (1 - open) * attack.entropy);
  }
}

TEST_F(AttackOnDigits, IsReproducibleAndLearnsAsItGoes) {
  const ImageAttack first = attack_images(unchanged_model(learn_), learn_, held_out_, small_attack());
  const ImageAttack second = attack_images(unchanged_model(learn_), learn_, held_out_, small_attack());
  EXPECT_EQ(first.strongest().leakage.nats, second.strongest().leakage.nats);
  for (const ImageAttackerScore& s : first.attackers) {
    if (s.learning.empty()) continue;
    ASSERT_EQ(s.learning.size(), 8U);
    EXPECT_EQ(s.learning.back().images, 8 * 1500);
    EXPECT_GT(s.learning.back().nats, s.learning.front().nats) << s.name;
  }
}

TEST_F(AttackOnDigits, RefusesWhatItCannotAttack) {
  ImageAttackOptions nobody = small_attack();
  nobody.networks.clear();
  nobody.convolution = false;
  nobody.tree_images = 0;
  EXPECT_THROW(attack_images(unchanged_model(learn_), learn_, held_out_, nobody), Error);
  EXPECT_THROW(attack_images(unchanged_model(drawn_digits(5, 9, 4, 1)), learn_, held_out_, small_attack()),
               Error);
}

}  // namespace
}  // namespace ppan
