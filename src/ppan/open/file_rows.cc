// Many files of delimited text as one table.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/open/backends.h"
#include "ppan/source/csv_sink.h"
#include "ppan/source/csv_source.h"

namespace ppan {
namespace {

std::vector<std::string> files_of(const Address& address) {
  glob_t found{};
  const int state = ::glob(address.place.c_str(), 0, nullptr, &found);  // sorted by name
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + (state == 0 ? found.gl_pathc : 0));
  ::globfree(&found);
  if (state == GLOB_NOMATCH)
    throw Error(ErrorCode::kIo, fmt::format("no file is named {}", address.shown), "check the pattern");
  if (state != 0) throw Error(ErrorCode::kIo, fmt::format("cannot look up {}", address.shown));
  return files;
}

class FilesSource final : public RowSource {
 public:
  FilesSource(const Address& address, CsvOptions options)
      : RowSource(address.shown), options_(std::move(options)), files_(files_of(address)) {
    open_next();
    set_columns(current_->columns());
    set_style(current_->style());
    options_.delimiter = current_->style().delimiter;
  }

  bool next(RowChunk& chunk) override {
    while (current_ && !current_->next(chunk)) {
      current_.reset();
      if (opened_ < files_.size()) open_next();
    }
    share_ = current_ ? (static_cast<double>(opened_ - 1) + current_->share_read().value_or(0)) /
                            static_cast<double>(files_.size())
                      : 1.0;
    if (!current_) return false;
    // Rows are counted through all files; lines would have to name theirs.
    chunk.set_first_row(rows_);
    chunk.set_lines(nullptr);
    rows_ += chunk.rows();
    return true;
  }
  [[nodiscard]] std::optional<double> share_read() const override { return share_; }

 private:
  void open_next() {
    const std::string& file = files_[opened_++];
    current_.emplace(open_csv(file, options_));
    if (opened_ == 1 || current_->column_names() == column_names()) return;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} has other columns than {}: {}", file, files_.front(),
                            fmt::join(current_->column_names(), ", ")),
                "give files of the same columns in the same order");
  }

  CsvOptions options_;
  std::vector<std::string> files_;
  std::size_t opened_ = 0;
  std::optional<CsvSource> current_;
  std::int64_t rows_ = 0;
  std::atomic<double> share_ = 0;  // asked for by others, while files come and go
};

}  // namespace

Backend text_backend() {
  return {.kinds = {AddressKind::kText, AddressKind::kTexts},
          .open = [](const Address& address, const OpenOptions& options) -> std::unique_ptr<RowSource> {
            if (address.kind == AddressKind::kTexts)
              return std::make_unique<FilesSource>(address, options.csv);
            return std::make_unique<CsvSource>(open_csv(address.place, options.csv));
          },
          .create = [](const Address& address, const CreateOptions& options) -> std::unique_ptr<RowSink> {
            return std::make_unique<CsvSink>(open_sink(address.place, options.access), options.style);
          }};
}

}  // namespace ppan
