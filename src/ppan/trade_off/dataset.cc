#include "ppan/trade_off/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "ppan/core/crypto.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/open/address.h"
#include "ppan/open/open_rows.h"
#include "ppan/read/profile.h"
#include "ppan/source/byte_source.h"
#include "ppan/source/csv_source.h"
#include "ppan/source/held_rows.h"
#include "ppan/trade_off/row_order.h"

namespace ppan {
namespace {

// The bytes of a source that can be read only once: standard input, a pipe.
std::string all_bytes(ByteSource& source) {
  std::string bytes;
  std::string block(1U << 16U, '\0');
  while (const std::size_t got = source.read(block.data(), block.size())) bytes.append(block, 0, got);
  return bytes;
}

void refuse_images(const JobFile& job) {
  if (job.about_images())
    throw Error(ErrorCode::kUsage, "the job is about images, not about a table", "use 'ppan curve'");
}

std::vector<ColumnSpec> columns_to_read(const Schema& schema) {
  std::vector<ColumnSpec> specs;
  for (const std::string& name : schema.modelled_columns()) specs.push_back(*schema.find(name));
  // Not modelled, and still wanted as they are: which rows belong together, and what is copied into the
  // release.
  std::vector<std::string> as_text = schema.kept_columns();
  if (schema.group) as_text.push_back(*schema.group);
  for (const std::string& name : as_text) {
    if (std::any_of(specs.begin(), specs.end(), [&](const ColumnSpec& s) { return s.name == name; }))
      continue;
    ColumnSpec spec;
    spec.name = name;
    spec.type = ColumnType::kIdentifier;
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace

namespace {

Dataset read_dataset(const JobFile& job, RowSource& source, RowFingerprint* fingerprint) {
  refuse_images(job);
  Dataset out;
  out.names = source.column_names();
  require_none(job.table.schema.check_names(out.names), "the job does not fit the table");
  out.schema = job.table.schema.in_order_of(out.names);
  TableProfiler profiler(source);
  TableBuilder builder(source, columns_to_read(out.schema));
  // A cell that does not fit is told only if the table as a whole is fine: what is wrong with that says more.
  std::exception_ptr unfit;
  RowChunk chunk;
  while (source.next(chunk)) {
    profiler.add(chunk);
    if (fingerprint != nullptr) fingerprint->add(chunk);
    try {
      if (!unfit) builder.add(chunk);
    } catch (const Error&) {
      unfit = std::current_exception();
    }
  }
  const TableProfile profile = profiler.finish();
  require_none(check_data(job.table.schema, profile), fmt::format("{} cannot be used", source.name()),
               ErrorCode::kBadInput);
  if (unfit) std::rethrow_exception(unfit);
  out.notices = notices(job.table.schema, profile);
  out.table = std::make_shared<const Table>(builder.finish());
  for (std::string& notice : row_order_notices(*out.table, out.schema))
    out.notices.push_back(std::move(notice));
  return out;
}

}  // namespace

Dataset make_dataset(const JobFile& job, RowSource& source) {
  RowFingerprint fingerprint(source.columns());
  Dataset out = read_dataset(job, source, &fingerprint);
  out.sha256 = fingerprint.finish();
  return out;
}

Dataset open_dataset(const JobFile& job) {
  refuse_images(job);
  const Address address = parse_address(job.table.source);
  if (address.kind != AddressKind::kText) {
    const auto source = open_rows(job.table.source, {.csv = job.table.csv, .directory = job.directory});
    return make_dataset(job, *source);
  }
  const std::filesystem::path path = job.source_path();
  if (can_be_read_again(path)) {
    CsvSource source = open_csv_source(path, job.table.csv);
    Dataset out = read_dataset(job, source, nullptr);
    out.sha256 = sha256(read_file(path));
    return out;
  }
  const auto input = open_source(path, job.table.csv.limits.unpacked_bytes);
  const std::string bytes = all_bytes(*input);
  CsvSource source(view_source(bytes, input->name()), job.table.csv);
  Dataset out = read_dataset(job, source, nullptr);
  out.sha256 = sha256(bytes);
  return out;
}

}  // namespace ppan
