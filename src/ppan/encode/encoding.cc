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
#include "ppan/encode/encode_all.h"

namespace ppan {
namespace {

constexpr std::size_t kMostKnots = 321;
constexpr std::int64_t kMostLevels = 4096;
constexpr double kHeavySkewness = 2;
constexpr double kHeavyDistance = 8;
constexpr std::size_t kTailKnots = 65;   // of them, kept for the tails
constexpr std::size_t kFewValues = 256;  // different ones of a column that is released as it is written
constexpr double kSharedRows = 0.99;
constexpr std::size_t kGridSample = 20'000;  // rows that a grid is tried on
constexpr double kFinestShare = 1e-7;  // of the range: finer digits of a column without decimals mean nothing
constexpr double kLeastGrid = 1e-12;
constexpr double kRoundOff = 1e-24;   // squared error of arithmetic, in variances
constexpr double kMostValue = 1e150;  // beyond, squares cannot be represented

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
// `i` of them are at most x.
double interpolate(const std::vector<double>& from, const std::vector<double>& to, double x, std::size_t i) {
  if (i == 0) return to.front();
  if (i == from.size()) return to.back();
  // Halved, because the difference of two finite numbers may not be finite.
  const double part = (0.5 * x - 0.5 * from[i - 1]) / (0.5 * from[i] - 0.5 * from[i - 1]);
  return std::lerp(to[i - 1], to[i], part);
}

double interpolate(const std::vector<double>& from, const std::vector<double>& to, double x) {
  const auto above = std::upper_bound(from.begin(), from.end(), x);
  return interpolate(from, to, x, static_cast<std::size_t>(above - from.begin()));
}

void interpolate_all(const std::vector<double>& from, const std::vector<double>& to,
                     std::span<double> values) {
  std::vector<std::uint32_t> at;
  count_less(from, values, true, at);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = interpolate(from, to, values[k], at[k]);
}

// Some of them.
template <bool kEqual>
void count_less(std::span<const double> sorted, const double* x, std::size_t count, std::uint32_t* at) {
  const auto less = [&](std::size_t i, std::size_t k) {
    const bool yes = kEqual ? sorted[i] <= x[k] : sorted[i] < x[k];
    return static_cast<std::uint32_t>(yes);
  };
  std::fill_n(at, count, 0U);
  for (std::size_t left = sorted.size(); left > 1;) {
    const std::size_t half = left / 2;
    for (std::size_t k = 0; k < count; ++k)
      at[k] += static_cast<std::uint32_t>(half) * less(at[k] + half - 1, k);
    left -= half;
  }
  for (std::size_t k = 0; k < count; ++k) at[k] += less(at[k], k);
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

// Neighbouring values of sorted rows, so many that none stands for fewer than `min_rows` of them.
struct RankBin {
  double value;  // mean
  double score;  // normal score of the middle rank
};

std::vector<RankBin> rank_bins(const std::vector<double>& sorted, std::size_t min_rows) {
  // At most kMostKnots bins; the tails are resolved as finely as `min_rows` allows.
  const std::size_t most_rows = std::max(min_rows, sorted.size() / (kMostKnots - kTailKnots) + 1);
  const auto count = static_cast<double>(sorted.size());
  std::vector<RankBin> bins;
  for (std::size_t begin = 0; begin < sorted.size();) {
    const std::size_t from_end = std::min(begin, sorted.size() - begin);
    const std::size_t wanted = std::clamp(from_end, min_rows, most_rows);
    std::size_t end = begin;
    while (end < sorted.size() && (end - begin < wanted || sorted[end] == sorted[end - 1])) ++end;
    if (sorted.size() - end < min_rows) end = sorted.size();
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += sorted[i] / static_cast<double>(end - begin);
    bins.push_back({sum, normal_quantile(
                             (static_cast<double>(begin) + 0.5 * static_cast<double>(end - begin)) / count)});
    begin = end;
  }
  bins.back().value = sorted.back();  // an end of the range, which at least `min_rows` rows share
  return bins;
}

void fit_ranks(const std::vector<double>& sorted, std::size_t min_rows, ColumnEncoding& out) {
  out.knot.clear();
  out.score.clear();
  for (const RankBin& bin : rank_bins(sorted, min_rows)) {
    const double value = out.grid > 0 ? out.round(bin.value) : bin.value;
    if (!out.knot.empty() && value <= out.knot.back()) continue;
    out.knot.push_back(value);
    out.score.push_back(bin.score);
  }
  if (out.knot.size() < 2) {  // nothing to interpolate between
    out.knot.clear();
    out.score.clear();
  }
}

// Mean and scale of g, with knots if the column is to have them; false if it is to have none.
void fit_scale(const std::vector<double>& sorted, bool ranks, std::size_t min_rows, ColumnEncoding& out) {
  out.knot.clear();
  out.score.clear();
  Moments m = moments_of(sorted, [](double x) { return x; });
  if ((ranks && out.least < out.most) || !std::isfinite(m.deviation)) {
    fit_ranks(sorted, min_rows, out);
    if (!out.knot.empty())
      m = moments_of(sorted, [&](double x) { return interpolate(out.knot, out.score, x); });
  }
  out.mean = m.mean;
  out.scale = m.deviation > 0 ? m.deviation : 1;
}

// The ends of a range moved inwards onto multiples of `step`; a range that holds none becomes the nearest
// one.
std::pair<double, double> range_on_grid(double least, double most, double step) {
  // A quotient that is whole but for the last bits is whole.
  const auto whole = [](double quotient, double otherwise) {
    const double nearest = std::nearbyint(quotient);
    return std::abs(quotient - nearest) <= 1e-12 * std::max(1e3, std::abs(quotient)) ? nearest : otherwise;
  };
  const double low = whole(least / step, std::ceil(least / step)) * step;
  const double high = whole(most / step, std::floor(most / step)) * step;
  const double middle = std::nearbyint((0.5 * least + 0.5 * most) / step) * step;
  return low <= high ? std::pair(low, high) : std::pair(middle, middle);
}

// Mean squared error of v when the values are rounded to multiples of `step`.
double rounding_cost(const std::vector<double>& sorted, const ColumnEncoding& column, double step) {
  const std::size_t stride = std::max<std::size_t>(1, sorted.size() / kGridSample);
  const auto [low, high] = range_on_grid(column.least, column.most, step);
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < sorted.size(); i += stride) {
    const double rounded = std::clamp(std::nearbyint(sorted[i] / step) * step, low, high);
    const double error = column.encode_exactly(rounded) - column.encode_exactly(sorted[i]);
    sum += error * error;
    count += 1;
  }
  return sum / count;
}

// Steps of times, in microseconds, coarsest first: so many days, and parts of a day that clocks show.
std::vector<double> time_steps(double width) {
  constexpr double kSecond = 1e6;
  constexpr double kMinute = 60 * kSecond;
  constexpr double kHour = 60 * kMinute;
  constexpr double kDay = 24 * kHour;
  std::vector<double> out;
  for (double power = std::pow(10.0, std::max(0.0, std::ceil(std::log10(width / kDay)) + 1)); power >= 1;
       power /= 10) {
    for (const int digit : {5, 2, 1}) out.push_back(digit * power * kDay);
  }
  for (const int hours : {12, 6, 3, 2, 1}) out.push_back(hours * kHour);
  for (const double unit : {kMinute, kSecond}) {
    for (const int count : {30, 15, 10, 5, 2, 1}) out.push_back(count * unit);
  }
  for (double power = kSecond / 10; power >= 1; power /= 10) {
    for (const int digit : {5, 2, 1}) out.push_back(digit * power);
  }
  return out;
}

// The coarsest of these that costs little enough.
double automatic_time_grid(const std::vector<double>& sorted, const ColumnEncoding& column,
                           double most_cost) {
  for (const double step : time_steps(std::max(1.0, column.most - column.least))) {
    if (rounding_cost(sorted, column, step) <= most_cost + kRoundOff) return step;
  }
  return 1;
}

// The coarsest of 1, 2, 5 x 10^k that costs little enough, no finer than the values are written.
double automatic_grid(const std::vector<double>& sorted, const ColumnEncoding& column, double native,
                      double most_cost) {
  const double width = column.most - column.least;
  if (!(width > 0)) return native > 0 ? native : kLeastGrid;
  const double finest = std::max(native > 0 ? native : width * kFinestShare, kLeastGrid);
  for (int power = static_cast<int>(std::ceil(std::log10(width))) + 1;; --power) {
    for (const int digit : {5, 2, 1}) {
      const double step = power >= 0 ? digit * std::pow(10.0, power) : digit / std::pow(10.0, -power);
      if (step <= finest * (1 + 1e-9)) return native > 0 && step < native ? native : step;
      if (rounding_cost(sorted, column, step) <= most_cost + kRoundOff) return step;
    }
  }
}

// Few different values, nearly all of which several people share (hours a week, gains of certain amounts):
// these say nothing about a single person, and a rounded one would be a value that the column does not have.
bool shares_values(const std::vector<double>& sorted, std::size_t min_rows) {
  std::size_t different = 0;
  std::size_t shared = 0;
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t end = first;
    while (end < sorted.size() && sorted[end] == sorted[first]) ++end;
    if (end - first >= min_rows) shared += end - first;
    ++different;
    first = end;
  }
  return different <= kFewValues &&
         static_cast<double>(shared) >= kSharedRows * static_cast<double>(sorted.size());
}

// Digits behind the decimal mark that multiples of the step need; more than kMostDecimals: not a decimal
// step.
int decimals_of(double step) {
  for (int d = 0; d <= kMostDecimals; ++d) {
    const double scaled = step * std::pow(10.0, d);
    if (std::abs(scaled - std::nearbyint(scaled)) <= std::min(1e-6, 1e-9 * scaled)) return d;
  }
  return kMostDecimals + 1;
}

double declared_grid(const ColumnSpec& spec) {
  const double step = *spec.grid;
  ProblemList problems;
  problems.require(decimals_of(step) <= kMostDecimals, fmt::format("columns.{}.grid", spec.name),
                   fmt::format("{} is not a decimal number of at most {} decimals", step, kMostDecimals));
  problems.require(
      !is_whole(spec.type) || step == std::floor(step), fmt::format("columns.{}.grid", spec.name),
      fmt::format("{} is not a whole number, but the column is of type {}", step, to_string(spec.type)));
  require_none(problems.take(), "this grid cannot be used:");
  return step;
}

// An end that `behind` rows lie at or beyond. Where they do not share it, it is the mean of as many rows
// further inside: the value of a single person is in no model and no release.
template <typename Iterator>
double end_of_range(Iterator first, std::size_t behind) {
  const double end = *(first + static_cast<std::ptrdiff_t>(behind - 1));
  if (*first == end) return end;
  double sum = 0;
  for (std::size_t i = behind - 1; i < 2 * behind - 1; ++i) sum += *(first + static_cast<std::ptrdiff_t>(i));
  return sum / static_cast<double>(behind);
}

// Where at least `min_rows` rows lie at or beyond each end, or what the column declares.
void fit_range(const std::vector<double>& sorted, const ColumnSpec& spec, std::size_t min_rows,
               ColumnEncoding& out) {
  if (spec.range.size() == 2) {
    out.least = spec.range[0];
    out.most = spec.range[1];
    return;
  }
  const std::size_t behind = std::clamp<std::size_t>(sorted.size() / 2, 1, min_rows);
  out.least = end_of_range(sorted.begin(), behind);
  out.most = end_of_range(sorted.rbegin(), behind);
}

void fit_number(const TableColumn& column, const ColumnSpec& spec, const EncodingOptions& options,
                ColumnEncoding& out) {
  std::vector<double> present;
  present.reserve(column.number.size());
  for (const double x : column.number) {
    if (!std::isnan(x)) present.push_back(x);
  }
  if (present.empty()) {
    throw Error(ErrorCode::kBadInput, fmt::format("column '{}' has no value in any row", column.name),
                "leave it out of [roles]");
  }
  std::sort(present.begin(), present.end());
  if (present.front() < -kMostValue || present.back() > kMostValue) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("column '{}' has values beyond {:g}, which cannot be worked with", column.name,
                            kMostValue),
                "make the column a category, give it another unit, or leave it out of [roles]");
  }
  out.may_be_missing = present.size() < column.number.size();
  out.format = column.format;
  const auto min_rows = static_cast<std::size_t>(options.min_rows);
  const bool ranks =
      spec.encoding == NumericEncoding::kRank ||
      (spec.encoding == NumericEncoding::kAuto &&
       heavy_tailed(moments_of(present, [](double x) { return x; }), present.front(), present.back()));
  fit_range(present, spec, min_rows, out);
  for (double& x : present) x = std::clamp(x, out.least, out.most);
  fit_scale(present, ranks, min_rows, out);
  const double native = is_whole(spec.type)   ? 1
                        : out.format.decimals ? std::pow(10.0, -*out.format.decimals)
                                              : 0;
  const bool as_written = native >= kLeastGrid && shares_values(present, min_rows);
  out.grid = spec.grid                             ? declared_grid(spec)
             : as_written                          ? native
             : spec.type == ColumnType::kTimestamp ? automatic_time_grid(present, out, options.grid_cost)
                                                   : automatic_grid(present, out, native, options.grid_cost);
  // The values are multiples of the grid, so this is how many decimals they need; a column that always shows
  // more of them (12.50) keeps doing so.
  const int needed = decimals_of(out.grid);
  out.format.fixed = out.format.fixed && out.format.decimals.value_or(0) >= needed;
  out.format.decimals = out.format.fixed ? std::max(needed, *out.format.decimals) : needed;
  const auto [low, high] = range_on_grid(out.least, out.most, out.grid);
  out.least = out.format.snap(low);
  out.most = out.format.snap(high);
  for (double& x : present) x = out.round(x);
  fit_scale(present, ranks, min_rows, out);
}

