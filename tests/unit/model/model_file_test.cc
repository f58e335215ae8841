#include "ppan/model/model_file.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>

#include "ppan/core/error.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ModelContainer example() {
  ModelContainer model;
  model.metadata = {{"schema", {{"useful", {"age", "\"sha256\":\"x\""}}}}, {"epochs", 30}};
  model.tensors["weights"] = {{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6.5F}};
  model.tensors["bias"] = {{3}, std::vector<double>{0.1, -0.2, 1e300}};
  model.tensors["codes"] = {{2}, std::vector<std::int32_t>{-7, 7}};
  model.tensors["big"] = {{1}, std::vector<std::int64_t>{std::int64_t{1} << 60U}};
  model.tensors["none"] = {{0, 5}, std::vector<float>{}};
  model.tensors["scalar"] = {{}, std::vector<float>{42}};
  return model;
}

std::string error_of(const std::string& bytes, const ModelLimits& limits = {}) {
  try {
    parse_model(bytes, "m.ppan", limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.what();
  }
  return "no error";
}

// A file with this header and buffer whose checksum is right, so that what lies behind the checksum is
// reached.
std::string forge(json header, const std::string& buffer) {
  const std::string zeros(64, '0');
  if (header.contains("__metadata__")) header["__metadata__"]["sha256"] = zeros;
  std::string text = header.dump();
  const auto length = static_cast<std::uint64_t>(text.size());
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  bytes += text + buffer;
  const std::size_t at = bytes.find(zeros);
  if (at != std::string::npos) bytes.replace(at, 64, sha256(bytes));
  return bytes;
}

json good_header() {
  return {{"__metadata__", {{"format", "ppan"}, {"version", "1"}, {"description", "{}"}}},
          {"a", {{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {0, 8}}}},
          {"b", {{"dtype", "F32"}, {"shape", {1, 1}}, {"data_offsets", {8, 12}}}}};
}

std::string forge(const std::function<void(json&)>& change,
                  const std::string& buffer = std::string(12, '\0')) {
  json header = good_header();
  change(header);
  return forge(header, buffer);
}

TEST(Sha256, KnownAnswers) {
  // FIPS 180-2, appendix B.1, and the empty message.
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(ModelFile, WhatIsWrittenReadsBackEqual) {
  const ModelContainer model = example();
  const std::string bytes = model_bytes(model);
  EXPECT_EQ(bytes, model_bytes(model));
  const ModelContainer again = parse_model(bytes, "m.ppan");
  EXPECT_EQ(again.metadata, model.metadata);
  EXPECT_EQ(again.tensors, model.tensors);
  EXPECT_EQ(again.checksum.size(), 64U);
  EXPECT_EQ(model_bytes(again), bytes);
}

TEST(ModelFile, BytesAreAsDocumented) {
  ModelContainer model;
  model.tensors["w"] = {{1}, std::vector<float>{1}};
  const std::string bytes = model_bytes(model);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(bytes.size(), 8 + length + 4);
  EXPECT_EQ(bytes.substr(8 + length), std::string("\0\0\x80\x3F", 4));
  const std::string digest = parse_model(bytes, "m").checksum;
  EXPECT_THAT(bytes.substr(8, length),
              testing::StartsWith(
                  "{\"__metadata__\":{\"description\":\"{}\",\"format\":\"ppan\",\"sha256\":\"" + digest +
                  "\",\"version\":\"1\"},\"w\":{\"data_offsets\":[0,4],\"dtype\":\"F32\",\"shape\":[1]}}"));
  std::string zeroed = bytes;
  zeroed.replace(zeroed.find(digest), 64, std::string(64, '0'));
  EXPECT_EQ(sha256(zeroed), digest);
}

TEST(ModelFile, FilesAreWrittenAndRead) {
  const auto path = std::filesystem::temp_directory_path() / "ppan_model_test.ppan";
  write_model(path, example());
  EXPECT_EQ(read_model(path).tensors, example().tensors);
  EXPECT_THROW(read_model(path, {.file_bytes = 100}), Error);
  std::filesystem::remove(path);
  EXPECT_THROW(read_model(path), Error);
}

TEST(ModelFile, TensorsAreAskedForByTypeAndShape) {
  const ModelContainer model = example();
  EXPECT_EQ(model.at<float>("weights", {2, 3})[5], 6.5F);
  EXPECT_THAT(
      [&] {
        (void)model.at<float>("weights", {3, 2});
      },
      testing::ThrowsMessage<Error>("tensor 'weights' of the model is F32 [2, 3] instead of F32 [3, 2]"));
  EXPECT_THAT([&] { (void)model.at<float>("bias", {3}); },
              testing::ThrowsMessage<Error>("tensor 'bias' of the model is F64 [3] instead of F32 [3]"));
  EXPECT_THAT([&] { (void)model.at<float>("wieghts", {3}); },
              testing::ThrowsMessage<Error>("the model has no tensor 'wieghts'"));
}

TEST(ModelFile, WhatCouldNotBeReadBackIsNotWritten) {
  ModelContainer model;
  model.tensors["w"] = {{2}, std::vector<float>{1}};
  EXPECT_THROW(model_bytes(model), Error);
  model.tensors["w"] = {{1}, std::vector<float>{std::numeric_limits<float>::quiet_NaN()}};
  EXPECT_THROW(model_bytes(model), Error);
  model.tensors = {{"__metadata__", {{1}, std::vector<float>{1}}}};
  EXPECT_THROW(model_bytes(model), Error);
  model.tensors.clear();
  model.metadata = {{"text", "\xFF"}};
  EXPECT_THROW(model_bytes(model), Error);
}

TEST(ModelFile, EveryAlteredByteIsSeen) {
  const std::string bytes = model_bytes(example());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string altered = bytes;
    altered[i] = static_cast<char>(altered[i] ^ 0x01);
    EXPECT_NE(error_of(altered), "no error") << "byte " << i;
  }
  EXPECT_EQ(error_of(bytes), "no error");
}

TEST(ModelFile, EveryTruncationIsSeen) {
  const std::string bytes = model_bytes(example());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(error_of(bytes.substr(0, size)), "no error") << size;
  EXPECT_NE(error_of(bytes + '\0'), "no error");
}

TEST(ModelFile, NewerVersionsAreNamed) {
  const std::string bytes = forge([](json& h) { h["__metadata__"]["version"] = "2"; });
  EXPECT_EQ(error_of(bytes),
            "m.ppan was written in version 2 of the model format; this program reads up to version 1");
}

TEST(ModelFile, ForgedHeadersAreRefused) {
  EXPECT_EQ(error_of(forge([](json&) {})), "no error");  // the forger works
  const std::vector<std::pair<std::string, std::function<void(json&)>>> cases{
      {"no metadata", [](json& h) { h.erase("__metadata__"); }},
      {"no 'description'", [](json& h) { h["__metadata__"].erase("description"); }},
      {"another program", [](json& h) { h["__metadata__"]["format"] = "pt"; }},
      {"version is not a number", [](json& h) { h["__metadata__"]["version"] = "one"; }},
      {"version 0 is unknown", [](json& h) { h["__metadata__"]["version"] = "0"; }},
      {"description is not valid JSON", [](json& h) { h["__metadata__"]["description"] = "{"; }},
      {"description is not an object", [](json& h) { h["__metadata__"]["description"] = "5"; }},
      {"description has a key twice", [](json& h) { h["__metadata__"]["description"] = R"({"a":1,"a":2})"; }},
      {"nested too deeply",
       [](json& h) { h["__metadata__"]["description"] = std::string(100, '[') + std::string(100, ']'); }},
      {"unknown dtype", [](json& h) { h["a"]["dtype"] = "F16"; }},
      {"size of its shape", [](json& h) { h["a"]["shape"] = {3}; }},
      {"size of its shape",
       [](json& h) {
         h["a"]["shape"] = {std::uint64_t{1} << 39U, std::uint64_t{1} << 39U};
       }},
      {"impossible shape", [](json& h) { h["a"]["shape"] = {~std::uint64_t{0}}; }},
      {"wrong kind", [](json& h) { h["a"]["shape"] = {-2}; }},
      {"wrong kind", [](json& h) { h["a"]["shape"] = {2.0}; }},
      {"too many dimensions", [](json& h) { h["a"]["shape"] = {1, 1, 1, 1, 1, 1, 1, 1, 2}; }},
      {"not described", [](json& h) { h["a"].erase("shape"); }},
      {"not described", [](json& h) { h["a"]["extra"] = 1; }},
      {"gap",
       [](json& h) {
         h["b"]["data_offsets"] = {4, 8};
       }},
      {"gap",
       [](json& h) {
         h["b"]["data_offsets"] = {9, 12};
       }},
      {"gap",
       [](json& h) {
         h["b"]["data_offsets"] = {8, 16};
       }},
      {"gap",
       [](json& h) {
         h["b"]["data_offsets"] = {8, 4};
       }},
      {"gap",
       [](json& h) {
         h["b"]["data_offsets"] = {8, ~std::uint64_t{0}};
       }},
      {"do not cover", [](json& h) { h.erase("b"); }},
  };
  for (const auto& [message, change] : cases) EXPECT_THAT(error_of(forge(change)), HasSubstr(message));
  std::string infinite(12, '\0');
  const float infinity = std::numeric_limits<float>::infinity();
  std::memcpy(infinite.data() + 4, &infinity, 4);
  EXPECT_THAT(error_of(forge([](json&) {}, infinite)),
              HasSubstr("tensor 'a' holds a number that is not finite"));
}

TEST(ModelFile, CapsHold) {
  std::string huge(8, '\xFF');
  EXPECT_THAT(error_of(huge + "{}"), HasSubstr("header would be larger"));
  EXPECT_THAT(error_of(forge([](json&) {}), {.tensors = 1}), HasSubstr("more than 1 tensors"));
  EXPECT_THAT(error_of(std::string(8, '\0')), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(error_of("abc"), HasSubstr("too short"));
}

TEST(ModelFile, RepeatedKeysAreRefused) {
  const std::string text = R"({"__metadata__":{"format":"ppan","format":"ppan"}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(text.size());
  EXPECT_THAT(error_of(bytes + text), HasSubstr("the header has a key twice"));
}

}  // namespace
}  // namespace ppan
