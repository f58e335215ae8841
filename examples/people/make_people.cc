// Writes a table of invented people as CSV: mixed columns, some values missing, and one column that nobody
// should learn from the others. Nothing in it is about anybody.
//
//     make_people [ROWS [SEED]] > people.csv
//
// A chronic condition becomes likelier with age, with physical work and without sport, and lowers hours and
// income; so it shows in almost every other column, in none of them clearly. Education, region and car are
// tied to the rest of the table but tell little about the condition by themselves.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <string_view>

#include "ppan/core/random.h"

namespace {

constexpr std::array<std::string_view, 4> kEducation{"none", "school", "apprenticeship", "university"};
constexpr std::array<std::string_view, 7> kJob{"care",    "construction", "office", "retail",
                                               "science", "transport",    "none"};
constexpr std::array<std::string_view, 5> kRegion{"coast", "hills", "north", "city", "south"};
constexpr std::array<std::string_view, 3> kSport{"never", "sometimes", "often"};

double normal(ppan::RandomSource& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

template <std::size_t N>
std::size_t pick(ppan::RandomSource& random, std::array<double, N> weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;
  return static_cast<std::size_t>(ppan::draw_index(random, weights));
}

std::string person(ppan::RandomSource& random, std::int64_t number) {
  const double age = std::clamp(18 + 62 * std::pow(random.uniform(), 1.2), 18.0, 79.0);
  const bool young = age < 40;
  const std::size_t education = pick<4>(random, {young ? 0.05 : 0.15, 0.3, 0.4, young ? 0.35 : 0.2});
  const std::size_t region = pick<5>(random, {0.2, 0.15, 0.2, 0.3, 0.15});
  const bool degree = education == 3;
  const std::size_t job = age > 66 ? 6
                                   : pick<7>(random, {0.15, degree ? 0.03 : 0.2, degree ? 0.4 : 0.2, 0.15,
                                                      degree ? 0.25 : 0.02, degree ? 0.03 : 0.15, 0.08});
  const bool physical = job == 0 || job == 1 || job == 5;
  const std::size_t sport = pick<3>(random, {age > 55 ? 0.5 : 0.25, 0.4, age > 55 ? 0.15 : 0.35});
  const double sport_value = static_cast<double>(sport);
  const bool condition =
      random.uniform() < logistic(-1.6 + (age - 45) / 9 + (physical ? 1.2 : -0.3) - 1.1 * sport_value);

  double hours = job == 6 ? 0 : 38 + 4 * normal(random) - (condition ? 9 : 0);
  if (job != 6 && random.uniform() < 0.2) hours *= 0.6;
  const double log_income = 9.9 + 0.25 * static_cast<double>(education) + 0.012 * std::min(hours, 45.0) +
                            0.004 * (age - 40) - (condition ? 0.25 : 0) + (region == 3 ? 0.15 : 0) +
                            0.35 * normal(random);
  const double income = std::round(std::exp(log_income) / 100) * 100;
  const bool car = random.uniform() < logistic(-0.5 + (region == 3 ? -1 : 0.6) + income / 60000);

  const std::string hours_text = fmt::format("{:.0f}", std::clamp(hours, 0.0, 70.0));
  // People with much or little are the ones who do not say.
  const bool silent = random.uniform() < (income > 60000 || income < 18000 ? 0.1 : 0.03);
  return fmt::format("p{:05},{:.0f},{},{},{},{},{},{},{},{}\n", number, std::floor(age),
                     random.uniform() < 0.02 ? "" : kEducation[education], kJob[job], kRegion[region],
                     silent ? "" : fmt::format("{:.0f}", income), hours_text, car ? "yes" : "no",
                     kSport[sport], condition ? "yes" : "no");
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 4000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (rows < 1 || argc > 3) {
    fmt::print(stderr, "usage: make_people [ROWS [SEED]] > people.csv\n");
    return 2;
  }
  const ppan::SeededRandom people(seed);
  std::string out = "person,age,education,job,region,income,hours,car,sport,condition\n";
  for (std::int64_t i = 1; i <= rows; ++i) {
    ppan::SeededRandom random = people.fork("person", static_cast<std::uint64_t>(i));
    out += person(random, i);
  }
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() ? 0 : 4;
}
