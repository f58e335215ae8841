#include "ppan/release/release_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "ppan/core/cell_text.h"
#include "ppan/core/error.h"
#include "ppan/core/parallel.h"
#include "ppan/core/random.h"
#include "ppan/core/suggest.h"
#include "ppan/encode/row_decoder.h"
#include "ppan/nn/blas.h"
#include "ppan/source/csv_sink.h"

namespace ppan {
namespace {

/// Where the columns of the input are, and where those of the release come from.
struct Binding {
  std::vector<ColumnSource> observed;
  std::vector<ReleasedColumn> released;
  std::vector<std::string> dropped;
};

Binding bind(const ReleaseModel& model, const RowSource& in) {
  const Encoding& encoding = model.table.encoding();
  const std::vector<std::string> keep = model.table.schema().kept_columns();
  std::vector<std::string> observed;
  for (const std::int32_t column : model.table.observed())
    observed.push_back(encoding.columns[static_cast<std::size_t>(column)].name);
  ProblemList problems;
  std::set<std::string> used;
  for (const std::vector<std::string>* names : {&std::as_const(observed), &keep}) {
    for (const std::string& name : *names) {
      if (used.insert(name).second && !in.find(name))
        problems.require(false, name, unknown_name("column", name, in.column_names()));
    }
  }
  require_none(problems.take(), fmt::format("{} lacks columns that the model needs", in.name()),
               ErrorCode::kBadInput);
  Binding out;
  out.observed = bind_columns(encoding, observed, in);
  for (const std::string& name : model.order) {
    if (std::find(keep.begin(), keep.end(), name) != keep.end()) {
      out.released.push_back({.name = name, .kept = true, .column = 0, .source = *in.find(name)});
    } else {
      out.released.push_back({.name = name, .kept = false, .column = encoding.index_of(name), .source = 0});
    }
  }
  for (const std::string& name : in.column_names()) {
    if (!used.contains(name)) out.dropped.push_back(name);
  }
  return out;
}

// The bad rows of a chunk as they came, with line and reasons behind them.
void append_rejects(const RowChunk& chunk, const std::vector<RowColumn>& columns, const EncodedRows& rows,
                    const Encoding& encoding, char delimiter, std::string& out) {
  std::string cell;
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    if (rows.bad[static_cast<std::size_t>(row)] == 0) continue;
    std::string reason;
    for (const CellFault& fault : rows.faults) {
      if (fault.row != row) continue;
      if (!reason.empty()) reason += "; ";
      reason += fmt::format("{}: {}", encoding.columns[static_cast<std::size_t>(fault.column)].name,
                            with_values(fault.what));
    }
    for (std::size_t column = 0; column < chunk.columns(); ++column) {
      cell.clear();
      append_text(columns[column], chunk.cells(column), static_cast<std::size_t>(row), cell);
      append_field(cell, delimiter, out);
      out += delimiter;
    }
    out += fmt::format("{}{}", chunk.position(row), delimiter);
    append_field(reason, delimiter, out);
    out += '\n';
  }
}

// Columns of the input that a release looks at, unless rows are rejected, which come with all their cells.
std::vector<bool> needed_columns(const Binding& binding, std::size_t columns) {
  std::vector<bool> out(columns, false);
  for (const ColumnSource& observed : binding.observed) out[observed.source] = true;
  for (const ReleasedColumn& released : binding.released) {
    if (released.kept) out[released.source] = true;
  }
  return out;
}

/// What all threads of a release share.
class Stream {
 public:
  Stream(const ReleaseModel& model, RowSource& in, RowSink& out, ByteSink* rejects,
         const ReleaseOptions& options)
      : model_(&model),
        in_(&in),
        out_(&out),
        rejects_(rejects),
        options_(&options),
        policy_(options.unknown.value_or(model.unknown)),
        binding_(bind(model, in)),
        encoder_(model.table.encoding(), in.style().decimal),
        decoder_(encoder_, binding_.released, in.columns()) {
    if (policy_ == UnknownRow::kReject && rejects == nullptr) {
      throw Error(ErrorCode::kUsage,
                  "rows that cannot be released are to be rejected, but no destination is given for them",
                  "name a file for them: --rejects FILE");
    }
    out_->begin(decoder_.columns());
    if (rejects_ == nullptr) in_->need_only(needed_columns(binding_, in_->columns().size()));
    if (rejects_ != nullptr) {
      std::vector<std::string> names = in.column_names();
      names.insert(names.end(), {"reject_line", "reject_reason"});
      std::string text;
      append_row(names, in.style().delimiter, text);
      rejects_->write(text);
    }
    summary_.dropped = binding_.dropped;
  }