// Which levels are kept, most frequent first, and which are grouped.
struct LevelGroups {
  std::vector<std::size_t> kept;
  std::vector<std::size_t> rest;
};

LevelGroups group_levels(const TableColumn& column, const std::vector<std::int64_t>& count, std::int64_t room,
                         const EncodingOptions& options) {
  std::vector<std::size_t> order(count.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return count[a] != count[b] ? count[a] > count[b] : column.level[a] < column.level[b];
  });
  LevelGroups groups;
  std::int64_t grouped_rows = 0;
  const auto group_last = [&] {
    grouped_rows += count[groups.kept.back()];
    groups.rest.push_back(groups.kept.back());
    groups.kept.pop_back();
  };
  for (const std::size_t level : order) {
    groups.kept.push_back(level);
    if (count[level] < options.min_rows) group_last();
  }
  const auto too_many = [&] {
    return static_cast<std::int64_t>(groups.kept.size()) + (groups.rest.empty() ? 0 : 1) > room;
  };
  while (too_many() && groups.kept.size() > 1) group_last();
  // A group of too few people would point at them.
  while (!groups.rest.empty() && grouped_rows < options.min_rows && !groups.kept.empty()) group_last();
  // A level that bears the name of the group cannot stand beside it.
  const auto named = std::find_if(groups.kept.begin(), groups.kept.end(),
                                  [&](std::size_t l) { return column.level[l] == options.other; });
  if (!groups.rest.empty() && named != groups.kept.end()) {
    groups.rest.push_back(*named);
    groups.kept.erase(named);
  }
  return groups;
}

