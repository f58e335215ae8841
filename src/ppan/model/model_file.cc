#include "ppan/model/model_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "ppan/core/error.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr std::string_view kFormat = "ppan";
constexpr std::size_t kDigestSize = 64;
constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 40U;

template <typename Value>
constexpr std::string_view dtype_name() {
  if constexpr (std::is_same_v<Value, float>) return "F32";
  if constexpr (std::is_same_v<Value, double>) return "F64";
  if constexpr (std::is_same_v<Value, std::int32_t>) return "I32";
  if constexpr (std::is_same_v<Value, std::int64_t>) return "I64";
}

std::string_view dtype_of(const Tensor& tensor) {
  return std::visit([]<typename V>(const std::vector<V>&) { return dtype_name<V>(); }, tensor.values);
}

std::size_t size_of(const Tensor& tensor) {
  return std::visit([]<typename V>(const std::vector<V>& v) { return v.size() * sizeof(V); }, tensor.values);
}

std::size_t element_size(const Tensor& tensor) {
  return std::visit([]<typename V>(const std::vector<V>&) { return sizeof(V); }, tensor.values);
}

bool finite(const Tensor& tensor) {
  return std::visit(
      []<typename V>(const std::vector<V>& values) {
        if constexpr (std::is_floating_point_v<V>) {
          return std::all_of(values.begin(), values.end(), [](V x) { return std::isfinite(x); });
        }
        return true;
      },
      tensor.values);
}

// Numbers asked for by a shape, or nothing if there is no such number.
std::optional<std::uint64_t> count_of(const std::vector<std::int64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) return std::nullopt;
    const auto size = static_cast<std::uint64_t>(dimension);
    if (size != 0 && count > kMostNumbers / size) return std::nullopt;
    count *= size;
  }
  return count;
}

[[noreturn]] void refuse(std::string_view name, std::string_view what) {
  throw Error(ErrorCode::kBadInput, fmt::format("{} is not a usable model file: {}", name, what),
              "fetch the file again, or train the model anew");
}

// JSON whose objects name each key once and which is not nested deeper than `nesting`.
json parse_json(std::string_view text, int nesting, std::string_view name, std::string_view part) {
  std::vector<std::set<std::string>> keys;
  const json::parser_callback_t watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > nesting) refuse(name, fmt::format("the {} is nested too deeply", part));
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      refuse(name, fmt::format("the {} has a key twice", part));
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception&) {
    refuse(name, fmt::format("the {} is not valid JSON", part));
  }
}

struct Entry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin;
  std::uint64_t end;
};

Entry parse_entry(const std::string& key, const json& value, const ModelLimits& limits,
                  std::string_view name) {
  const std::string where = fmt::format("tensor '{}'", key);
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets"))
    refuse(name, where + " is not described by dtype, shape and data_offsets");
  const json& dtype = value["dtype"];
  const json& shape = value["shape"];
  const json& offsets = value["data_offsets"];
  const auto natural = [](const json& n) { return n.is_number_unsigned(); };
  if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2 ||
      !std::all_of(shape.begin(), shape.end(), natural) ||
      !std::all_of(offsets.begin(), offsets.end(), natural))
    refuse(name, where + " has a description of the wrong kind");
  if (shape.size() > static_cast<std::size_t>(limits.dimensions))
    refuse(name, where + " has too many dimensions");
  Entry entry{
      key, dtype.get<std::string>(), {}, offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>()};
  for (const json& size : shape) {
    const auto dimension = size.get<std::uint64_t>();
    if (dimension > kMostNumbers) refuse(name, where + " has an impossible shape");
    entry.shape.push_back(static_cast<std::int64_t>(dimension));
  }
  return entry;
}

