#pragma once

// Serialises values bit by bit, to pass results between processes of the same version. Files that are kept,
// or that come from an untrusted source, have their own formats.
//
// A struct is supported by a function in its namespace that lists its members:
//
//     template <typename Archive>
//     void members(Archive& archive, Estimate& value) {
//       auto& [nats, interval95, bound, method, samples] = value;
//       archive(nats, interval95, bound, method, samples);
//     }
//
// The structured binding stops compiling when a member is added.

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/core/matrix.h"

namespace ppan {

/// Appends values to bytes.
class ByteWriter {
 public:
  template <typename... Values>
  void operator()(const Values&... values) {
    (write(values), ...);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  template <typename Value>
  void write(const Value& value) {
    if constexpr (std::is_arithmetic_v<Value> || std::is_enum_v<Value>) {
      raw(&value, sizeof value);
    } else {
      // members() serves both directions; writing changes nothing.
      members(*this, const_cast<Value&>(value));
    }
  }
  void write(const std::string& text) {
    size(text.size());
    raw(text.data(), text.size());
  }
  template <typename Value>
  void write(const std::optional<Value>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  template <typename Value>
  void write(const std::vector<Value>& values) {
    size(values.size());
    for (const Value& value : values) write(value);
  }
  template <typename Key, typename Value>
  void write(const std::map<Key, Value>& values) {
    size(values.size());
    for (const auto& entry : values) (*this)(entry.first, entry.second);
  }
  template <typename Scalar, int kRows, int kColumns>
  void write(const Eigen::Matrix<Scalar, kRows, kColumns>& matrix) {
    size(static_cast<std::size_t>(matrix.rows()));
    size(static_cast<std::size_t>(matrix.cols()));
    raw(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(Scalar));
  }
  void size(std::size_t count) { write(static_cast<std::uint64_t>(count)); }
  void raw(const void* data, std::size_t count) {
    if (count > 0) bytes_.append(static_cast<const char*>(data), count);
  }

  std::string bytes_;
};

/// Reads values from bytes. Throws Error(kBadInput) if there are too few.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename... Values>
  void operator()(Values&... values) {
    (read(values), ...);
  }
  /// Throws Error(kBadInput) if bytes are left.
  void finish() const {
    if (!bytes_.empty()) fail();
  }

 private:
  [[noreturn]] static void fail() {
    throw Error(ErrorCode::kBadInput, "bytes that another version of ppan has written");
  }
  template <typename Value>
  void read(Value& value) {
    if constexpr (std::is_arithmetic_v<Value> || std::is_enum_v<Value>) {
      raw(&value, sizeof value);
    } else {
      members(*this, value);
    }
  }
  void read(std::string& text) {
    text.resize(size(1));
    raw(text.data(), text.size());
  }
  template <typename Value>
  void read(std::optional<Value>& value) {
    bool there = false;
    read(there);
    value.reset();
    if (there) read(value.emplace());
  }
  template <typename Value>
  void read(std::vector<Value>& values) {
    values.clear();
    // Every value takes at least a byte, so a damaged size cannot cause a huge allocation.
    const std::size_t count = size(1);
    for (std::size_t i = 0; i < count; ++i) read(values.emplace_back());
  }
  template <typename Key, typename Value>
  void read(std::map<Key, Value>& values) {
    values.clear();
    const std::size_t count = size(1);
    for (std::size_t i = 0; i < count; ++i) {
      Key key{};
      read(key);
      read(values[std::move(key)]);
    }
  }
  template <typename Scalar, int kRows, int kColumns>
  void read(Eigen::Matrix<Scalar, kRows, kColumns>& matrix) {
    const std::size_t rows = size(0);
    const std::size_t columns = size(0);
    if (rows > bytes_.size() || columns > bytes_.size() ||
        (rows > 0 && columns > bytes_.size() / sizeof(Scalar) / rows))
      fail();
    matrix.resize(static_cast<Index>(rows), static_cast<Index>(columns));
    raw(matrix.data(), rows * columns * sizeof(Scalar));
  }
  std::size_t size(std::size_t least_bytes) {
    std::uint64_t count = 0;
    raw(&count, sizeof count);
    if (least_bytes > 0 && count > bytes_.size() / least_bytes) fail();
    return static_cast<std::size_t>(count);
  }
  void raw(void* data, std::size_t count) {
    if (count > bytes_.size()) fail();
    if (count > 0) std::memcpy(data, bytes_.data(), count);
    bytes_.remove_prefix(count);
  }

  std::string_view bytes_;
};

/// A value as bytes.
template <typename Value>
std::string archived(const Value& value) {
  ByteWriter writer;
  writer(value);
  return writer.take();
}

/// The value of archived(). Throws Error(kBadInput) for other bytes.
template <typename Value>
Value unarchived(std::string_view bytes) {
  ByteReader reader(bytes);
  Value value{};
  reader(value);
  reader.finish();
  return value;
}

}  // namespace ppan
