#include "fuzz/targets.h"

#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/encode/encoder.h"
#include "ppan/encode/layout.h"
#include "ppan/job/job.h"
#include "ppan/job/settings.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_file.h"
#include "ppan/model/release_model.h"
#include "ppan/open/address.h"
#include "ppan/open/binary_copy.h"
#include "ppan/read/idx.h"
#include "ppan/read/png.h"
#include "ppan/read/profile.h"
#include "ppan/report/html.h"
#include "ppan/source/csv_source.h"
#include "ppan/source/csv_writer.h"

namespace ppan::fuzz {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string text_of(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string() : std::string(reinterpret_cast<const char*>(data), size);
}

// Hands out a few bytes at a time, so that rows are cut everywhere.
class Trickle final : public ByteSource {
 public:
  Trickle(std::string bytes, std::size_t step) : ByteSource("fuzz"), bytes_(std::move(bytes)), step_(step) {}
  std::size_t read(char* to, std::size_t count) override {
    const std::size_t got = std::min({step_, count, bytes_.size() - used_});
    std::copy_n(bytes_.data() + used_, got, to);
    used_ += got;
    return got;
  }

 private:
  std::string bytes_;
  std::size_t step_;
  std::size_t used_ = 0;
};

Rows rows_of(CsvReader& reader) {
  Rows rows{reader.names()};
  CsvChunk chunk;
  while (reader.next(chunk)) {
    for (std::int64_t r = 0; r < chunk.rows(); ++r) {
      std::vector<std::string> row;
      for (std::size_t c = 0; c < chunk.columns(); ++c) row.emplace_back(chunk.cell(r, c));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// Guess, profile, fit and round trip, as `init` and a release would.
void use_table(const std::string& text) {
  const CsvGuess guess = guess_csv(text);
  const CsvOptions options{
      .delimiter = guess.delimiter, .header = guess.header, .decimal = guess.decimal, .trim = guess.trim};
  CsvSource first(memory_source(text), options);
  const TableProfile profile = profile_table(first);
  std::vector<ColumnSpec> specs;
  for (const ColumnProfile& column : profile.columns) {
    const TypeGuess type = guess_type(column);
    if (type.constant || type.type == ColumnType::kIdentifier) continue;
    specs.push_back({.name = column.name, .type = type.type, .missing = type.missing});
  }
  CsvSource second(memory_source(text), options);
  const Table table = read_table(second, specs);
  const Encoder encoder(fit_encoding(table, specs, {.missing = options.missing}));
  std::vector<std::int32_t> columns;
  for (std::size_t i = 0; i < specs.size(); ++i) columns.push_back(static_cast<std::int32_t>(i));
  EncodedRows rows;
  encoder.encode(table, columns, UnknownRow::kFail, rows);
  require(rows.faults.empty(), "the table that was fitted can be encoded");
  Matrix<float> matrix;
  const Layout layout = make_layout(encoder.encoding(), columns);
  to_matrix(rows, layout, matrix);
  require(matrix.allFinite(), "encoded values are finite");
  EncodedRows again;
  from_matrix<float>(matrix, layout, again);
  std::string cell;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows.rows); ++r) {
      require(again.columns[i].code[r] == rows.columns[i].code[r], "levels and missing values come back");
      encoder.append_cell(columns[i], again.columns[i].value.empty() ? 0 : again.columns[i].value[r],
                          again.columns[i].code[r], cell);
    }
  }
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = (value << 8U) | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

// Gives every chunk of a PNG file the checksum it should have.
void repair_png(std::string& bytes) {
  std::size_t at = 8;  // behind the signature
  while (bytes.size() >= at + 12) {
    const std::size_t length = big_endian(bytes, at);
    if (length > bytes.size() - at - 12) return;
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + at + 4), static_cast<uInt>(length + 4));
    for (std::size_t i = 0; i < 4; ++i)
      bytes[at + 8 + length + i] = static_cast<char>((sum >> (24 - 8 * i)) & 0xFFU);
    at += length + 12;
  }
}

}  // namespace

void require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

