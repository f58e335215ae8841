#pragma once

// The claims that the numbers of a run support and those that they do not, one sentence each. All claims of a
// report are in claims.cc and nowhere else.

#include <string>
#include <vector>

namespace ppan::claims {

/// What no run shows. Every page states it.
std::vector<std::string> not_of_any_run();

/// A curve of a table.
std::vector<std::string> of_rows();
std::vector<std::string> not_of_rows();

/// A curve of images.
std::vector<std::string> of_images();
std::vector<std::string> not_of_images();

/// The paper's experiment on images, in which a gate may release some unchanged.
std::vector<std::string> of_digits();
std::vector<std::string> not_of_digits();

/// An audit by itself.
std::vector<std::string> of_audit();
std::vector<std::string> not_of_audit();

/// An experiment on a known world: how the leakage of its points was measured, and how they were trained.
enum class WorldScore { kExact, kGaussian, kNeighbours };
struct WorldClaims {
  bool one_sample = false;  ///< All points of a seed were trained on the same records.
  bool conventional =
      false;  ///< The conventional approach, which estimates the distribution first, is shown as well.
  WorldScore score = WorldScore::kExact;
  int seeds = 1;
};
std::vector<std::string> of_world(const WorldClaims& world);
std::vector<std::string> not_of_world();

}  // namespace ppan::claims
