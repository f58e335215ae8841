#include "ppan/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>

#include "ppan/core/error.h"

namespace ppan {
namespace {

using testing::ElementsAre;
using testing::Key;

// "end" needs "left" and "right", which need "start". Each gives its name and what it was made from.
class Diamond : public Domain {
 public:
  [[nodiscard]] std::string fingerprint() const override { return "diamond"; }
  [[nodiscard]] std::vector<Piece> pieces() const override {
    return {{"start", {}}, {"left", {"start"}}, {"right", {"start"}}, {"end", {"left", "right"}}};
  }
  [[nodiscard]] int planned() const override { return 2; }
  [[nodiscard]] std::vector<std::string> start_pieces() const override { return {"start"}; }
  [[nodiscard]] std::vector<std::string> point_pieces(int number) const override {
    return {number == 1 ? "left" : "right"};
  }
  [[nodiscard]] std::optional<std::string> make(const std::string& name, const Pieces& needed,
                                                const Checkpoint& /*checkpoint*/) override {
    const std::scoped_lock lock(mutex_);
    if (name == fails_) throw Error(ErrorCode::kDiverged, "failed");
    if (name == stops_) return std::nullopt;
    made.push_back(name);
    std::string out = name;
    for (const auto& [key, bytes] : needed) out += "(" + bytes + ")";
    return out;
  }
  void finished(const std::string& name, const std::string&, bool made_now) override {
    (made_now ? told_made : told_found).insert(name);
  }

  std::vector<std::string> made;
  std::set<std::string> told_made;
  std::set<std::string> told_found;
  std::string fails_;
  std::string stops_;

 private:
  std::mutex mutex_;
};

class EngineTest : public testing::Test {
 protected:
  EngineTest() { std::filesystem::remove_all(directory_); }
  ~EngineTest() override { std::filesystem::remove_all(directory_); }
  std::filesystem::path directory_ = std::filesystem::path(testing::TempDir()) / "ppan_engine";
};

constexpr const char* kEnd = "end(left(start))(right(start))";

TEST_F(EngineTest, MakesEveryPieceOnceWhateverTheThreads) {
  for (const int threads : {1, 2, 7}) {
    Diamond domain;
    const EngineResult result = make_pieces(domain, nullptr, {.threads = threads});
    EXPECT_FALSE(result.interrupted);
    EXPECT_EQ(result.pieces.at("end"), kEnd);
    EXPECT_EQ(domain.made.size(), 4U);
    EXPECT_EQ(domain.told_made.size(), 4U);
  }
}

TEST_F(EngineTest, MakesWhatIsAskedForAndWhatThatNeeds) {
  Diamond domain;
  const EngineResult result = make_pieces(domain, nullptr, {.threads = 1, .only = {"right"}});
  EXPECT_FALSE(result.interrupted);
  EXPECT_THAT(domain.made, ElementsAre("start", "right"));
  EXPECT_THAT(result.pieces, ElementsAre(Key("right"), Key("start")));
  EXPECT_THROW(make_pieces(domain, nullptr, {.only = {"nowhere"}}), Error);
}

TEST_F(EngineTest, DoesNotMakeAgainWhatIsKnownOrStored) {
  Diamond first;
  Store store(directory_, first.fingerprint());
  static_cast<void>(make_pieces(first, &store, {.threads = 1, .only = {"left"}}));
  Diamond second;
  const EngineResult result = make_pieces(second, &store, {.threads = 1});
  EXPECT_THAT(second.made, ElementsAre("right", "end"));
  EXPECT_THAT(second.told_found, ElementsAre("left", "start"));
  EXPECT_EQ(result.pieces.at("end"), kEnd);
  Diamond third;
  static_cast<void>(make_pieces(third, nullptr, {.threads = 2}, result.pieces));
  EXPECT_TRUE(third.made.empty());
}

TEST_F(EngineTest, KeepsWhatIsFinishedWhenItFailsOrIsStopped) {
  for (const bool fails : {true, false}) {
    Diamond domain;
    (fails ? domain.fails_ : domain.stops_) = "right";
    Store store(directory_, domain.fingerprint());
    if (fails) {
      EXPECT_THROW(make_pieces(domain, &store, {.threads = 1}), Error);
    } else {
      const EngineResult result = make_pieces(domain, &store, {.threads = 1});
      EXPECT_TRUE(result.interrupted);
      EXPECT_FALSE(result.pieces.contains("end"));
    }
    EXPECT_EQ(store.get("left"), "left(start)");
    EXPECT_FALSE(store.get("right"));
  }
  Diamond domain;
  Store store(directory_, domain.fingerprint());
  EXPECT_EQ(make_pieces(domain, &store, {.threads = 3}).pieces.at("end"), kEnd);
}

TEST_F(EngineTest, StopsBetweenPieces) {
  Diamond domain;
  std::atomic<int> asked = 0;
  EngineOptions options{.threads = 1};
  options.interrupted = [&] { return ++asked > 2; };
  const EngineResult result = make_pieces(domain, nullptr, options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(domain.made.size(), 2U);
}

TEST_F(EngineTest, WaitsForAPieceThatAnotherProcessMakes) {
  Diamond domain;
  Store store(directory_, domain.fingerprint());
  Store other(directory_, domain.fingerprint());
  auto claim = other.claim("left");
  EngineOptions options{.threads = 1};
  int asked = 0;
  options.interrupted = [&] {
    // When only "left" is left, the other process finishes it.
    if (++asked == 5) {
      other.put("left", "left(start)");
      claim.reset();
    }
    return false;
  };
  const EngineResult result = make_pieces(domain, &store, options);
  EXPECT_EQ(result.pieces.at("end"), kEnd);
  EXPECT_THAT(domain.made, ElementsAre("start", "right", "end"));
}

}  // namespace
}  // namespace ppan
