#include "ppan/audit/leak_sources.h"

#include <algorithm>
#include <numeric>

#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr double kSourceShare = 0.01;
constexpr double kClearSource = 2.6;  // standard errors
constexpr Index kMostSourceRows = 4000;
constexpr std::size_t kMostShuffled = 96;  // groups of features, one by one
constexpr std::size_t kBlocks = 32;        // that more than these are shuffled in first

// Who says where a leak is. Keys say it less well than features do: the first digits of a number are its
// value. So does a discriminant: it leans on everything that says the same at once, and shuffling one of
// several costs it nothing.
TrainedAttacker* names_sources(const AttackData& data, std::vector<TrainedAttacker>& trained) {
  constexpr double kClearlyMore = 1.25;
  const double entropy = empirical_entropy(data.selection().x, data.target().levels);
  TrainedAttacker* best = nullptr;
  TrainedAttacker* other = nullptr;
  for (TrainedAttacker& t : trained) {
    const AttackerKind kind = t.learner.kind;
    // Neighbours see values only.
    if (kind == AttackerKind::kPrior || kind == AttackerKind::kLookup || kind == AttackerKind::kNeighbours)
      continue;
    TrainedAttacker*& own = kind == AttackerKind::kKeys || kind == AttackerKind::kDiscriminant ? other : best;
    if (own == nullptr || t.selection_score > own->selection_score) own = &t;
  }
  const bool by_other = other != nullptr &&
                        (best == nullptr ||
                         entropy + other->selection_score > kClearlyMore * (entropy + best->selection_score));
  return by_other ? other : best;
}

double deviations_of(const Rate& loss) {
  const double error = (loss.interval95.high - loss.value) / normal_multiple();
  return error > 0 ? loss.value / error : 0;
}

// What an attacker loses, nats, when these features of `data`, which is in `part`, are shuffled among the
// rows, all in the same way.
template <typename Data>
Rate shuffled_loss(const Vector<double>& prior, TrainedAttacker& attacker, const std::vector<Index>& features,
                   const Vector<double>& whole, RandomSource& random, Data& data, AttackRows& part) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(part.rows()));
  std::iota(order.begin(), order.end(), 0);
  shuffle(random, order);
  std::vector<Eigen::Matrix<typename Data::Scalar, Eigen::Dynamic, 1>> kept;
  for (const Index column : features) {
    kept.emplace_back(data.col(column));
    for (Index i = 0; i < part.rows(); ++i) data(i, column) = kept.back()[order[static_cast<std::size_t>(i)]];
  }
  Matrix<float> shuffled = attacker.attacker->log_probability(part);
  attacker.calibration.apply(prior, shuffled);
  for (std::size_t k = 0; k < features.size(); ++k) data.col(features[k]) = kept[k];
  return mean_rate(whole - scores_of(shuffled, part.x));
}

// Each shuffle costs an attack, so many groups are first shuffled block by block; those of the blocks that
// cost the attacker most are looked at one by one.
template <typename Groups, typename LossOf>
std::vector<std::size_t> worth_shuffling(const Groups& groups, const LossOf& loss_of) {
  std::vector<std::size_t> out(groups.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  if (out.size() <= kMostShuffled) return out;
  const std::size_t size = (groups.size() + kBlocks - 1) / kBlocks;
  std::vector<std::pair<double, std::size_t>> blocks;  // minus the loss, first group
  for (std::size_t first = 0; first < groups.size(); first += size) {
    std::vector<Index> features;
    for (std::size_t g = first; g < std::min(first + size, groups.size()); ++g)
      features.insert(features.end(), groups[g].second.begin(), groups[g].second.end());
    blocks.emplace_back(-loss_of(features).value, first);
  }
  std::sort(blocks.begin(), blocks.end());
  out.clear();
  for (const auto& [loss, first] : blocks) {
    if (loss >= 0) break;
    for (std::size_t g = first; g < std::min(first + size, groups.size()); ++g) {
      if (out.size() < kMostShuffled) out.push_back(g);
    }
  }
  return out;
}

}  // namespace

std::vector<LeakSource> find_sources(const AttackData& data, std::vector<TrainedAttacker>& trained,
                                     const Vector<double>& base) {
  std::vector<LeakSource> out;
  TrainedAttacker* best = names_sources(data, trained);
  if (best == nullptr) return out;
  const Rate found = mean_rate(scores_of(best->on_test, data.test().x) - base, data.test_unit());
  if (found.interval95.low <= 0) return out;
  const auto rows = static_cast<std::size_t>(std::min(kMostSourceRows, data.test().rows()));
  AttackRows part = data.first_test_rows(rows);
  const Vector<double> whole = scores_of(best->on_test.topRows(static_cast<Index>(rows)), part.x);
  const bool by_keys = best->learner.kind == AttackerKind::kKeys;
  // Features by where they come from.
  std::vector<std::pair<FeatureSource, std::vector<Index>>> groups;
  const std::vector<FeatureSource> sources = by_keys ? data.key_sources() : data.feature_sources();
  for (std::size_t f = 0; f < sources.size(); ++f) {
    auto at =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == sources[f]; });
    if (at == groups.end()) at = groups.insert(groups.end(), {sources[f], {}});
    at->second.push_back(static_cast<Index>(f));
  }
  SeededRandom random = SeededRandom(data.options().seed).fork("sources");
  const auto loss_of = [&](const std::vector<Index>& shuffled) {
    return by_keys ? shuffled_loss(data.task().prior, *best, shuffled, whole, random, part.keys, part)
                   : shuffled_loss(data.task().prior, *best, shuffled, whole, random, part.data, part);
  };
  for (const std::size_t g : worth_shuffling(groups, loss_of)) {
    const Rate loss = loss_of(groups[g].second);
    const double deviations = deviations_of(loss);
    if (loss.value > kSourceShare * found.value && deviations > kClearSource)
      out.push_back({groups[g].first, loss.value, deviations});
  }
  std::sort(out.begin(), out.end(), [](const LeakSource& a, const LeakSource& b) { return a.nats > b.nats; });
  return out;
}

}  // namespace ppan
