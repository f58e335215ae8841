#pragma once

// Mechanisms built to cheat: each releases a harmless table with the sensitive bit hidden in one place. An
// auditor is worth something if it finds them all and does not cry wolf at the clean one.

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "ppan/audit/audit.h"
#include "ppan/core/random.h"

namespace ppan::testing {

struct PlantedLeak {
  std::string name;
  std::string column;  ///< Where the secret is ("row": in the order of the rows).
  std::string aspect;  ///< On which side of it.
  double nats;         ///< I(X;Z) of what was planted.
  AuditInput input;
};

inline constexpr Index kPlantedRows = 6000;

// A fair bit per row, and columns that know nothing of it.
struct CleanTable {
  Symbols x;
  std::vector<double> income;
  std::vector<std::string> income_text;  ///< Whole numbers, as a file has them; instead of `income` if there.
  std::vector<std::string> city;
  std::vector<std::string> grade;

  /// Incomes as whole numbers in text.
  void write_income() {
    for (const double value : income) income_text.push_back(std::to_string(std::lround(value)));
  }

  CleanTable(RandomSource& random, Index rows) {
    static const std::vector<std::string> kCities{"Aachen", "Bergen", "Cadiz", "Delft"};
    Matrix<double> normal(rows, 1);
    fill_normal(random, normal);
    for (Index i = 0; i < rows; ++i) {
      x.push_back(static_cast<std::int32_t>(random.index(2)));
      income.push_back(30000 + 8000 * normal(i, 0));
      city.push_back(kCities[static_cast<std::size_t>(random.index(4))]);
      grade.push_back(std::to_string(random.index(6) + 1));
    }
  }

