// One program for all targets, since what they share takes longest to compile.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fuzz/targets.h"

namespace {
const ppan::fuzz::Target* chosen = nullptr;
}

// The target is named by the environment: libFuzzer takes every argument for its own.
extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  const char* name = std::getenv("PPAN_FUZZ_TARGET");
  for (const auto& target : ppan::fuzz::kTargets)
    if (name != nullptr && std::strcmp(name, target.name) == 0) chosen = &target;
  if (chosen != nullptr) return 0;
  std::fputs("set PPAN_FUZZ_TARGET to one of:", stderr);
  for (const auto& target : ppan::fuzz::kTargets) std::fprintf(stderr, " %s", target.name);
  std::fputs("\n", stderr);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->run(data, size);
  return 0;
}
