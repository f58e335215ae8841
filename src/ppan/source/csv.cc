#include "ppan/source/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unordered_map>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "ppan/core/cell_text.h"
#include "ppan/source/number.h"

namespace ppan {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16U;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20U;  // a chunk ends with the row that passes this
constexpr std::size_t kSampleBytes = std::size_t{1} << 20U;
constexpr std::string_view kCandidates = ",\t;|";
constexpr std::size_t kGuessRows = 200;

bool is_space(char c) {
  return c == ' ' || c == '\t';
}

std::string_view without_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Bit i is set when byte i of the 64 is `a` or `b`.
std::uint64_t match_either(const char* bytes, char a, char b) {
  std::uint64_t mask = 0;
#if defined(__SSE2__)
  const __m128i all_a = _mm_set1_epi8(a);
  const __m128i all_b = _mm_set1_epi8(b);
  for (unsigned part = 0; part < 4; ++part) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + std::size_t{16} * part));
    const __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(text, all_a), _mm_cmpeq_epi8(text, all_b));
    mask |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(hit))) << (16U * part);
  }
#else
  for (unsigned i = 0; i < 64; ++i) {
    mask |= static_cast<std::uint64_t>(bytes[i] == a || bytes[i] == b) << i;
  }
#endif
  return mask;
}

// Rows of a sample, leniently: a stray quote ends at the end of the sample. Good enough to judge by.
std::vector<std::vector<std::string>> split_sample(std::string_view sample, char delimiter,
                                                   std::size_t most) {
  std::vector<std::vector<std::string>> rows;
  std::size_t at = 0;
  while (at < sample.size() && rows.size() < most) {
    std::vector<std::string> row;
    for (bool more = true; more;) {
      std::string field;
      if (at < sample.size() && sample[at] == '"') {
        field += '"';  // kept, so that a quoted number is not taken for a number
        for (++at; at < sample.size(); ++at) {
          if (sample[at] == '"' && ++at < sample.size() && sample[at] != '"') break;
          if (at < sample.size()) field += sample[at];
        }
      }
      while (at < sample.size() && sample[at] != delimiter && sample[at] != '\n') field += sample[at++];
      more = at < sample.size() && sample[at] == delimiter;
      ++at;
      if (!more && field.ends_with('\r')) field.pop_back();
      row.push_back(std::move(field));
    }
    if (row.size() > 1 || !row[0].empty()) rows.push_back(std::move(row));
  }
  return rows;
}

char guess_delimiter(std::string_view sample) {
  char best = ',';
  double best_share = 0;
  std::size_t best_fields = 1;
  for (const char candidate : kCandidates) {
    std::unordered_map<std::size_t, std::size_t> seen;
    const auto rows = split_sample(sample, candidate, kGuessRows);
    for (const auto& row : rows) ++seen[row.size()];
    std::size_t fields = 1;
    std::size_t count = 0;
    for (const auto& [size, times] : seen) {
      if (size > 1 && (times > count || (times == count && size > fields))) {
        fields = size;
        count = times;
      }
    }
    const double share = rows.empty() ? 0 : static_cast<double>(count) / static_cast<double>(rows.size());
    if (share > best_share || (share == best_share && fields > best_fields)) {
      best = candidate;
      best_share = share;
      best_fields = fields;
    }
  }
  return best;
}

}  // namespace

std::string delimiter_name(char delimiter) {
  return delimiter == '\t' ? std::string("tab") : std::string(1, delimiter);
}

std::string show_cell(std::string_view cell) {
  return marked_value(quoted_text(cell));
}

std::string quoted_text(std::string_view cell) {
  constexpr std::size_t kMost = 60;
  std::size_t end = std::min(cell.size(), kMost);
  while (end < cell.size() && end > 0 && (static_cast<unsigned char>(cell[end]) & 0xC0U) == 0x80U) --end;
  std::string out = "\"";
  for (const char c : cell.substr(0, end)) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '"':
        out += "\\\"";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  if (end < cell.size()) out += "...";
  return out + '"';
}

