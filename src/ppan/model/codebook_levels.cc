#include "ppan/model/codebook_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "ppan/encode/encode_all.h"

namespace ppan {
namespace {

constexpr int kRedraws = 16;
constexpr std::size_t kMostLevels = 4096;
constexpr std::size_t kMostListed = 256;  // different values of a column, as in encoding.cc
constexpr double kSharedRows = 0.99;
constexpr std::int64_t kListed = 32;  // entries of a list, about

struct Value {
  double x;
  std::int64_t rows;
};

// Different values, increasing, with the number of rows of each.
std::vector<Value> count_values(std::vector<double> sorted) {
  std::sort(sorted.begin(), sorted.end());
  std::vector<Value> out;
  for (const double x : sorted) {
    if (out.empty() || out.back().x != x) {
      out.push_back({x, 1});
    } else {
      ++out.back().rows;
    }
  }
  return out;
}

// Cuts `values` into at most `most` runs of about equally many rows, each of at least `least` rows (one run
// if there are fewer).
std::vector<std::pair<std::size_t, std::size_t>> runs(const std::vector<Value>& values, std::size_t first,
                                                      std::size_t end, std::int32_t most,
                                                      std::int64_t least) {
  std::int64_t rows = 0;
  for (std::size_t i = first; i < end; ++i) rows += values[i].rows;
  const std::int64_t wanted = std::max(least, (rows + most - 1) / most);
  std::vector<std::pair<std::size_t, std::size_t>> out;
  std::int64_t filled = 0;
  std::size_t start = first;
  for (std::size_t i = first; i < end; ++i) {
    filled += values[i].rows;
    if (filled < wanted) continue;
    out.emplace_back(start, i + 1);
    start = i + 1;
    filled = 0;
  }
  if (start < end) {
    if (!out.empty() && filled < least) {
      out.back().second = end;
    } else {
      out.emplace_back(start, end);
    }
  }
  return out;
}

// Without the fewer than `least` rows at either end: the first value that `least` people reach.
void trim_ends(std::vector<Value>& values, std::int64_t least) {
  const auto cut = [&](bool front) {
    std::int64_t beyond = 0;
    while (values.size() > 1) {
      Value& end = front ? values.front() : values.back();
      if (beyond + end.rows >= least) {
        end.rows += beyond;  // people beyond the end count as being at it
        return;
      }
      beyond += end.rows;
      if (front) {
        values.erase(values.begin());
      } else {
        values.pop_back();
      }
    }
    values.front().rows += beyond;
  };
  cut(true);
  cut(false);
}

// Whether values may be listed: few different ones, nearly all of which enough people share.
bool shared(const std::vector<Value>& values, std::int64_t least_rows) {
  std::int64_t rows = 0;
  std::int64_t theirs = 0;
  for (const Value& value : values) {
    rows += value.rows;
    if (value.rows >= least_rows) theirs += value.rows;
  }
  return values.size() <= kMostListed &&
         static_cast<double>(theirs) >= kSharedRows * static_cast<double>(rows);
}

// Every value as often as people have it, in a list of about kListed.
std::vector<double> list_of(const std::vector<Value>& values, std::size_t first, std::size_t end) {
  std::int64_t rows = 0;
  for (std::size_t i = first; i < end; ++i) rows += values[i].rows;
  std::vector<double> out;
  for (std::size_t i = first; i < end; ++i) {
    const std::int64_t times = std::max<std::int64_t>(1, (kListed * values[i].rows + rows / 2) / rows);
    out.insert(out.end(), static_cast<std::size_t>(times), values[i].x);
  }
  return out;
}

}  // namespace

Problems LevelOptions::check() const {
  ProblemList list;
  list.require_between("most_bins", most_bins, 1, 1024);
  list.require_at_least("most_segments", most_segments, 1);
  list.require_between("spike_share", spike_share, 1e-9, 1);
  list.require_at_least("least_rows", static_cast<double>(least_rows), 1);
  return list.take();
}

std::int32_t ColumnLevels::levels() const {
  if (!numeric) return category_levels;
  return static_cast<std::int32_t>(spike.size() + bin.size()) + (may_be_missing ? 1 : 0);
}

namespace {

// Where a number is among the levels: `at` spikes are less, and `below` ends of bins but for the last.
std::int32_t find_level(const ColumnLevels& levels, double x, std::size_t at, std::size_t below) {
  const std::vector<double>& spike = levels.spike;
  if (at < spike.size() && spike[at] == x) return static_cast<std::int32_t>(at);
  if (levels.bin.empty()) {  // the nearest spike
    if (at == 0) return 0;
    if (at == spike.size()) return static_cast<std::int32_t>(at) - 1;
    return static_cast<std::int32_t>(at) - (x - spike[at - 1] < spike[at] - x ? 1 : 0);
  }
  return static_cast<std::int32_t>(spike.size() + below);
}

std::vector<double> bin_ends(const ColumnLevels& levels) {
  std::vector<double> ends;
  for (std::size_t b = 0; b + 1 < levels.bin.size(); ++b) ends.push_back(levels.bin[b].back());
  return ends;
}

}  // namespace

std::int32_t ColumnLevels::level_of(double x) const {
  const std::vector<double> ends = bin_ends(*this);
  const auto less = [x](const std::vector<double>& sorted) {
    return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), x) - sorted.begin());
  };
  return find_level(*this, x, less(spike), less(ends));
}