void csv(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return;
  const std::string text = text_of(data + 1, size - 1);
  CsvOptions options;
  options.header = (data[0] & 1U) != 0;
  options.trim = (data[0] & 2U) != 0;
  if ((data[0] & 4U) != 0) options.delimiter = ';';
  options.chunk_rows = 1 + (data[0] >> 4U);
  options.limits = {.field_bytes = 200, .row_bytes = 1000, .columns = 20};
  std::string whole_error;
  Rows whole;
  char delimiter = ',';
  try {
    CsvReader reader(memory_source(text, "fuzz"), options);
    delimiter = reader.delimiter();
    whole = rows_of(reader);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadInput, "bad text is bad input");
    whole_error = error.what();
  }
  if (whole_error.empty()) {
    CsvReader reader(std::make_unique<Trickle>(text, 1 + data[0] % 5), options);
    require(rows_of(reader) == whole, "where reads end does not matter");
    std::string written;
    for (const auto& row : whole) append_row(row, delimiter, written);
    CsvOptions plain;
    plain.delimiter = delimiter;
    if (plain.decimal == delimiter) plain.decimal = '.';
    CsvReader again(memory_source(written, "fuzz"), plain);
    const bool one_column = again.names().size() == 1;
    if (!one_column) require(rows_of(again) == whole, "what is written reads back equal");
  }
  try {
    use_table(text);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadInput || error.code() == ErrorCode::kUsage,
            "bad tables are bad input");
  }
}

void job(const std::uint8_t* data, std::size_t size) {
  std::optional<JobFile> parsed;
  try {
    parsed = parse_job(text_of(data, size), "fuzz");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kUsage, "a bad job is wrong usage");
    return;
  }
  require(parsed->check().empty(), "a parsed job has no problems");
  const JobFile again = parse_job(write_job(*parsed), "fuzz");
  require(again.table.schema == parsed->table.schema, "a written job reads back equal");
  for (const Setting& s : settings())
    require(s.show(again) == s.show(*parsed), "a written setting reads back equal");
}

void model(const std::uint8_t* data, std::size_t size) {
  std::string bytes = text_of(data, size);
  // Repairs the checksum of half of the inputs, so that what lies behind it is reached.
  const std::string field = "\"sha256\":\"";
  const std::size_t at = bytes.find(field);
  if (size % 2 == 0 && at != std::string::npos && at + field.size() + 64 <= bytes.size()) {
    bytes.replace(at + field.size(), 64, 64, '0');
    bytes.replace(at + field.size(), 64, sha256(bytes));
  }
  ModelContainer parsed;
  try {
    parsed = parse_model(bytes, "fuzz");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadInput, "a bad model is bad input");
    return;
  }
  const ModelContainer again = parse_model(model_bytes(parsed), "fuzz");
  require(again.tensors == parsed.tensors && again.metadata == parsed.metadata, "a model reads back equal");
  try {
    const ModelContainer stored = to_container(from_container(parsed, "fuzz"));
    require(to_container(from_container(stored, "fuzz")).metadata == stored.metadata,
            "the model of a table reads back equal");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadInput, "a bad model of a table is bad input");
  }
  try {
    const ModelContainer stored = to_container(image_model_from_container(parsed, "fuzz"));
    require(stored.tensors == parsed.tensors, "the networks of a model of images read back equal");
    require(to_container(image_model_from_container(stored, "fuzz")).metadata == stored.metadata,
            "the model of images reads back equal");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadInput, "a bad model of images is bad input");
  }
}

void idx(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return;
  const std::string bytes = text_of(data + 1, size - 1);
  Trickle source(bytes, 1 + data[0] / 2);
  try {
    if (data[0] % 2 == 0) {
      const Symbols labels = read_idx_labels(source);
      require(labels.size() + 8 == bytes.size(), "a label for each byte");
      return;
    }
    const ImageSet set = read_idx_images(source);
    require(set.size() >= 1 && set.height >= 1 && set.width >= 1, "there are images");
    require(static_cast<std::size_t>(set.pixels.size()) + 16 == bytes.size(), "a pixel for each byte");
    for (Index i = 0; i < set.size(); ++i) {
      for (Index j = 0; j < set.pixels.cols(); ++j) {
        const auto at = static_cast<std::size_t>(16 + i * set.pixels.cols() + j);
        require(pixel_byte(set.pixels(i, j)) == static_cast<std::uint8_t>(bytes[at]), "pixels come back");
      }
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadInput, "a bad IDX file is bad input");
  }
}