bool is_missing(std::string_view cell, std::span<const std::string> markers) {
  cell = without_space(cell);
  // Length and first byte rule most cells out before any text is compared.
  return std::any_of(markers.begin(), markers.end(), [&](const std::string& m) {
    return m.size() == cell.size() && (m.empty() || (m.front() == cell.front() && m == cell));
  });
}

Problems CsvOptions::check() const {
  ProblemList problems;
  if (delimiter) {
    const unsigned char d = static_cast<unsigned char>(*delimiter);
    problems.require(d != '"' && d != '\n' && d != '\r' && d != 0 && d < 0x80, "delimiter",
                     "must be one ASCII character other than a quote or a line end");
    problems.require(*delimiter != decimal, "delimiter", "is also the decimal mark");
  }
  problems.require(decimal == '.' || decimal == ',', "decimal", "must be '.' or ','");
  problems.require_at_least("chunk_rows", static_cast<double>(chunk_rows), 1);
  problems.require_between("limits.field_bytes", static_cast<double>(limits.field_bytes), 1, 1U << 30U);
  problems.require_between("limits.row_bytes", static_cast<double>(limits.row_bytes), 1, 1U << 28U);
  problems.require_at_least("limits.columns", static_cast<double>(limits.columns), 1);
  return problems.take();
}

/// Finds delimiters and line ends, 64 bytes at a time.
class CsvReader::Scan {
 public:
  Scan(const std::vector<char>& bytes, char delimiter, std::size_t from)
      : data_(bytes.data()), size_(bytes.size()), delimiter_(delimiter), base_(from) {
    load();
  }
  /// First delimiter or line end at or behind `from`, which never decreases; the size when there is none.
  std::size_t next(std::size_t from) {
    while (from >= base_ + 64) {
      base_ = from >= base_ + 128 ? from : base_ + 64;
      load();
    }
    std::uint64_t mask = mask_ & (~std::uint64_t{0} << (from - base_));
    while (mask == 0) {
      base_ += 64;
      if (base_ >= size_) {
        mask_ = 0;
        return size_;
      }
      load();
      mask = mask_;
    }
    return base_ + static_cast<std::size_t>(std::countr_zero(mask));
  }

 private:
  void load() {
    if (base_ + 64 <= size_) {
      mask_ = match_either(data_ + base_, delimiter_, '\n');
      return;
    }
    std::array<char, 64> last{};
    if (base_ < size_) std::memcpy(last.data(), data_ + base_, size_ - base_);
    mask_ = match_either(last.data(), delimiter_, '\n');
  }

  const char* data_;
  std::size_t size_;
  char delimiter_;
  std::size_t base_;
  std::uint64_t mask_ = 0;
};

CsvReader::CsvReader(std::unique_ptr<ByteSource> source, CsvOptions options)
    : source_(std::move(source)), options_(std::move(options)) {
  require_none(options_.check(), "options for reading delimited text");
  while (!ended_ && buffer_.size() < kBlockBytes) read_more();
  const std::string_view head(buffer_.data(), buffer_.size());
  if (head.empty()) throw Error(ErrorCode::kBadInput, fmt::format("{} is empty", source_->name()));
  const bool bom = head.starts_with("\xEF\xBB\xBF");
  if (head.find('\n') == std::string_view::npos && head.find('\r') < head.size() - 1)
    fail(1, "lines end with a carriage return alone", "convert it: tr '\\r' '\\n' < in.csv > out.csv");
  if (bom) position_ = 3;
  delimiter_ = ',';
  if (options_.delimiter) {
    delimiter_ = *options_.delimiter;
  } else {
    std::string_view sample = head.substr(position_);
    const std::size_t last_line = sample.rfind('\n');
    if (!ended_ && last_line != std::string_view::npos) sample = sample.substr(0, last_line + 1);
    delimiter_ = guess_delimiter(sample);
  }
  take_header();
}

