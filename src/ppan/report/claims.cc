#include "ppan/report/claims.h"

#include <fmt/format.h>

namespace ppan::claims {
namespace {

constexpr const char* kMixtures =
    "Any point on the line between two points can be served by a mixture of their models. It leaks no more "
    "than the line between their leakages.";
constexpr const char* kBelief =
    "The training adversary's belief is not evidence. It is shown only next to the measurement.";

constexpr const char* kOthers =
    "Only the sensitive columns of the job were attacked. What the release reveals about other attributes "
    "was not measured.";

}  // namespace

std::vector<std::string> not_of_any_run() {
  return {
      "Leakage is an average over records: some may reveal more than others. It is not differential "
      "privacy.",
      "The numbers hold for data like those of this run, and for one release of each record. Several "
      "releases of a record reveal more.",
      "What attackers found is a lower bound. A stronger attacker, or one with other data about the same "
      "people, may infer more; only an upper bound excludes that."};
}

std::vector<std::string> of_rows() {
  return {
      "Leakage is what attackers that were trained after the mechanism found on rows that it never saw. The "
      "true leakage is at least the lower end of each interval, with 95 % confidence.",
      "Distortion was measured on the same held-out rows.", kMixtures};
}

std::vector<std::string> not_of_rows() {
  return {kOthers};
}

std::vector<std::string> of_images() {
  return {
      "Leakage is what the strongest of several attackers found. They were trained after the mechanism, on "
      "releases of its training images, and scored on images that neither had seen. The true leakage is at "
      "least the lower end of each interval, with 95 % confidence.",
      "Distortion was measured on the same held-out images.", kMixtures};
}

std::vector<std::string> not_of_images() {
  return {"Only the label is hidden. Whatever else an image shows may still be visible in its release."};
}

std::vector<std::string> of_digits() {
  return {
      "Leakage is what the strongest of several attackers found: a lower bound. They started from scratch "
      "after training, learned from new releases of the training images, were selected on one part of the "
      "test images and reported on the other part.",
      "Where a gate releases some images unchanged, those count as read by everybody.",
      "Time-sharing (the unchanged image with some probability, otherwise the mean image) is the reference "
      "to "
      "beat. The completed curve is what can be served by mixing mechanisms."};
}

std::vector<std::string> not_of_digits() {
  return {kBelief};
}

std::vector<std::string> of_audit() {
  return {
      "Leakage is what the strongest attacker of the suite found on rows that it was neither trained nor "
      "selected on. The true leakage is at least the lower end of the interval, with 95 % confidence."};
}

std::vector<std::string> not_of_audit() {
  return {kOthers};
}

namespace {

const char* score_claim(WorldScore score) {
  switch (score) {
    case WorldScore::kExact:
      return "Leakage is exact: computed from the true distribution and the learned mechanism.";
    case WorldScore::kGaussian:
      return "Leakage is the Gaussian estimate, which sees only linear dependence. The nearest-neighbour "
             "estimate "
             "(KSG), where it is shown, also sees other dependence. Both are plug-in estimates, not the "
             "finding of an attacker.";
    case WorldScore::kNeighbours:
      return "Leakage and usefulness are nearest-neighbour estimates (KSG): plug-in estimates, which err in "
             "either direction, not the finding of an attacker.";
  }
  return "";
}

}  // namespace

std::vector<std::string> of_world(const WorldClaims& world) {
  std::vector<std::string> out{
      world.one_sample
          ? fmt::format(
                "All points of a seed were trained on the same sample{}; they are scored under the true "
                "distribution, next to the least leakage that any mechanism can have at the measured "
                "distortion, where that is known.",
                world.conventional ? ", and the conventional approach was solved on it" : "")
          : "Each point was trained on its own sample and scored on data it never saw, next to the least "
            "leakage "
            "that any mechanism can have at the measured distortion, where that is known.",
      score_claim(world.score)};
  if (world.seeds > 1) {
    out.push_back(fmt::format(
        "Numbers are means over {} seeds; bars extend one standard deviation over the seeds to both sides.",
        world.seeds));
  }
  return out;
}

std::vector<std::string> not_of_world() {
  return {kBelief, "These are synthetic worlds; a curve here says nothing about other data."};
}

}  // namespace ppan::claims