void fit_category(const TableColumn& column, std::int64_t max_levels, const EncodingOptions& options,
                  ColumnEncoding& out) {
  const auto rows = static_cast<double>(column.code.size());
  std::vector<std::int64_t> count(column.level.size(), 0);
  for (const std::int32_t code : column.code) {
    if (code != kMissingCode) ++count[static_cast<std::size_t>(code)];
  }
  const bool missing = column.missing > 0;
  const LevelGroups groups = group_levels(column, count, max_levels - (missing ? 1 : 0), options);
  // Counts are not stored: three decimals are all that anybody needs of them.
  const auto add = [&](const std::string& level, std::int64_t level_rows) {
    out.levels.push_back(level);
    out.share.push_back(std::nearbyint(1000 * static_cast<double>(level_rows) / rows) / 1000);
  };
  for (const std::size_t level : groups.kept) add(column.level[level], count[level]);
  if (!groups.rest.empty()) {
    std::int64_t grouped_rows = 0;
    for (const std::size_t level : groups.rest) grouped_rows += count[level];
    out.other_level = static_cast<std::int32_t>(out.levels.size());
    add(options.other, grouped_rows);
  }
  if (missing) {
    out.missing_level = static_cast<std::int32_t>(out.levels.size());
    add(column.missing_text, column.missing);
  }
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
  const bool own = source != encoding.columns.end() && source->derived_from.empty();
  problems.require(own, column.name, "is derived from a column that is derived or does not exist");
  if (!own) return;
  const std::size_t places =
      source->numeric() ? column.derived_at.size() + (source->may_be_missing ? 1 : 0) : source->levels.size();
  problems.require(source->numeric() ? !column.derived_at.empty() && increasing(column.derived_at)
                                     : column.derived_at.empty(),
                   column.name, "has not the values of its source in their order");
  const auto codes =
      static_cast<std::int32_t>(column.numeric() ? (column.may_be_missing ? 2 : 1) : column.levels.size());
  const bool fits = column.derived_value.size() == places && column.derived_code.size() == places &&
                    std::all_of(column.derived_value.begin(), column.derived_value.end(),
                                [](double v) { return std::isfinite(v); }) &&
                    std::all_of(column.derived_code.begin(), column.derived_code.end(),
                                [&](std::int32_t c) { return c >= 0 && c < codes; });
  problems.require(fits, column.name, "has not a value for each value of its source");
}

}  // namespace

