#include "ppan/model/image_release_model.h"

#include <gmock/gmock.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/model/model_file.h"
#include "unit/release/release_support.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr Index kHeight = 2;
constexpr Index kWidth = 3;

// A network with numbers as they start; what it does to an image does not matter to how it is stored.
ImageComponent trained(MechanismKind kind, double weight, const std::vector<Index>& gate = {}) {
  ImageComponent out{.kind = ComponentKind::kTrained, .weight = weight, .label = "point 1"};
  out.mechanism.kind = kind;
  out.mechanism.released = kHeight * kWidth;
  out.mechanism.sigmoid_output = true;
  out.mechanism.hidden = {4};
  out.mechanism.code = 2;
  out.mechanism.decoder = {3};
  out.mechanism.noise_inputs = 2;
  out.mechanism.gate = gate;
  Attribute<float> like;
  like.value.resize(0, kHeight * kWidth);
  const auto mechanism = make_mechanism(out.mechanism, like);
  SeededRandom random(3);
  mechanism->initialise(random);
  out.parameters = mechanism->parameters();
  return out;
}

ImageReleaseModel example(std::vector<ImageComponent> components = {trained(MechanismKind::kNoisyCode, 1)}) {
  ImageReleaseModel out{.images = {.height = kHeight, .width = kWidth, .classes = 2},
                        .class_names = {"ann", "zoe"}};
  out.images.components = std::move(components);
  out.origin.program = "ppan 0.1.0";
  out.origin.label = "point 1";
  out.origin.budget = 0.25;
  out.origin.distortion = 0.5;
  out.origin.leakage = Estimate{.nats = 0.125,
                                .interval95 = Interval{0.0625, 0.25},
                                .bound = Bound::kLower,
                                .method = "network",
                                .samples = 100};
  out.origin.stop = "epoch limit";
  out.origin.epochs = 3;
  out.origin.training_rows = 70;
  return out;
}

ImageReleaseModel constant_example() {
  ImageComponent constant{.kind = ComponentKind::kConstant, .label = "constant"};
  constant.constant = Vector<float>::LinSpaced(kHeight * kWidth, 0, 1);
  ImageReleaseModel out = example({constant});
  out.origin.label = "constant";
  out.origin.distortion = 1.5;
  out.origin.leakage->nats = 0;
  out.origin.stop.clear();
  return out;
}

ImageSet images(Index count, Index height = kHeight, Index width = kWidth) {
  ImageSet out{.height = height, .width = width};
  out.pixels.resize(count, height * width);
  for (Index i = 0; i < out.pixels.size(); ++i) out.pixels.data()[i] = static_cast<float>(i % 7) / 6.0F;
  return out;
}

template <typename Call>
std::string error_of(Call call, ErrorCode code = ErrorCode::kBadInput) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_FALSE(error.fix().empty()) << error.what();
    return error.what();
  }
  return "no error";
}

// What a reader says of the example with one thing changed in its description or its tensors.
template <typename Change>
std::string refused(Change change, const ImageReleaseModel& model = example()) {
  ModelContainer container = to_container(model);
  change(container);
  return error_of([&] { image_model_from_container(container, "m.ppan"); });
}
template <typename Change>
std::string refused_description(Change change, const ImageReleaseModel& model = example()) {
  return refused([&](ModelContainer& container) { change(container.metadata["model"]); }, model);
}

class ImageModelFiles : public testing::Test {
 protected:
  ImageModelFiles() { fs::create_directories(directory_); }
  ~ImageModelFiles() override { fs::remove_all(directory_); }
  fs::path directory_ = fs::temp_directory_path() / ("ppan-image-model-" + std::to_string(::getpid()));
};

TEST_F(ImageModelFiles, WhatIsSavedIsLoaded) {
  for (const ImageReleaseModel& model :
       {example(), example({trained(MechanismKind::kNoiseInput, 1)}),
        example({trained(MechanismKind::kNoisyCode, 1, {3})}), constant_example(),
        mix_models(example(), constant_example(), 0.25),
        example({ImageComponent{.kind = ComponentKind::kUnchanged, .label = "unchanged"}})}) {
    const fs::path path = directory_ / "m.ppan";
    save_model(path, model);
    const AnyModel any = load_any_model(path);
    const auto* back = std::get_if<ImageReleaseModel>(&any);
    ASSERT_NE(back, nullptr);
    EXPECT_EQ(to_container(*back).metadata, to_container(model).metadata);
    EXPECT_EQ(to_container(*back).tensors, to_container(model).tensors);
    EXPECT_EQ(back->checksum.size(), 64U);
    // The same noise gives the same images.
    SeededRandom a(1);
    SeededRandom b(1);
    EXPECT_EQ(release_images(model, images(5), a, "p").pixels,
              release_images(*back, images(5), b, "p").pixels);
  }
}

