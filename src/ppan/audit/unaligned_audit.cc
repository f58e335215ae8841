#include "ppan/audit/unaligned_audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "ppan/audit/estimate_json.h"
#include "ppan/audit/least_likely_match.h"
#include "ppan/core/error.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSelectionShare = 0.2;
constexpr Index kLeastRows = 100;
constexpr Index kMostReleased = 20'000;  // rows that neighbours are looked for among

std::vector<std::int32_t> range(Index begin, Index end) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(end - begin));
  std::iota(rows.begin(), rows.end(), static_cast<std::int32_t>(begin));
  return rows;
}

AuditTable take_columns(const AuditTable& table, const std::vector<std::string>& names) {
  AuditTable out;
  for (const std::string& name : names) out.columns.push_back(*table.find(name));
  return out;
}

SuiteOptions suite_for(const AuditOptions& options) {
  SuiteOptions suite = options.suite.value_or(SuiteOptions{});
  if (suite.attackers.empty() && options.quick) suite.attackers = quick_attackers(false);
  suite.learning_curve = false;
  suite.sources = false;
  suite.screen_traces = true;
  suite.threads = options.threads;
  suite.seed = options.seed;
  return suite;
}

// Splits rows at random: the last fifth is to choose on.
void split_for_choice(std::vector<std::int32_t> rows, std::uint64_t seed, AttackSplit& split) {
  SeededRandom random = SeededRandom(seed).fork("unaligned-split");
  shuffle(random, rows);
  const auto selection = static_cast<std::size_t>(kSelectionShare * static_cast<double>(rows.size()));
  split.selection.assign(rows.end() - static_cast<std::ptrdiff_t>(selection), rows.end());
  rows.resize(rows.size() - selection);
  split.train = std::move(rows);
}

Symbols codes_of(const AttackTarget& target, const std::vector<std::int32_t>& rows) {
  Symbols out;
  for (const std::int32_t row : rows) out.push_back(target.code[static_cast<std::size_t>(row)]);
  return out;
}

void describe(const SuiteResult& result, const AttackTarget& target, const AttackSplit& split,
              UnalignedFinding& out) {
  const Symbols x = codes_of(target, split.test);
  out.entropy = result.entropy;
  out.winner = result.winner;
  out.leakage = lower_bound(result.gain, result.entropy, "attribute inference, " + result.winner);
  out.accuracy = accuracy(result.log_probability, x);
  out.prior_accuracy = std::exp(log_share(x, target.levels).maxCoeff());
}

// a - b of independent rows.
Rate difference(const Vector<double>& a, const Vector<double>& b) {
  const Rate first = mean_rate(a);
  const Rate second = mean_rate(b);
  const double half = std::hypot(first.interval95.high - first.value, second.interval95.high - second.value);
  const double value = first.value - second.value;
  return {value, {value - half, value + half}};
}

UnalignedFinding attack_carried(const UnalignedInput& input, UnalignedFinding out,
                                const AuditOptions& options) {
  const Index original = input.original.rows();
  const Index control = input.control ? input.control->rows() : 0;
  AuditTable known = take_columns(input.original, out.known);
  AuditColumn secret = *input.original.find(out.name);
  if (input.control) {
    append_rows(known, take_columns(*input.control, out.known));
    append_rows(secret, *input.control->find(out.name));
  }
  append_rows(known, take_columns(input.released, out.known));
  append_rows(secret, *input.released.find(out.name));

  AttackSplit split;
  split_for_choice(range(original + control, known.rows()), options.seed, split);
  split.test = range(0, original);
  const AttackTarget target = target_of(secret, split.train, options.target);
  FeatureOptions features = options.features;
  features.row_position = false;
  const FeatureMap map(known, features);
  const SuiteInput suite_in = suite_input(map, known);
  const SuiteResult found = attack(suite_in, target, split, suite_for(options));
  describe(found, target, split, out);
  if (control > 0) {
    split.test = range(original, original + control);
    const SuiteResult beside = attack(suite_in, target, split, suite_for(options));
    out.control = lower_bound(beside.gain, beside.entropy, "attribute inference about control rows");
    out.beyond_control = difference(found.gain, beside.gain);
  }
  return out;
}

