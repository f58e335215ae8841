#include "ppan/table/table_references.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "ppan/table/table_measure.h"

namespace ppan {
namespace {

constexpr double kLeastStrength = 1e-6;
constexpr double kMostStrength = 100;
constexpr int kBisections = 40;
constexpr int kBins = 16;

EncodedRows columns_of(const EncodedRows& rows, std::span<const std::int32_t> columns) {
  EncodedRows out;
  out.rows = rows.rows;
  out.bad.assign(static_cast<std::size_t>(rows.rows), 0);
  for (const std::int32_t column : columns) {
    out.which.push_back(column);
    out.columns.push_back(rows.columns[rows.position_of(column)]);
  }
  return out;
}

double normal(RandomSource& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

// Codes of a column for counting: levels, or bins of equal share, missing as a bin of its own.
Symbols symbols_of(const EncodedColumn& column, bool numeric) {
  if (!numeric) return column.code;
  std::vector<double> sorted;
  for (std::size_t r = 0; r < column.code.size(); ++r) {
    if (column.code[r] == 0) sorted.push_back(column.value[r]);
  }
  std::sort(sorted.begin(), sorted.end());
  Symbols out;
  for (std::size_t r = 0; r < column.code.size(); ++r) {
    if (column.code[r] == 1) {
      out.push_back(kBins);
      continue;
    }
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), column.value[r]) - sorted.begin();
    out.push_back(static_cast<std::int32_t>(below * kBins / static_cast<std::ptrdiff_t>(sorted.size())));
  }
  return out;
}

double plug_in_information(const Symbols& a, const Symbols& b) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> both;
  std::map<std::int32_t, double> of_a;
  std::map<std::int32_t, double> of_b;
  const double share = 1.0 / static_cast<double>(a.size());
  for (std::size_t r = 0; r < a.size(); ++r) {
    both[{a[r], b[r]}] += share;
    of_a[a[r]] += share;
    of_b[b[r]] += share;
  }
  double sum = 0;
  for (const auto& [cell, p] : both) sum += p * std::log(p / (of_a[cell.first] * of_b[cell.second]));
  return sum;
}

}  // namespace

EncodedRows add_noise(const EncodedRows& rows, std::span<const std::int32_t> columns,
                      const Encoding& encoding, double strength, RandomSource& random, NoisyColumns noisy) {
  EncodedRows out = columns_of(rows, columns);
  const double flip = std::min(strength, 1.0);
  const double deviation = std::sqrt(strength);
  for (std::size_t c = 0; c < out.columns.size(); ++c) {
    const ColumnEncoding& column = encoding.columns[static_cast<std::size_t>(columns[c])];
    if (noisy == (column.numeric() ? NoisyColumns::kCategories : NoisyColumns::kNumbers)) continue;
    EncodedColumn& to = out.columns[c];
    const std::int32_t levels = column.numeric() ? 2 : column.width();
    for (std::size_t r = 0; r < to.code.size(); ++r) {
      // Every draw is taken whatever its outcome, so that strengths can be compared on the same draws.
      const double coin = random.uniform();
      const auto level = static_cast<std::int32_t>(random.index(levels));
      if ((!column.numeric() || column.may_be_missing) && coin < flip) to.code[r] = level;
      if (!column.numeric()) continue;
      const double noise = normal(random);
      to.value[r] = to.code[r] == 1 ? 0 : column.encode(column.decode(to.value[r] + deviation * noise));
    }
  }
  return out;
}

double noise_strength(const EncodedRows& rows, std::span<const std::int32_t> columns,
                      const Encoding& encoding, double distortion, std::uint64_t seed, NoisyColumns noisy) {
  const auto cost = [&](double strength) {
    SeededRandom random(seed);
    return measure_change(rows, add_noise(rows, columns, encoding, strength, random, noisy), encoding)
        .distortion;
  };
  double low = kLeastStrength;
  double high = kMostStrength;
  for (int i = 0; i < kBisections && high > 1.0005 * low; ++i) {
    const double middle = std::sqrt(low * high);
    (cost(middle) < distortion ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::vector<std::int32_t> by_leakage(const EncodedRows& rows, std::span<const std::int32_t> columns,
                                     const Schema& schema, const Encoding& encoding) {
  const auto symbols = [&](std::int32_t column) {
    return symbols_of(rows.columns[rows.position_of(column)],
                      encoding.columns[static_cast<std::size_t>(column)].numeric());
  };
  std::vector<Symbols> hidden;
  for (const std::int32_t column : encoding.indices_of(schema.hidden_columns()))
    hidden.push_back(symbols(column));
  std::vector<std::pair<double, std::int32_t>> order;
  for (const std::int32_t column : columns) {
    const Symbols y = symbols(column);
    double most = 0;
    for (const Symbols& x : hidden) most = std::max(most, plug_in_information(x, y));
    order.emplace_back(most, column);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::int32_t> out;
  for (const auto& [nats, column] : order) out.push_back(column);
  return out;
}

EncodedRows drop_columns(const EncodedRows& rows, std::span<const std::int32_t> columns,
                         std::span<const std::int32_t> dropped, const Encoding& encoding) {
  EncodedRows out = columns_of(rows, columns);
  for (std::size_t c = 0; c < out.columns.size(); ++c) {
    if (std::find(dropped.begin(), dropped.end(), columns[c]) == dropped.end()) continue;
    const ColumnEncoding& column = encoding.columns[static_cast<std::size_t>(columns[c])];
    EncodedColumn& to = out.columns[c];
    const auto likeliest =
        column.numeric() ? 0
                         : std::max_element(column.share.begin(), column.share.end()) - column.share.begin();
    std::fill(to.code.begin(), to.code.end(), static_cast<std::int32_t>(likeliest));
    std::fill(to.value.begin(), to.value.end(), 0.0);
  }
  return out;
}

}  // namespace ppan
