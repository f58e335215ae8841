#include "ppan/trade_off/data_fingerprint.h"

#include <fmt/format.h>

#include "ppan/core/crypto.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

constexpr std::size_t kLeastKey = 16;  // bytes; 128 random bits are not guessed

}  // namespace

std::string data_fingerprint(const std::filesystem::path& key_file, const std::string& sha256) {
  if (key_file.empty()) return {};
  const std::string key = read_file(key_file);
  if (key.size() < kLeastKey)
    throw Error(ErrorCode::kUsage,
                fmt::format("the fingerprint key {} has {} bytes; at least {} are needed", key_file.string(),
                            key.size(), kLeastKey),
                fmt::format("make one, for example: openssl rand -hex 32 > {}", key_file.string()));
  return hmac_sha256(key, sha256);
}

}  // namespace ppan