  ReleaseSummary run() {
    const int threads = thread_count(options_->threads);
    const BlasThreads one(1);  // chunks are released side by side instead
    parallel_for(threads, threads, [this](std::int64_t) { work(); });
    if (failure_) std::rethrow_exception(failure_);
    summary_.interrupted = interrupted_;
    return summary_;
  }

 private:
  /// A chunk on its way, and everything made from it. Reused, it allocates nothing.
  struct Load {
    RowChunk chunk;
    std::int64_t number = 0;
    EncodedRows encoded;
    EncodedRows released;
    RowChunk decoded;
    std::unique_ptr<RowSink::Part> part;
    std::string rejected;
    std::exception_ptr failure;
  };

  /// A chunk that only has to be written.
  struct Finished {
    std::int64_t rows = 0;
    std::int64_t bad = 0;
    std::int64_t replaced = 0;
    std::exception_ptr failure;
    std::unique_ptr<RowSink::Part> part;
    std::string rejected;
  };
  static constexpr std::size_t kMostLeft = 8;  // so memory stays bounded when one chunk takes long

  void work() {
    TableReleaser releaser(model_->table);
    std::unique_ptr<RandomSource> secure;
    if (!options_->insecure_seed) secure = std::make_unique<SecureRandom>();
    Load load;
    while (take(load)) {
      if (!load.failure) {
        try {
          release(load, releaser, secure.get());
        } catch (...) {
          load.failure = std::current_exception();
        }
      }
      if (!hand_over(load)) return;
    }
  }

  // The next chunk, or what went wrong with it; false when there is none.
  bool take(Load& load) {
    const std::scoped_lock lock(reading_);
    if (ended_) return false;
    load.failure = nullptr;
    try {
      if (options_->interrupted && options_->interrupted()) {
        ended_ = interrupted_ = true;
        return false;
      }
      if (!in_->next(load.chunk)) {
        ended_ = true;
        return false;
      }
    } catch (...) {
      ended_ = true;
      load.failure = std::current_exception();
    }
    load.number = taken_++;
    return true;
  }

  void release(Load& load, TableReleaser& releaser, RandomSource* secure) {
    encoder_.encode(load.chunk, binding_.observed, policy_, load.encoded);
    if (policy_ == UnknownRow::kFail && !load.encoded.faults.empty())
      throw first_fault(load.encoded, encoder_.encoding(), in_->name());
    if (secure != nullptr) {
      releaser.release(load.encoded, *secure, load.released);
    } else {
      SeededRandom seeded = SeededRandom(*options_->insecure_seed)
                                .fork("release", static_cast<std::uint64_t>(load.chunk.first_row()));
      releaser.release(load.encoded, seeded, load.released);
    }
    load.rejected.clear();
    decoder_.decode(load.released, load.chunk, load.decoded);
    load.part = out_->pack(load.decoded);
    if (!load.encoded.faults.empty())
      append_rejects(load.chunk, in_->columns(), load.encoded, encoder_.encoding(), in_->style().delimiter,
                     load.rejected);
  }

  // Writes the chunk if every one before it is out, and those behind it that were left; otherwise leaves it
  // for whoever does, so that no thread waits for another as long as few are left. False when the release has
  // failed.
  bool hand_over(Load& load) {
    std::unique_lock lock(writing_);
    turn_changed_.wait(lock, [&] { return failure_ || load.number == turn_ || left_.size() < kMostLeft; });
    if (failure_) return false;
    try {  // a chunk that is lost, for want of memory, would leave the others waiting for it
      left_.emplace(load.number, finished(load));
      for (auto next = left_.begin(); next != left_.end() && next->first == turn_; next = left_.erase(next)) {
        write(next->second);
        ++turn_;
      }
    } catch (...) {
      failure_ = std::current_exception();
      turn_changed_.notify_all();
      const std::scoped_lock stop(reading_);
      ended_ = true;
      return false;
    }
    turn_changed_.notify_all();
    return true;
  }

