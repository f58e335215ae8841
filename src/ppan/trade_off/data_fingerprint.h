#pragma once

// Identifies the data that a model or a report came from. A plain hash of a table would let anyone who knows
// all of it except one cell find that cell by trial. So fingerprints are made with a secret key; without a
// key there are none.

#include <filesystem>
#include <string>

namespace ppan {

/// HMAC of the data's SHA-256 with the key in a file, as 64 hexadecimal digits. Empty without a key file.
/// Throws Error(kUsage) for a key of fewer than 16 bytes and Error(kIo) for a file that cannot be read.
std::string data_fingerprint(const std::filesystem::path& key_file, const std::string& sha256);

}  // namespace ppan
