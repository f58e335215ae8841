#pragma once

// An image model as it is stored, in the container of every model (model_file.h, docs/formats.md).

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ppan/core/random.h"
#include "ppan/model/image_model.h"
#include "ppan/model/model_origin.h"
#include "ppan/model/release_model.h"
#include "ppan/read/image_set.h"

namespace ppan {

class SigningKey;

struct ImageReleaseModel {
  ImageModel images{};
  std::vector<std::string> class_names{};  ///< What the hidden labels are called; size images.classes.
  ModelOrigin origin{};                    ///< Its rows are images; `changed` and `columns` are not used.
  std::optional<ModelAudit> audit{};
  std::string checksum{};  ///< Of the file it was read from; empty otherwise.
  std::string signer{};    ///< Public key of who signed that file (ModelContainer); empty otherwise.
};

ModelContainer to_container(const ImageReleaseModel& model);
/// Throws Error(kBadInput) for a container that to_container() would not have written; `name` is for
/// messages. Memory for networks is allocated only if the file holds their parameters.
ImageReleaseModel image_model_from_container(const ModelContainer& container, std::string_view name);

/// All or nothing. With a key, the file is signed.
void save_model(const std::filesystem::path& path, const ImageReleaseModel& model,
                const SigningKey* key = nullptr);

/// One model that releases an image by `second` with probability `second_weight`, otherwise by `first`; for
/// `weight` 0 or 1 one of them unchanged. Throws Error(kUsage) if they are for different images.
ImageReleaseModel mix_models(const ImageReleaseModel& first, const ImageReleaseModel& second,
                             double second_weight);

/// What the model is, for people at a terminal.
std::string describe(const ImageReleaseModel& model, InformationUnit unit = InformationUnit::kNats);
/// The same as JSON.
nlohmann::json to_json(const ImageReleaseModel& model);

/// Releases every image once, in order; labels are not carried over. Throws Error(kBadInput) for images
/// of another size than the model's. `name` is what messages call the images.
ImageSet release_images(const ImageReleaseModel& model, const ImageSet& set, RandomSource& random,
                        std::string_view name);

/// A model of either kind, distinguished by its description.
using AnyModel = std::variant<ReleaseModel, ImageReleaseModel>;
AnyModel load_any_model(const std::filesystem::path& path);
/// Of a container that was read already; `name` is for messages.
AnyModel any_model_from_container(const ModelContainer& container, std::string_view name);
/// What it is: for people at a terminal, and everything that the file says as JSON.
std::string describe(const AnyModel& model, InformationUnit unit = InformationUnit::kNats);
std::string json_text(const AnyModel& model);
/// Who signed its file (ModelContainer::signer).
const std::string& signer_of(const AnyModel& model);

}  // namespace ppan