Problems EncodingOptions::check() const {
  ProblemList problems;
  problems.require_between("max_levels", static_cast<double>(max_levels), 2,
                           static_cast<double>(kMostLevels));
  problems.require_at_least("min_rows", static_cast<double>(min_rows), 1);
  problems.require_between("grid_cost", grid_cost, 0, 0.1);
  return problems.take();
}

std::int32_t ColumnEncoding::width() const {
  if (numeric()) return may_be_missing ? 2 : 1;
  return static_cast<std::int32_t>(levels.size());
}

double ColumnEncoding::round(double x) const {
  x = std::clamp(x, least, most);
  if (grid > 0) return format.snap(std::nearbyint(x / grid) * grid);
  if (is_whole(type)) return std::nearbyint(x);
  return format.decimals ? format.snap(x) : tidy(x);
}

double ColumnEncoding::encode(double x) const {
  x = grid > 0 ? round(x) : std::clamp(x, least, most);
  return ((knot.empty() ? x : interpolate(knot, score, x)) - mean) / scale;
}

double ColumnEncoding::encode_exactly(double x) const {
  const double v = ((knot.empty() ? x : interpolate(knot, score, x)) - mean) / scale;
  return std::isfinite(v) ? v : encode(x);
}

double ColumnEncoding::decode(double v) const {
  if (!std::isfinite(v)) v = 0;
  const double x = mean + scale * v;
  return round(knot.empty() ? x : interpolate(score, knot, x));
}

