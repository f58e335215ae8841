#include "ppan/table/heads_path.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ppan/nn/adam.h"
#include "ppan/table/heads_batch.h"
#include "ppan/table/heads_players.h"

namespace ppan {
namespace {

constexpr int kSteps = 1200;
constexpr int kChecks = 12;  // of the training, on rows it does not learn from: the best state is kept
constexpr double kRate = 0.004;
constexpr double kDecay = 0.3;
constexpr double kMostGone = 0.8;  // share of the heads that is left out of a row in training
constexpr double kHeldOut = 0.2;
constexpr std::size_t kMostHeldOut = 3000;
constexpr std::size_t kMostRedrawn = 12;
constexpr std::size_t kCandidates = 64;   // heads that are looked at in each step but the first
constexpr double kLeastGain = 0.001;      // nats that a step must save ...
constexpr double kLeastGainShare = 0.01;  // ... and of the whole leakage
constexpr double kLeastCost = 1e-4;
// Of a path to the end: what a head tells by itself counts so much beside what its loss saves now. Enough to
// go before what saves by chance alone, and too little to go before what saves as much now.
constexpr double kAloneWeight = 0.25;

// What is known about attributes from rows without some of their heads.
class SubsetPlayer {
 public:
  SubsetPlayer(const HeadsFit& fit, const HeadsRows& rows, bool of_hidden, const std::vector<Index>& hidden)
      : fit_(fit), rows_(rows), of_hidden_(of_hidden), view_(fit) {
    CellNetworkShape shape;
    for (const Index count : view_.tokens.count) shape.cells.push_back(count + 1);  // the last: left out
    if (of_hidden) shape.cells.push_back(rows.coded.kept.levels);
    shape.numbers = view_.numbers.inputs();
    shape.hidden = player_units(hidden, rows.rows());
    numbers_.resize(fit.heads.size());
    for (std::size_t n = 0; n < fit.numbers.size(); ++n)
      numbers_[static_cast<std::size_t>(fit.numbers[n].head)].push_back(n);
    player_ = CellPlayer<float>(shape, levels_of_all(of_hidden ? rows.coded.hidden : rows.coded.task));
  }

  void train(const LearnAndTest& part, Index batch, RandomSource& random) {
    player_.initialise(random);
    const double decay = player_decay(kDecay, static_cast<Index>(part.learn.size()));
    const SeededRandom masks(random.next());
    Vector<float> best = player_.parameters();
    std::optional<double> most;
    BatchCycle cycle(part.learn, heads_batch_size(static_cast<Index>(part.learn.size()), batch));
    const RateSchedule rate{.rate = kRate, .decay_from = 0.3, .final_fraction = 0.02};
    for (int step = 0; step < kSteps; ++step) {
      batch_.gather(rows_, view_, cycle.next(random));
      see();
      leave_out_some(random);
      player_.score(seen_, number_, codes());
      player_.step(seen_, number_, rate.at(static_cast<double>(step) / kSteps), decay);
      if ((step + 1) % (kSteps / kChecks) != 0) continue;
      batch_.gather(rows_, view_, part.test);
      see();
      SeededRandom same = masks.fork("masks");
      leave_out_some(same);
      const double found = player_.score(seen_, number_, codes());
      if (most && found <= *most) continue;
      most = found;
      best = player_.parameters();
    }
    player_.parameters() = best;
    batch_.gather(rows_, view_, part.test);
  }

  // Mean log-likelihood of the test rows.
  double without(const std::vector<bool>& gone) {
    see();
    for (Index i = 0; i < seen_.cols(); ++i) {
      for (std::size_t h = 0; h < gone.size(); ++h) {
        if (gone[h]) leave_out(h, i);
      }
    }
    return player_.score(seen_, number_, codes());
  }

 private:
  [[nodiscard]] const std::vector<Symbols>& codes() const { return of_hidden_ ? batch_.hidden : batch_.task; }
  void see() {
    const Index heads = batch_.token.rows();
    seen_.resize(heads + (of_hidden_ ? 1 : 0), batch_.token.cols());
    seen_.topRows(heads) = batch_.token;
    for (Index i = 0; of_hidden_ && i < seen_.cols(); ++i)
      seen_(heads, i) = batch_.kept[static_cast<std::size_t>(i)];
    number_ = batch_.number_code;
  }
  void leave_out_some(RandomSource& random) {
    for (Index i = 0; i < seen_.cols(); ++i) {
      const double share = kMostGone * random.uniform();
      for (std::size_t h = 0; h < fit_.heads.size(); ++h) {
        if (random.uniform() < share) leave_out(h, i);
      }
    }
  }
  void leave_out(std::size_t head, Index row) {
    seen_(static_cast<Index>(head), row) = static_cast<std::int32_t>(view_.tokens.count[head]);
    for (const std::size_t n : numbers_[head])
      number_.col(row)
          .segment(view_.numbers.first(n), view_.numbers.first(n + 1) - view_.numbers.first(n))
          .setZero();
  }