  // What remains to be done with a chunk.
  static Finished finished(Load& load) {
    const auto bad = std::count(load.encoded.bad.begin(), load.encoded.bad.end(), 1);
    Finished out{.rows = load.chunk.rows(),
                 .bad = bad,
                 .replaced = load.encoded.replaced,
                 .failure = std::move(load.failure)};
    out.part = std::move(load.part);
    out.rejected.swap(load.rejected);
    return out;
  }

  void write(Finished& chunk) {
    if (chunk.failure) std::rethrow_exception(chunk.failure);
    out_->write(std::move(chunk.part));
    if (!chunk.rejected.empty()) rejects_->write(chunk.rejected);
    summary_.rows += chunk.rows;
    summary_.released += chunk.rows - chunk.bad;
    summary_.rejected += chunk.bad;
    summary_.replaced += chunk.replaced;
    if (options_->written) options_->written(summary_.released);
  }

  const ReleaseModel* model_;
  RowSource* in_;
  RowSink* out_;
  ByteSink* rejects_;
  const ReleaseOptions* options_;
  UnknownRow policy_;
  Binding binding_;
  Encoder encoder_;
  RowDecoder decoder_;

  std::mutex reading_;
  bool ended_ = false;
  bool interrupted_ = false;
  std::int64_t taken_ = 0;

  std::mutex writing_;
  std::condition_variable turn_changed_;
  std::int64_t turn_ = 0;
  std::map<std::int64_t, Finished> left_;  // finished before their turn, by number
  std::exception_ptr failure_;
  ReleaseSummary summary_;
};

class TextSink final : public ByteSink {
 public:
  explicit TextSink(std::string& text) : text_(&text) {}
  void write(std::string_view bytes) override { text_->append(bytes); }
  void finish() override {}

 private:
  std::string* text_;
};

TextTable text_table(std::string text, const CsvOptions& options) {
  CsvReader reader(memory_source(std::move(text)), options);
  TextTable out{reader.names(), {}};
  CsvChunk chunk;
  while (reader.next(chunk)) {
    for (std::int64_t row = 0; row < chunk.rows(); ++row) {
      auto& cells = out.rows.emplace_back();
      for (std::size_t column = 0; column < chunk.columns(); ++column)
        cells.emplace_back(chunk.cell(row, column));
    }
  }
  return out;
}

}  // namespace

Problems ReleaseOptions::check() const {
  ProblemList problems;
  problems.require_between("threads", threads, 0, 1024);
  return problems.take();
}

CsvOptions table_options(const ReleaseModel& model, std::optional<char> delimiter,
                         std::uint64_t most_unpacked) {
  CsvOptions options = csv_options(model.format);
  options.limits.unpacked_bytes = most_unpacked;
  if (delimiter) options.delimiter = delimiter;
  options.chunk_rows = kReleaseRows;
  return options;
}

CsvSource open_table(const ReleaseModel& model, const std::filesystem::path& path,
                     std::optional<char> delimiter, std::uint64_t most_unpacked) {
  return open_csv_source(path, table_options(model, delimiter, most_unpacked));
}

ReleaseSummary release_table(const ReleaseModel& model, RowSource& in, RowSink& out, ByteSink* rejects,
                             const ReleaseOptions& options) {
  require_none(options.check(), "this release cannot be made");
  return Stream(model, in, out, rejects, options).run();
}

ReleasedRows release_rows(const ReleaseModel& model, const TextTable& rows, const ReleaseOptions& options) {
  CsvOptions csv = csv_options(model.format);
  csv.delimiter = csv.decimal == ',' ? ';' : ',';
  csv.header = true;
  csv.trim = false;
  std::string text;
  append_row(rows.names, *csv.delimiter, text);
  for (const std::vector<std::string>& cells : rows.rows) {
    if (cells.size() != rows.names.size()) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("a row has {} cells, but there are {} names", cells.size(), rows.names.size()));
    }
    append_row(cells, *csv.delimiter, text);
  }
  CsvSource in(memory_source(std::move(text), "rows in memory"), csv);
  std::string released;
  std::string rejected;
  TextSink bytes(released);
  CsvSink out(bytes, in.style());
  TextSink rejects(rejected);
  ReleasedRows result;
  result.summary = release_table(model, in, out, &rejects, options);
  result.table = text_table(std::move(released), csv);
  result.rejected = text_table(std::move(rejected), csv);
  return result;
}

}  // namespace ppan
