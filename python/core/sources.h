#pragma once

// Frames of Python as sources of rows: Arrow streams by the PyCapsule protocol, NumPy arrays where they lie.

#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <vector>

#include "binding.h"
#include "ppan/source/arrow_sink.h"
#include "ppan/source/arrow_source.h"

namespace ppan::python {

/// Columns of NumPy arrays of one length. Holds the arrays, so that nothing is copied.
class Arrays {
 public:
  template <typename Value>
  using Values = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

  void add_reals(const std::string& name, Values<double> values);
  void add_integers(const std::string& name, Values<std::int64_t> values);
  /// Microseconds since 1970; the least number stands for no value (NumPy's NaT).
  void add_times(const std::string& name, Values<std::int64_t> values);
  /// Codes into `levels`; -1 is missing.
  void add_codes(const std::string& name, Values<std::int32_t> values, std::vector<std::string> levels);

  struct Column {
    RowColumn type{};
    const double* real = nullptr;
    const std::int64_t* integer = nullptr;
    const std::int32_t* code = nullptr;
    bool has_missing = false;
    nb::object owner{};
  };
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }

 private:
  void add(const std::string& name, std::size_t rows, Column column);
  std::vector<Column> columns_;
  std::int64_t rows_ = 0;
};

/// A stream on its way out: any library with an Arrow reader takes it, once.
class Stream {
 public:
  explicit Stream(ArrowArrayStream stream) : stream_(stream) {}
  ~Stream() {
    if (stream_.release != nullptr) stream_.release(&stream_);
  }
  Stream(Stream&& other) noexcept : stream_(other.stream_) { other.stream_.release = nullptr; }
  Stream& operator=(Stream&&) = delete;
  nb::object capsule();
  ArrowArrayStream take();

 private:
  ArrowArrayStream stream_;
};

/// Takes a capsule "arrow_array_stream" over, or looks at Arrays, which must outlive the source. The
/// interpreter's lock is held.
std::unique_ptr<RowSource> source_of(const nb::object& frame, const std::string& name = "the frame");
/// A sink whose columns take the types of the source's.
std::unique_ptr<ArrowSink> sink_like(const RowSource& source);

void bind_frames(nb::module_& m);

}  // namespace ppan::python