std::size_t ColumnEncoding::derived_place(const ColumnEncoding& source, std::int32_t code, double v) const {
  if (!source.numeric()) return static_cast<std::size_t>(code);
  if (code != 0) return derived_at.size();
  const double x = source.decode(v);
  const auto above = std::lower_bound(derived_at.begin(), derived_at.end(), x);
  const auto place = static_cast<std::size_t>(above - derived_at.begin());
  if (place == 0) return 0;
  if (above == derived_at.end()) return place - 1;
  return x - derived_at[place - 1] <= *above - x ? place - 1 : place;
}

namespace {

// round() of many. Where there is a grid, snap() to it is written out, so that it is one loop without a call.
void round_all(const ColumnEncoding& column, std::span<double> values) {
  if (!(column.grid > 0) || !column.format.decimals || *column.format.decimals > kMostDecimals) {
    for (double& x : values) x = column.round(x);
    return;
  }
  double power = 1;
  for (int i = 0; i < *column.format.decimals; ++i) power *= 10;  // exact, as far as kMostDecimals
  if (column.grid == 1 && power == 1) {                           // the same without two divisions
    for (double& x : values) x = std::nearbyint(std::clamp(x, column.least, column.most));
    return;
  }
  for (double& x : values) {
    const double y = std::nearbyint(std::clamp(x, column.least, column.most) / column.grid) * column.grid;
    const double scaled = y * power;
    const double snapped = std::nearbyint(scaled) / power;
    x = std::abs(scaled) >= 0x1.0p52 ? y : snapped;
  }
}

}  // namespace

