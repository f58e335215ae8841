// How far the certificates of finite codes are above the true I(X;C): the table of docs/theory.md. Binary X,
// 200 values of W, codes as soft as e^{3 normal}; means over seeds.
//
//     bench_certificate [--seeds N]

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "ppan/audit/code_certificate.h"
#include "ppan/core/random.h"
#include "support/code_world.h"

namespace {

constexpr ppan::Index kValues = 200;
constexpr double kStrength = 0.3;
constexpr double kSoftness = 3;

void print_gap(ppan::Index rows, ppan::Index codes, int seeds) {
  double truth = 0;
  double asymptotic = 0;
  double free = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    ppan::SeededRandom random(static_cast<std::uint64_t>(seed));
    const auto world = ppan::testing::make_code_world(kValues, codes, 2, kStrength, kSoftness, random);
    const auto sample = ppan::testing::draw_codes(world, rows, random);
    truth += world.truth / seeds;
    asymptotic +=
        (ppan::asymptotic_code_certificate(sample.distribution, sample.x, 2).nats - world.truth) / seeds;
    free += (ppan::distribution_free_code_certificate(sample.distribution, sample.x, 2).nats - world.truth) /
            seeds;
  }
  fmt::print("| {} | {} | {:.4f} | {:.4f} | {:.4f} |\n", rows, codes, truth, asymptotic, free);
}

}  // namespace

int main(int argc, char** argv) {
  int seeds = 20;
  if (argc == 3 && std::string_view(argv[1]) == "--seeds") seeds = std::atoi(argv[2]);
  if (argc != 1 && (argc != 3 || seeds < 1)) {
    fmt::print(stderr, "usage: bench_certificate [--seeds N]\n");
    return 2;
  }
  fmt::print("| records | K | I(X;C) | asymptotic | for every distribution |\n|---|---|---|---|---|\n");
  for (const ppan::Index rows : {2000, 12000, 20000}) {
    for (const ppan::Index codes : {8, 64, 375}) print_gap(rows, codes, seeds);
  }
  return 0;
}
