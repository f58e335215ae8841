#pragma once

// What the numbers of a run support and what they do not, a sentence each: everything that a report says it
// shows is in claims.cc, and nowhere else.

#include <string>
#include <vector>

namespace ppan::claims {

/// What no run shows; every page says so, whatever else it claims.
std::vector<std::string> not_of_any_run();

/// A curve of a table.
std::vector<std::string> of_rows();
std::vector<std::string> not_of_rows();

/// A curve of images.
std::vector<std::string> of_images();
std::vector<std::string> not_of_images();

/// The paper's experiment on images, in which a gate may release some as they are.
std::vector<std::string> of_digits();
std::vector<std::string> not_of_digits();

/// An audit by itself.
std::vector<std::string> of_audit();
std::vector<std::string> not_of_audit();

/// An experiment on a known world: what the leakage of its points was read from, and how they were trained.
enum class WorldScore { kExact, kGaussian, kNeighbours };
struct WorldClaims {
  bool one_sample = false;    ///< All points of a seed were trained on the same records.
  bool conventional = false;  ///< The approach that estimates the distribution first stands beside them.
  WorldScore score = WorldScore::kExact;
  int seeds = 1;
};
std::vector<std::string> of_world(const WorldClaims& world);
std::vector<std::string> not_of_world();

}  // namespace ppan::claims