void png(const std::uint8_t* data, std::size_t size) {
  std::string bytes = text_of(data, size);
  if (size % 4 != 0) repair_png(bytes);
  GreyImage image;
  try {
    image = decode_png(bytes, "fuzz");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadInput, "a bad PNG file is bad input");
    return;
  }
  require(image.height >= 1 && image.height <= kMostImageSide, "heights are within their limit");
  require(image.width >= 1 && image.width <= kMostImageSide, "widths are within their limit");
  require(static_cast<Index>(image.bytes.size()) == image.height * image.width, "a byte for each pixel");
  require(decode_png(encode_png(image), "fuzz").bytes == image.bytes, "what is written reads back equal");
}

// The files of a run directory, one behind the other, with a record separator (0x1E) between them: curve.csv,
// summary.json, details.json, metrics.jsonl. Whoever made them, the page must be made or refused.
void run(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = text_of(data, size);
  std::vector<std::string> part(1);
  for (const char c : bytes) {
    if (c == '\x1E') {
      part.emplace_back();
    } else {
      part.back() += c;
    }
  }
  part.resize(4);
  RunFiles files;
  const auto accepted = [](const auto& parse) {
    try {
      parse();
      return true;
    } catch (const Error& error) {
      require(error.code() == ErrorCode::kBadInput, "a damaged run is bad input");
      return false;
    }
  };
  if (!accepted([&] { files.curve = from_csv(part[0]); })) return;
  require(from_csv(to_csv(files.curve)).rows == files.curve.rows,
          "a curve that was read is written and read back");
  accepted([&] { files.summary = run_summary_from_json(part[1]); });
  accepted([&] { files.details = run_details_from_json(part[2]); });
  accepted([&] { files.metrics = metrics_from_jsonl(part[3]); });
  const std::string page = to_html(files);
  require(page.find("</html>") != std::string::npos, "the page is whole");
  // The page has one script and one style sheet of its own; whatever the files say is text.
  const auto count = [&](std::string_view tag) {
    std::size_t times = 0;
    for (std::size_t at = page.find(tag); at != std::string::npos; at = page.find(tag, at + 1)) ++times;
    return times;
  };
  require(count("<script") == 1, "no script of the files is in the page");
  require(count("<iframe") + count("<object") + count("<embed") == 0, "the page embeds nothing");
}

void address(const std::uint8_t* data, std::size_t size) {
  const std::string text = text_of(data, size);
  try {
    const Address found = parse_address(text);
    require(!found.place.empty(), "an address names a place");
    const bool database = found.kind == AddressKind::kDatabase;
    require(database == !found.scheme.empty(), "a database has a scheme, and nothing else has");
    require(found.table.empty() || found.query.empty(), "a table or a query, not both");
    require(!database || !(found.table.empty() && found.query.empty()), "a table of a database is named");
    require(!found.server || found.place.find("password=") == std::string::npos, "no password is handed on");
    static_cast<void>(short_name(found));
    static_cast<void>(relative_to(found, "directory"));
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kUsage, "a bad address is bad usage");
  }
}

// The first byte says how the stream is cut.
void copy(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return;
  const std::string bytes = text_of(data + 1, size - 1);
  const std::size_t step = 1 + data[0] % 64U;
  const std::vector<CopyType> types{CopyType::kInt4, CopyType::kText, CopyType::kNumeric, CopyType::kFloat8,
                                    CopyType::kTimestamp};
  const std::vector<RowColumn> columns{
      {.name = "i", .storage = CellStorage::kInteger},
      {.name = "t"},
      {.name = "n", .storage = CellStorage::kInteger, .meaning = CellMeaning::kDecimal, .scale = 2},
      {.name = "r", .storage = CellStorage::kReal},
      {.name = "s", .storage = CellStorage::kInteger, .meaning = CellMeaning::kTimestamp}};
  try {
    CopyReader reader("fuzz", types);
    RowChunk chunk;
    chunk.start(0, columns.size(), 0);
    std::int64_t rows = 0;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.feed(std::string_view(bytes).substr(at, step));
      rows = reader.take(chunk, columns, rows, 1000);
    }
    for (std::size_t c = 0; c < columns.size(); ++c)
      require(chunk.buffer(c).missing.size() == static_cast<std::size_t>(rows), "every row has every cell");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadInput, "damaged rows are bad input");
  }
}

}  // namespace ppan::fuzz