  const HeadsFit& fit_;
  const HeadsRows& rows_;
  bool of_hidden_;
  HeadsView view_;
  std::vector<std::vector<std::size_t>> numbers_;  // of each head
  CellPlayer<float> player_;
  HeadsBatch batch_;
  CellRows seen_;
  Matrix<float> number_;
};

// Mean distortion of a head whose cells are drawn as often as they occur, for everybody alike.
std::vector<double> redrawn_distortions(const HeadsFit& fit, const CellRows& own) {
  std::vector<double> out;
  for (std::size_t h = 0; h < fit.heads.size(); ++h) {
    Vector<float> share = Vector<float>::Zero(fit.distortion[h].rows());
    for (Index i = 0; i < own.cols(); ++i) share[own(static_cast<Index>(h), i)] += 1;
    share /= static_cast<float>(own.cols());
    out.push_back(static_cast<double>(share.dot(fit.distortion[h] * share)));
  }
  return out;
}

// Every look takes a pass over all columns, so that of a wide table each step would take its square: those
// columns that alone saved most for what they cost are looked at again, in their own order.
void keep_telling(const std::vector<double>& saved, std::size_t chosen, std::vector<std::size_t>& looked_at) {
  std::erase(looked_at, chosen);
  if (looked_at.size() <= kCandidates) return;
  std::stable_sort(looked_at.begin(), looked_at.end(),
                   [&](std::size_t a, std::size_t b) { return saved[a] > saved[b]; });
  looked_at.resize(kCandidates);
  std::sort(looked_at.begin(), looked_at.end());
}

// The steps of a path, one after the other.
class PathSearch {
 public:
  struct Weights {
    double task = 1;
    double distortion = 1;
    bool to_the_end = false;
  };
  // `recipient` may be absent. Both have been trained.
  PathSearch(SubsetPlayer& adversary, SubsetPlayer* recipient, std::vector<double> distortion,
             Weights weights)
      : adversary_(adversary),
        recipient_(recipient),
        distortion_(std::move(distortion)),
        weights_(weights),
        gone_(distortion_.size(), true),
        alone_(distortion_.size(), 0),
        looked_at_(distortion_.size()) {
    nothing_ = adversary_.without(gone_);
    for (std::size_t h = 0; weights_.to_the_end && h < gone_.size(); ++h) {
      gone_[h] = false;
      alone_[h] = std::max(0.0, adversary_.without(gone_) - nothing_);
      gone_[h] = true;
    }
    gone_.assign(gone_.size(), false);
    look();
    least_ = std::max(kLeastGain, kLeastGainShare * told_);
    std::iota(looked_at_.begin(), looked_at_.end(), std::size_t{0});
  }

  [[nodiscard]] double told() const { return told_; }

  // The head of the next step, which is taken.
  std::optional<std::size_t> step() {
    std::vector<double> saved(gone_.size(), 0);
    std::optional<std::size_t> chosen;
    double most = 0;
    for (const std::size_t h : looked_at_) {
      gone_[h] = true;
      const double gain = told_ - (adversary_.without(gone_) - nothing_);
      const bool counts = gain >= least_ || weights_.to_the_end;
      const double lost =
          recipient_ != nullptr && counts ? std::max(0.0, task_ - recipient_->without(gone_)) : 0;
      gone_[h] = false;
      const double worth = weights_.to_the_end ? std::max(0.0, gain) + kAloneWeight * alone_[h] : gain;
      saved[h] = worth / (distortion_[h] + kLeastCost);
      const double rate = worth / (weights_.distortion * distortion_[h] + weights_.task * lost + kLeastCost);
      if (!counts || (chosen && rate <= most)) continue;
      most = rate;
      chosen = h;
    }
    if (!chosen) return chosen;
    keep_telling(saved, *chosen, looked_at_);
    gone_[*chosen] = true;
    look();
    return chosen;
  }

 private:
  void look() {
    told_ = adversary_.without(gone_) - nothing_;
    if (recipient_ != nullptr) task_ = recipient_->without(gone_);
  }

  SubsetPlayer& adversary_;
  SubsetPlayer* recipient_;
  std::vector<double> distortion_;
  Weights weights_;
  std::vector<bool> gone_;
  std::vector<double> alone_;  // what each head tells by itself
  std::vector<std::size_t> looked_at_;
  double nothing_ = 0;
  double told_ = 0;
  double task_ = 0;
  double least_ = 0;
};

}  // namespace

HeadsPath find_path(const HeadsFit& fit, const HeadsRows& rows, const std::vector<Index>& hidden, Index batch,
                    double task_weight, std::uint64_t seed, double distortion_weight, bool to_the_end) {
  SeededRandom random(seed);
  const LearnAndTest part = learn_and_test(rows.rows(), kHeldOut, kMostHeldOut, random);
  const std::size_t heads = fit.heads.size();
  SubsetPlayer adversary(fit, rows, true, hidden);
  std::optional<SubsetPlayer> recipient;
  if (!rows.coded.task.empty() && task_weight > 0) recipient.emplace(fit, rows, false, hidden);
  std::vector<std::int32_t> steps;
  HeadsPath out;
  if (!part.test.empty()) {
    adversary.train(part, batch, random);
    if (recipient) recipient->train(part, batch, random);
    const std::vector<double> distortion = redrawn_distortions(fit, rows.own);
    PathSearch search(adversary, recipient ? &*recipient : nullptr, distortion,
                      {task_weight, distortion_weight, to_the_end});
    out.told_at_first = search.told();
    while (steps.size() < kMostRedrawn && steps.size() + 1 < heads) {
      const auto chosen = search.step();
      if (!chosen) break;
      steps.push_back(static_cast<std::int32_t>(*chosen));
      out.redrawn.push_back((out.redrawn.empty() ? 0 : out.redrawn.back()) + distortion[*chosen]);
      out.told.push_back(search.told());
    }
  }
  for (std::size_t h = 0; h < heads; ++h) {
    if (std::find(steps.begin(), steps.end(), static_cast<std::int32_t>(h)) == steps.end())
      out.order.push_back(static_cast<std::int32_t>(h));
  }
  out.order.insert(out.order.end(), steps.rbegin(), steps.rend());
  return out;
}

}  // namespace ppan
