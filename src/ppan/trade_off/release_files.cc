#include "ppan/trade_off/release_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <variant>

#include "ppan/core/distinct_files.h"
#include "ppan/core/error.h"
#include "ppan/core/printable.h"
#include "ppan/core/random.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_signature.h"
#include "ppan/open/address.h"
#include "ppan/open/open_rows.h"
#include "ppan/release/release_image_files.h"

namespace ppan {
namespace {

std::optional<char> delimiter_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "tab") return '\t';
  if (text.size() == 1) return text.front();
  throw Error(ErrorCode::kUsage, fmt::format("--delimiter '{}' is neither one character nor \"tab\"", text));
}

// A release that replaced its own input while reading it would be neither, and rejected rows are raw.
void refuse_overlap(const ReleaseFiles& files) {
  const std::array inputs{NamedPath{"model", files.model}, NamedPath{"table", file_of(files.table)}};
  const std::array outputs{NamedPath{"-o", file_of(files.output)}, NamedPath{"--rejects", files.rejects}};
  require_distinct(inputs, outputs);
  // A pattern that names them would take releases for people, if not in this release then in the next.
  const Address table = parse_address(files.table);
  for (const NamedPath& output : outputs) {
    if (!output.path.empty() && output.path != "-" && names_file(table, output.path))
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} {} is one of the files that {} names", output.name, output.path.string(),
                              table.shown),
                  "write it to another directory, or give it another ending");
  }
}

void refuse_for_images(const ReleaseFiles& files) {
  const auto refuse = [](bool given, const char* name) {
    if (given)
      throw Error(ErrorCode::kUsage, fmt::format("{} is for tables, but the model is for images", name),
                  "leave it out");
  };
  refuse(files.options.unknown.has_value(), "--unknown");
  refuse(!files.rejects.empty(), "--rejects");
  refuse(!files.delimiter.empty(), "--delimiter");
}

void release_images_of(const ReleaseFiles& files, const ImageReleaseModel& model) {
  refuse_for_images(files);
  SecureRandom secure;
  SeededRandom seeded(files.options.insecure_seed.value_or(0));
  RandomSource& random = files.options.insecure_seed ? static_cast<RandomSource&>(seeded) : secure;
  release_image_files(model, files.table, files.output, files.force, random);
}

double share_read(const RowSource& rows, std::int64_t written) {
  const auto count = rows.row_count();
  return count && *count > 0 ? static_cast<double>(written) / static_cast<double>(*count)
                             : rows.share_read().value_or(0);
}

}  // namespace

ReleaseSummary release_files(const ReleaseFiles& files) {
  refuse_overlap(files);
  const AnyModel any = load_any_model(files.model);
  if (!files.trust.empty()) require_trusted(signer_of(any), files.model, files.trust);
  if (const auto* images = std::get_if<ImageReleaseModel>(&any)) {
    release_images_of(files, *images);
    return {};
  }
  const auto& model = std::get<ReleaseModel>(any);
  ReleaseOptions options = files.options;
  require_none(options.check(), "this release cannot be made");
  const auto in = open_rows(files.table,
                            {.csv = table_options(model, delimiter_of(files.delimiter), files.max_unpacked)});
  const auto out =
      create_rows(files.output, {.style = in->style(), .force = files.force, .input = files.table});
  const auto rejects = files.rejects.empty() ? nullptr : open_sink(files.rejects, Access::kPrivate);
  if (files.progress)
    options.written = [&](std::int64_t rows) { files.progress(rows, share_read(*in, rows)); };
  const ReleaseSummary summary = release_table(model, *in, *out, rejects.get(), options);
  if (summary.interrupted) return summary;
  if (rejects) rejects->finish();
  out->finish();
  return summary;
}

std::string to_text(const ReleaseSummary& summary, const ReleaseFiles& files) {
  std::string text;
  if (!summary.dropped.empty())
    text +=
        fmt::format("dropped columns: {}\n", printable(fmt::format("{}", fmt::join(summary.dropped, ", "))));
  if (summary.replaced > 0)
    text += fmt::format("{} cells that could not be released took the nearest value\n", summary.replaced);
  if (summary.rejected > 0)
    text += fmt::format("{} of {} rows rejected: {}\n", summary.rejected, summary.rows, files.rejects);
  return text;
}

}  // namespace ppan
