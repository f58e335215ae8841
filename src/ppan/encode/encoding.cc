#include "ppan/encode/encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_set>

#include "ppan/core/error.h"

namespace ppan {
namespace {

constexpr std::size_t kMostKnots = 321;
constexpr std::int64_t kMostLevels = 4096;
constexpr double kHeavySkewness = 2;
constexpr double kHeavyDistance = 8;

// Phi^-1 by Acklam's rational approximation (relative error 1.2e-9; P. J. Acklam, 2003). Scores need only be
// increasing and near the normal ones, because the knots themselves are stored.
double normal_quantile(double p) {
  constexpr std::array<double, 6> a{-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                    1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array<double, 5> b{-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                                    6.680131188771972e+01, -1.328068155288572e+01};
  constexpr std::array<double, 6> c{-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                    -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array<double, 4> d{7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                    3.754408661907416e+00};
  constexpr double low = 0.02425;
  const auto tail = [&](double q) {
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  };
  if (p < low) return tail(std::sqrt(-2 * std::log(p)));
  if (p > 1 - low) return -tail(std::sqrt(-2 * std::log1p(-p)));
  const double q = p - 0.5;
  const double r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

// y at x on the line through the points (from[i], to[i]); `from` increases, and x lies in its range.
double interpolate(const std::vector<double>& from, const std::vector<double>& to, double x) {
  const auto above = std::upper_bound(from.begin(), from.end(), x);
  if (above == from.begin()) return to.front();
  if (above == from.end()) return to.back();
  const auto i = static_cast<std::size_t>(above - from.begin());
  // Halved, because the difference of two finite numbers may not be finite.
  const double part = (0.5 * x - 0.5 * from[i - 1]) / (0.5 * from[i] - 0.5 * from[i - 1]);
  return std::lerp(to[i - 1], to[i], part);
}

struct Moments {
  double mean = 0;
  double deviation = 0;
  double skewness = 0;
};

template <typename Map>
Moments moments_of(const std::vector<double>& values, Map map) {
  const auto count = static_cast<double>(values.size());
  Moments m;
  for (const double x : values) m.mean += map(x) / count;
  double second = 0;
  double third = 0;
  for (const double x : values) {
    const double d = map(x) - m.mean;
    second += d * d / count;
    third += d * d * d / count;
  }
  m.deviation = std::sqrt(second);
  if (second > 0) m.skewness = third / (second * m.deviation);
  return m;
}

bool heavy_tailed(const Moments& m, double least, double most) {
  if (!(m.deviation > 0)) return false;
  const double farthest = std::max(m.mean - least, most - m.mean) / m.deviation;
  return std::abs(m.skewness) > kHeavySkewness || farthest > kHeavyDistance;
}

// Which of the sorted, different values carry a knot: all, or quantiles with the tails resolved
// geometrically.
std::vector<std::size_t> knot_places(std::size_t count) {
  std::set<std::size_t> places;
  if (count <= kMostKnots) {
    for (std::size_t i = 0; i < count; ++i) places.insert(i);
  } else {
    constexpr std::size_t kEven = 257;
    for (std::size_t i = 0; i < kEven; ++i) places.insert(i * (count - 1) / (kEven - 1));
    for (std::size_t step = 1; step < count / kEven; step *= 2) {
      places.insert(step);
      places.insert(count - 1 - step);
    }
  }
  return {places.begin(), places.end()};
}

void fit_ranks(std::vector<double> sorted, ColumnEncoding& out) {
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  std::vector<double> value;
  std::vector<double> score;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end < sorted.size() && sorted[end] == sorted[i]) ++end;
    value.push_back(sorted[i]);
    score.push_back(normal_quantile((static_cast<double>(i) + 0.5 * static_cast<double>(end - i)) / count));
    i = end;
  }
  // Quantiles are taken over the rows, so that knots lie where the data do.
  std::vector<std::size_t> places;
  if (value.size() <= kMostKnots) {
    places = knot_places(value.size());
  } else {
    for (const std::size_t row : knot_places(sorted.size())) {
      const auto at =
          static_cast<std::size_t>(std::lower_bound(value.begin(), value.end(), sorted[row]) - value.begin());
      if (places.empty() || places.back() != at) places.push_back(at);
    }
  }
  for (const std::size_t at : places) {
    out.knot.push_back(value[at]);
    out.score.push_back(score[at]);
  }
}

void fit_number(const TableColumn& column, NumericEncoding how, ColumnEncoding& out) {
  std::vector<double> present;
  present.reserve(column.number.size());
  for (const double x : column.number) {
    if (!std::isnan(x)) present.push_back(x);
  }
  if (present.empty()) {
    throw Error(ErrorCode::kBadInput, fmt::format("column '{}' has no value in any row", column.name),
                "leave it out of [roles]");
  }
  out.may_be_missing = present.size() < column.number.size();
  out.format = column.format;
  const auto [least, most] = std::minmax_element(present.begin(), present.end());
  out.least = *least;
  out.most = *most;
  Moments m = moments_of(present, [](double x) { return x; });
  const bool ranks = how == NumericEncoding::kRank ||
                     (how == NumericEncoding::kAuto && heavy_tailed(m, out.least, out.most));
  if ((ranks && out.least < out.most) || !std::isfinite(m.deviation)) {
    fit_ranks(present, out);
    m = moments_of(present, [&](double x) { return interpolate(out.knot, out.score, x); });
  }
  out.mean = m.mean;
  out.scale = m.deviation > 0 ? m.deviation : 1;
}

void fit_category(const TableColumn& column, std::int64_t max_levels, const EncodingOptions& options,
                  ColumnEncoding& out) {
  const auto rows = static_cast<std::int64_t>(column.code.size());
  std::vector<std::int64_t> count(column.level.size(), 0);
  for (const std::int32_t code : column.code) {
    if (code != kMissingCode) ++count[static_cast<std::size_t>(code)];
  }
  std::vector<std::size_t> order(count.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return count[a] != count[b] ? count[a] > count[b] : column.level[a] < column.level[b];
  });
  const bool missing = column.missing > 0;
  const std::int64_t room = max_levels - (missing ? 1 : 0);
  const std::int64_t threshold = std::min(options.min_level_rows, std::max<std::int64_t>(1, rows / 200));
  std::int64_t rare_rows = 0;
  for (const std::int64_t c : count) rare_rows += c < threshold ? c : 0;
  const bool group_rare = rare_rows * 2 <= rows;

  std::vector<std::size_t> kept;
  std::vector<std::size_t> rest;
  bool named_other = false;
  for (const std::size_t level : order) {
    if (column.level[level] == options.other) {
      named_other = true;  // joins the grouped level, if there comes to be one
    }
    const bool rare = group_rare && count[level] < threshold;
    (rare ? rest : kept).push_back(level);
  }
  const auto too_many = [&] {
    const bool grouped = rest.size() > 1;
    return static_cast<std::int64_t>(kept.size()) + (grouped ? 1 : static_cast<std::int64_t>(rest.size())) >
           room;
  };
  while (too_many() && kept.size() > 1) {
    rest.push_back(kept.back());
    kept.pop_back();
  }
  if (rest.size() == 1) {  // grouping a single level would only hide its name
    kept.push_back(rest.back());
    rest.clear();
  }
  if (!rest.empty() && named_other) {
    const auto at = std::find_if(kept.begin(), kept.end(),
                                 [&](std::size_t l) { return column.level[l] == options.other; });
    if (at != kept.end()) {
      rest.push_back(*at);
      kept.erase(at);
    }
  }
  std::vector<std::int64_t> level_rows;
  for (const std::size_t level : kept) {
    out.levels.push_back(column.level[level]);
    level_rows.push_back(count[level]);
  }
  if (!rest.empty()) {
    out.other_level = static_cast<std::int32_t>(out.levels.size());
    out.levels.push_back(options.other);
    level_rows.push_back(0);
    for (const std::size_t level : rest) level_rows.back() += count[level];
  }
  if (missing) {
    out.missing_level = static_cast<std::int32_t>(out.levels.size());
    out.levels.push_back(column.missing_text);
    level_rows.push_back(column.missing);
  }
  for (const std::int64_t n : level_rows)
    out.share.push_back(static_cast<double>(n) / static_cast<double>(rows));
}

// 12 significant digits: hides the rounding of the arithmetic where a column has no grid of its own.
double tidy(double x) {
  std::array<char, 40> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), x, std::chars_format::scientific, 11).ptr;
  std::from_chars(text.data(), end, x);
  return x;
}