void count_less(std::span<const double> sorted, std::span<const double> values, bool equal,
                std::vector<std::uint32_t>& out) {
  constexpr std::size_t kSideBySide = 16;
  out.resize(values.size());
  for (std::size_t first = 0; first < values.size(); first += kSideBySide) {
    const std::size_t count = std::min(kSideBySide, values.size() - first);
    if (equal) {
      count_less<true>(sorted, values.data() + first, count, out.data() + first);
    } else {
      count_less<false>(sorted, values.data() + first, count, out.data() + first);
    }
  }
}

void encode_all(const ColumnEncoding& column, std::span<double> values) {
  if (column.grid > 0) {
    round_all(column, values);
  } else {
    for (double& x : values) x = std::clamp(x, column.least, column.most);
  }
  if (!column.knot.empty()) interpolate_all(column.knot, column.score, values);
  for (double& x : values) x = (x - column.mean) / column.scale;
}

void decode_all(const ColumnEncoding& column, std::span<double> values) {
  for (double& v : values) v = column.mean + column.scale * (std::isfinite(v) ? v : 0);
  if (!column.knot.empty()) interpolate_all(column.score, column.knot, values);
  round_all(column, values);
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
    problems.require(std::isfinite(grid) && grid >= 0 && (grid == 0 || format.decimals), "grid",
                     "is not a decimal step");
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
      fit_number(column, spec, options, out);
    } else {
      fit_category(column, spec.max_levels.value_or(options.max_levels), options, out);
    }
    encoding.columns.push_back(std::move(out));
  }
  // A source that is not modelled here leaves the column as it is.
  for (const ColumnSpec& spec : specs) {
    const bool known = std::any_of(encoding.columns.begin(), encoding.columns.end(),
                                   [&](const auto& c) { return c.name == spec.derived_from; });
    if (known)
      encoding.columns[static_cast<std::size_t>(encoding.index_of(spec.name))].derived_from =
          spec.derived_from;
  }
  fit_derived(table, options.min_rows, encoding);
  require_none(encoding.check(), "fitted encoding", ErrorCode::kBadInput);
  return encoding;
}

}  // namespace ppan