// Appends the next block; false when there was none.
bool CsvReader::read_more() {
  if (ended_) return false;
  const std::size_t before = buffer_.size();
  // A row that is not whole is scanned anew after each read. That it doubles before keeps the whole linear in
  // its length, even where a pipe gives a byte at a time.
  const std::size_t least = std::max<std::size_t>(1, before - position_);
  const std::size_t wanted = std::max(kBlockBytes, least);
  buffer_.resize(before + wanted);
  std::size_t got = 0;
  while (got < least && !ended_) {
    const std::size_t more = source_->read(buffer_.data() + before + got, wanted - got);
    got += more;
    ended_ = more == 0;
  }
  buffer_.resize(before + got);
  work_ += before - position_ + got;
  const auto old_end = buffer_.begin() + static_cast<std::ptrdiff_t>(before);
  const auto row_begin = buffer_.begin() + static_cast<std::ptrdiff_t>(position_);
  check_text({buffer_.data() + before, got}, line_ + std::count(row_begin, old_end, '\n'));
  return got > 0;
}

// Lets go of what lies before position_, once that is most of the buffer, so that each byte is moved about
// once.
void CsvReader::drop_consumed() {
  if (position_ == 0 || position_ < buffer_.size() - position_) return;
  work_ += buffer_.size() - position_;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(position_));
  position_ = 0;
}

// Refuses what is not UTF-8 text; `line` is the one on which `bytes` begins.
void CsvReader::check_text(std::span<const char> bytes, std::int64_t line) {
  const std::string_view text(bytes.data(), bytes.size());
  if (line_ == 1 && row_ == 0 && buffer_.size() == text.size() && !text.empty()) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
      fail(1, "the file is UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 in.csv > out.csv");
    if (text.starts_with("\x1F\x8B"))
      fail(1, "the file is compressed with gzip", "let its name end in .gz, or decompress it first");
    if (text.starts_with("PK\x03\x04"))
      fail(1, "the file is a spreadsheet or zip archive, not text", "export the sheet as CSV (UTF-8)");
  }
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    fail(line + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n'),
         "the file holds a NUL byte, so it is not text", "give a CSV or TSV file (UTF-8)");
  }
  for (std::size_t i = 0; i < text.size();) {
    if (utf8_.remaining == 0) {
      std::uint64_t word = 0;
      while (i + 8 <= text.size() &&
             (std::memcpy(&word, text.data() + i, 8), (word & 0x8080808080808080U) == 0))
        i += 8;
      if (i == text.size()) break;
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    bool ok = true;
    if (utf8_.remaining > 0) {
      ok = byte >= utf8_.low && byte <= utf8_.high;
      utf8_ = {utf8_.remaining - 1};
    } else if (byte >= 0x80) {
      // Second bytes that would make an overlong form, a surrogate or a number beyond U+10FFFF are excluded.
      if (byte >= 0xC2 && byte <= 0xDF) {
        utf8_ = {1};
      } else if (byte >= 0xE0 && byte <= 0xEF) {
        utf8_ = {2, byte == 0xE0 ? static_cast<unsigned char>(0xA0) : static_cast<unsigned char>(0x80),
                 byte == 0xED ? static_cast<unsigned char>(0x9F) : static_cast<unsigned char>(0xBF)};
      } else if (byte >= 0xF0 && byte <= 0xF4) {
        utf8_ = {3, byte == 0xF0 ? static_cast<unsigned char>(0x90) : static_cast<unsigned char>(0x80),
                 byte == 0xF4 ? static_cast<unsigned char>(0x8F) : static_cast<unsigned char>(0xBF)};
      } else {
        ok = false;
      }
    }
    if (!ok) {
      fail(line + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n'),
           fmt::format("byte 0x{:02X} is not valid UTF-8", byte),
           "convert the file, for example: iconv -f LATIN1 -t UTF-8 in.csv > out.csv");
    }
    ++i;
  }
  if (ended_ && utf8_.remaining > 0)
    fail(line, "the file ends in the middle of a UTF-8 character", "fetch it again");
}

void CsvReader::fail(std::int64_t line, const std::string& what, const std::string& fix) const {
  std::string text = fmt::format("{} line {}: {}", source_->name(), line, what);
  if (!names_.empty()) {
    text += fmt::format("\n  options: delimiter={} ({})  header={}", delimiter_name(delimiter_),
                        options_.delimiter ? "given" : "detected", options_.header);
  }
  throw Error(ErrorCode::kBadInput, text, fix);
}

