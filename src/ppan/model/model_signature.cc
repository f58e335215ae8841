#include "ppan/model/model_signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <new>

#include "ppan/core/crypto.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

// Nothing else that is signed with the same key can be taken for a model.
constexpr std::string_view kContext = "ppan model signature 1\n";
constexpr std::uint64_t kMostKeyBytes = 1U << 20U;

using KeyPointer = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using ContextPointer = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
using BioPointer = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

[[noreturn]] void no_key(const std::filesystem::path& path, std::string_view what, std::string_view command) {
  throw Error(ErrorCode::kBadInput, fmt::format("{} {}", path.string(), what),
              fmt::format("make one: {}", command));
}
constexpr std::string_view kMakePrivate = "openssl genpkey -algorithm ed25519 -out key.pem";
constexpr std::string_view kMakePublic = "openssl pkey -in key.pem -pubout -out public.pem";

BioPointer bio_of(const std::string& text) {
  start_crypto();
  BioPointer bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free_all);
  if (bio == nullptr) throw std::bad_alloc();
  return bio;
}

ContextPointer new_context() {
  ContextPointer context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

std::string digits_of(const unsigned char* bytes, std::size_t size) {
  return fmt::format("{:02x}", fmt::join(bytes, bytes + size, ""));
}

std::vector<unsigned char> bytes_of(std::string_view digits) {
  std::vector<unsigned char> out(digits.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i)
    std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, out[i], 16);
  return out;
}

std::string public_digits(const EVP_PKEY* key) {
  std::array<unsigned char, kPublicKeyDigits / 2> bytes{};
  std::size_t size = bytes.size();
  if (EVP_PKEY_get_raw_public_key(key, bytes.data(), &size) != 1 || size != bytes.size())
    throw Error(ErrorCode::kInternal, "a public key cannot be read");
  return digits_of(bytes.data(), size);
}

const unsigned char* unsigned_data(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// A key with a passphrase is refused: nobody is asked.
int no_passphrase(char* /*to*/, int /*size*/, int /*writing*/, void* /*data*/) {
  return -1;
}

}  // namespace

struct SigningKey::Key {
  KeyPointer pointer;
};

SigningKey::SigningKey(const std::filesystem::path& path) {
  std::string text = read_file(path, kMostKeyBytes);
  const BioPointer bio = bio_of(text);
  KeyPointer key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr), EVP_PKEY_free);
  OPENSSL_cleanse(text.data(), text.size());
  ERR_clear_error();
  if (key == nullptr) no_key(path, "holds no private key in PEM without a passphrase", kMakePrivate);
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
    no_key(path, "holds a key of another kind than Ed25519", kMakePrivate);
  key_ = std::make_unique<Key>(Key{std::move(key)});
}
SigningKey::~SigningKey() = default;
SigningKey::SigningKey(SigningKey&&) noexcept = default;
SigningKey& SigningKey::operator=(SigningKey&&) noexcept = default;

std::string SigningKey::public_key() const {
  return public_digits(key_->pointer.get());
}

std::string SigningKey::sign(std::string_view bytes) const {
  const std::string message = std::string(kContext).append(bytes);
  const ContextPointer context = new_context();
  std::array<unsigned char, kSignatureDigits / 2> signature{};
  std::size_t size = signature.size();
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_->pointer.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, unsigned_data(message), message.size()) != 1 ||
      size != signature.size())
    throw Error(ErrorCode::kInternal, "the model cannot be signed");
  return digits_of(signature.data(), size);
}

bool signature_holds(std::string_view public_key, std::string_view bytes, std::string_view signature) {
  if (public_key.size() != kPublicKeyDigits || signature.size() != kSignatureDigits) return false;
  const std::string message = std::string(kContext).append(bytes);
  const std::vector<unsigned char> raw = bytes_of(public_key);
  const std::vector<unsigned char> seal = bytes_of(signature);
  const KeyPointer key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw.data(), raw.size()),
                       EVP_PKEY_free);
  if (key == nullptr) throw std::bad_alloc();
  const ContextPointer context = new_context();
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1) throw std::bad_alloc();
  const bool holds =
      EVP_DigestVerify(context.get(), seal.data(), seal.size(), unsigned_data(message), message.size()) == 1;
  ERR_clear_error();
  return holds;
}

std::vector<std::string> read_public_keys(const std::filesystem::path& path) {
  const std::string text = read_file(path, kMostKeyBytes);
  const BioPointer bio = bio_of(text);
  std::vector<std::string> keys;
  for (;;) {
    const KeyPointer key(PEM_read_bio_PUBKEY(bio.get(), nullptr, no_passphrase, nullptr), EVP_PKEY_free);
    if (key == nullptr) break;
    if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
      no_key(path, "holds a key of another kind than Ed25519", kMakePublic);
    keys.push_back(public_digits(key.get()));
  }
  ERR_clear_error();
  if (keys.empty()) no_key(path, "holds no public key in PEM", kMakePublic);
  return keys;
}

void require_trusted(const std::string& signer, std::string_view name, const std::filesystem::path& trusted) {
  const std::vector<std::string> keys = read_public_keys(trusted);
  if (std::find(keys.begin(), keys.end(), signer) != keys.end()) return;
  throw Error(ErrorCode::kBadInput,
              signer.empty() ? fmt::format("{} is not signed", name)
                             : fmt::format("{} is signed with the key {}, which is not in {}", name, signer,
                                           trusted.string()),
              "ask for a file signed by somebody you trust, or leave out --trust");
}

}  // namespace ppan
