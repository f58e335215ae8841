#pragma once

// The container of a model: safetensors, with the whole self-description as JSON in its metadata.
// docs/formats.md defines it byte by byte. The reader is meant for untrusted files: nothing of a file is used
// before all of it has been checked.

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ppan/core/crypto.h"

namespace ppan {

class SigningKey;

/// Numbers in row-major order. Dtypes F32, F64, I32 and I64 of safetensors.
struct Tensor {
  std::vector<std::int64_t> shape{};  ///< Empty: one number.
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>, std::vector<std::int64_t>>
      values{};

  /// Numbers that the shape asks for. Throws Error(kBadInput) if that is negative or beyond what a file can
  /// hold.
  [[nodiscard]] std::int64_t count() const;
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

struct ModelContainer {
  nlohmann::json metadata =
      nlohmann::json::object();  ///< The self-description: schema, encoding, training, ...
  std::map<std::string, Tensor> tensors{};
  std::string checksum{};  ///< SHA-256 of the file as read, 64 hexadecimal digits. Ignored when writing.
  /// Public key of the signer of the file as read, 64 hexadecimal digits; the signature was verified. Empty:
  /// not signed. Ignored when writing.
  std::string signer{};

  /// The tensor of this name, type and shape. Throws Error(kBadInput) naming what is there instead.
  template <typename Value>
  [[nodiscard]] const std::vector<Value>& at(const std::string& name,
                                             const std::vector<std::int64_t>& shape) const;
};

/// Version of the container that this program writes, and the newest it reads.
inline constexpr int kModelVersion = 1;

/// Caps of the reader.
struct ModelLimits {
  std::uint64_t header_bytes = std::uint64_t{16} << 20U;
  std::uint64_t file_bytes = std::uint64_t{2} << 30U;
  std::size_t tensors = 10000;
  int dimensions = 8;
  int nesting = 64;  ///< Of the metadata.
};

/// The bytes of a model file: the same for the same contents. Throws Error(kInternal) for contents that could
/// not be read back, numbers that are not finite among them. With a key, they are signed.
std::string model_bytes(const ModelContainer& model, const SigningKey* key = nullptr);
/// Throws Error(kBadInput) for anything that model_bytes() would not have written; `name` is for messages.
ModelContainer parse_model(std::string_view bytes, std::string_view name, const ModelLimits& limits = {});

/// model_bytes() to a file, all or nothing.
void write_model(const std::filesystem::path& path, const ModelContainer& model,
                 const SigningKey* key = nullptr);
/// Every part of the file is read once, and only after all parts before it were checked.
ModelContainer read_model(const std::filesystem::path& path, const ModelLimits& limits = {});

}  // namespace ppan