bool increasing(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }) &&
         std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

void check_derived(const Encoding& encoding, const ColumnEncoding& column, ProblemList& problems) {
  if (column.derived_from.empty()) {
    problems.require(column.derived_value.empty() && column.derived_code.empty(), column.name,
                     "has values of a source but names none");
    return;
  }
  const auto source = std::find_if(encoding.columns.begin(), encoding.columns.end(),
                                   [&](const auto& c) { return c.name == column.derived_from; });
  const bool category =
      source != encoding.columns.end() && !source->numeric() && source->derived_from.empty();
  problems.require(category, column.name, "is derived from a column that is no category of its own");
  if (!category) return;
  const auto codes =
      static_cast<std::int32_t>(column.numeric() ? (column.may_be_missing ? 2 : 1) : column.levels.size());
  const bool fits = column.derived_value.size() == source->levels.size() &&
                    column.derived_code.size() == source->levels.size() &&
                    std::all_of(column.derived_value.begin(), column.derived_value.end(),
                                [](double v) { return std::isfinite(v); }) &&
                    std::all_of(column.derived_code.begin(), column.derived_code.end(),
                                [&](std::int32_t c) { return c >= 0 && c < codes; });
  problems.require(fits, column.name, "has not a value for each level of its source");
}

}  // namespace

Problems EncodingOptions::check() const {
  ProblemList problems;
  problems.require_between("max_levels", static_cast<double>(max_levels), 2,
                           static_cast<double>(kMostLevels));
  problems.require_at_least("min_level_rows", static_cast<double>(min_level_rows), 1);
  return problems.take();
}