// A field as it is found: what is in it, and where what ends it lies.
struct CsvReader::Field {
  std::size_t start = 0;
  std::size_t end = 0;
  std::size_t stop = 0;
  std::int64_t line_ends = 0;  // within
  bool doubled = false;        // it holds doubled quotes
};

// The field whose opening quote is at field.start; false if more of the file is needed to tell. `lines`: of
// the row, before it.
bool CsvReader::scan_quoted(Field& field, std::int64_t lines) const {
  const char* const data = buffer_.data();
  const std::size_t size = buffer_.size();
  const std::size_t start = field.start;
  for (std::size_t from = start + 1;; from = field.end + 2) {
    const auto* const quote = static_cast<const char*>(std::memchr(data + from, '"', size - from));
    if (quote == nullptr) {
      if (!ended_) return false;
      const std::string_view begin{data + start + 1, std::min<std::size_t>(size - start - 1, 40)};
      fail(line_,
           fmt::format("a quoted field in the row that starts here is never closed{}",
                       marked_value("; it begins " + quoted_text(begin), "")),
           "close the quote, or write a quote inside a field as \"\"");
    }
    field.end = static_cast<std::size_t>(quote - data);
    if (field.end + 1 == size && !ended_) return false;
    if (field.end + 1 == size || data[field.end + 1] != '"') break;
    field.doubled = true;
  }
  field.line_ends = std::count(data + start + 1, data + field.end, '\n');
  std::size_t stop = field.end + 1;
  if (options_.trim) {
    while (stop < size && is_space(data[stop]) && data[stop] != delimiter_) ++stop;
  }
  if (stop < size && data[stop] == '\r' && (stop + 1 == size || data[stop + 1] == '\n')) ++stop;
  if (stop == size && !ended_) return false;
  if (stop < size && data[stop] != delimiter_ && data[stop] != '\n') {
    const std::string_view around{data + start, std::min<std::size_t>(size - start, stop - start + 10)};
    fail(line_ + lines + field.line_ends - 1,
         fmt::format("text follows a closing quote{}", marked_value(": " + quoted_text(around), "")),
         "write a quote inside a field as \"\", and quote the whole field");
  }
  field.stop = stop;
  ++field.start;
  return true;
}

// The same for a field without quotes.
bool CsvReader::scan_plain(Field& field, Scan& scan) const {
  const char* const data = buffer_.data();
  const std::size_t size = buffer_.size();
  field.stop = scan.next(field.start);
  if (field.stop == size && !ended_) return false;
  field.end = field.stop;
  const bool last = field.stop == size || data[field.stop] == '\n';
  if (last && field.end > field.start && data[field.end - 1] == '\r') --field.end;
  if (options_.trim) {
    while (field.end > field.start && is_space(data[field.end - 1])) --field.end;
  }
  return true;
}

// Makes one quote of two, in place.
void CsvReader::unescape(CsvChunk& chunk) {
  for (const std::size_t index : unescape_) {
    TextCell& cell = chunk.cells_[index];
    char* const text = buffer_.data() + cell.first;
    std::uint32_t length = 0;
    for (std::uint32_t i = 0; i < cell.length; ++i) {
      text[length++] = text[i];
      if (text[i] == '"') ++i;
    }
    cell.length = length;
  }
}

bool CsvReader::is_blank_row(const CsvChunk& chunk, std::size_t cells) const {
  if (names_.empty() || cells == names_.size()) return false;
  if (cells == 1 && chunk.cells_.back().length == 0) return true;
  fail(line_,
       fmt::format("the row has {} {}, but the {} has {}", cells, cells == 1 ? "field" : "fields",
                   options_.header ? "header" : "first row", names_.size()),
       "quote fields that hold the delimiter or a line end, or set read.delimiter");
}

