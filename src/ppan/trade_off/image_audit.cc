#include "ppan/trade_off/image_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/core/random.h"
#include "ppan/image/image_attack.h"
#include "ppan/image/image_files.h"
#include "ppan/image/image_subset.h"
#include "ppan/model/image_release_model.h"
#include "ppan/report/claims.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/html.h"
#include "ppan/report/run_summary.h"
#include "ppan/trade_off/image_data.h"
#include "ppan/trade_off/image_rows.h"

namespace ppan {
namespace {

using nlohmann::json;

// Of the images given: attackers learn from these, and are chosen and scored on the others.
constexpr double kLearn = 0.6;
constexpr Index kBoundImages = 10'000;

}  // namespace

ImageFindings audit_images(const ImageReleaseModel& model, const ImageSet& set,
                           const ImageAuditOptions& run) {
  if (set.height != model.images.height || set.width != model.images.width)
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}: images of {} x {} pixels (height x width), but the model is for {} x {}",
                            run.source, set.height, set.width, model.images.height, model.images.width),
                "give images of the model's size");
  std::vector<std::int32_t> order(static_cast<std::size_t>(set.size()));
  std::iota(order.begin(), order.end(), 0);
  const SeededRandom random(run.seed);
  SeededRandom shuffling = random.fork("split");
  shuffle(shuffling, order);
  const auto learned = static_cast<std::ptrdiff_t>(std::lround(kLearn * static_cast<double>(set.size())));
  const std::span<const std::int32_t> shuffled(order);
  const ImageSet learn = take_images(set, shuffled.first(static_cast<std::size_t>(learned)));
  const ImageSet held_out = take_images(set, shuffled.subspan(static_cast<std::size_t>(learned)));
  if (learn.size() < kLeastImages || held_out.size() < kLeastImages)
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} images are too few for an audit; {} are needed", set.size(),
                            static_cast<Index>(std::ceil(static_cast<double>(kLeastImages) / (1 - kLearn)))),
                "give more images that the model was not trained on");
  ImageFindings out{.images = set.size(), .learned = learn.size()};
  ImageAttackOptions attack = attack_for(learn.size(), set.pixels.cols(), run.quick);
  attack.seed = random.fork("attack").next();
  out.attack = attack_images(model.images, learn, held_out, attack);
  SeededRandom noise = random.fork("distortion");
  out.distortion =
      pixel_cross_entropy(held_out.pixels, release_images(model.images, held_out, noise).pixels).mean();
  out.upper = image_upper_bounds(model.images, set, kBoundImages);
  out.quick = run.quick;
  out.limit = run.limit;
  std::erase_if(out.upper, [&](const Estimate& bound) { return bound.nats >= out.attack.entropy; });
  return out;
}

std::string to_text(const ImageFindings& found, const std::string& model, InformationUnit unit) {
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("{:<11}{}\n", name, text);
  };
  const auto percent = [](const Rate& rate) {
    return fmt::format("{:.1f} % (95 % interval {:.1f} to {:.1f} %)", 100 * rate.value,
                       100 * rate.interval95.low, 100 * rate.interval95.high);
  };
  const ImageAttackerScore& best = found.attack.strongest();
  line("model", model);
  line("images",
       fmt::format("{}: attackers learned from {}, and were selected and scored on {}{}", found.images,
                   found.learned, found.images - found.learned, found.quick ? "; quick" : ""));
  line("distortion", fmt::format("{:.4g} nats per pixel (cross-entropy)", found.distortion));
  line("label", estimate_text(best.leakage, unit));
  line("", fmt::format("of {:.4f} {} there are; found by {}", from_nats(found.attack.entropy, unit),
                       to_string(unit), best.name));
  line("guessed", fmt::format("{}, without the release {:.1f} %", percent(best.accuracy),
                              100 * found.attack.prior_accuracy));
  line("",
       fmt::format("upper end {:.4f} {}; leaks below {:.4f} could not be detected in this number of images",
                   from_nats(found.upper_end(), unit), to_string(unit),
                   from_nats(found.attack.least_seen(), unit)));
  if (!found.upper.empty()) line("at most", estimate_text(found.upper.front(), unit));
  for (const ImageAttackerScore& score : found.attack.attackers) {
    line("attacker",
         fmt::format("{:<38} {:>8.4f} {}, {:.1f} % right", score.name, from_nats(score.leakage.nats, unit),
                     to_string(unit), 100 * score.accuracy.value));
  }
  if (found.attack.still_rising)
    line("note", "the strongest attacker was still improving: more leaks than was found");
  return out;
}

