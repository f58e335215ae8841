#include "ppan/model/model_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/model/model_file.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ModelSignature : public testing::Test {
 protected:
  ModelSignature() {
    std::string pattern = (fs::temp_directory_path() / "ppan_signature_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    make_key("ours", EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
    make_key("theirs", EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
    make_key("other_kind", EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"));
    model_.metadata = {{"audit", "0.01 nats"}};
    model_.tensors["a"] = {{3}, std::vector<float>{1, 2, 3}};
  }
  ~ModelSignature() override { fs::remove_all(directory_); }

  // NAME.pem with the private key and NAME.pub.pem with the public one.
  void make_key(const std::string& name, EVP_PKEY* key) {
    ASSERT_NE(key, nullptr);
    std::FILE* file = std::fopen((directory_ / (name + ".pem")).c_str(), "w");
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    file = std::fopen((directory_ / (name + ".pub.pem")).c_str(), "w");
    PEM_write_PUBKEY(file, key);
    std::fclose(file);
    EVP_PKEY_free(key);
  }
  [[nodiscard]] SigningKey key(const std::string& name) const {
    return SigningKey(directory_ / (name + ".pem"));
  }
  [[nodiscard]] fs::path public_file(const std::string& name) const {
    return directory_ / (name + ".pub.pem");
  }

  static std::string error_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      return error.what();
    }
    return "";
  }

  fs::path directory_;
  ModelContainer model_;
};

TEST_F(ModelSignature, ASignedModelNamesItsSigner) {
  const SigningKey ours = key("ours");
  const ModelContainer read = parse_model(model_bytes(model_, &ours), "m");
  EXPECT_EQ(read.signer, ours.public_key());
  EXPECT_EQ(read.metadata, model_.metadata);
  EXPECT_EQ(read.tensors, model_.tensors);
  EXPECT_EQ(parse_model(model_bytes(model_), "m").signer, "");
  require_trusted(read.signer, "m", public_file("ours"));
}

TEST_F(ModelSignature, UnsignedAndWronglySignedModelsAreNotTrusted) {
  const SigningKey theirs = key("theirs");
  EXPECT_THAT(error_of([&] { require_trusted("", "m", public_file("ours")); }), HasSubstr("m is not signed"));
  EXPECT_THAT(error_of([&] { require_trusted(theirs.public_key(), "m", public_file("ours")); }),
              HasSubstr("which is not in"));
}

TEST_F(ModelSignature, AFileMayHoldSeveralKeys) {
  const fs::path both = directory_ / "both.pem";
  write_file(both, read_file(public_file("ours")) + read_file(public_file("theirs")));
  require_trusted(key("ours").public_key(), "m", both);
  require_trusted(key("theirs").public_key(), "m", both);
}

// Whoever alters a model can make its checksum right again, but not its signature.
TEST_F(ModelSignature, EveryAlteredByteIsFound) {
  const SigningKey ours = key("ours");
  const std::string good = model_bytes(model_, &ours);
  const std::string field = "\"sha256\":\"";
  const std::size_t digest = good.find(field) + field.size();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_NE(error_of([&] { (void)parse_model(bad, "m"); }), "") << "byte " << i;
    if (i >= digest && i < digest + 64) continue;
    bad.replace(digest, 64, 64, '0');
    bad.replace(digest, 64, sha256(bad));
    std::string signer;
    const std::string error = error_of([&] { signer = parse_model(bad, "m").signer; });
    EXPECT_TRUE(!error.empty() || signer != ours.public_key()) << "byte " << i;
  }
}

TEST_F(ModelSignature, ASignatureIsNotMovedToAnotherModel) {
  const SigningKey ours = key("ours");
  ModelContainer other = model_;
  other.metadata["audit"] = "0.00 nats";
  const std::string from = model_bytes(model_, &ours);
  std::string to = model_bytes(other, &ours);
  const std::string field = "\"signature\":\"";
  to.replace(to.find(field) + field.size(), kSignatureDigits,
             from.substr(from.find(field) + field.size(), kSignatureDigits));
  const std::size_t digest = to.find("\"sha256\":\"") + 10;
  to.replace(digest, 64, 64, '0');
  to.replace(digest, 64, sha256(to));
  EXPECT_THAT(error_of([&] { (void)parse_model(to, "m"); }), HasSubstr("its signature does not match"));
}

TEST_F(ModelSignature, FilesThatAreNoKeys) {
  write_file(directory_ / "text.pem", "not a key");
  EXPECT_THAT(error_of([&] { (void)key("text"); }), HasSubstr("holds no private key"));
  EXPECT_THAT(error_of([&] { (void)key("other_kind"); }), HasSubstr("another kind than Ed25519"));
  EXPECT_THAT(error_of([&] { (void)read_public_keys(directory_ / "text.pem"); }), HasSubstr("no public key"));
  EXPECT_THAT(error_of([&] { (void)read_public_keys(public_file("other_kind")); }),
              HasSubstr("another kind"));
  EXPECT_THAT(error_of([&] { SigningKey private_key(public_file("ours")); }), HasSubstr("no private key"));
}

}  // namespace
}  // namespace ppan
