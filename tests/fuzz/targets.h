#pragma once

// One function for each parser of foreign bytes. libFuzzer calls it through entry.cc; replay_test.cc calls it
// on every file of corpus/ in the ordinary build. A target aborts (by a failed require) on a broken promise;
// an Error of the kind that the parser documents is a good answer.

#include <cstddef>
#include <cstdint>

namespace ppan::fuzz {

void csv(const std::uint8_t* data, std::size_t size);
void job(const std::uint8_t* data, std::size_t size);
void model(const std::uint8_t* data, std::size_t size);
void idx(const std::uint8_t* data, std::size_t size);
void png(const std::uint8_t* data, std::size_t size);
void run(const std::uint8_t* data, std::size_t size);
void address(const std::uint8_t* data, std::size_t size);
void copy(const std::uint8_t* data, std::size_t size);

struct Target {
  const char* name;  ///< Also that of its folder in corpus/.
  void (*run)(const std::uint8_t* data, std::size_t size);
};
inline constexpr Target kTargets[]{{"csv", csv}, {"job", job},         {"model", model}, {"idx", idx},
                                   {"png", png}, {"address", address}, {"copy", copy},   {"run", run}};

/// Aborts, also in builds without assertions.
void require(bool kept, const char* promise);

}  // namespace ppan::fuzz