// For each row of `rows` the row of `among` that is nearest by the features.
std::vector<std::int32_t> nearest_rows(const Matrix<float>& rows, const Matrix<float>& among) {
  constexpr Index kBlock = 512;
  const Vector<float> norm = among.rowwise().squaredNorm();
  std::vector<std::int32_t> out(static_cast<std::size_t>(rows.rows()));
  for (Index first = 0; first < rows.rows(); first += kBlock) {
    const Index count = std::min(kBlock, rows.rows() - first);
    Matrix<float> distance = among * rows.middleRows(first, count).transpose() * -2.0F;
    distance.colwise() += norm;
    for (Index i = 0; i < count; ++i) {
      Index best = 0;
      distance.col(i).minCoeff(&best);
      out[static_cast<std::size_t>(first + i)] = static_cast<std::int32_t>(best);
    }
  }
  return out;
}

AuditColumn pick_rows(const AuditColumn& column, const std::vector<std::int32_t>& rows, std::string name) {
  AuditColumn out;
  out.name = std::move(name);
  out.level = column.level;
  out.category = column.category;
  if (column.numeric()) out.number.resize(static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    out.missing.push_back(column.missing[row]);
    if (column.has_text()) out.code.push_back(column.code[row]);
    if (column.numeric()) out.number[static_cast<Index>(i)] = column.number[rows[i]];
  }
  return out;
}

// What each original person's nearest released row says, and how near it is, beside what is known of the
// person: nearest by the values of all columns, and by what is least likely to be as near by chance.
AuditTable with_nearest(const UnalignedInput& input, const std::vector<std::string>& known) {
  const AuditTable original = take_columns(input.original, known);
  AuditTable both = original;
  append_rows(both, take_columns(input.released, known));
  const FeatureMap map(both, {.row_position = false, .trace_columns = 0});
  const Matrix<float> data = map.apply(both).data;
  const Index rows = original.rows();
  const Index released = std::min(kMostReleased, input.released.rows());
  AuditTable out = original;
  const auto add = [&](const std::vector<std::int32_t>& nearest, const Vector<double>& distance,
                       const std::string& how) {
    out.columns.push_back(column_of_numbers("nearness of the " + how, distance));
    for (const AuditColumn& column : input.released.columns)
      out.columns.push_back(pick_rows(column, nearest, column.name + " of the " + how));
  };
  const auto nearest = nearest_rows(data.topRows(rows), data.middleRows(rows, released));
  Vector<double> distance(rows);
  for (Index i = 0; i < rows; ++i)
    distance[i] = static_cast<double>(
        (data.row(i) - data.row(rows + nearest[static_cast<std::size_t>(i)])).squaredNorm());
  add(nearest, distance, "nearest released row");
  LikelyMatch match = least_likely_match(both, rows, released);
  for (Index i = 0; i < rows; ++i) {
    std::int32_t& row = match.row[static_cast<std::size_t>(i)];
    if (row < 0) row = nearest[static_cast<std::size_t>(i)];
  }
  add(match.row, match.log_chance, "released row that is the least likely to be as near by chance");
  return out;
}

struct WithAndWithout {
  AttackTarget target{};
  AttackSplit split{};
  SuiteResult with{};
  SuiteResult without{};
};

WithAndWithout attack_by_nearest(const UnalignedInput& input, const UnalignedFinding& about,
                                 const AuditOptions& options) {
  WithAndWithout out;
  std::vector<std::int32_t> rows = range(0, input.original.rows());
  SeededRandom random = SeededRandom(options.seed).fork("unaligned-labelled");
  shuffle(random, rows);
  out.split.test.assign(rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2), rows.end());
  rows.resize(rows.size() / 2);
  split_for_choice(rows, options.seed, out.split);
  out.target = target_of(*input.original.find(about.name), out.split.train, options.target);
  FeatureOptions features = options.features;
  features.row_position = false;
  SuiteOptions suite = suite_for(options);
  const auto run = [&](const AuditTable& table) {
    const FeatureMap map(table, features);
    return attack(suite_input(map, table), out.target, out.split, suite);
  };
  out.without = run(take_columns(input.original, about.known));
  suite.learning_curve = options.details;
  out.with = run(with_nearest(input, about.known));
  return out;
}