// Adds the cells of the row that begins at position_, and moves that behind it. Cells are places in buffer_.
CsvReader::RowEnd CsvReader::scan_row(CsvChunk& chunk, Scan& scan) {
  const char* const data = buffer_.data();
  const std::size_t size = buffer_.size();
  const std::size_t first_cell = chunk.cells_.size();
  const std::size_t most_columns = names_.empty() ? options_.limits.columns : names_.size();
  std::int64_t lines = 1;
  unescape_.clear();
  Field field{.start = position_};
  for (;;) {
    if (options_.trim) {
      while (field.start < size && is_space(data[field.start]) && data[field.start] != delimiter_)
        ++field.start;
    }
    const bool whole =
        field.start < size && data[field.start] == '"' ? scan_quoted(field, lines) : scan_plain(field, scan);
    if (!whole) {
      work_ += size - position_;
      chunk.cells_.resize(first_cell);
      return RowEnd::kNeedMore;
    }
    lines += field.line_ends;
    if (field.doubled) unescape_.push_back(chunk.cells_.size());
    const std::size_t length = field.end - field.start;
    if (length > options_.limits.field_bytes) {
      fail(line_,
           fmt::format("field {} is longer than {} bytes", chunk.cells_.size() - first_cell + 1,
                       options_.limits.field_bytes),
           "look for a quote that is not closed, or drop the column before");
    }
    chunk.cells_.push_back({static_cast<std::uint32_t>(field.start), static_cast<std::uint32_t>(length)});
    if (field.stop >= size || data[field.stop] == '\n') break;
    field = {.start = field.stop + 1};
    if (chunk.cells_.size() - first_cell >= most_columns && names_.empty()) {
      fail(line_, fmt::format("the row has more than {} fields", most_columns), "check the delimiter");
    }
  }
  // Only now is the row known to be whole, so that it will not be scanned again; but for a first row that is
  // data.
  if (!names_.empty() || options_.header) unescape(chunk);
  work_ += std::min(field.stop + 1, size) - position_;
  position_ = std::min(field.stop + 1, size);
  if (is_blank_row(chunk, chunk.cells_.size() - first_cell)) {
    chunk.cells_.pop_back();
  } else {
    chunk.lines_.push_back(line_);
  }
  line_ += lines;
  return RowEnd::kRow;
}

void CsvReader::take_header() {
  CsvChunk chunk;
  std::optional<Scan> scan;
  std::size_t begin = 0;
  for (;;) {
    if (!scan) scan.emplace(buffer_, delimiter_, position_);
    begin = position_;
    if (position_ < buffer_.size()) {
      const bool whole = scan_row(chunk, *scan) == RowEnd::kRow;
      if (whole && (chunk.cells_.size() > 1 || chunk.cells_[0].length > 0)) break;
      chunk.cells_.clear();
      chunk.lines_.clear();
      if (whole) continue;  // a blank line
    }
    if (buffer_.size() - position_ > options_.limits.row_bytes)
      fail(line_, fmt::format("the first row is longer than {} bytes", options_.limits.row_bytes),
           "check that the file is a table with one record per line");
    drop_consumed();
    if (!read_more() && position_ >= buffer_.size())
      throw Error(ErrorCode::kBadInput, fmt::format("{} holds no rows", source_->name()));
    scan.reset();
  }
  const std::int64_t line = chunk.lines_[0];
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> seen;
  for (std::size_t c = 0; c < chunk.cells_.size(); ++c) {
    std::string name(buffer_.data() + chunk.cells_[c].first, chunk.cells_[c].length);
    if (!options_.header || without_space(name).empty()) name = fmt::format("column{}", c + 1);
    const auto [before, is_new] = seen.emplace(name, c);
    if (!is_new) {
      fail(line,
           fmt::format("fields {} and {} of the header are both named {}", before->second + 1, c + 1,
                       quoted_text(name)),
           "rename one of them, or set read.header = false");
    }
    names.push_back(std::move(name));
  }
  names_ = std::move(names);
  if (!options_.header) {
    position_ = begin;
    line_ = line;
  }
}

