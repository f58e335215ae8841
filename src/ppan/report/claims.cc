#include "ppan/report/claims.h"

#include <fmt/format.h>

namespace ppan::claims {
namespace {

constexpr const char* kMixtures =
    "Any point on the line between two points can be served by a mixture of their models, and leaks no more "
    "than the "
    "line says of its ends.";
constexpr const char* kBelief =
    "What the training adversary believes is no evidence and is shown only beside the measurement.";

constexpr const char* kOthers =
    "Only the sensitive columns of the job were attacked. What the release tells about other attributes was "
    "not measured.";

}  // namespace

std::vector<std::string> not_of_any_run() {
  return {
      "Leakage is an average over records: some may give away more than others. It is not differential "
      "privacy.",
      "The numbers hold for data like those of this run, and for one release of each record. Several "
      "releases of a record tell more.",
      "What attackers found is a lower bound. A stronger attacker, or one with other data about the same "
      "people, may learn more; only an upper bound excludes that."};
}

std::vector<std::string> of_rows() {
  return {
      "Leakage is what attackers trained after the mechanism found on rows that it never saw: the truth is "
      "at least the "
      "lower end of each interval, 95 times in 100.",
      "Distortion was measured on the same held-out rows.", kMixtures};
}

std::vector<std::string> not_of_rows() {
  return {kOthers};
}

std::vector<std::string> of_images() {
  return {
      "Leakage is what the strongest of several attackers found that were trained after the mechanism, on "
      "its releases "
      "of the images it was trained on, and scored on images that neither had seen: the truth is at least "
      "the lower "
      "end of each interval, 95 times in 100.",
      "Distortion was measured on the same held-out images.", kMixtures};
}

std::vector<std::string> not_of_images() {
  return {"Only the label is hidden. Whatever else an image shows may still be seen in its release."};
}

std::vector<std::string> of_digits() {
  return {
      "Leakage is what the strongest of several attackers found that started from nothing after training, "
      "learned from "
      "new releases of the training images, were chosen on one part of the test images and reported on the "
      "rest: a "
      "lower bound.",
      "Where a gate releases some images as they are, those count as read by everybody.",
      "Time-sharing (the image as it is with some probability, otherwise the mean image) is the reference to "
      "beat; the "
      "completed curve is what can be served by mixing mechanisms."};
}

std::vector<std::string> not_of_digits() {
  return {kBelief};
}

std::vector<std::string> of_audit() {
  return {
      "Leakage is what the strongest attacker of the suite found on rows that it was neither trained nor "
      "chosen on: the "
      "truth is at least the lower end of the interval, 95 times in 100."};
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
      return "Leakage is the Gaussian estimate, which sees linear dependence only; where it is shown, the "
             "nearest-neighbour estimate (KSG) stands beside it and sees the rest. Both are plug-in "
             "estimates, not the "
             "finding of an attacker.";
    case WorldScore::kNeighbours:
      return "Leakage and what is kept are nearest-neighbour estimates (KSG): plug-in estimates, which err "
             "either way, "
             "not the finding of an attacker.";
  }
  return "";
}

}  // namespace

std::vector<std::string> of_world(const WorldClaims& world) {
  std::vector<std::string> out{
      world.one_sample
          ? fmt::format(
                "All points of a seed were trained on the same sample{}; they are scored under the true "
                "distribution, next to the least leakage that any mechanism can have at the distortion "
                "measured, where that is known.",
                world.conventional ? ", and the conventional approach was solved on it" : "")
          : "Each point was trained on a sample of its own and scored on data it never saw, next to the "
            "least leakage "
            "that any mechanism can have at the distortion measured, where that is known.",
      score_claim(world.score)};
  if (world.seeds > 1) {
    out.push_back(fmt::format(
        "Numbers are means over {} seeds; bars reach one standard deviation over the seeds to both sides.",
        world.seeds));
  }
  return out;
}

std::vector<std::string> not_of_world() {
  return {kBelief, "These are synthetic worlds; a curve here says nothing about other data."};
}

}  // namespace ppan::claims
