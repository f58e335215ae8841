#include "ppan/model/model_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "ppan/core/crypto.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/model/model_signature.h"

namespace ppan {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

constexpr std::string_view kFormat = "ppan";
constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
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

// What the first bytes say of the rest.
struct Header {
  std::vector<Entry> entries;  // in the order of their bytes
  std::uint64_t covered = 0;   // bytes of all tensors, which follow each other without gaps
  std::string description;
  std::string digest;
  std::size_t digest_at = 0;  // in the header
  std::string signer;         // empty: not signed
  std::string signature;
  std::size_t signature_at = 0;
};

// Where the digits of a field are, which its seal counts as zeros.
std::size_t place_of(std::string_view header, std::string_view key, std::string_view digits) {
  const std::string field = fmt::format("\"{}\":\"{}\"", key, digits);
  const std::size_t at = header.find(field);
  return at == std::string_view::npos ? at : at + field.size() - 1 - digits.size();
}

bool hexadecimal(std::string_view text, std::size_t size) {
  return text.size() == size && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::uint64_t header_length(std::string_view bytes, std::string_view name, const ModelLimits& limits) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > limits.header_bytes)
    refuse(name, fmt::format("its header would be larger than {} bytes", limits.header_bytes));
  if (length < 2) refuse(name, "its header does not begin with '{'");
  return length;
}

void check_version(const std::string& version, std::string_view name) {
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
}

std::vector<Entry> parse_entries(const json& header, std::string_view name, const ModelLimits& limits) {
  if (header.size() - 1 > limits.tensors)
    refuse(name, fmt::format("it has more than {} tensors", limits.tensors));
  std::vector<Entry> entries;
  for (const auto& [key, value] : header.items()) {
    if (key != "__metadata__") entries.push_back(parse_entry(key, value, limits, name));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  return entries;
}

Header parse_header(std::string_view text, std::string_view name, const ModelLimits& limits) {
  if (!text.starts_with('{')) refuse(name, "its header does not begin with '{'");
  const json header = parse_json(text, limits.nesting, name, "header");
  const auto metadata = header.find("__metadata__");
  if (metadata == header.end() || !metadata->is_object()) refuse(name, "it has no metadata");
  const auto field = [&](const char* key) -> std::string {
    const auto value = metadata->find(key);
    if (value == metadata->end() || !value->is_string())
      refuse(name, fmt::format("its metadata has no '{}'", key));
    return value->get<std::string>();
  };
  if (field("format") != kFormat) refuse(name, "it is a safetensors file of another program");
  check_version(field("version"), name);
  Header out;
  out.digest = field("sha256");
  out.digest_at = place_of(text, "sha256", out.digest);
  if (out.digest.size() != kDigestSize || out.digest_at == std::string_view::npos)
    refuse(name, "its checksum cannot be found");
  if (metadata->contains("signer") || metadata->contains("signature")) {
    out.signer = field("signer");
    out.signature = field("signature");
    out.signature_at = place_of(text, "signature", out.signature);
    if (!hexadecimal(out.signer, kPublicKeyDigits) || !hexadecimal(out.signature, kSignatureDigits) ||
        out.signature_at == std::string_view::npos)
      refuse(name, "its signature cannot be found");
  }
  out.description = field("description");
  out.entries = parse_entries(header, name, limits);
  for (const Entry& entry : out.entries) {
    if (entry.begin != out.covered || entry.end < entry.begin || entry.end > limits.file_bytes)
      refuse(name, fmt::format("tensor '{}' leaves a gap, overlaps another or ends outside of the file",
                               entry.name));
    out.covered = entry.end;
  }
  return out;
}

// Checksum and signature, each taken with its own digits as zeros, the signature also with those of the
// checksum, which is made last.
void check_seals(std::string_view bytes, const Header& header, std::string_view name) {
  std::string zeroed(bytes);
  zeroed.replace(kLengthBytes + header.digest_at, kDigestSize, kDigestSize, '0');
  if (sha256(zeroed) != header.digest) refuse(name, "its checksum does not match: it was altered or damaged");
  if (header.signer.empty()) return;
  zeroed.replace(kLengthBytes + header.signature_at, kSignatureDigits, kSignatureDigits, '0');
  if (!signature_holds(header.signer, zeroed, header.signature))
    refuse(name, "its signature does not match: it was altered after it was signed");
}

// Reads a file piece by piece, so that nothing is read before what precedes it was found good.
class ModelReader {
 public:
  explicit ModelReader(const std::filesystem::path& path)
      : name_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail("open");
  }
  ModelReader(const ModelReader&) = delete;
  ModelReader& operator=(const ModelReader&) = delete;
  ~ModelReader() {
    if (file_ >= 0) ::close(file_);
  }

  // Appends up to `count` bytes; fewer only at the end of the file.
  void read(std::uint64_t count, std::string& to) {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 20U;
    while (count > 0) {
      const std::size_t before = to.size();
      to.resize(before + static_cast<std::size_t>(std::min(count, kPiece)));
      const ssize_t got = ::read(file_, to.data() + before, to.size() - before);
      const int error_number = errno;
      to.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got == 0) return;
      if (got < 0 && error_number != EINTR) {
        errno = error_number;
        fail("read");
      }
      count -= static_cast<std::uint64_t>(std::max<ssize_t>(got, 0));
    }
  }

 private:
  [[noreturn]] void fail(const char* action) const {
    throw Error(ErrorCode::kIo, fmt::format("cannot {} {}: {}", action, name_, std::strerror(errno)));
  }

  std::string name_;
  int file_;
};

}  // namespace

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

