#include "ppan/table/heads_batch.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ppan {
namespace {

constexpr Index kLeastBatches = 8;
constexpr Index kLeastUnits = 8;
constexpr Index kRowsPerUnit = 40;  // as of the adversary of a noise-input mechanism
// Decay times rows. What a network takes from 1,500 rows is worth nothing on others with a decay of 0.3
// (-0.4 nats of 0.09), and as much as anybody finds with 10; 12,000 rows and more were best served by 1.
constexpr double kDecayRows = 12000;
constexpr double kMostDecay = 20;

}  // namespace

HeadTokens tokens_of(const HeadsFit& fit) {
  HeadTokens out;
  Index first = 0;
  for (const Head& head : fit.heads) {
    std::map<Symbols, std::int32_t> known;
    Symbols& token = out.of_cell.emplace_back();
    for (Symbols cell : head.cell) {
      for (std::size_t m = 0; m < cell.size(); ++m) {
        const ColumnLevels& levels = fit.coded.released[static_cast<std::size_t>(head.member[m])];
        const auto spikes = static_cast<std::int32_t>(levels.spike.size());
        const auto bins = static_cast<std::int32_t>(levels.bin.size());
        if (levels.numeric && cell[m] >= spikes && cell[m] < spikes + bins) cell[m] = spikes;
      }
      token.push_back(
          known.try_emplace(std::move(cell), static_cast<std::int32_t>(known.size())).first->second);
    }
    out.count.push_back(static_cast<Index>(known.size()));
    out.first.push_back(first);
    first += out.count.back();
  }
  return out;
}

void to_tokens(const CellRows& cells, const HeadTokens& tokens, CellRows& out) {
  out.resize(cells.rows(), cells.cols());
  for (Index i = 0; i < cells.cols(); ++i) {
    for (Index h = 0; h < cells.rows(); ++h)
      out(h, i) = tokens.of_cell[static_cast<std::size_t>(h)][static_cast<std::size_t>(cells(h, i))];
  }
}

void HeadsBatch::gather(const HeadsRows& from, const HeadsView& view, std::span<const std::int32_t> which) {
  const auto count = static_cast<Index>(which.size());
  from.features.gather(which, features);
  own.resize(from.own.rows(), count);
  number.resize(from.number.rows(), count);
  for (Index i = 0; i < count; ++i) {
    own.col(i) = from.own.col(which[static_cast<std::size_t>(i)]);
    number.col(i) = from.number.col(which[static_cast<std::size_t>(i)]);
  }
  to_tokens(own, view.tokens, token);
  view.numbers.encode(number, number_code);
  const auto codes = [&](const Symbols& all, Symbols& to) {
    to.resize(which.size());
    for (std::size_t i = 0; i < which.size(); ++i) to[i] = all[static_cast<std::size_t>(which[i])];
  };
  hidden.resize(from.coded.hidden.size());
  for (std::size_t k = 0; k < hidden.size(); ++k) codes(from.coded.hidden[k].code, hidden[k]);
  task.resize(from.coded.task.size());
  for (std::size_t k = 0; k < task.size(); ++k) codes(from.coded.task[k].code, task[k]);
  codes(from.coded.kept.code, kept);
}

std::vector<std::int32_t> levels_of_all(const std::vector<CodedAttribute>& attributes) {
  std::vector<std::int32_t> out;
  for (const CodedAttribute& attribute : attributes) out.push_back(attribute.levels);
  return out;
}

Index heads_batch_size(Index rows, Index batch) {
  return std::clamp<Index>(rows / kLeastBatches, std::min<Index>(batch, 32), batch);
}

std::vector<Index> player_units(const std::vector<Index>& hidden, Index rows) {
  std::vector<Index> units = hidden.empty() ? std::vector<Index>{kLeastUnits} : hidden;
  for (Index& u : units) u = std::min(u, std::max(kLeastUnits, rows / kRowsPerUnit));
  return units;
}

double player_decay(double least, Index rows) {
  return std::clamp(kDecayRows / static_cast<double>(std::max<Index>(1, rows)), least, kMostDecay);
}

BatchCycle::BatchCycle(std::vector<std::int32_t> rows, Index batch)
    : rows_(std::move(rows)),
      batch_(std::min(static_cast<std::size_t>(batch), rows_.size())),
      at_(rows_.size()) {}

std::span<const std::int32_t> BatchCycle::next(RandomSource& random) {
  if (at_ + batch_ > rows_.size()) {
    shuffle(random, rows_);
    at_ = 0;
  }
  const auto out = std::span(rows_).subspan(at_, batch_);
  at_ += batch_;
  return out;
}

LearnAndTest learn_and_test(Index rows, double share, std::size_t most, RandomSource& random) {
  LearnAndTest out;
  out.learn.resize(static_cast<std::size_t>(rows));
  std::iota(out.learn.begin(), out.learn.end(), 0);
  shuffle(random, out.learn);
  const auto test = static_cast<std::ptrdiff_t>(
      std::min(static_cast<std::size_t>(share * static_cast<double>(rows)), most));
  out.test.assign(out.learn.end() - test, out.learn.end());
  out.learn.resize(out.learn.size() - static_cast<std::size_t>(test));
  return out;
}

}  // namespace ppan
