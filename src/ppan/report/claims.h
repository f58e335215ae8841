#pragma once

// What the numbers of a run support and what they do not, a sentence each: everything that a report says it
// shows stands in claims.cc, and nowhere else.

#include <string>
#include <vector>

namespace ppan::claims {

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

/// An experiment on a known world; `conventional`: beside the approach that estimates the distribution first.
std::vector<std::string> of_world(bool conventional, bool finite, int seeds);
std::vector<std::string> not_of_world();

}  // namespace ppan::claims