bool CsvReader::next(CsvChunk& chunk) {
  chunk.cells_.clear();
  chunk.lines_.clear();
  chunk.columns_ = names_.size();
  chunk.first_row_ = row_;
  drop_consumed();
  std::size_t begin = position_;
  Scan scan(buffer_, delimiter_, position_);
  while (chunk.rows() < options_.chunk_rows) {
    if (chunk.rows() == 0) begin = position_;  // blank lines belong to no chunk
    if (position_ - begin >= kChunkBytes) break;
    const bool empty = position_ >= buffer_.size();
    if (!empty && scan_row(chunk, scan) == RowEnd::kRow) continue;
    if (buffer_.size() - position_ > options_.limits.row_bytes) {
      fail(line_, fmt::format("the row is longer than {} bytes", options_.limits.row_bytes),
           "look for a quote that is not closed");
    }
    if (chunk.rows() == 0) {
      drop_consumed();
      begin = position_;
    }
    if (!read_more() && empty) break;
    scan = Scan(buffer_, delimiter_, position_);
  }
  if (chunk.rows() == 0) begin = position_;
  chunk.buffer_.assign(buffer_.begin() + static_cast<std::ptrdiff_t>(begin),
                       buffer_.begin() + static_cast<std::ptrdiff_t>(position_));
  for (TextCell& cell : chunk.cells_) cell.first -= static_cast<std::uint32_t>(begin);
  work_ += chunk.buffer_.size();
  row_ += chunk.rows();
  return chunk.rows() > 0;
}

std::optional<std::size_t> CsvReader::find(std::string_view name) const {
  const auto at = std::find(names_.begin(), names_.end(), name);
  if (at == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - names_.begin());
}

CsvReader open_csv(const std::filesystem::path& path, const CsvOptions& options) {
  return CsvReader(open_source(path, options.limits.unpacked_bytes), options);
}

std::string sample_of(ByteSource& source) {
  std::string sample(kSampleBytes, '\0');
  std::size_t used = 0;
  while (used < sample.size()) {
    const std::size_t got = source.read(sample.data() + used, sample.size() - used);
    if (got == 0) {
      sample.resize(used);
      return sample;
    }
    used += got;
  }
  return sample;
}

CsvGuess guess_csv(std::string_view sample) {
  CsvGuess guess;
  if (sample.starts_with("\xEF\xBB\xBF")) sample.remove_prefix(3);
  if (const auto end = sample.rfind('\n'); sample.size() >= kSampleBytes && end != std::string_view::npos)
    sample = sample.substr(0, end + 1);
  guess.delimiter = guess_delimiter(sample);
  const auto rows = split_sample(sample, guess.delimiter, kGuessRows);
  if (rows.empty()) return guess;

  std::size_t behind_first = 0;
  std::size_t spaced = 0;
  std::size_t comma_numbers = 0;
  std::size_t point_numbers = 0;
  bool any_number = false;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const std::string& field = rows[r][c];
      if (c > 0) {
        ++behind_first;
        if (field.starts_with(' ')) ++spaced;
      }
      const bool by_point = parse_number(field, '.').ok();
      const bool by_comma = parse_number(field, ',').ok();
      any_number = any_number || by_point || by_comma;
      if (by_point && !by_comma) ++point_numbers;
      if (by_comma && !by_point) ++comma_numbers;
    }
  }
  guess.trim = behind_first > 0 && spaced * 10 >= behind_first * 9;
  if (guess.delimiter != ',' && comma_numbers > 0 && point_numbers == 0) guess.decimal = ',';
  if (comma_numbers > 0 && point_numbers > 0 && guess.delimiter != ',')
    guess.unsure.push_back("some numbers have a decimal point and some a comma; check read.decimal");

  guess.header = true;
  for (std::size_t c = 0; c < rows[0].size(); ++c) {
    const std::string& field = rows[0][c];
    // Programs that write row numbers leave the first name empty.
    if (parse_number(field, guess.decimal).ok() || (field.empty() && c > 0)) guess.header = false;
  }
  if (guess.header && !any_number)
    guess.unsure.push_back("no field is a number, so the first row was taken for names; check read.header");
  if (rows[0].size() == 1)
    guess.unsure.push_back("no delimiter was found, so the table has one column; check read.delimiter");
  return guess;
}

}  // namespace ppan
