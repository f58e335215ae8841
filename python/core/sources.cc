#include "sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ppan/core/error.h"

namespace ppan::python {
namespace {

constexpr const char* kCapsule = "arrow_array_stream";

void release_capsule(PyObject* capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (stream == nullptr) return;
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

class ArraySource final : public RowSource {
 public:
  ArraySource(const Arrays& arrays, std::string name) : RowSource(std::move(name)), arrays_(&arrays) {
    std::vector<RowColumn> columns;
    for (const Arrays::Column& column : arrays.columns()) columns.push_back(column.type);
    TextStyle style;
    style.missing.clear();
    set_style(std::move(style));
    set_columns(std::move(columns));
  }

  bool next(RowChunk& chunk) override {
    if (row_ == arrays_->rows()) return false;
    const std::int64_t rows = std::min(kChunkRows, arrays_->rows() - row_);
    chunk.start(rows, arrays_->columns().size(), row_);
    for (std::size_t c = 0; c < arrays_->columns().size(); ++c) fill(c, rows, chunk);
    row_ += rows;
    return true;
  }
  [[nodiscard]] std::optional<std::int64_t> row_count() const override { return arrays_->rows(); }

 private:
  void fill(std::size_t c, std::int64_t rows, RowChunk& chunk) const {
    const Arrays::Column& column = arrays_->columns()[c];
    RowCells& cells = chunk.cells(c);
    cells.real = column.real == nullptr ? nullptr : column.real + row_;
    cells.integer = column.integer == nullptr ? nullptr : column.integer + row_;
    cells.code = column.code == nullptr ? nullptr : column.code + row_;
    cells.levels = column.type.levels.get();
    if (!column.has_missing) return;
    CellBuffer& own = chunk.buffer(c);
    own.clear();
    const auto count = static_cast<std::size_t>(rows);
    own.missing.resize(count);
    for (std::size_t r = 0; r < count; ++r) {
      own.missing[r] = column.code != nullptr ? cells.code[r] < 0
                                              : cells.integer[r] == std::numeric_limits<std::int64_t>::min();
    }
    if (column.code != nullptr) {
      own.code.assign(cells.code, cells.code + rows);
      for (std::int32_t& code : own.code) code = std::max(code, 0);
      cells.code = own.code.data();
    }
    cells.missing = own.missing.data();
  }

  const Arrays* arrays_;
  std::int64_t row_ = 0;
};

// A column of a stream as Python values that NumPy understands.
nb::object values_of(const RowColumn& column, const std::vector<RowChunk>& chunks, std::size_t c) {
  nb::list texts;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  bool missing = false;
  for (const RowChunk& chunk : chunks) {
    const RowCells& cells = chunk.cells(c);
    for (std::size_t r = 0; r < static_cast<std::size_t>(chunk.rows()); ++r) {
      missing = missing || cells.is_missing(r);
      if (column.storage == CellStorage::kText) {
        if (cells.is_missing(r)) {
          texts.append(nb::none());
        } else {
          const std::string_view cell = cells.text_at(r);
          texts.append(nb::str(cell.data(), cell.size()));
        }
      } else if (column.storage == CellStorage::kReal) {
        reals.push_back(cells.is_missing(r) ? std::numeric_limits<double>::quiet_NaN() : cells.real[r]);
      } else {
        integers.push_back(cells.is_missing(r) ? std::numeric_limits<std::int64_t>::min() : cells.integer[r]);
      }
    }
  }
  if (column.storage == CellStorage::kText) return texts;
  const auto give = [](auto values) -> nb::object {
    using Value = typename decltype(values)::value_type;
    auto* kept = new decltype(values)(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<decltype(kept)>(p); });
    return nb::cast(nb::ndarray<nb::numpy, Value, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
  };
  if (column.storage == CellStorage::kReal) return give(std::move(reals));
  if (!missing || column.meaning != CellMeaning::kPlain) return give(std::move(integers));
  for (const std::int64_t value : integers)
    reals.push_back(value == std::numeric_limits<std::int64_t>::min()
                        ? std::numeric_limits<double>::quiet_NaN()
                        : static_cast<double>(value));
  return give(std::move(reals));
}

nb::list columns_of(const nb::object& frame) {
  const auto source = source_of(frame);
  std::vector<RowChunk> chunks;
  for (RowChunk chunk; source->next(chunk);) chunks.push_back(std::exchange(chunk, RowChunk()));
  nb::list out;
  for (std::size_t c = 0; c < source->columns().size(); ++c)
    out.append(nb::make_tuple(source->columns()[c].name, values_of(source->columns()[c], chunks, c)));
  return out;
}

}  // namespace

void Arrays::add(const std::string& name, std::size_t rows, Column column) {
  if (columns_.empty()) rows_ = static_cast<std::int64_t>(rows);
  if (rows_ != static_cast<std::int64_t>(rows))
    throw Error(ErrorCode::kBadInput, fmt::format("column \"{}\" has {} rows, \"{}\" has {}", name, rows,
                                                  columns_.front().type.name, rows_));
  column.type.name = name;
  columns_.push_back(std::move(column));
}

void Arrays::add_reals(const std::string& name, Values<double> values) {
  Column column;
  column.type.storage = CellStorage::kReal;
  column.real = values.data();
  column.owner = nb::cast(values);
  add(name, values.size(), std::move(column));
}

void Arrays::add_integers(const std::string& name, Values<std::int64_t> values) {
  Column column;
  column.type.storage = CellStorage::kInteger;
  column.integer = values.data();
  column.owner = nb::cast(values);
  add(name, values.size(), std::move(column));
}

void Arrays::add_times(const std::string& name, Values<std::int64_t> values) {
  Column column;
  column.type.storage = CellStorage::kInteger;
  column.type.meaning = CellMeaning::kTimestamp;
  column.integer = values.data();
  column.has_missing = true;
  column.owner = nb::cast(values);
  add(name, values.size(), std::move(column));
}

void Arrays::add_codes(const std::string& name, Values<std::int32_t> values,
                       std::vector<std::string> levels) {
  Column column;
  column.type.storage = CellStorage::kText;
  column.code = values.data();
  const auto most = static_cast<std::int32_t>(levels.size());
  for (std::size_t r = 0; r < values.size(); ++r) {
    if (column.code[r] < -1 || column.code[r] >= most)
      throw Error(ErrorCode::kBadInput, fmt::format("column \"{}\": a code outside its levels", name));
    column.has_missing = column.has_missing || column.code[r] < 0;
  }
  if (levels.empty()) levels.emplace_back();
  column.type.levels = std::make_shared<const Levels>(std::move(levels));
  column.owner = nb::cast(values);
  add(name, values.size(), std::move(column));
}

nb::object Stream::capsule() {
  auto* kept = new ArrowArrayStream(take());
  PyObject* made = PyCapsule_New(kept, kCapsule, release_capsule);
  if (made == nullptr) {
    kept->release(kept);
    delete kept;
    throw nb::python_error();
  }
  return nb::steal(made);
}

ArrowArrayStream Stream::take() {
  if (stream_.release == nullptr) throw Error(ErrorCode::kUsage, "this Arrow stream was read before");
  const ArrowArrayStream stream = stream_;
  stream_.release = nullptr;
  return stream;
}

std::unique_ptr<RowSource> source_of(const nb::object& frame, const std::string& name) {
  if (nb::isinstance<Arrays>(frame))
    return std::make_unique<ArraySource>(nb::cast<const Arrays&>(frame), name);
  if (!PyCapsule_IsValid(frame.ptr(), kCapsule))
    throw Error(ErrorCode::kUsage, "this is no Arrow stream", "give an object with __arrow_c_stream__");
  auto* inside = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(frame.ptr(), kCapsule));
  if (inside->release == nullptr) throw Error(ErrorCode::kUsage, "this Arrow stream was read before");
  const ArrowArrayStream stream = *inside;
  inside->release = nullptr;
  return std::make_unique<ArrowSource>(stream, name);
}

std::unique_ptr<ArrowSink> sink_like(const RowSource& source) {
  const auto* arrow = dynamic_cast<const ArrowSource*>(&source);
  return std::make_unique<ArrowSink>(arrow == nullptr ? std::vector<ArrowType>{} : arrow->types());
}

void bind_frames(nb::module_& m) {
  nb::class_<Arrays>(m, "Arrays")
      .def(nb::init<>())
      .def("add_reals", &Arrays::add_reals)
      .def("add_integers", &Arrays::add_integers)
      .def("add_times", &Arrays::add_times)
      .def("add_codes", &Arrays::add_codes);
  nb::class_<Stream>(m, "Stream")
      .def(
          "__arrow_c_stream__",
          [](Stream& stream, const nb::object& /*requested_schema*/) { return stream.capsule(); },
          nb::arg("requested_schema") = nb::none());
  m.def("columns_of", &columns_of);
  m.def("names_of", [](const nb::object& frame) { return source_of(frame)->column_names(); });
}

}  // namespace ppan::python
