#include "ppan/audit/attack_split.h"

#include <numeric>
#include <unordered_map>

#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr double kTrainShare = 0.5;      // of the rows
constexpr double kSelectionShare = 0.2;  // what is left is for the test
// Where rows that trained the mechanism can be learned from too, more of the held-out ones are for the test.
constexpr double kTrainShareBesideTrained = 0.3;

}  // namespace

AttackSplit make_split(Index rows, std::uint64_t seed, const Units& unit, Index trained_rows) {
  std::vector<std::vector<std::int32_t>> members;
  std::unordered_map<std::int32_t, std::size_t> known;
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(unit.size()); ++row) {
    const auto [at, added] = known.try_emplace(unit[static_cast<std::size_t>(row)], members.size());
    if (added) members.emplace_back();
    members[at->second].push_back(row);
  }
  const bool alone = unit.empty();
  std::vector<std::int32_t> order(alone ? static_cast<std::size_t>(rows) : members.size());
  std::iota(order.begin(), order.end(), 0);
  SeededRandom random = SeededRandom(seed).fork("split");
  shuffle(random, order);
  const double train_share = trained_rows >= rows ? kTrainShareBesideTrained : kTrainShare;
  const auto train = static_cast<std::size_t>(train_share * static_cast<double>(rows));
  const auto selection = static_cast<std::size_t>(kSelectionShare * static_cast<double>(rows));
  AttackSplit split;
  split.trained.resize(static_cast<std::size_t>(trained_rows));
  std::iota(split.trained.begin(), split.trained.end(), static_cast<std::int32_t>(rows));
  shuffle(random, split.trained);
  for (const std::int32_t next : order) {
    auto& part = split.train.size() < train           ? split.train
                 : split.selection.size() < selection ? split.selection
                                                      : split.test;
    if (alone) {
      part.push_back(next);
      continue;
    }
    const auto& own = members[static_cast<std::size_t>(next)];
    part.insert(part.end(), own.begin(), own.end());
  }
  if (alone) return split;
  // Where rows are taken from the front, as for learning curves, they are not to be those of a few units.
  for (auto* part : {&split.train, &split.selection, &split.test}) shuffle(random, *part);
  for (const std::int32_t row : split.test) split.test_unit.push_back(unit[static_cast<std::size_t>(row)]);
  return split;
}

}  // namespace ppan
