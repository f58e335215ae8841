#include "ppan/engine/store.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ppan/core/error.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

class StoreTest : public testing::Test {
 protected:
  StoreTest() { std::filesystem::remove_all(directory_); }
  ~StoreTest() override { std::filesystem::remove_all(directory_); }
  std::filesystem::path directory_ = std::filesystem::path(testing::TempDir()) / "ppan_store";
};

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::kInternal;
}

TEST_F(StoreTest, KeepsPieces) {
  Store store(directory_, "this run");
  EXPECT_FALSE(store.get("one"));
  EXPECT_FALSE(Store::holds_pieces(directory_));
  const std::string bytes("a\0b", 3);
  store.put("one", bytes);
  EXPECT_EQ(store.get("one"), bytes);
  EXPECT_TRUE(Store::holds_pieces(directory_));
  EXPECT_EQ(Store(directory_, "this run").get("one"), bytes);
}

TEST_F(StoreTest, RefusesPiecesOfAnotherRun) {
  Store(directory_, "this run").put("one", "bytes");
  EXPECT_EQ(code_of([&] { static_cast<void>(Store(directory_, "another").get("one")); }), ErrorCode::kUsage);
}

TEST_F(StoreTest, RefusesEveryDamage) {
  Store store(directory_, "this run");
  store.put("one", "bytes of some length");
  const std::string whole = read_file(directory_ / "one.piece");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_THROW(open_piece(damaged, "one", "this run", "it"), Error) << i;
    EXPECT_THROW(open_piece(whole.substr(0, i), "one", "this run", "it"), Error) << i;
  }
  EXPECT_EQ(code_of([&] { open_piece(whole, "two", "this run", "it"); }), ErrorCode::kBadInput);
}

TEST_F(StoreTest, OneClaimAtATime) {
  Store store(directory_, "this run");
  Store other(directory_, "this run");
  auto claim = store.claim("one");
  EXPECT_TRUE(claim);
  EXPECT_FALSE(other.claim("one"));
  EXPECT_TRUE(other.claim("two"));
  claim.reset();
  EXPECT_TRUE(other.claim("one"));
}

TEST_F(StoreTest, TellsWhenAnotherProcessHasFinished) {
  Store store(directory_, "this run");
  Store other(directory_, "this run");
  other.put("one", "bytes");
  other.remove();
  EXPECT_TRUE(store.removed());
  EXPECT_EQ(code_of([&] { store.put("two", "bytes"); }), ErrorCode::kUsage);
  EXPECT_FALSE(std::filesystem::exists(directory_));
}

TEST_F(StoreTest, RemovesNothingOfOthers) {
  Store store(directory_, "this run");
  store.put("one", "bytes");
  write_file(directory_ / "mine.txt", "mine");
  store.remove();
  EXPECT_EQ(read_file(directory_ / "mine.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(directory_ / "one.piece"));
}

TEST_F(StoreTest, KeepsACheckpointUntilThePieceIsThere) {
  Store store(directory_, "this run");
  const Checkpoint checkpoint = store.checkpoint("one");
  EXPECT_FALSE(checkpoint.load());
  checkpoint.save("half");
  EXPECT_EQ(checkpoint.load(), "half");
  EXPECT_FALSE(store.get("one"));
  store.remove_checkpoint("one");
  EXPECT_FALSE(checkpoint.load());
}

}  // namespace
}  // namespace ppan
