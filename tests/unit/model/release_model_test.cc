#include "ppan/model/release_model.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/model/model_file.h"
#include "unit/release/release_support.h"

namespace ppan {
namespace {

using nlohmann::json;
using release_test::People;
using testing::HasSubstr;

ModelAudit example_audit() {
  return {.attributes = {{.name = "ill",
                          .leakage = {.nats = 0.05,
                                      .interval95 = Interval{0.01, 0.09},
                                      .bound = Bound::kLower,
                                      .method = "boosted trees",
                                      .samples = 500},
                          .accuracy = 0.7,
                          .prior_accuracy = 0.66,
                          .upper = Estimate{.nats = 0.6,
                                            .interval95 = std::nullopt,
                                            .bound = Bound::kUpper,
                                            .method = "entropy",
                                            .samples = 500},
                          .inconclusive = true}},
          .rows = 500,
          .quick = true,
          .data_fingerprint = "abc"};
}

std::string error_of(const std::function<void()>& body, ErrorCode code = ErrorCode::kBadInput) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "no error";
}

TEST(ReleaseModel, EverythingComesBackFromAFile) {
  const auto path = std::filesystem::temp_directory_path() / "ppan_release_model_test.ppan";
  const People people;
  for (ReleaseModel model : {people.random(), people.unchanged(), people.constant(),
                             mix_models(people.random(), people.constant(), 0.25)}) {
    model.audit = example_audit();
    model.unknown = UnknownRow::kNearest;
    save_model(path, model);
    const ReleaseModel again = load_model(path);
    const ModelContainer a = to_container(model);
    const ModelContainer b = to_container(again);
    EXPECT_EQ(a.metadata, b.metadata);
    EXPECT_EQ(a.tensors, b.tensors);
    EXPECT_EQ(again.order, model.order);
    EXPECT_EQ(again.format, model.format);
    EXPECT_EQ(again.audit->attributes.front().leakage.interval95->high, 0.09);
    EXPECT_EQ(again.audit->attributes.front().upper->nats, 0.6);
    EXPECT_TRUE(again.audit->attributes.front().inconclusive);
    EXPECT_EQ(again.checksum.size(), 64);
    // The same contents give the same bytes.
    EXPECT_EQ(read_file(path), model_bytes(b));
  }
  std::filesystem::remove(path);
}

json& mechanism_of(ModelContainer& container) {
  return container.metadata["model"]["components"][0]["mechanism"];
}

TEST(ReleaseModel, AnAlteredDescriptionIsRefused) {
  const People people;
  const ModelContainer good = to_container(people.random());
  EXPECT_NO_THROW((void)from_container(good, "m"));
  const std::vector<std::pair<std::string, std::function<void(ModelContainer&)>>> cases{
      {"no part", [](ModelContainer& c) { c.metadata.erase("model"); }},
      {"no format", [](ModelContainer& c) { c.metadata.erase("table"); }},
      {"no origin", [](ModelContainer& c) { c.metadata.erase("origin"); }},
      {"unknown policy", [](ModelContainer& c) { c.metadata["release"]["unknown"] = "guess"; }},
      {"foreign column", [](ModelContainer& c) { c.metadata["release"]["columns"].push_back("ill"); }},
      {"absent column", [](ModelContainer& c) { c.metadata["release"]["columns"].erase(0); }},
      {"twice",
       [](ModelContainer& c) {
         c.metadata["release"]["columns"] = {"id", "age", "job", "pay", "pay"};
       }},
      {"delimiter", [](ModelContainer& c) { c.metadata["table"]["delimiter"] = ",,"; }},
      {"delimiter", [](ModelContainer& c) { c.metadata["table"]["delimiter"] = "."; }},
      {"kind", [](ModelContainer& c) { c.metadata["origin"]["epochs"] = "three"; }},
      {"bound", [](ModelContainer& c) { c.metadata["origin"]["leakage"]["kind"] = "sure"; }},
      {"audit", [](ModelContainer& c) { c.metadata["audit"] = 5; }},
      {"huge layer", [](ModelContainer& c) { mechanism_of(c)["hidden"] = {1000000000000}; }},
      {"huge decoder", [](ModelContainer& c) { mechanism_of(c)["decoder"] = {1000000000000}; }},
      {"huge code", [](ModelContainer& c) { mechanism_of(c)["code"] = 1000000000000; }},
      {"huge release", [](ModelContainer& c) { mechanism_of(c)["released"] = 1000000000000; }},
      {"negative layer", [](ModelContainer& c) { mechanism_of(c)["hidden"] = {-8}; }},
      {"no code", [](ModelContainer& c) { mechanism_of(c)["code"] = 0; }},
      {"unknown kind", [](ModelContainer& c) { mechanism_of(c)["kind"] = "magic"; }},
      {"weights", [](ModelContainer& c) { c.metadata["model"]["components"][0]["weight"] = 0.5; }},
      {"nothing", [](ModelContainer& c) { c.metadata["model"]["components"] = json::array(); }},
      {"no such column",
       [](ModelContainer& c) {
         c.metadata["model"]["schema"]["useful"] = {"age", "job", "wage"};
       }},
      {"tensor gone", [](ModelContainer& c) { c.tensors.clear(); }},
      {"tensor of another type",
       [](ModelContainer& c) { c.tensors.begin()->second.values = std::vector<double>{1}; }},
      {"tensor cut", [](ModelContainer& c) {
         Tensor& tensor = c.tensors.begin()->second;
         auto& values = std::get<std::vector<float>>(tensor.values);
         values.pop_back();
         tensor.shape = {static_cast<std::int64_t>(values.size()), 1};
       }}};
  for (const auto& [name, change] : cases) {
    ModelContainer altered = good;
    change(altered);
    EXPECT_THAT(error_of([&] { (void)from_container(altered, "m.ppan"); }),
                HasSubstr("m.ppan is not a usable model file"))
        << name;
  }
}

TEST(ReleaseModel, TruncatedAlteredNewerAndForeignFilesAreRefused) {
  const auto path = std::filesystem::temp_directory_path() / "ppan_release_model_bad.ppan";
  const std::string bytes = model_bytes(to_container(People().random()));
  const auto refused = [&](const std::string& contents) {
    write_file(path, contents);
    return error_of([&] { (void)load_model(path); });
  };
  EXPECT_THAT(refused(bytes.substr(0, bytes.size() / 2)), HasSubstr("not a usable model file"));
  std::string altered = bytes;
  altered[bytes.size() - 3] = static_cast<char>(altered[bytes.size() - 3] ^ 1);
  EXPECT_THAT(refused(altered), HasSubstr("checksum does not match"));
  std::string newer = bytes;
  newer.replace(newer.find("\"version\":\"1\""), 13, "\"version\":\"2\"");
  EXPECT_THAT(refused(newer), HasSubstr("version 2 of the model format"));
  EXPECT_THAT(refused("age,job\n1,2\n"), HasSubstr("not a usable model file"));
  ModelContainer foreign;
  foreign.metadata = {{"what", "another kind of model"}};
  EXPECT_THAT(refused(model_bytes(foreign)), HasSubstr("not that of a table model"));
  std::filesystem::remove(path);
  EXPECT_NE(error_of([&] { (void)load_model(path); }, ErrorCode::kIo), "no error");
}

TEST(ReleaseModel, AMixtureSaysWhatItIsMadeOf) {
  const People people;
  ReleaseModel first = people.random();
  ReleaseModel second = people.constant();
  second.origin.label = "constant";
  second.origin.distortion = 0.6;
  second.origin.leakage->nats = 0;
  second.origin.leakage->interval95 = Interval{0, 0.02};
  const ReleaseModel mixed = mix_models(first, second, 0.25);
  EXPECT_EQ(mixed.origin.label, "mixture of point 1 (75 %) and constant (25 %)");
  EXPECT_NEAR(*mixed.origin.distortion, 0.3, 1e-12);
  EXPECT_NEAR(mixed.origin.leakage->nats, 0.075, 1e-12);
  EXPECT_NEAR(mixed.origin.leakage->interval95->high, 0.095, 1e-12);
  EXPECT_EQ(mixed.table.components().size(), 2);
  EXPECT_EQ(mix_models(first, second, 0).origin.label, "point 1");
  EXPECT_EQ(mix_models(first, second, 1).origin.label, "constant");
  second.order = {"age", "id", "job", "pay"};
  EXPECT_NE(error_of([&] { (void)mix_models(first, second, 0.5); }, ErrorCode::kUsage), "no error");
}

TEST(ReleaseModel, ADescriptionTellsWhatPeopleAskFor) {
  ReleaseModel model = People().random();
  std::string text = describe(model);
  for (const char* part : {"sensitive  ill", "useful     age, job, pay", "releases   id, age, job, pay",
                           "UNAUDITED", "0.1000 nats (95 % interval 0.0800 to 0.1200), lower bound",
                           "fresh network", "noisy-code", "3 epochs"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(describe(model, InformationUnit::kBits), HasSubstr("0.1443 bits"));
  model.audit = example_audit();
  text = describe(model);
  EXPECT_THAT(text, testing::Not(HasSubstr("UNAUDITED")));
  EXPECT_THAT(text, HasSubstr("500 rows, quick"));
  EXPECT_THAT(text, HasSubstr("INCONCLUSIVE"));
  EXPECT_THAT(text, HasSubstr("0.6000 nats, upper bound"));
  EXPECT_EQ(to_json(model)["audited"], true);
  EXPECT_EQ(to_json(model)["release"]["unknown"], "fail");
}

TEST(ReleaseModel, TheOrderIsThatOfTheTable) {
  EXPECT_THAT(release_order(release_test::people_schema(), {"pay", "ill", "id", "job", "note", "age"}),
              testing::ElementsAre("pay", "id", "job", "age"));
}

}  // namespace
}  // namespace ppan