// Upper end of the 99 % interval, as in audits of rows (audit.cc).
double wide_end(const Rate& rate) {
  constexpr Index kComparisons = 5;
  return rate.value + normal_multiple(kComparisons) / normal_multiple() * (rate.interval95.high - rate.value);
}

void judge_nearest(const WithAndWithout& found, UnalignedFinding& out) {
  out.nearest = mean_rate(found.with.gain - found.without.gain);
  // A weak leak I has gains of variance 2 I: to be seen with probability 0.9 it must lie 3.24 standard errors
  // above 0 (attack_power.cc).
  constexpr double kSeen = 3.24;
  const double least = 2 * kSeen * kSeen / static_cast<double>(found.split.test.size());
  const double altogether = out.beyond_control ? wide_end(*out.beyond_control)
                                               : wide_end(Rate{out.leakage.nats, *out.leakage.interval95});
  out.upper_end = std::max({least, altogether, wide_end(out.nearest)});
  if (found.with.forecast)
    out.upper_end = std::max(out.upper_end, forecast_end(*found.with.forecast, found.with.still_rising) -
                                                std::max(0.0, found.without.gain.mean()));
  if (!found.target.continuous)
    out.upper_end = std::min(out.upper_end, std::max(out.entropy, out.leakage.interval95->high));
}

UnalignedFinding attack_not_carried(UnalignedFinding out, const WithAndWithout& found) {
  describe(found.with, found.target, found.split, out);
  out.control =
      lower_bound(found.without.gain, found.without.entropy, "attribute inference without the release");
  out.beyond_control = mean_rate(found.with.gain - found.without.gain);
  return out;
}

void check_input(const UnalignedInput& input) {
  if (input.sensitive.empty())
    throw Error(ErrorCode::kUsage, "no sensitive column is named", "Name at least one: --sensitive COLUMN.");
  if (input.original.rows() < kLeastRows || input.released.rows() < kLeastRows) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{} original and {} released rows are too few to audit; at least {} of each are needed",
                    input.original.rows(), input.released.rows(), kLeastRows));
  }
  for (const std::string& name : input.sensitive) {
    if (input.original.find(name) == nullptr || (input.control && input.control->find(name) == nullptr))
      throw Error(ErrorCode::kBadInput, fmt::format("column \"{}\" is not in every table", name));
  }
}

}  // namespace

std::vector<std::string> UnalignedReport::over_limit() const {
  std::vector<std::string> over;
  if (!limit) return over;
  for (const UnalignedFinding& a : attributes) {
    if (a.upper_end > *limit) over.push_back(a.name);
  }
  return over;
}

UnalignedReport audit_unaligned(const UnalignedInput& input, const AuditOptions& options) {
  require_none(options.check(), "an audit with these options cannot be made:");
  check_input(input);
  UnalignedReport report;
  report.original_rows = input.original.rows();
  report.released_rows = input.released.rows();
  report.control_rows = input.control ? input.control->rows() : 0;
  report.limit = options.limit;
  for (const std::string& name : input.sensitive) {
    UnalignedFinding finding;
    finding.name = name;
    finding.carried = input.released.find(name) != nullptr;
    for (const AuditColumn& column : input.released.columns) {
      const bool sensitive =
          std::find(input.sensitive.begin(), input.sensitive.end(), column.name) != input.sensitive.end();
      if (!sensitive && input.original.find(column.name) != nullptr &&
          (!input.control || input.control->find(column.name) != nullptr))
        finding.known.push_back(column.name);
    }
    if (finding.known.empty())
      throw Error(ErrorCode::kBadInput, "the tables share no column that is not sensitive",
                  "Give tables whose columns have the same names.");
    const WithAndWithout nearest = attack_by_nearest(input, finding, options);
    finding = finding.carried ? attack_carried(input, std::move(finding), options)
                              : attack_not_carried(std::move(finding), nearest);
    judge_nearest(nearest, finding);
    report.attributes.push_back(std::move(finding));
  }
  return report;
}

