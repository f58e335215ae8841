#include "ppan/audit/attack_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace ppan {
namespace {

constexpr double kMostRareShare = 0.9;

[[noreturn]] void refuse(const std::string& name, const std::string& why, const std::string& fix) {
  throw Error(ErrorCode::kBadInput, fmt::format("sensitive column \"{}\" {}", name, why), fix);
}

std::string show(double value) {
  return fmt::format("{:.4g}", value);
}

AttackTarget continuous_target(const AuditColumn& column, std::span<const std::int32_t> training,
                               const TargetOptions& options) {
  AttackTarget target;
  target.name = column.name;
  target.continuous = true;
  target.value = column.number;
  std::vector<double> known;
  for (const std::int32_t row : training) {
    if (!std::isnan(column.number[row])) known.push_back(column.number[row]);
  }
  if (known.empty()) refuse(column.name, "has no value in the training rows", "Give rows with values in it.");
  std::sort(known.begin(), known.end());
  for (std::int32_t b = 1; b < options.bins; ++b) {
    const double edge =
        known[known.size() * static_cast<std::size_t>(b) / static_cast<std::size_t>(options.bins)];
    // A value that fills more than a bin gives the same edge twice; the first bin must not be empty.
    if (edge > known.front() && (target.edge.empty() || edge > target.edge.back()))
      target.edge.push_back(edge);
  }
  for (std::size_t b = 0; b <= target.edge.size(); ++b) {
    if (b == 0) {
      target.level.push_back(target.edge.empty() ? "all" : "below " + show(target.edge[0]));
    } else if (b == target.edge.size()) {
      target.level.push_back(show(target.edge[b - 1]) + " and above");
    } else {
      target.level.push_back(show(target.edge[b - 1]) + " to " + show(target.edge[b]));
    }
  }
  Index missing = 0;
  for (Index i = 0; i < column.rows(); ++i) {
    const double value = column.number[i];
    if (std::isnan(value)) {
      ++missing;
      target.code.push_back(static_cast<std::int32_t>(target.edge.size()) + 1);
    } else {
      target.code.push_back(static_cast<std::int32_t>(
          std::upper_bound(target.edge.begin(), target.edge.end(), value) - target.edge.begin()));
    }
  }
  if (missing > 0) {
    target.missing_level = static_cast<std::int32_t>(target.level.size());
    target.level.emplace_back("(missing)");
    target.notes.push_back(fmt::format("{} rows have no value; that is treated as a category", missing));
  }
  target.levels = static_cast<std::int32_t>(target.level.size());
  target.notes.push_back(fmt::format(
      "continuous: attackers guess which of {} bins of about equal share holds the value, and what is "
      "found about the bin bounds the leakage of the value from below",
      target.edge.size() + 1));
  return target;
}

AttackTarget categorical_target(const AuditColumn& column, const TargetOptions& options) {
  AttackTarget target;
  target.name = column.name;
  // Different texts of the same number ("1" and "1.0") are one category, and so are all missing markers.
  std::unordered_map<std::string, std::int32_t> position;
  std::vector<Index> count;
  for (Index i = 0; i < column.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    std::string text;
    if (column.missing[row]) {
      text = "(missing)";
    } else if (column.numeric() && !std::isnan(column.number[i])) {
      text = fmt::format("{}", column.number[i]);
    } else {
      text = column.level[static_cast<std::size_t>(column.code[row])];
    }
    const auto found = position.try_emplace(text, static_cast<std::int32_t>(target.level.size()));
    if (found.second) {
      target.level.push_back(text);
      count.push_back(0);
    }
    target.code.push_back(found.first->second);
    ++count[static_cast<std::size_t>(found.first->second)];
  }
  const auto seen = static_cast<std::int32_t>(target.level.size());
  if (seen < 2) refuse(column.name, "is constant", "Name a column with at least two values.");

  std::vector<std::int32_t> order(static_cast<std::size_t>(seen));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return count[static_cast<std::size_t>(a)] > count[static_cast<std::size_t>(b)];
  });
  std::int32_t kept = 0;
  while (kept < seen && kept < options.most_levels &&
         count[static_cast<std::size_t>(order[static_cast<std::size_t>(kept)])] >= options.least_class_rows) {
    ++kept;
  }
  Index rare = 0;
  for (std::int32_t l = kept; l < seen; ++l)
    rare += count[static_cast<std::size_t>(order[static_cast<std::size_t>(l)])];
  if (static_cast<double>(rare) > kMostRareShare * static_cast<double>(column.rows())) {
    refuse(column.name,
           fmt::format("has {} different values in {} rows, most of them in fewer than {} rows", seen,
                       column.rows(), options.least_class_rows),
           "A column that tells rows apart is an identifier: it must not be released at all. Name an "
           "attribute.");
  }
  if (rare > 0) {
    target.notes.push_back(fmt::format("{} of {} values are rare and treated as one category, {} rows in all",
                                       seen - kept, seen, rare));
    // Too few rare rows to stand alone join the rarest category that can.
    if (rare < options.least_class_rows) --kept;
    if (kept < 1) {
      refuse(column.name, fmt::format("is constant but for {} rows", rare),
             fmt::format("Every category needs at least {} rows.", options.least_class_rows));
    }
  }
  std::vector<std::int32_t> new_code(static_cast<std::size_t>(seen), kept);
  std::vector<std::string> level;
  for (std::int32_t l = 0; l < kept; ++l) {
    new_code[static_cast<std::size_t>(order[static_cast<std::size_t>(l)])] = l;
    level.push_back(target.level[static_cast<std::size_t>(order[static_cast<std::size_t>(l)])]);
  }
  if (kept < seen) level.emplace_back("(rare)");
  for (std::int32_t& code : target.code) code = new_code[static_cast<std::size_t>(code)];
  target.level = std::move(level);
  target.levels = static_cast<std::int32_t>(target.level.size());
  return target;
}

}  // namespace