TEST_F(ImageModelFiles, KindsAreToldApart) {
  save_model(directory_ / "images.ppan", example());
  EXPECT_THAT(error_of([&] { load_model(directory_ / "images.ppan"); }),
              HasSubstr("is a model of images, where one of a table is needed"));
  save_model(directory_ / "table.ppan", release_test::People().unchanged());
  const AnyModel table = load_any_model(directory_ / "table.ppan");
  EXPECT_TRUE(std::holds_alternative<ReleaseModel>(table));
  const ModelContainer container = read_model(directory_ / "table.ppan");
  EXPECT_THAT(error_of([&] { image_model_from_container(container, "t"); }), HasSubstr("of kind \"table\""));
}

TEST_F(ImageModelFiles, EveryAlteredByteIsNoticed) {
  save_model(directory_ / "m.ppan", constant_example());
  const std::string whole = read_file(directory_ / "m.ppan");
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    std::string altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ 0x11);
    write_file(directory_ / "m.ppan", altered);
    EXPECT_THROW(load_any_model(directory_ / "m.ppan"), Error) << at;
  }
}

TEST(ImageReleaseModel, DescriptionsThatCannotBe) {
  const std::string prefix = "m.ppan is not a usable model file: ";
  EXPECT_THAT(refused_description([](json& m) { m["version"] = 2; }), HasSubstr(prefix));
  EXPECT_THAT(refused_description([](json& m) { m.erase("height"); }), HasSubstr("height"));
  EXPECT_THAT(refused_description([](json& m) { m["height"] = 0; }), HasSubstr("\"height\" is 0"));
  EXPECT_THAT(refused_description([](json& m) { m["height"] = "2"; }), HasSubstr("not a whole number"));
  EXPECT_THAT(refused_description([](json& m) { m["width"] = 4097; }), HasSubstr("\"width\" is 4097"));
  EXPECT_THAT(refused_description([](json& m) { m["classes"] = 3; }), HasSubstr("3 classes have 2 names"));
  EXPECT_THAT(refused_description([](json& m) { m["components"] = json::array(); }), HasSubstr("components"));
  EXPECT_THAT(refused_description([](json& m) { m["components"] = 1; }), HasSubstr("components"));
  const auto component = [](auto change) {
    return refused_description([&](json& m) { change(m["components"][0]); });
  };
  const auto mechanism = [&](auto change) { return component([&](json& c) { change(c["mechanism"]); }); };
  EXPECT_THAT(component([](json& c) { c["kind"] = "magic"; }), HasSubstr("\"kind\" is \"magic\""));
  EXPECT_THAT(component([](json& c) { c["weight"] = 0.5; }), HasSubstr("sum to 1"));
  EXPECT_THAT(mechanism([](json& m) { m["kind"] = "gaussian"; }), HasSubstr("gaussian"));
  EXPECT_THAT(mechanism([](json& m) { m["hidden"] = {4, 0}; }), HasSubstr("\"hidden\" holds 0"));
  EXPECT_THAT(mechanism([](json& m) { m["hidden"] = {4.5}; }), HasSubstr("\"hidden\" holds 4.5"));
  EXPECT_THAT(mechanism([](json& m) { m["activation"] = "sine"; }), HasSubstr("sine"));
  EXPECT_THAT(mechanism([](json& m) { m["code_radius"] = -1; }), HasSubstr(prefix));
  EXPECT_THAT(mechanism([](json& m) { m.erase("decoder"); }), HasSubstr("decoder"));
}

