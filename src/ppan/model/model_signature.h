#pragma once

// Signatures of model files: Ed25519, by OpenSSL. People trust the description of a model, including its
// audit; a signature says who vouches for it. Keys are PEM files as `openssl genpkey -algorithm ed25519` and
// `openssl pkey -pubout` write them.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ppan {

inline constexpr std::size_t kPublicKeyDigits = 64;
inline constexpr std::size_t kSignatureDigits = 128;

/// A private key.
class SigningKey {
 public:
  /// From a PEM file without a passphrase. Throws Error(kIo) and Error(kBadInput).
  explicit SigningKey(const std::filesystem::path& path);
  ~SigningKey();
  SigningKey(SigningKey&&) noexcept;
  SigningKey& operator=(SigningKey&&) noexcept;

  /// 64 hexadecimal digits.
  [[nodiscard]] std::string public_key() const;
  /// 128 hexadecimal digits.
  [[nodiscard]] std::string sign(std::string_view bytes) const;

 private:
  struct Key;
  std::unique_ptr<Key> key_;
};

/// Whether `signature` was made of `bytes` with the private key that belongs to `public_key`. Both are
/// hexadecimal digits, as many as a SigningKey gives.
bool signature_holds(std::string_view public_key, std::string_view bytes, std::string_view signature);

/// The public keys of a PEM file, which may hold several. Throws Error(kIo), and Error(kBadInput) if there
/// is none or one of another kind.
std::vector<std::string> read_public_keys(const std::filesystem::path& path);

/// Throws Error(kBadInput) unless `signer` is one of the keys in the file `trusted`. `name` is what messages
/// call the model.
void require_trusted(const std::string& signer, std::string_view name, const std::filesystem::path& trusted);

}  // namespace ppan