Problems TargetOptions::check() const {
  ProblemList list;
  list.require_between("numeric_levels", numeric_levels, 2, 1000);
  list.require_between("bins", bins, 2, 200);
  list.require_between("most_levels", most_levels, 2, 1000);
  list.require_at_least("least_class_rows", least_class_rows, 1);
  return list.take();
}

AttackTarget target_of(const AuditColumn& column, std::span<const std::int32_t> training,
                       const TargetOptions& options) {
  require_none(options.check(), "these options of the sensitive attribute cannot be used:");
  if (std::all_of(column.missing.begin(), column.missing.end(), [](bool m) { return m; })) {
    refuse(column.name, "has no value in any row", "Name a column with values.");
  }
  if (column.numeric() && !column.category) {
    std::vector<double> values(column.number.data(), column.number.data() + column.number.size());
    std::erase_if(values, [](double v) { return std::isnan(v); });
    std::sort(values.begin(), values.end());
    const auto different = std::unique(values.begin(), values.end()) - values.begin();
    if (different > options.numeric_levels) {
      AttackTarget target = continuous_target(column, training, options);
      if (target.levels >= 2) return target;
      refuse(column.name, "is almost constant: one value fills nearly all rows",
             "Name a column that varies.");
    }
  }
  return categorical_target(column, options);
}

Symbols codes_at(const AttackTarget& target, std::span<const std::int32_t> rows) {
  Symbols out;
  out.reserve(rows.size());
  for (const std::int32_t row : rows) out.push_back(target.code[static_cast<std::size_t>(row)]);
  return out;
}

Symbols joint_code(const Symbols& a, const Symbols& b, std::int32_t b_levels, std::int32_t& levels) {
  std::unordered_map<std::int64_t, std::int32_t> position;
  Symbols joint;
  joint.reserve(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int64_t pair = static_cast<std::int64_t>(a[i]) * b_levels + b[i];
    joint.push_back(position.try_emplace(pair, static_cast<std::int32_t>(position.size())).first->second);
  }
  levels = static_cast<std::int32_t>(position.size());
  return joint;
}

}  // namespace ppan
