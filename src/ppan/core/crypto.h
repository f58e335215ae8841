#pragma once

#include <string>
#include <string_view>

namespace ppan {

/// Before the first use of OpenSSL, which does not survive a failed allocation in its own beginning. Throws
/// std::bad_alloc.
void start_crypto();

/// SHA-256 of some bytes as 64 hexadecimal digits; also the fingerprint of data files.
std::string sha256(std::string_view bytes);

}  // namespace ppan