std::string model_bytes(const ModelContainer& model, const SigningKey* key) {
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
    const std::string unsigned_digits(kSignatureDigits, '0');
    if (key != nullptr) {
      header["__metadata__"]["signer"] = key->public_key();
      header["__metadata__"]["signature"] = unsigned_digits;
    }
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
    if (key != nullptr) {
      const std::size_t place = sizeof length + place_of(text, "signature", unsigned_digits);
      bytes.replace(place, kSignatureDigits, key->sign(bytes));
    }
    const std::size_t place = sizeof length + place_of(text, "sha256", zeros);
    bytes.replace(place, kDigestSize, sha256(bytes));
    return bytes;
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kInternal,
                fmt::format("the description of the model cannot be written: {}", error.what()));
  }
}

ModelContainer parse_model(std::string_view bytes, std::string_view name, const ModelLimits& limits) {
  if (bytes.size() < kLengthBytes) refuse(name, "it is too short");
  if (bytes.size() > limits.file_bytes)
    refuse(name, fmt::format("it is larger than {} bytes", limits.file_bytes));
  const std::uint64_t length = header_length(bytes, name, limits);
  if (length > bytes.size() - kLengthBytes) refuse(name, "it ends inside its header");
  const Header header = parse_header(bytes.substr(kLengthBytes, length), name, limits);
  const std::string_view buffer = bytes.substr(kLengthBytes + length);
  if (header.covered > buffer.size())
    refuse(name, "a tensor leaves a gap, overlaps another or ends outside of the file");
  if (header.covered < buffer.size()) refuse(name, "its tensors do not cover it");
  check_seals(bytes, header, name);

  ModelContainer model;
  model.metadata = parse_json(header.description, limits.nesting, name, "description");
  if (!model.metadata.is_object()) refuse(name, "its description is not an object");
  for (const Entry& entry : header.entries)
    model.tensors.emplace(entry.name, take_tensor(entry, buffer, name));
  model.checksum = header.digest;
  model.signer = header.signer;
  return model;
}

void write_model(const std::filesystem::path& path, const ModelContainer& model, const SigningKey* key) {
  write_file(path, model_bytes(model, key), Access::kPrivate);
}

ModelContainer read_model(const std::filesystem::path& path, const ModelLimits& limits) {
  const std::string name = path.string();
  ModelReader file(path);
  std::string bytes;
  file.read(kLengthBytes, bytes);
  if (bytes.size() < kLengthBytes) refuse(name, "it is too short");
  const std::uint64_t length = header_length(bytes, name, limits);
  file.read(1, bytes);
  if (bytes.back() != '{') refuse(name, "its header does not begin with '{'");
  file.read(length - 1, bytes);
  if (bytes.size() < kLengthBytes + length) refuse(name, "it ends inside its header");
  const std::uint64_t body = parse_header(std::string_view(bytes).substr(kLengthBytes), name, limits).covered;
  if (kLengthBytes + length + body > limits.file_bytes)
    refuse(name, fmt::format("it is larger than {} bytes", limits.file_bytes));
  file.read(body + 1, bytes);  // one more, to see that it ends
  return parse_model(bytes, name, limits);
}

}  // namespace ppan
