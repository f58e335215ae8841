#pragma once

#include <string>
#include <string_view>

namespace ppan {

/// Before the first use of OpenSSL, which does not survive a failed allocation in its own beginning. Throws
/// std::bad_alloc.
void start_crypto();

/// SHA-256 of some bytes as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

/// HMAC-SHA-256 of some bytes as 64 hexadecimal digits: a fingerprint that only those who hold the key can
/// check against a guess.
std::string hmac_sha256(std::string_view key, std::string_view bytes);

}  // namespace ppan