template <typename Value>
std::vector<Value> take(std::string_view bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Tensor take_tensor(const Entry& entry, std::string_view buffer, std::string_view name) {
  const std::string where = fmt::format("tensor '{}'", entry.name);
  std::size_t size = 0;
  if (entry.dtype == "F32" || entry.dtype == "I32") size = 4;
  if (entry.dtype == "F64" || entry.dtype == "I64") size = 8;
  if (size == 0) refuse(name, where + " has an unknown dtype");
  const auto count = count_of(entry.shape);
  if (!count || *count * size != entry.end - entry.begin)
    refuse(name, where + " does not have the size of its shape");
  const std::string_view bytes = buffer.substr(entry.begin, entry.end - entry.begin);
  Tensor tensor;
  tensor.shape = entry.shape;
  if (entry.dtype == "F32") tensor.values = take<float>(bytes);
  if (entry.dtype == "F64") tensor.values = take<double>(bytes);
  if (entry.dtype == "I32") tensor.values = take<std::int32_t>(bytes);
  if (entry.dtype == "I64") tensor.values = take<std::int64_t>(bytes);
  if (!finite(tensor)) refuse(name, where + " holds a number that is not finite");
  return tensor;
}

// The digest is taken with its own digits as zeros; this is where they are in the header.
std::size_t digest_place(std::string_view header, std::string_view digest) {
  const std::string field = fmt::format("\"sha256\":\"{}\"", digest);
  const std::size_t at = header.find(field);
  return at == std::string_view::npos ? at : at + field.size() - 1 - digest.size();
}

}  // namespace

std::string sha256(std::string_view bytes) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (context == nullptr || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), digest.data(), &size) != 1)
    throw Error(ErrorCode::kInternal, "cannot compute SHA-256");
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
}

std::int64_t Tensor::count() const {
  const auto count = count_of(shape);
  if (!count) throw Error(ErrorCode::kBadInput, "a tensor has an impossible shape");
  return static_cast<std::int64_t>(*count);
}

template <typename Value>
const std::vector<Value>& ModelContainer::at(const std::string& name,
                                             const std::vector<std::int64_t>& shape) const {
  const auto found = tensors.find(name);
  if (found == tensors.end())
    throw Error(ErrorCode::kBadInput, fmt::format("the model has no tensor '{}'", name));
  const auto* values = std::get_if<std::vector<Value>>(&found->second.values);
  if (values == nullptr || found->second.shape != shape) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("tensor '{}' of the model is {} [{}] instead of {} [{}]", name, dtype_of(found->second),
                    fmt::join(found->second.shape, ", "), dtype_name<Value>(), fmt::join(shape, ", ")));
  }
  return *values;
}

template const std::vector<float>& ModelContainer::at(const std::string&,
                                                      const std::vector<std::int64_t>&) const;
template const std::vector<double>& ModelContainer::at(const std::string&,
                                                       const std::vector<std::int64_t>&) const;
template const std::vector<std::int32_t>& ModelContainer::at(const std::string&,
                                                             const std::vector<std::int64_t>&) const;
template const std::vector<std::int64_t>& ModelContainer::at(const std::string&,
                                                             const std::vector<std::int64_t>&) const;

std::string model_bytes(const ModelContainer& model) {
  // Wide numbers first, so that each tensor lies at a multiple of its element size; then by name.
  std::vector<const std::pair<const std::string, Tensor>*> order;
  for (const auto& entry : model.tensors) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return element_size(a->second) > element_size(b->second);
  });
  json header = json::object();
  std::uint64_t offset = 0;
  for (const auto* entry : order) {
    const auto& [name, tensor] = *entry;
    const std::size_t size = size_of(tensor);
    if (static_cast<std::uint64_t>(tensor.count()) * element_size(tensor) != size)
      throw Error(ErrorCode::kInternal, fmt::format("tensor '{}' does not have the size of its shape", name));
    if (!finite(tensor))
      throw Error(ErrorCode::kInternal, fmt::format("tensor '{}' holds a number that is not finite", name));
    if (name == "__metadata__") throw Error(ErrorCode::kInternal, "a tensor cannot be called __metadata__");
    header[name] = {
        {"dtype", dtype_of(tensor)}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + size}}};
    offset += size;
  }
  const std::string zeros(kDigestSize, '0');
  try {
    header["__metadata__"] = {{"format", kFormat},
                              {"version", std::to_string(kModelVersion)},
                              {"sha256", zeros},
                              {"description", model.metadata.dump()}};
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    if (text.size() > ModelLimits{}.header_bytes)
      throw Error(ErrorCode::kInternal, "the description of the model is too large to be read back");
    const auto length = static_cast<std::uint64_t>(text.size());
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    bytes += text;
    bytes.reserve(bytes.size() + offset);
    for (const auto* entry : order) {
      std::visit(
          [&]<typename V>(const std::vector<V>& values) {
            bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(V));
          },
          entry->second.values);
    }
    const std::size_t place = sizeof length + digest_place(text, zeros);
    bytes.replace(place, kDigestSize, sha256(bytes));
    return bytes;
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kInternal,
                fmt::format("the description of the model cannot be written: {}", error.what()));
  }
}

