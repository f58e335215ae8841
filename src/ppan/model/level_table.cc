#include "ppan/model/level_table.h"

#include <algorithm>
#include <limits>

#include "ppan/encode/encode_all.h"

namespace ppan {

LevelTable::LevelTable(const ColumnLevels& levels, const Encoding& encoding)
    : levels_(&levels), encoding_(&encoding), entries_(static_cast<std::size_t>(levels.levels())) {
  if (!levels.numeric) {
    for (std::size_t l = 0; l < entries_.size(); ++l) entries_[l].code = static_cast<std::int32_t>(l);
    return;
  }
  const ColumnEncoding& how = encoding.columns[static_cast<std::size_t>(levels.column)];
  for (std::size_t s = 0; s < levels.spike.size(); ++s) entries_[s].value = how.encode(levels.spike[s]);
  for (std::size_t b = 0; b < levels.bin.size(); ++b) {
    Entry& entry = entries_[levels.spike.size() + b];
    entry.kind = levels.listed ? Entry::Kind::kListed : Entry::Kind::kDrawn;
    if (!levels.listed) continue;
    entry.first = list_.size();
    entry.count = static_cast<std::int64_t>(levels.bin[b].size());
    for (const double knot : levels.bin[b]) list_.push_back(how.encode(knot));
  }
  if (levels.may_be_missing) entries_.back() = {.code = 1};
  marks_ = levels.spike;
  for (std::size_t b = 0; b + 1 < levels.bin.size(); ++b) marks_.push_back(levels.bin[b].back());
  std::sort(marks_.begin(), marks_.end());
  for (std::size_t m = 0; m <= marks_.size(); ++m) {
    const bool last = m == marks_.size();
    // Up to the mark; behind the last, beyond all of them.
    const double at = last ? std::numeric_limits<double>::infinity() : marks_[m];
    const auto next = std::lower_bound(levels.spike.begin(), levels.spike.end(), at);
    Between between{.spike = std::numeric_limits<double>::quiet_NaN()};
    if (next != levels.spike.end()) {
      between.spike = *next;
      between.spike_level = static_cast<std::int32_t>(next - levels.spike.begin());
    }
    if (!levels.bin.empty()) {
      const auto end = std::find_if(levels.bin.begin(), levels.bin.end() - 1,
                                    [&](const std::vector<double>& knots) { return knots.back() >= at; });
      between.level = static_cast<std::int32_t>(levels.spike.size()) +
                      static_cast<std::int32_t>(end - levels.bin.begin());
    }
    between_.push_back(between);
  }
  make_buckets();
}

void LevelTable::make_buckets() {
  constexpr std::size_t kBuckets = 512;
  constexpr std::size_t kMostSteps = 3;
  if (marks_.size() < 8) return;
  buckets_per_unit_ = static_cast<double>(kBuckets - 1) / (marks_.back() - marks_.front());
  if (!(buckets_per_unit_ > 0 && buckets_per_unit_ < std::numeric_limits<double>::max())) return;
  std::vector<std::size_t> marks(kBuckets, 0);
  for (const double mark : marks_) {
    const auto bucket = static_cast<std::size_t>((mark - marks_.front()) * buckets_per_unit_);
    ++marks[std::min(bucket, kBuckets - 1)];
  }
  const std::size_t most = *std::max_element(marks.begin(), marks.end());
  if (most > kMostSteps) return;
  steps_ = static_cast<int>(most);
  std::uint32_t below = 0;
  for (const std::size_t in_bucket : marks) {
    bucket_.push_back(below);
    below += static_cast<std::uint32_t>(in_bucket);
  }
  padded_ = marks_;
  padded_.resize(marks_.size() + most, std::numeric_limits<double>::infinity());
}

// How many marks are less than each number. A number and a mark in its bucket are put there by the same
// arithmetic, which never turns their order round: marks of earlier buckets are less, and of later ones are
// not.
void LevelTable::count_marks() {
  if (bucket_.empty()) {
    count_less(marks_, written_, false, less_);
    return;
  }
  less_.resize(written_.size());
  const auto last = static_cast<double>(bucket_.size() - 1);
  const double first = marks_.front();
  for (std::size_t r = 0; r < written_.size(); ++r) {
    const double at = std::min(std::max((written_[r] - first) * buckets_per_unit_, 0.0), last);
    less_[r] = bucket_[static_cast<std::size_t>(static_cast<std::int32_t>(at))];
  }
  for (int step = 0; step < steps_; ++step) {
    for (std::size_t r = 0; r < written_.size(); ++r)
      less_[r] += static_cast<std::uint32_t>(padded_[less_[r]] < written_[r]);
  }
}

void LevelTable::find(const EncodedColumn& from, Symbols& out) {
  if (!levels_->numeric) {
    out = from.code;
    return;
  }
  out.resize(from.code.size());
  written_.assign(from.value.begin(), from.value.end());
  decode_all(encoding_->columns[static_cast<std::size_t>(levels_->column)], written_);
  if (marks_.empty()) {
    less_.assign(out.size(), 0);
  } else {
    count_marks();
  }
  if (levels_->bin.empty()) {  // a number between spikes belongs to the nearer one
    for (std::size_t r = 0; r < out.size(); ++r) {
      const Between& between = between_[less_[r]];
      out[r] = written_[r] == between.spike ? between.spike_level : levels_->level_of(written_[r]);
    }
  } else {
    for (std::size_t r = 0; r < out.size(); ++r) {
      const Between& between = between_[less_[r]];
      out[r] = written_[r] == between.spike ? between.spike_level : between.level;
    }
  }
  if (!levels_->may_be_missing) return;
  for (std::size_t r = 0; r < out.size(); ++r) {
    if (from.code[r] == 1) out[r] = levels_->missing_level();
  }
}

}  // namespace ppan
