#include "ppan/table/redrawn_columns.h"

#include <algorithm>
#include <cmath>

#include "ppan/table/heads_links.h"
#include "ppan/table/heads_path.h"

namespace ppan {
namespace {

// With tasks, a distortion of 1 weighs as much as so many nats about them: it decides between columns that
// the tasks can do without, and what is lost by chance alone decides nothing.
constexpr double kDistortionWeight = 0.05;

// Below so many nats, and below this share of what the table tells, nothing is left.
constexpr double kLeastTold = 0.001;
constexpr double kLeastToldShare = 0.01;

}  // namespace

std::vector<std::int32_t> offered_steps(double told_at_first, std::span<const double> told,
                                        std::size_t most) {
  std::vector<std::int32_t> out;
  const double least = std::max(kLeastTold, kLeastToldShare * told_at_first);
  if (told_at_first < least) return out;
  const auto level = [&](double nats) { return std::log(std::max(nats, least)); };
  const double first = level(told_at_first);
  const std::size_t count = std::min(told.size(), most);
  std::size_t next = 0;
  for (std::size_t k = 1; k <= count; ++k) {
    const double aim = first + (level(0) - first) * static_cast<double>(k) / static_cast<double>(count);
    const auto from = told.subspan(next, told.size() - next - (count - k));  // the others need a step each
    const auto nearest = std::min_element(from.begin(), from.end(), [&](double a, double b) {
      return std::abs(level(a) - aim) < std::abs(level(b) - aim);
    });
    next += static_cast<std::size_t>(nearest - from.begin()) + 1;
    out.push_back(static_cast<std::int32_t>(next));
  }
  return out;
}

RedrawnColumns find_redrawn(const HeadsFit& fit, const HeadsRows& rows, const HeadsOptions& options,
                            std::size_t most, std::uint64_t seed) {
  const SeededRandom random(seed);
  const bool tasks = !rows.coded.task.empty() && options.task_weight > 0;
  const HeadsPath path = find_path(fit, rows, options.hidden, options.batch, options.task_weight,
                                   random.fork("path").next(), tasks ? kDistortionWeight : 1, true);
  RedrawnColumns out{.order = path.order,
                     .counts = offered_steps(path.told_at_first, path.told, most),
                     .links = {},
                     .base = {}};
  if (out.counts.empty()) return out;
  const HeadsFit ordered = reordered(fit, out.order);
  std::vector<Index> cells;
  for (const Head& head : ordered.heads) cells.push_back(static_cast<Index>(head.cell.size()));
  const Index first = static_cast<Index>(cells.size()) - out.counts.back();
  HeadLinks links = fit_links(reordered(rows.own, out.order), cells, random.fork("links").next(), first);
  out.links = std::move(links.links);
  out.base = std::move(links.base);
  return out;
}

Heads redrawn_heads(const HeadsFit& fit, const RedrawnColumns& redrawn, std::size_t number, Index features) {
  HeadsFit ordered = reordered(fit, redrawn.order);
  Heads out;
  out.observed = std::move(ordered.coded.observed);
  out.released = std::move(ordered.coded.released);
  out.heads = std::move(ordered.heads);
  out.pairs = std::move(ordered.pairs);
  out.links = redrawn.links;
  out.base = redrawn.base;
  return with_redrawn(out, static_cast<std::size_t>(redrawn.counts.at(number)), features);
}

std::vector<std::int32_t> redrawn_columns_of(const Heads& heads, const Encoding& encoding,
                                             const std::vector<std::int32_t>& released, Index features) {
  std::vector<std::int32_t> out;
  const auto redrawn = redrawn_columns(heads, features);
  for (const std::int32_t position : redrawn.value())
    out.push_back(released[static_cast<std::size_t>(position)]);
  std::vector<std::string> names;
  for (const std::int32_t column : out)
    names.push_back(encoding.columns[static_cast<std::size_t>(column)].name);
  for (const std::int32_t column : released) {
    const std::string& source = encoding.columns[static_cast<std::size_t>(column)].derived_from;
    if (std::find(names.begin(), names.end(), source) != names.end()) out.push_back(column);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace ppan
