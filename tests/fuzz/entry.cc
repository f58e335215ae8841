#include "fuzz/targets.h"

// PPAN_FUZZ_TARGET is one of csv, job and model.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ppan::fuzz::PPAN_FUZZ_TARGET(data, size);
  return 0;
}