std::string to_text(const UnalignedReport& report, InformationUnit unit) {
  const auto amount = [&](double nats) {
    return fmt::format("{:.4f} {}", from_nats(nats, unit), to_string(unit));
  };
  const auto interval = [&](const Interval& i) {
    return fmt::format("{:.4f} to {:.4f}", from_nats(i.low, unit), from_nats(i.high, unit));
  };
  std::string text = fmt::format(
      "Audit of a release that is not row by row: {} released rows, {} original ones, {} control rows. "
      "Attackers know "
      "columns of a person and infer another.\n",
      report.released_rows, report.original_rows, report.control_rows);
  for (const UnalignedFinding& a : report.attributes) {
    text += fmt::format("\n\"{}\", {}: {} (lower bound, 95 % interval {}, {}; {} to be known)\n", a.name,
                        a.carried ? "which the release carries" : "which the release does not carry",
                        amount(a.leakage.nats), interval(*a.leakage.interval95), a.winner, amount(a.entropy));
    text += fmt::format("  known of a person: {}\n", fmt::join(a.known, ", "));
    text += fmt::format("  guesses right {:.1f} %, by the most frequent value alone {:.1f} %\n",
                        100 * a.accuracy.value, 100 * a.prior_accuracy);
    if (a.control) {
      text += fmt::format("  {}: {} (95 % interval {})\n",
                          a.carried ? "the same about control rows" : "the same without the release",
                          amount(a.control->nats), interval(*a.control->interval95));
      text += fmt::format("  so the release adds {} (95 % interval {})\n", amount(a.beyond_control->value),
                          interval(a.beyond_control->interval95));
    } else {
      text +=
          "  without control rows (--control) nobody can say how much of this the population tells about "
          "anybody\n";
    }
    text += fmt::format(
        "  to those who know \"{}\" of half of the people, the nearest released rows add {} (95 % interval "
        "{})\n",
        a.name, amount(a.nearest.value), interval(a.nearest.interval95));
    text += fmt::format("  so the findings allow for up to {}\n", amount(a.upper_end));
  }
  if (report.limit) {
    text += fmt::format("\nlimit {}: {}\n", amount(*report.limit),
                        report.over_limit().empty() ? "what the findings allow for stays within it"
                                                    : fmt::format("NOT shown to be kept for {}",
                                                                  fmt::join(report.over_limit(), ", ")));
  }
  return text;
}

std::string to_json(const UnalignedReport& report) {
  Json attributes = Json::array();
  for (const UnalignedFinding& a : report.attributes) {
    Json one{{"name", a.name},
             {"carried", a.carried},
             {"known", a.known},
             {"entropy_nats", a.entropy},
             {"leakage", json_of(a.leakage)},
             {"winner", a.winner},
             {"nearest_nats", json_of(a.nearest)},
             {"upper_end_nats", a.upper_end},
             {"accuracy", a.accuracy.value},
             {"prior_accuracy", a.prior_accuracy}};
    if (a.control) {
      one["control"] = json_of(*a.control);
      one["beyond_control_nats"] = {
          {"value", a.beyond_control->value},
          {"interval95", Json::array({a.beyond_control->interval95.low, a.beyond_control->interval95.high})}};
    }
    attributes.push_back(std::move(one));
  }
  Json out{{"format", "ppan-unaligned-audit"},      {"version", 1},
           {"original_rows", report.original_rows}, {"released_rows", report.released_rows},
           {"control_rows", report.control_rows},   {"attributes", attributes}};
  if (report.limit) {
    out["limit_nats"] = *report.limit;
    out["over_limit"] = report.over_limit();
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ppan