TEST(ImageReleaseModel, NetworksWithoutTheirParameters) {
  // Gigabytes if they were made first and checked afterwards.
  EXPECT_THAT(refused_description([](json& m) {
                m["components"][0]["mechanism"]["hidden"] = {16384, 16384, 16384};
              }),
              HasSubstr("numbers, where"));
  EXPECT_THAT(refused_description([](json& m) { m["components"][0]["mechanism"]["gate"] = {16384}; }),
              HasSubstr("numbers, where"));
  // The file holds more than the network has.
  EXPECT_THAT(refused_description([](json& m) { m["components"][0]["mechanism"]["hidden"] = {3}; }),
              HasSubstr("parameters"));
  EXPECT_THAT(refused([](ModelContainer& c) { c.tensors.clear(); }),
              HasSubstr("no F32 vector 'component-0'"));
  EXPECT_THAT(refused([](ModelContainer& c) {
                c.tensors["more"] = Tensor{{1}, std::vector<float>{1}};
              }),
              HasSubstr("tensors that no component uses"));
  EXPECT_THAT(refused([](ModelContainer& c) {
                c.tensors["component-0"] = Tensor{{1}, std::vector<double>{1}};
              }),
              HasSubstr("no F32 vector"));
  EXPECT_THAT(refused(
                  [](ModelContainer& c) {
                    c.tensors["component-0"] = Tensor{{5}, std::vector<float>(5)};
                  },
                  constant_example()),
              HasSubstr("holds 5 numbers, where 6 are needed"));
  EXPECT_THAT(refused(
                  [](ModelContainer& c) {
                    c.tensors["component-0"] = Tensor{{6}, std::vector<float>(6, 2)};
                  },
                  constant_example()),
              HasSubstr("brightness"));
}

TEST(ImageReleaseModel, MixturesLieOnTheLine) {
  const ImageReleaseModel mixed = mix_models(example(), constant_example(), 0.25);
  ASSERT_EQ(mixed.images.components.size(), 2U);
  EXPECT_DOUBLE_EQ(mixed.images.components[0].weight, 0.75);
  EXPECT_DOUBLE_EQ(mixed.images.components[1].weight, 0.25);
  EXPECT_TRUE(mixed.images.check().empty());
  EXPECT_DOUBLE_EQ(*mixed.origin.distortion, 0.75);
  EXPECT_DOUBLE_EQ(mixed.origin.leakage->nats, 0.09375);
  EXPECT_EQ(mixed.origin.leakage->bound, Bound::kEstimate);
  EXPECT_EQ(mixed.origin.stop, "epoch limit");
  EXPECT_EQ(mixed.origin.label, "mixture of point 1 (75 %) and constant (25 %)");
  EXPECT_EQ(to_container(mix_models(example(), constant_example(), 0)).metadata,
            to_container(example()).metadata);
  ImageReleaseModel other = constant_example();
  other.class_names = {"x", "y"};
  EXPECT_THAT(error_of([&] { mix_models(example(), other, 0.5); }, ErrorCode::kUsage),
              HasSubstr("different images"));
}

TEST(ImageReleaseModel, ReleasesImagesOfItsSizeOnly) {
  SeededRandom random(1);
  ImageSet set = images(4);
  set.files = {"a.png", "b.png", "c.png", "d.png"};
  set.labels = {0, 1, 0, 1};
  set.classes = 2;
  const ImageSet out = release_images(example(), set, random, "p");
  EXPECT_EQ(out.files, set.files);
  EXPECT_TRUE(out.labels.empty());
  EXPECT_EQ(out.pixels.rows(), 4);
  EXPECT_GE(out.pixels.minCoeff(), 0);
  EXPECT_LE(out.pixels.maxCoeff(), 1);
  EXPECT_NE(out.pixels, set.pixels);
  // As many pixels, but lying.
  EXPECT_THAT(error_of([&] { release_images(example(), images(4, kWidth, kHeight), random, "scans"); }),
              AllOf(HasSubstr("scans: images of 3 x 2"), HasSubstr("for 2 x 3")));
}

TEST(ImageReleaseModel, DescribesItself) {
  EXPECT_THAT(
      describe(example()),
      AllOf(HasSubstr("images     2 x 3 pixels"), HasSubstr("one of 2: ann, zoe"), HasSubstr("noisy-code"),
            HasSubstr("budget     0.25"),
            HasSubstr("0.1250 nats (95 % interval 0.0625 to 0.2500), lower bound"), HasSubstr("70 images")));
  EXPECT_THAT(describe(example({trained(MechanismKind::kNoisyCode, 1, {3})})), HasSubstr("a gate releases"));
  EXPECT_EQ(to_json(example())["audited"], false);
}

}  // namespace
}  // namespace ppan
