#include "ppan/source/held_rows.h"

#include <cmath>
#include <optional>
#include <utility>

#include "ppan/core/crypto.h"

namespace ppan {

/// Rows that somebody else holds.
class HeldSource final : public RowSource {
 public:
  explicit HeldSource(const HeldRows& held) : RowSource(held.name_), held_(&held) {
    set_columns(held.columns_);
    set_style(held.style_);
  }
  bool next(RowChunk& chunk) override {
    if (next_ == held_->chunks_.size()) return false;
    const RowChunk& from = held_->chunks_[next_++];
    chunk.start(from.rows(), from.columns(), from.first_row());
    chunk.set_lines(from.lines());
    for (std::size_t c = 0; c < from.columns(); ++c) chunk.cells(c) = from.cells(c);
    return true;
  }
  [[nodiscard]] std::optional<std::int64_t> row_count() const override { return held_->rows_; }

 private:
  const HeldRows* held_;
  std::size_t next_ = 0;
};

HeldRows::HeldRows(RowSource& source)
    : name_(source.name()), columns_(source.columns()), style_(source.style()) {
  for (RowChunk chunk; source.next(chunk); chunk = RowChunk()) {
    rows_ += chunk.rows();
    chunks_.push_back(std::move(chunk));
  }
}

std::unique_ptr<RowSource> HeldRows::open() const {
  return std::make_unique<HeldSource>(*this);
}

namespace {

class HeldPart final : public RowSink::Part {
 public:
  RowChunk chunk;
};

}  // namespace

HeldSink::HeldSink(std::string name, TextStyle style) {
  rows_.name_ = std::move(name);
  rows_.style_ = std::move(style);
}

void HeldSink::begin(const std::vector<RowColumn>& columns) {
  rows_.columns_ = columns;
}

std::unique_ptr<RowSink::Part> HeldSink::pack(const RowChunk& rows) const {
  auto part = std::make_unique<HeldPart>();
  copy_rows(rows, part->chunk);
  return part;
}

void HeldSink::write(std::unique_ptr<Part> part) {
  RowChunk& chunk = static_cast<HeldPart&>(*part).chunk;
  if (chunk.rows() == 0) return;
  rows_.rows_ += chunk.rows();
  rows_.chunks_.push_back(std::move(chunk));
}

std::string HeldRows::fingerprint() const {
  RowFingerprint out(columns_);
  for (const RowChunk& chunk : chunks_) out.add(chunk);
  return out.finish();
}

RowFingerprint::RowFingerprint(std::vector<RowColumn> columns) : columns_(std::move(columns)) {
  for (const RowColumn& column : columns_) add(column.name);
}

// Each cell with its length, so that no two tables run together; a digest of digests, block by block.
void RowFingerprint::add(std::string_view text) {
  constexpr std::size_t kBlock = std::size_t{1} << 20U;
  const auto size = static_cast<std::uint64_t>(text.size());
  block_.append(reinterpret_cast<const char*>(&size), sizeof size);
  block_ += text;
  if (block_.size() > kBlock) block_ = sha256(block_);
}

void RowFingerprint::add(const RowChunk& chunk) {
  for (std::size_t r = 0; r < static_cast<std::size_t>(chunk.rows()); ++r) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      cell_.clear();
      cell_.push_back(chunk.cells(c).is_missing(r) ? '-' : '+');
      append_text(columns_[c], chunk.cells(c), r, cell_);
      add(cell_);
    }
  }
}

std::string RowFingerprint::finish() {
  return sha256(block_);
}

}  // namespace ppan
