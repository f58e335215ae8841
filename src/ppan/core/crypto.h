#pragma once

#include <string>
#include <string_view>

namespace ppan {

/// Initialises OpenSSL. Call it before the first use: OpenSSL does not survive a failed allocation during its
/// own initialisation. Throws std::bad_alloc.
void start_crypto();

/// SHA-256 of some bytes as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

/// HMAC-SHA-256 of some bytes as 64 hexadecimal digits: a fingerprint that only those who hold the key can
/// check against a guess.
std::string hmac_sha256(std::string_view key, std::string_view bytes);

}  // namespace ppan
