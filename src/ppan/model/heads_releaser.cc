#include "ppan/model/heads_releaser.h"

#include <algorithm>

#include "ppan/model/codebook.h"
#include "ppan/model/short_noise.h"

namespace ppan {

HeadsReleaser::HeadsReleaser(const Heads& heads, const Encoding& encoding, const Layout& observed_layout)
    : heads_(&heads),
      encoding_(&encoding),
      drawer_(heads.shape(codebook_features(observed_layout, heads.observed)), heads.parameters,
              see(observed_layout)),
      level_(heads.released.size()) {
  for (const ColumnLevels& levels : heads.released) tables_.emplace_back(levels, encoding);
  for (std::size_t h = 0; h < heads.heads.size(); ++h) {
    const Head& head = heads.heads[h];
    finders_.emplace_back(head, heads.released);
    for (std::size_t m = 0; m < head.member.size(); ++m) {
      Member member{.head = h, .column = static_cast<std::size_t>(head.member[m])};
      for (const Symbols& cell : head.cell) member.level.push_back(cell[m]);
      members_.push_back(std::move(member));
    }
  }
}

// Features as codebook_features() has them; returns those that are numbers.
std::vector<Index> HeadsReleaser::see(const Layout& observed_layout) {
  std::vector<Index> numbers;
  Index next = observed_layout.width;
  for (std::size_t c = 0; c < observed_layout.blocks.size(); ++c) {
    const Block& block = observed_layout.blocks[c];
    const ColumnLevels& levels = heads_->observed[c];
    Seen seen{.column = block.column,
              .number = block.kind != BlockKind::kCategory,
              .first = block.first,
              .may_be_missing = block.kind == BlockKind::kNumberOrMissing,
              .first_spike = next,
              .levels = c};
    const auto same = std::find(heads_->released.begin(), heads_->released.end(), levels);
    if (same != heads_->released.end()) seen.same = static_cast<std::size_t>(same - heads_->released.begin());
    if (seen.number) {
      numbers.push_back(block.first);
      ones_ += (seen.may_be_missing ? 1 : 0) + (levels.spike.empty() ? 0 : 1);
    } else {
      ++ones_;
    }
    next += static_cast<Index>(levels.spike.size());
    seen_.push_back(seen);
  }
  return numbers;
}

void HeadsReleaser::release(const EncodedRows& in, RandomSource& random, std::vector<EncodedColumn>& out) {
  out.resize(heads_->released.size());
  for (std::size_t c = 0; c < out.size(); ++c) {
    const EncodedColumn& from = in.columns[in.position_of(heads_->released[c].column)];
    tables_[c].find(from, level_[c]);
    out[c].code = from.code;  // a number whose cell stays is released as it is
    out[c].value = from.value;
  }
  own_.resize(drawer_.heads(), in.rows);
  for (std::size_t h = 0; h < finders_.size(); ++h)
    finders_[h].find(level_, own_.data() + h, finders_.size());
  if (drawer_.looks()) {
    look(in);
    noise_.resize(heads_->noise_inputs, in.rows);
    fill_short_normal(random, noise_);
  }
  uniform_.resize(2 * drawer_.heads(), in.rows);
  fill_short_uniform(random, uniform_);
  drawer_.draw(input_, own_, noise_, uniform_, drawn_);
  for (const Member& member : members_) redraw(member, random, out[member.column]);
}

// What stands in the cells that did not stay.
void HeadsReleaser::redraw(const Member& member, RandomSource& random, EncodedColumn& out) {
  const LevelTable& table = tables_[member.column];
  const auto head = static_cast<Index>(member.head);
  const bool number = !out.value.empty();
  for (std::size_t r = 0; r < out.code.size(); ++r) {
    const auto row = static_cast<Index>(r);
    if (drawer_.stays(member.head, row)) continue;
    const std::int32_t level = member.level[static_cast<std::size_t>(drawn_(head, row))];
    const DrawnCell cell = table.draw(level, random);
    out.code[r] = cell.code;
    if (number) out.value[r] = cell.value;
  }
}

// What the network sees of the rows.
void HeadsReleaser::look(const EncodedRows& in) {
  const auto rows = static_cast<std::size_t>(in.rows);
  Index numbers = 0;
  Index ones = 0;
  for (const Seen& seen : seen_) numbers += seen.number ? 1 : 0;
  input_.numbers.resize(numbers, in.rows);
  input_.ones.resize(ones_, in.rows);
  numbers = 0;
  // Of each row the feature of its code, those from `first` on, if that is at least `least` and below `end`.
  const auto mark = [&](const Symbols& code, Index first, std::int32_t least, std::int32_t end) {
    std::int32_t* to = input_.ones.data() + ones++;
    const std::int32_t none = drawer_.no_feature();
    for (std::size_t r = 0; r < rows; ++r, to += ones_)
      *to = code[r] >= least && code[r] < end ? static_cast<std::int32_t>(first) + code[r] : none;
  };
  for (const Seen& seen : seen_) {
    const EncodedColumn& from = in.columns[in.position_of(seen.column)];
    if (!seen.number) {
      mark(from.code, seen.first, 0, encoding_->columns[static_cast<std::size_t>(seen.column)].width());
      continue;
    }
    float* to = input_.numbers.data() + numbers++;
    for (std::size_t r = 0; r < rows; ++r, to += input_.numbers.rows())
      *to = std::clamp(static_cast<float>(from.value[r]), -kFarthestFeature, kFarthestFeature);
    if (seen.may_be_missing) mark(from.code, seen.first, 1, 2);
    const ColumnLevels& levels = heads_->observed[seen.levels];
    if (levels.spike.empty()) continue;
    const auto spikes = static_cast<std::int32_t>(levels.spike.size());
    if (seen.same) {
      mark(level_[*seen.same], seen.first_spike, 0, spikes);
    } else {
      mark(levels_of(in, levels, *encoding_), seen.first_spike, 0, spikes);
    }
  }
}

}  // namespace ppan