std::string to_json(const ImageFindings& found) {
  const ImageAttackerScore& best = found.attack.strongest();
  json out{{"images", found.images},
           {"learned_from", found.learned},
           {"quick", found.quick},
           {"distortion", found.distortion},
           {"entropy", found.attack.entropy},
           {"leakage", estimate_to_json(best.leakage)},
           {"upper_end_nats", found.upper_end()},
           {"least_seen_nats", found.attack.least_seen()},
           {"winner", best.name},
           {"accuracy", best.accuracy.value},
           {"prior_accuracy", found.attack.prior_accuracy},
           {"inconclusive", found.attack.still_rising},
           {"upper", json::array()},
           {"attackers", json::array()}};
  for (const Estimate& bound : found.upper) out["upper"].push_back(estimate_to_json(bound));
  for (const ImageAttackerScore& score : found.attack.attackers) {
    json learning = json::array();
    for (const ImageLearning& step : score.learning)
      learning.push_back({{"images", step.images}, {"nats", step.nats}});
    out["attackers"].push_back({{"name", score.name},
                                {"leakage", estimate_to_json(score.leakage)},
                                {"accuracy", score.accuracy.value},
                                {"learning", learning}});
  }
  return out.dump(1) + "\n";
}

bool ImageFindings::within_limit() const {
  return !limit || (upper_end() <= *limit && !attack.still_rising);
}

ModelAudit findings_of(const ImageFindings& found, const std::string& fingerprint) {
  const ImageAttackerScore& best = found.attack.strongest();
  ModelAudit out{.rows = found.images, .quick = found.quick, .data_fingerprint = fingerprint};
  out.attributes.push_back({.name = "label",
                            .leakage = best.leakage,
                            .accuracy = best.accuracy.value,
                            .prior_accuracy = found.attack.prior_accuracy,
                            .upper = found.upper.empty() ? std::nullopt : std::optional(found.upper.front()),
                            .upper_end = found.upper_end(),
                            .power = found.attack.least_seen(),
                            .inconclusive = found.attack.still_rising});
  return out;
}

std::filesystem::path write_image_audit(const std::filesystem::path& directory, const ImageFindings& found,
                                        const AuditRun& run) {
  const ImageAttackerScore& best = found.attack.strongest();
  CurveTable curve;
  CurveRow row;
  row.series = "ppan/images";
  row.distortion = found.distortion;
  row.set_leakage(best.leakage);
  set_allowance(found.attack, found.upper, row);
  row.set("accuracy", best.accuracy.value);
  row.set("label", run.released);
  curve.rows.push_back(std::move(row));
  RunSummary summary;
  summary.version = run.version;
  summary.command = run.command;
  summary.name = run.released;
  summary.description =
      "What new attackers learn about the label from releases of images that the model was not trained on.";
  summary.hidden = "the label";
  summary.observed = "the image";
  summary.useful = "the image";
  summary.distortion_name = "pixel cross-entropy";
  summary.distortion_unit = "nats per pixel";
  summary.leakage_ceiling = found.attack.entropy;
  summary.seed = run.seed;
  summary.seconds = run.seconds;
  summary.facts = {{"images", std::to_string(found.images)},
                   {"images that attackers learned from", std::to_string(found.learned)}};
  summary.claimed = claims::of_audit();
  summary.not_claimed = claims::not_of_audit();
  if (found.attack.still_rising)
    summary.warnings.emplace_back("the strongest attacker was still improving: more leaks than was found");
  RunDetails details;
  PointDetails point{.series = "ppan/images", .number = 1};
  point.audits.push_back(
      image_audit_detail({.measure = {.attack = found.attack, .upper = found.upper}}, "label",
                         "found by new attackers on images that the model was not trained on"));
  details.points.push_back(std::move(point));
  write_file(directory / "findings.json", to_json(found));
  write_file(directory / "audit.json", to_json(details));
  write_file(directory / "summary.json", to_json(summary));
  write_file(directory / "curve.csv", to_csv(curve));
  return write_report(directory);
}

}  // namespace ppan