EncodingOptions encoding_options(const JobFile& job) {
  return {.max_levels = job.encode.max_levels,
          .min_level_rows = job.encode.min_level_rows,
          .other = job.encode.other,
          .missing = job.csv.missing};
}

std::int32_t ColumnEncoding::width() const {
  if (numeric()) return may_be_missing ? 2 : 1;
  return static_cast<std::int32_t>(levels.size());
}

double ColumnEncoding::encode(double x) const {
  x = std::clamp(x, least, most);
  return ((knot.empty() ? x : interpolate(knot, score, x)) - mean) / scale;
}

double ColumnEncoding::decode(double v) const {
  if (!std::isfinite(v)) v = 0;
  double x = mean + scale * v;
  if (!knot.empty()) x = interpolate(score, knot, x);
  x = std::clamp(x, least, most);
  if (type == ColumnType::kInteger) return std::nearbyint(x);
  return format.decimals ? format.snap(x) : tidy(x);
}

Problems ColumnEncoding::check() const {
  ProblemList problems;
  problems.require(!name.empty(), "name", "is empty");
  problems.require(type != ColumnType::kIdentifier, "type", "identifiers are not encoded");
  problems.require_positive("weight", weight);
  if (numeric()) {
    problems.require(std::isfinite(mean), "mean", "is not finite");
    problems.require_positive("scale", scale);
    problems.require(std::isfinite(least) && std::isfinite(most) && least <= most, "least",
                     "the range is empty");
    problems.require(knot.size() == score.size() && knot.size() != 1, "knot", "has not as many scores");
    problems.require(increasing(knot) && increasing(score), "knot",
                     "knots and scores must be finite and increase");
    problems.require(levels.empty() && share.empty() && !other_level && !missing_level, "levels",
                     "a number has none");
    return problems.take();
  }
  const auto size = static_cast<std::int64_t>(levels.size());
  problems.require(size >= 1 && size <= kMostLevels, "levels",
                   fmt::format("there are {}; 1 to {} are allowed", size, kMostLevels));
  problems.require(share.size() == levels.size(), "share", "has not one value for each level");
  for (const double s : share) problems.require_between("share", s, 0, 1);
  for (const auto& [field, level] :
       {std::pair("other_level", other_level), std::pair("missing_level", missing_level)})
    problems.require(!level || (*level >= 0 && *level < size), field, "is not one of the levels");
  problems.require(!other_level || other_level != missing_level, "other_level", "is also the missing level");
  std::unordered_set<std::string_view> seen;
  for (std::int32_t i = 0; i < size; ++i) {
    if (i == missing_level) continue;
    problems.require(seen.insert(levels[static_cast<std::size_t>(i)]).second, "levels",
                     "a level is listed twice");
  }
  return problems.take();
}

std::int32_t Encoding::index_of(std::string_view name) const {
  const auto at = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
  if (at == columns.end())
    throw Error(ErrorCode::kInternal, fmt::format("column '{}' has no encoding", name));
  return static_cast<std::int32_t>(at - columns.begin());
}

std::vector<std::int32_t> Encoding::indices_of(std::span<const std::string> names) const {
  std::vector<std::int32_t> indices;
  for (const std::string& name : names) indices.push_back(index_of(name));
  return indices;
}

Problems Encoding::check() const {
  ProblemList problems;
  std::unordered_set<std::string_view> names;
  for (const ColumnEncoding& column : columns) {
    problems.add(column.name, column.check());
    check_derived(*this, column, problems);
    problems.require(names.insert(column.name).second, column.name, "is encoded twice");
  }
  return problems.take();
}

Encoding fit_encoding(const Table& table, std::span<const ColumnSpec> specs, const EncodingOptions& options) {
  require_none(options.check(), "options of the encoding");
  if (table.rows == 0) throw Error(ErrorCode::kBadInput, "the table has no rows");
  Encoding encoding;
  for (const ColumnSpec& spec : specs) {
    const TableColumn& column = table.at(spec.name);
    ColumnEncoding out;
    out.name = spec.name;
    out.type = spec.type;
    out.weight = spec.weight;
    out.missing = options.missing;
    out.missing.insert(out.missing.end(), spec.missing.begin(), spec.missing.end());
    out.missing_text = column.missing_text;
    if (is_numeric(spec.type)) {
      fit_number(column, spec.encoding, out);
    } else {
      fit_category(column, spec.max_levels.value_or(options.max_levels), options, out);
    }
    encoding.columns.push_back(std::move(out));
  }
  // A source that is not modelled here leaves the column as it is.
  for (const ColumnSpec& spec : specs) {
    const bool known = std::any_of(encoding.columns.begin(), encoding.columns.end(), [&](const auto& c) {
      return c.name == spec.derived_from && !c.numeric();
    });
    if (known)
      encoding.columns[static_cast<std::size_t>(encoding.index_of(spec.name))].derived_from =
          spec.derived_from;
  }
  fit_derived(table, encoding);
  require_none(encoding.check(), "fitted encoding", ErrorCode::kBadInput);
  return encoding;
}

}  // namespace ppan
