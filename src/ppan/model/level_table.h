#pragma once

// The levels of one column prepared for a release, which looks them up and draws from them for every row: the
// same bits as levels_of() and draw_cell() of codebook_levels.h, from the same random numbers.

#include <cstdint>
#include <vector>

#include "ppan/core/random.h"
#include "ppan/encode/encoder.h"
#include "ppan/model/codebook_levels.h"

namespace ppan {

/// Both arguments must outlive it. One for each thread.
class LevelTable {
 public:
  LevelTable(const ColumnLevels& levels, const Encoding& encoding);
  /// Level of each row of the column.
  void find(const EncodedColumn& from, Symbols& out);
  [[nodiscard]] DrawnCell draw(std::int32_t level, RandomSource& random) const {
    const Entry& entry = entries_[static_cast<std::size_t>(level)];
    if (entry.kind == Entry::Kind::kOne) return {entry.value, entry.code};
    if (entry.kind == Entry::Kind::kDrawn) return draw_cell(*levels_, level, *encoding_, random);
    return {list_[entry.first + static_cast<std::size_t>(random.index(entry.count))], 0};
  }

 private:
  // What a level holds.
  struct Entry {
    enum class Kind : std::uint8_t { kOne, kListed, kDrawn };
    Kind kind = Kind::kOne;
    std::int32_t code = 0;
    double value = 0;
    std::size_t first = 0;  // in the list
    std::int64_t count = 0;
  };
  // Of the numbers between two marks: their level, unless they are the spike at the upper end.
  struct Between {
    std::int32_t level = 0;
    std::int32_t spike_level = 0;
    double spike = 0;  // not a number: none
  };
  void make_buckets();
  void count_marks();
  const ColumnLevels* levels_;
  const Encoding* encoding_;
  std::vector<Entry> entries_;
  std::vector<double> list_;      // encoded
  std::vector<double> marks_;     // spikes and ends of bins, increasing
  std::vector<Between> between_;  // one more
  // The range of the marks in equal parts, each with the number of marks before it. Few marks lie in one
  // part, so a search that begins there is shorter than one over all marks.
  std::vector<std::uint32_t> bucket_;  // empty: they lie too close
  double buckets_per_unit_ = 0;
  std::vector<double> padded_;  // marks, then infinities
  int steps_ = 0;
  std::vector<double> written_;
  std::vector<std::uint32_t> less_;
};

}  // namespace ppan
