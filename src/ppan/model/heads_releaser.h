#pragma once

// Rows released by heads: encoded columns become features and cells, the drawer draws, and cells become
// columns again. What one chunk needed is reused for the next.

#include <cstdint>
#include <optional>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/random.h"
#include "ppan/encode/encoder.h"
#include "ppan/encode/layout.h"
#include "ppan/model/heads.h"
#include "ppan/model/heads_drawer.h"
#include "ppan/model/level_table.h"

namespace ppan {

/// Releases rows, through `heads`, which must outlive it. One for each thread.
class HeadsReleaser {
 public:
  HeadsReleaser(const Heads& heads, const Encoding& encoding, const Layout& observed_layout);
  /// Fills the columns of `out`, in the order of the released columns. `in` holds them all: they are
  /// observed.
  void release(const EncodedRows& in, RandomSource& random, std::vector<EncodedColumn>& out);

 private:
  // How an observed column becomes features.
  struct Seen {
    std::int32_t column = 0;            // of the encoding
    bool number = false;                // otherwise the feature of its level is 1
    Index first = 0;                    // its features
    bool may_be_missing = false;        // a number: the next feature is 1 where it is
    Index first_spike = 0;              // and that of a spike where it is at one
    std::size_t levels = 0;             // which of `observed` they are
    std::optional<std::size_t> same{};  // the released column that has the same levels
  };
  // A released column of a head.
  struct Member {
    std::size_t head = 0;
    std::size_t column = 0;
    Symbols level{};  // of each cell of the head
  };
  [[nodiscard]] std::vector<Index> see(const Layout& observed_layout);
  void look(const EncodedRows& in);
  void redraw(const Member& member, RandomSource& random, EncodedColumn& out);
  const Heads* heads_;
  const Encoding* encoding_;
  std::vector<Seen> seen_;
  Index ones_ = 0;  // features of a row that may be 1
  HeadsDrawer drawer_;
  std::vector<CellFinder> finders_;  // of each head
  std::vector<LevelTable> tables_;   // of each released column
  std::vector<Member> members_;
  std::vector<Symbols> level_;  // of each released column
  HeadsInput input_;
  CellRows own_;
  Matrix<float> noise_;
  Matrix<float> uniform_;
  CellRows drawn_;
};

}  // namespace ppan
