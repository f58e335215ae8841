#include "ppan/core/crypto.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <memory>
#include <new>

namespace ppan {

void start_crypto() {
  if (OPENSSL_init_crypto(0, nullptr) != 1 || OSSL_LIB_CTX_get0_global_default() == nullptr)
    throw std::bad_alloc();
}

std::string sha256(std::string_view bytes) {
  start_crypto();
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (context == nullptr) throw std::bad_alloc();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), digest.data(), &size) != 1)
    throw std::bad_alloc();  // nothing else can go wrong here
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  start_crypto();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  std::size_t size = 0;
  if (EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, key.data(), key.size(),
                reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(),
                digest.size(), &size) == nullptr)
    throw std::bad_alloc();  // nothing else can go wrong here
  return fmt::format("{:02x}",
                     fmt::join(digest.begin(), digest.begin() + static_cast<std::ptrdiff_t>(size), ""));
}

}  // namespace ppan