Problems ColumnLevels::check() const {
  ProblemList list;
  const auto increasing = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }) &&
           std::is_sorted(values.begin(), values.end());
  };
  list.require(levels() >= 1 && static_cast<std::size_t>(levels()) <= kMostLevels, "levels",
               fmt::format("there are {}; 1 to {} are allowed", levels(), kMostLevels));
  list.require(increasing(spike), "spike", "must be finite and increase");
  double last = -std::numeric_limits<double>::infinity();
  for (const std::vector<double>& knots : bin) {
    list.require(!knots.empty() && increasing(knots) && knots.front() >= last, "bin",
                 "must have finite knots that increase");
    if (!knots.empty()) last = knots.back();
  }
  if (numeric) list.require(!spike.empty() || !bin.empty(), "bin", "a number needs a spike or a bin");
  return list.take();
}

ColumnLevels fit_levels(const EncodedRows& rows, std::int32_t column, const Encoding& encoding,
                        const LevelOptions& options) {
  const ColumnEncoding& how = encoding.columns[static_cast<std::size_t>(column)];
  const EncodedColumn& from = rows.columns[rows.position_of(column)];
  ColumnLevels out;
  out.column = column;
  out.numeric = how.numeric();
  if (!out.numeric) {
    out.category_levels = how.width();
    return out;
  }
  out.may_be_missing = how.may_be_missing;
  std::vector<double> present;
  for (std::size_t r = 0; r < from.code.size(); ++r) {
    if (from.code[r] == 0) present.push_back(how.decode(from.value[r]));
  }
  if (present.empty()) {
    out.spike.push_back(how.decode(0));
    return out;
  }
  const auto spiked = std::max(static_cast<double>(options.least_rows),
                               options.spike_share * static_cast<double>(present.size()));
  std::vector<Value> rest;
  std::vector<Value> values = count_values(std::move(present));
  out.listed = shared(values, options.least_rows);
  if (out.listed) std::erase_if(values, [&](const Value& value) { return value.rows < options.least_rows; });
  const bool each = out.listed && values.size() <= static_cast<std::size_t>(options.most_bins);
  for (const Value& value : values) {
    if (each || static_cast<double>(value.rows) >= spiked) {
      out.spike.push_back(value.x);
    } else {
      rest.push_back(value);
    }
  }
  std::int64_t left = 0;
  for (const Value& value : rest) left += value.rows;
  if (rest.empty() || (left < options.least_rows && !out.spike.empty())) return out;
  trim_ends(rest, options.least_rows);
  for (const auto& [first, end] : runs(rest, 0, rest.size(), options.most_bins, options.least_rows)) {
    if (out.listed) {
      out.bin.push_back(list_of(rest, first, end));
      continue;
    }
    std::vector<double> knots{rest[first].x};
    for (const auto& segment : runs(rest, first, end, options.most_segments, options.least_rows))
      knots.push_back(rest[segment.second - 1].x);
    out.bin.push_back(std::move(knots));
  }
  return out;
}