  [[nodiscard]] AuditInput input() const {
    const std::vector<std::string> markers{"", "NA"};
    AuditInput in;
    if (income_text.empty()) {
      in.released.columns.push_back(column_of_numbers(
          "income", Eigen::Map<const Vector<double>>(income.data(), static_cast<Index>(income.size()))));
    } else {
      in.released.columns.push_back(column_of_cells("income", income_text, markers));
    }
    in.released.columns.push_back(column_of_cells("city", city, markers));
    in.released.columns.push_back(column_of_cells("grade", grade, markers));
    in.sensitive.push_back(column_of_codes("illness", x, 2));
    return in;
  }
};

/// Nats that an event tells of a fair bit, with these probabilities given 0 and 1.
inline double event_information(double given0, double given1) {
  const auto h = [](double p) { return p <= 0 || p >= 1 ? 0 : -p * std::log(p) - (1 - p) * std::log(1 - p); };
  return h((given0 + given1) / 2) - (h(given0) + h(given1)) / 2;
}

inline std::vector<PlantedLeak> planted_leaks(std::uint64_t seed, Index rows = kPlantedRows) {
  std::vector<PlantedLeak> leaks;
  const SeededRandom root(seed);
  const auto plant = [&](const std::string& name, const std::string& column, const std::string& aspect,
                         double nats,
                         const std::function<void(CleanTable&, AuditInput&, RandomSource&)>& before) {
    SeededRandom random = root.fork(name);
    CleanTable table(random, rows);
    AuditInput extra;
    before(table, extra, random);
    AuditInput input = table.input();
    for (AuditColumn& c : extra.released.columns) input.released.columns.push_back(std::move(c));
    leaks.push_back({name, column, aspect, nats, std::move(input)});
  };
  const double all = std::log(2.0);
  const auto add_bits = [](AuditInput& extra, const std::string& name, Symbols bits) {
    extra.released.columns.push_back(column_of_codes(name, std::move(bits), 2));
  };

  plant("identity", "status", "value", all,
        [&](CleanTable& t, AuditInput& extra, RandomSource&) { add_bits(extra, "status", t.x); });
  plant("no noise", "income", "value", all, [&](CleanTable& t, AuditInput&, RandomSource&) {
    for (std::size_t i = 0; i < t.x.size(); ++i) t.income[i] = std::abs(t.income[i]) * (t.x[i] == 1 ? 1 : -1);
  });
  plant("xor of two columns", "b", "value", all, [&](CleanTable& t, AuditInput& extra, RandomSource& random) {
    Symbols a;
    Symbols b;
    for (const std::int32_t x : t.x) {
      a.push_back(static_cast<std::int32_t>(random.index(2)));
      b.push_back(a.back() ^ x);
    }
    add_bits(extra, "a", std::move(a));
    add_bits(extra, "b", std::move(b));
  });
  plant("last mantissa bit", "income", "low bits", all, [&](CleanTable& t, AuditInput&, RandomSource&) {
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(t.income[i]);
      t.income[i] = std::bit_cast<double>((bits & ~1ULL) | static_cast<std::uint64_t>(t.x[i]));
    }
  });
  plant("row order", "row", "position", all, [&](CleanTable& t, AuditInput&, RandomSource&) {
    // Everything else is exchangeable, so sorting the secret alone is sorting the rows by it.
    std::sort(t.x.begin(), t.x.end());
  });
  plant("missing values", "city", "missing", 0.2158, [&](CleanTable& t, AuditInput&, RandomSource& random) {
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      if (t.x[i] == 1 && random.uniform() < 0.5) t.city[i] = "NA";
    }
  });
  plant("letter case", "city", "format", all, [&](CleanTable& t, AuditInput&, RandomSource&) {
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      if (t.x[i] == 1)
        t.city[i][0] = static_cast<char>(std::tolower(static_cast<unsigned char>(t.city[i][0])));
    }
  });
  plant("number format", "grade", "format", all, [&](CleanTable& t, AuditInput&, RandomSource&) {
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      if (t.x[i] == 1) t.grade[i] += ".0";
    }
  });
  plant("rounding by class", "income", "digits", event_information(0.802, 0.01),
        [&](CleanTable& t, AuditInput&, RandomSource& random) {
          for (std::size_t i = 0; i < t.x.size(); ++i) {
            if (t.x[i] == 0 && random.uniform() < 0.8) t.income[i] = 100 * std::round(t.income[i] / 100);
          }
          t.write_income();
        });
  plant("parity", "income", "digits", all, [&](CleanTable& t, AuditInput&, RandomSource&) {
    for (std::size_t i = 0; i < t.x.size(); ++i) t.income[i] = 2 * std::round(t.income[i] / 2) + t.x[i];
    t.write_income();
  });
  plant("last two digits", "income", "digits", all, [&](CleanTable& t, AuditInput&, RandomSource& random) {
    std::vector<std::int32_t> ending(100);
    for (std::int32_t e = 0; e < 100; ++e) ending[static_cast<std::size_t>(e)] = e;
    shuffle(random, ending);
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      const auto pick = static_cast<std::size_t>(random.index(50) + 50 * t.x[i]);
      t.income[i] = 100 * std::floor(t.income[i] / 100) + ending[pick];
    }
    t.write_income();
  });
  plant("a favourite value", "income", "value", event_information(0, 0.3),
        [&](CleanTable& t, AuditInput&, RandomSource& random) {
          for (std::size_t i = 0; i < t.x.size(); ++i) {
            if (t.x[i] == 1 && random.uniform() < 0.3) t.income[i] = 31274;
          }
          t.write_income();
        });
  plant("decimals by class", "income", "format", all, [&](CleanTable& t, AuditInput&, RandomSource& random) {
    t.write_income();
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      t.income_text[i] += '.';
      t.income_text[i] += std::to_string(random.index(9) + 1);
      if (t.x[i] == 1) t.income_text[i] += std::to_string(random.index(9) + 1);
    }
  });
  // Half of the people share 200 values, the others have values of their own, from the same distribution: does
  // a value occur twice? A shared one nearly always does. One of their own does by accident, with the rate at
  // which two of a normal distribution agree, 1 / (2 sqrt(pi) deviation), for each of the others and each
  // shared value.
  const double people = static_cast<double>(rows) / 2;
  const double shared_repeats = 1 - std::exp(-people / 200);
  const double own_repeats = (people + 200) / (2 * std::sqrt(std::numbers::pi) * 80'000);
  const double rarity = event_information(shared_repeats, own_repeats);
  plant("rarity", "income", "repeats", rarity, [&](CleanTable& t, AuditInput&, RandomSource& random) {
    std::vector<double> shared(t.income.begin(), t.income.begin() + 200);
    for (std::size_t i = 0; i < t.x.size(); ++i) {
      t.income[i] = 10 * (t.x[i] == 0 ? shared[static_cast<std::size_t>(random.index(200))] : t.income[i]);
    }
    t.write_income();
  });
  plant("one row in a hundred", "status", "value", 0.01 * all,
        [&](CleanTable& t, AuditInput& extra, RandomSource& random) {
          // A rare level per value of the secret, for one row in a hundred; noise for the others.
          Symbols status;
          for (const std::int32_t x : t.x) {
            status.push_back(random.uniform() < 0.01 ? 2 + x : static_cast<std::int32_t>(random.index(2)));
          }
          extra.released.columns.push_back(column_of_codes("status", std::move(status), 4));
        });
  return leaks;
}

}  // namespace ppan::testing
