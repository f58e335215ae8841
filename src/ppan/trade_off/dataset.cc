#include "ppan/trade_off/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/model/model_file.h"
#include "ppan/source/byte_source.h"
#include "ppan/source/csv.h"
#include "ppan/read/profile.h"

namespace ppan {
namespace {

// The table is read twice: to look at and to learn from.
class TableSource {
 public:
  explicit TableSource(const JobFile& job) : job_(&job) {
    if (can_be_read_again(job.source_path())) return;
    const auto input = open_source(job.source_path(), job.csv.limits.unpacked_bytes);
    name_ = input->name();
    std::string block(1U << 16U, '\0');
    while (const std::size_t got = input->read(block.data(), block.size())) bytes_.append(block, 0, got);
  }
  [[nodiscard]] CsvReader open() const {
    if (!name_.empty()) return CsvReader(view_source(bytes_, name_), job_->csv);
    return open_csv(job_->source_path(), job_->csv);
  }
  [[nodiscard]] std::string fingerprint() const {
    return sha256(!name_.empty() ? bytes_ : read_file(job_->source_path()));
  }

 private:
  const JobFile* job_;
  std::string name_;   // where it can be read only once (standard input, a pipe)
  std::string bytes_;  // and what was read
};

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

Dataset open_dataset(const JobFile& job) {
  if (job.about_images())
    throw Error(ErrorCode::kUsage, "the job is about images, not about a table", "use 'ppan curve'");
  const TableSource source(job);
  Dataset out;
  CsvReader first = source.open();
  out.names = first.names();
  require_none(job.schema.check_names(out.names), "the job does not fit the table");
  const TableProfile profile = profile_table(first);
  require_none(check_data(job.schema, profile), fmt::format("{} cannot be used", first.source_name()),
               ErrorCode::kBadInput);
  out.notices = notices(job.schema, profile);
  out.schema = job.schema.in_order_of(out.names);
  CsvReader second = source.open();
  out.table = std::make_shared<const Table>(read_table(second, columns_to_read(out.schema)));
  out.sha256 = source.fingerprint();
  return out;
}

}  // namespace ppan