Symbols levels_of(const EncodedRows& rows, const ColumnLevels& levels, const Encoding& encoding) {
  const EncodedColumn& from = rows.columns[rows.position_of(levels.column)];
  if (!levels.numeric) return from.code;
  const ColumnEncoding& how = encoding.columns[static_cast<std::size_t>(levels.column)];
  Symbols out(from.code.size());
  std::vector<double> written = from.value;
  decode_all(how, written);
  const std::vector<double> ends = bin_ends(levels);
  std::vector<std::uint32_t> spikes(out.size(), 0);
  std::vector<std::uint32_t> below(out.size(), 0);
  if (!levels.spike.empty()) count_less(levels.spike, written, false, spikes);
  if (!ends.empty()) count_less(ends, written, false, below);
  for (std::size_t r = 0; r < out.size(); ++r) {
    out[r] = from.code[r] == 1 && levels.may_be_missing ? levels.missing_level()
                                                        : find_level(levels, written[r], spikes[r], below[r]);
  }
  return out;
}

DrawnCell draw_cell(const ColumnLevels& levels, std::int32_t level, const Encoding& encoding,
                    RandomSource& random) {
  if (!levels.numeric) return {0, level};
  if (levels.may_be_missing && level == levels.missing_level()) return {0, 1};
  const ColumnEncoding& how = encoding.columns[static_cast<std::size_t>(levels.column)];
  const auto index = static_cast<std::size_t>(level);
  if (index < levels.spike.size()) return {how.encode(levels.spike[index]), 0};
  const std::vector<double>& knots = levels.bin[index - levels.spike.size()];
  if (levels.listed) {
    const auto at = static_cast<std::size_t>(random.index(static_cast<std::int64_t>(knots.size())));
    return {how.encode(knots[at]), 0};
  }
  double value = how.encode(knots.front());
  for (int i = 0; i < kRedraws && knots.size() > 1; ++i) {
    const auto segment = static_cast<std::size_t>(random.index(static_cast<std::int64_t>(knots.size()) - 1));
    value = how.encode(std::lerp(knots[segment], knots[segment + 1], random.uniform()));
    // A spike has a level of its own, which this is not.
    if (levels.spike.empty() ||
        !std::binary_search(levels.spike.begin(), levels.spike.end(), how.decode(value)))
      break;
  }
  return {value, 0};
}

nlohmann::json to_json(const ColumnLevels& levels) {
  nlohmann::json json{{"column", levels.column},
                      {"numeric", levels.numeric},
                      {"may_be_missing", levels.may_be_missing},
                      {"category_levels", levels.category_levels},
                      {"spike", levels.spike},
                      {"bin", levels.bin}};
  if (levels.listed) json["listed"] = true;
  return json;
}

ColumnLevels levels_from_json(const nlohmann::json& json) {
  ColumnLevels out;
  try {
    out.column = json.at("column").get<std::int32_t>();
    out.numeric = json.at("numeric").get<bool>();
    out.may_be_missing = json.at("may_be_missing").get<bool>();
    out.category_levels = json.at("category_levels").get<std::int32_t>();
    out.spike = json.at("spike").get<std::vector<double>>();
    out.bin = json.at("bin").get<std::vector<std::vector<double>>>();
    out.listed = json.value("listed", false);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("levels of a column cannot be read: {}", error.what()));
  }
  require_none(out.check(), "levels of a column", ErrorCode::kBadInput);
  return out;
}

}  // namespace ppan
