#include "ppan/image_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/image/image_attack.h"
#include "ppan/image_curve.h"
#include "ppan/image_files.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/model_file.h"
#include "ppan/output.h"

namespace ppan::cli {
namespace {

using nlohmann::json;

// Of the images given: attackers learn from these, and are chosen and scored on the others.
constexpr double kLearn = 0.6;
constexpr Index kBoundImages = 10'000;

struct Findings {
  Index images = 0;
  Index learned = 0;
  double distortion = 0;
  ImageAttack attack;
  std::vector<Estimate> upper;
};

ImageSet take_images(const ImageSet& set, const std::vector<std::int32_t>& which) {
  ImageSet part{.height = set.height, .width = set.width, .classes = set.classes};
  part.pixels = set.pixels(which, Eigen::all);
  for (const std::int32_t i : which) part.labels.push_back(set.labels[static_cast<std::size_t>(i)]);
  return part;
}

Findings attack_model(const ImageReleaseModel& model, const ImageSet& set, const ImageAuditRun& run) {
  if (set.height != model.images.height || set.width != model.images.width)
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}: images of {} x {} pixels (height x width), but the model is for {} x {}",
                            run.data, set.height, set.width, model.images.height, model.images.width),
                "give images of the model's size");
  std::vector<std::int32_t> order(static_cast<std::size_t>(set.size()));
  std::iota(order.begin(), order.end(), 0);
  const SeededRandom random(run.seed);
  SeededRandom shuffling = random.fork("split");
  shuffle(shuffling, order);
  const auto learned = static_cast<std::ptrdiff_t>(std::lround(kLearn * static_cast<double>(set.size())));
  const ImageSet learn = take_images(set, {order.begin(), order.begin() + learned});
  const ImageSet held_out = take_images(set, {order.begin() + learned, order.end()});
  if (learn.size() < kLeastImages || held_out.size() < kLeastImages)
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} images are too few for an audit; {} are needed", set.size(),
                            static_cast<Index>(std::ceil(static_cast<double>(kLeastImages) / (1 - kLearn)))),
                "give more images that the model was not trained on");
  Findings out{.images = set.size(), .learned = learn.size()};
  ImageAttackOptions attack = attack_for(learn.size(), set.pixels.cols(), run.quick);
  attack.seed = random.fork("attack").next();
  out.attack = attack_images(model.images, learn, held_out, attack);
  SeededRandom noise = random.fork("distortion");
  out.distortion =
      pixel_cross_entropy(held_out.pixels, release_images(model.images, held_out, noise).pixels).mean();
  out.upper = image_upper_bounds(model.images, set, kBoundImages);
  std::erase_if(out.upper, [&](const Estimate& bound) { return bound.nats >= out.attack.entropy; });
  return out;
}

std::string text_of(const Findings& found, const ImageAuditRun& run) {
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("{:<11}{}\n", name, text);
  };
  const auto percent = [](const Rate& rate) {
    return fmt::format("{:.1f} % (95 % interval {:.1f} to {:.1f} %)", 100 * rate.value,
                       100 * rate.interval95.low, 100 * rate.interval95.high);
  };
  const ImageAttackerScore& best = found.attack.strongest();
  line("model", run.model);
  line("images",
       fmt::format("{}: attackers learned from {}, and were chosen and scored on {}{}", found.images,
                   found.learned, found.images - found.learned, run.quick ? "; quick" : ""));
  line("distortion", fmt::format("{:.4g} nats per pixel (cross-entropy)", found.distortion));
  line("label", estimate_text(best.leakage, run.unit));
  line("", fmt::format("of {:.4f} {} there are; found by {}", from_nats(found.attack.entropy, run.unit),
                       to_string(run.unit), best.name));
  line("guessed", fmt::format("{}, without the release {:.1f} %", percent(best.accuracy),
                              100 * found.attack.prior_accuracy));
  if (!found.upper.empty()) line("at most", estimate_text(found.upper.front(), run.unit));
  for (const ImageAttackerScore& score : found.attack.attackers) {
    line("attacker", fmt::format("{:<38} {:>8.4f} {}, {:.1f} % right", score.name,
                                 from_nats(score.leakage.nats, run.unit), to_string(run.unit),
                                 100 * score.accuracy.value));
  }
  if (found.attack.still_rising)
    line("note", "the strongest attacker was still getting better: more leaks than was found");
  return out;
}

json json_of(const Estimate& e) {
  json out{{"nats", e.nats}, {"kind", to_string(e.bound)}, {"method", e.method}, {"samples", e.samples}};
  if (e.interval95) {
    out["low"] = e.interval95->low;
    out["high"] = e.interval95->high;
  }
  return out;
}

json json_of(const Findings& found, const ImageAuditRun& run) {
  const ImageAttackerScore& best = found.attack.strongest();
  json out{{"images", found.images},
           {"learned_from", found.learned},
           {"quick", run.quick},
           {"distortion", found.distortion},
           {"entropy", found.attack.entropy},
           {"leakage", json_of(best.leakage)},
           {"winner", best.name},
           {"accuracy", best.accuracy.value},
           {"prior_accuracy", found.attack.prior_accuracy},
           {"inconclusive", found.attack.still_rising},
           {"upper", json::array()},
           {"attackers", json::array()}};
  for (const Estimate& bound : found.upper) out["upper"].push_back(json_of(bound));
  for (const ImageAttackerScore& score : found.attack.attackers) {
    json learning = json::array();
    for (const ImageLearning& step : score.learning)
      learning.push_back({{"images", step.images}, {"nats", step.nats}});
    out["attackers"].push_back({{"name", score.name},
                                {"leakage", json_of(score.leakage)},
                                {"accuracy", score.accuracy.value},
                                {"learning", learning}});
  }
  return out;
}

}  // namespace

int run_image_audit(const ImageAuditRun& run) {
  AnyModel any = load_any_model(run.model);
  auto& model = std::get<ImageReleaseModel>(any);
  if (std::error_code ignored; std::filesystem::exists(run.data, ignored) && !names_images(run.data))
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{} is a model of images, but {} is not named as images are", run.model, run.data),
        "give a directory of PNG files, or a file that ends in idx3-ubyte or idx3-ubyte.gz");
  const ImageSet set = read_images(find_image_files(run.data, run.labels));
  const Findings found = attack_model(model, set, run);
  const ImageAttackerScore& best = found.attack.strongest();
  if (run.save) {
    model.audit = ModelAudit{.rows = found.images, .quick = run.quick, .data_sha256 = images_sha256(set)};
    model.audit->attributes.push_back(
        {.name = "label",
         .leakage = best.leakage,
         .accuracy = best.accuracy.value,
         .prior_accuracy = found.attack.prior_accuracy,
         .upper = found.upper.empty() ? std::nullopt : std::optional(found.upper.front()),
         .inconclusive = found.attack.still_rising});
    save_model(run.model, model, run.key);
  }
  const std::string as_json = json_of(found, run).dump(1) + "\n";
  if (run.json == "-") {
    write_stdout(as_json);
  } else {
    if (!run.json.empty()) write_file(run.json, as_json);
    write_stdout(text_of(found, run));
  }
  const double most = best.leakage.interval95 ? best.leakage.interval95->high : best.leakage.nats;
  if (!run.limit || (most <= *run.limit && !found.attack.still_rising)) return 0;
  say("ppan: the limit of {:g} {} is not shown to be kept for the label\n", from_nats(*run.limit, run.unit),
      to_string(run.unit));
  return exit_status(ErrorCode::kLimitExceeded);
}

}  // namespace ppan::cli