ModelContainer parse_model(std::string_view bytes, std::string_view name, const ModelLimits& limits) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) refuse(name, "it is too short");
  if (bytes.size() > limits.file_bytes)
    refuse(name, fmt::format("it is larger than {} bytes", limits.file_bytes));
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > limits.header_bytes)
    refuse(name, fmt::format("its header would be larger than {} bytes", limits.header_bytes));
  if (length > bytes.size() - sizeof length) refuse(name, "it ends inside its header");
  const std::string_view text = bytes.substr(sizeof length, length);
  const std::string_view buffer = bytes.substr(sizeof length + length);
  if (!text.starts_with('{')) refuse(name, "its header does not begin with '{'");
  const json header = parse_json(text, limits.nesting, name, "header");

  const auto metadata = header.find("__metadata__");
  const auto field = [&](const char* key) -> std::string {
    if (metadata == header.end() || !metadata->is_object()) refuse(name, "it has no metadata");
    const auto value = metadata->find(key);
    if (value == metadata->end() || !value->is_string())
      refuse(name, fmt::format("its metadata has no '{}'", key));
    return value->get<std::string>();
  };
  if (field("format") != kFormat) refuse(name, "it is a safetensors file of another program");
  const std::string version = field("version");
  if (version.empty() || version.size() > 6 ||
      !std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; }))
    refuse(name, "its version is not a number");
  if (std::stoi(version) > kModelVersion) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{} was written in version {} of the model format; this program reads up to version {}",
                    name, version, kModelVersion),
        "use a newer ppan");
  }
  if (std::stoi(version) != kModelVersion) refuse(name, fmt::format("version {} is unknown", version));

  const std::string digest = field("sha256");
  const std::size_t place = digest_place(text, digest);
  if (digest.size() != kDigestSize || place == std::string_view::npos)
    refuse(name, "its checksum cannot be found");
  std::string zeroed(bytes);
  zeroed.replace(sizeof length + place, kDigestSize, kDigestSize, '0');
  if (sha256(zeroed) != digest) refuse(name, "its checksum does not match: it was altered or damaged");
  zeroed = {};

  if (header.size() - 1 > limits.tensors)
    refuse(name, fmt::format("it has more than {} tensors", limits.tensors));
  std::vector<Entry> entries;
  for (const auto& [key, value] : header.items()) {
    if (key != "__metadata__") entries.push_back(parse_entry(key, value, limits, name));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != covered || entry.end < entry.begin || entry.end > buffer.size())
      refuse(name, fmt::format("tensor '{}' leaves a gap, overlaps another or ends outside of the file",
                               entry.name));
    covered = entry.end;
  }
  if (covered != buffer.size()) refuse(name, "its tensors do not cover it");

  ModelContainer model;
  model.metadata = parse_json(field("description"), limits.nesting, name, "description");
  if (!model.metadata.is_object()) refuse(name, "its description is not an object");
  for (const Entry& entry : entries) model.tensors.emplace(entry.name, take_tensor(entry, buffer, name));
  model.checksum = digest;
  return model;
}

void write_model(const std::filesystem::path& path, const ModelContainer& model) {
  write_file(path, model_bytes(model), Access::kPrivate);
}

ModelContainer read_model(const std::filesystem::path& path, const ModelLimits& limits) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > limits.file_bytes)
    refuse(path.string(), fmt::format("it is larger than {} bytes", limits.file_bytes));
  return parse_model(read_file(path), path.string(), limits);
}

}  // namespace ppan
