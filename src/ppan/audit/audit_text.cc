#include "ppan/audit/audit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ppan/audit/estimate_json.h"
#include "ppan/core/printable.h"

namespace ppan {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownGroups = 5;
constexpr std::size_t kShownSources = 6;
constexpr std::size_t kShownUndeclared = 10;

class Words {
 public:
  explicit Words(InformationUnit unit) : unit_(unit) {}

  [[nodiscard]] std::string number(double nats) const {
    return fmt::format("{:.4f}", from_nats(nats, unit_));
  }
  [[nodiscard]] std::string amount(double nats) const {
    return fmt::format("{} {}", number(nats), to_string(unit_));
  }
  [[nodiscard]] std::string interval(const Interval& i) const {
    return fmt::format("{} to {}", number(i.low), number(i.high));
  }
  [[nodiscard]] std::string interval(const Estimate& e) const {
    return e.interval95 ? interval(*e.interval95) : std::string("exact");
  }
  [[nodiscard]] std::string_view unit() const { return to_string(unit_); }
  static std::string percent(const Rate& r) {
    return fmt::format("{:.1f} % ({:.1f} to {:.1f})", 100 * r.value, 100 * r.interval95.low,
                       100 * r.interval95.high);
  }

 private:
  InformationUnit unit_;
};

void add_attackers(const AttributeAudit& a, const Words& words, std::string& text) {
  text += fmt::format("  {:<44}{:>8}   {}\n", "attacker", "found", "95 % interval");
  for (const AttackerScore& s : a.attackers) {
    text +=
        fmt::format("  {:<44}{:>8}   {}\n", s.name, words.number(s.leakage.nats), words.interval(s.leakage));
  }
  text += fmt::format("  strongest on the selection rows: {}\n", a.winner);
}

// Those that say more than the entropy, which comes last; the JSON has all.
void add_upper(const std::vector<Estimate>& upper, const Words& words, std::string& text) {
  for (const Estimate& e : upper) {
    if (e.nats > upper.back().nats) continue;
    text += fmt::format("  at most {} ({}{})\n", words.amount(e.nats), e.method,
                        e.interval95 ? ", 95 % interval " + words.interval(e) : std::string());
  }
}

void add_numbers(const AttributeAudit& a, const Words& words, std::string& text) {
  text += fmt::format("  guesses right   {}, by the most frequent value alone {:.1f} %\n",
                      Words::percent(a.accuracy), 100 * a.prior_accuracy);
  text += fmt::format("  balanced        {}, by chance {:.1f} %\n", Words::percent(a.balanced_accuracy),
                      100 / static_cast<double>(a.level.size()));
  text += fmt::format("  area under ROC  {:.3f} ({:.3f} to {:.3f}), by chance 0.5\n", a.auc.value,
                      a.auc.interval95.low, a.auc.interval95.high);
  for (const LowFalsePositive& l : a.low_false_positive) {
    text += fmt::format("  recognised at {:g} % false alarms: {} of \"{}\"\n", 100 * l.false_positive_rate,
                        Words::percent(l.true_positive_rate), a.level[static_cast<std::size_t>(l.level)]);
  }
  if (a.r_squared) {
    text += fmt::format("  R squared of {}: {:.3f} ({:.3f} to {:.3f})\n", a.regressor, a.r_squared->value,
                        a.r_squared->interval95.low, a.r_squared->interval95.high);
  }
  for (const Estimate& e : a.others) {
    text += fmt::format("  {} ({}): {}, 95 % interval {}\n", e.method, to_string(e.bound),
                        words.number(e.nats), words.interval(e));
  }
  add_upper(a.upper, words, text);
}

// A probability in percent, information in the unit asked for, ratios and gains as they are.
std::string measure_text(const LeakageMeasure& m, const Words& words) {
  const auto text = [&](double v) {
    if (m.unit == MeasureUnit::kNats) return words.number(v);
    return m.unit == MeasureUnit::kProbability ? fmt::format("{:.1f} %", 100 * v) : fmt::format("{:.4f}", v);
  };
  const Interval i = m.estimate.interval95.value_or(Interval{m.estimate.nats, m.estimate.nats});
  return fmt::format("{}{} (95 % interval {} to {}), {}", text(m.estimate.nats),
                     m.unit == MeasureUnit::kNats ? fmt::format(" {}", words.unit()) : std::string(),
                     text(i.low), text(i.high), to_string(m.estimate.bound));
}

void add_measures(const AttributeAudit& a, const Words& words, std::string& text) {
  for (const LeakageMeasure& m : a.measures)
    text += fmt::format("  {:<40}{}\n", m.title, measure_text(m, words));
}

void add_learning(const AttributeAudit& a, const Words& words, std::string& text) {
  if (a.learning.size() < 2) return;
  text += "  found by rows learned from:";
  for (const LearningPoint& p : a.learning)
    text += fmt::format("  {} {}", p.rows, words.number(std::max(0.0, p.gain.value)));
  text += a.verdict == AuditVerdict::kInconclusive ? "  - INCONCLUSIVE, more rows are needed\n" : "\n";
  if (!a.forecast) return;
  for (const auto& [rows, e] : {std::pair("ten times the rows", &a.forecast->ten_times),
                                std::pair("any number of rows", &a.forecast->limit)}) {
    text += fmt::format("  with {} attackers are expected to find {} (estimate, 95 % interval {})\n", rows,
                        words.amount(e->nats), words.interval(*e));
  }
}

void add_power(const AttributeAudit& a, const Words& words, std::string& text) {
  if (!a.power) return;
  text +=
      fmt::format("  power: this audit finds {} and more with probability 0.9 (planted leaks, both kinds)\n",
                  words.amount(a.power->nats));
  text += fmt::format("  upper end of the finding: {}\n", words.amount(a.upper_end));
}

std::string place_of(const FeatureSource& where) {
  if (where.aspect == "together") return where.column + " together";
  if (where.aspect == "relation") {
    return where.column.find(" and ") == std::string::npos
               ? fmt::format("the arithmetic of \"{}\"", where.column)
               : fmt::format("what {} say of each other", where.column);
  }
  if (where.aspect == "pattern") return fmt::format("what {} say as a set", where.column);
  if (where.aspect == "neighbours") return fmt::format("\"{}\" in the rows beside it", where.column);
  if (where.aspect == "equality") return fmt::format("whether {} are the same", where.column);
  return fmt::format("\"{}\", its {}", where.column, where.aspect);
}

void add_where(const AttributeAudit& a, const Words& words, std::string& text) {
  for (std::size_t s = 0; s < a.sources.size() && s < kShownSources; ++s) {
    text += fmt::format("  {} {}: shuffling it costs the attacker {}\n",
                        s == 0 ? "given away by" : "         and by", place_of(a.sources[s].where),
                        words.amount(a.sources[s].nats));
  }
  std::size_t shown = 0;
  for (const GroupLeakage& g : a.groups) {
    if (shown == kShownGroups || g.leakage.interval95->low <= 0) break;
    text += fmt::format("  {} {} \"{}\", {} rows: {} (together 95 %: {})\n",
                        shown == 0 ? "worst group:" : "            ", g.column, g.level, g.rows,
                        words.number(g.leakage.nats), words.interval(g.leakage));
    ++shown;
  }
}

void add_side(const AttributeAudit& a, const Words& words, std::string& text) {
  if (a.side) {
    text += fmt::format("  side columns alone tell {} ({}), with the release {} ({})\n",
                        words.amount(a.side->side.nats), words.interval(a.side->side),
                        words.amount(a.side->both.nats), words.interval(a.side->both));
    text += fmt::format(
        "  so the release adds {} (95 % interval {}, upper end {}); release and side apart sum to "
        "{}\n",
        words.amount(a.side->additional.value), words.interval(a.side->additional.interval95),
        words.number(a.side->upper_end), words.amount(a.side->bound));
  }
  for (const RepeatedRelease& r : a.repeats) {
    text += fmt::format("  {} releases of each row tell {} ({})\n", r.releases, words.amount(r.leakage.nats),
                        words.interval(r.leakage));
  }
}

Json measures_json(const AttributeAudit& a) {
  Json out = Json::array();
  for (const LeakageMeasure& m : a.measures) {
    Json one{{"name", m.name}, {"title", m.title}, {"unit", to_string(m.unit)}};
    one["value"] = finite_json(m.estimate.nats);
    one["interval95"] = m.estimate.interval95 ? json_of(*m.estimate.interval95) : Json(nullptr);
    one["bound"] = to_string(m.estimate.bound);
    one["method"] = m.estimate.method;
    one["more_is_worse"] = m.more_is_worse;
    out.push_back(std::move(one));
  }
  return out;
}

Json json_of(const AttributeAudit& a) {
  Json attackers = Json::array();
  for (const AttackerScore& s : a.attackers) {
    attackers.push_back({{"name", s.name},
                         {"selection_nats", finite_json(s.selection)},
                         {"leakage", json_of(s.leakage)},
                         {"chosen", s.chosen}});
  }
  Json learning = Json::array();
  for (const LearningPoint& p : a.learning)
    learning.push_back({{"rows", p.rows}, {"gain_nats", json_of(p.gain)}});
  Json low = Json::array();
  for (const LowFalsePositive& l : a.low_false_positive) {
    low.push_back({{"false_positive_rate", l.false_positive_rate},
                   {"level", a.level[static_cast<std::size_t>(l.level)]},
                   {"true_positive_rate", json_of(l.true_positive_rate)}});
  }
  Json groups = Json::array();
  for (const GroupLeakage& g : a.groups) {
    groups.push_back(
        {{"column", g.column}, {"level", g.level}, {"rows", g.rows}, {"leakage", json_of(g.leakage)}});
  }
  Json sources = Json::array();
  for (const LeakSource& s : a.sources) {
    sources.push_back(
        {{"column", s.where.column}, {"aspect", s.where.aspect}, {"nats", finite_json(s.nats)}});
  }
  Json others = Json::array();
  for (const Estimate& e : a.others) others.push_back(json_of(e));
  Json upper = Json::array();
  for (const Estimate& e : a.upper) upper.push_back(json_of(e));
  Json repeats = Json::array();
  for (const RepeatedRelease& r : a.repeats)
    repeats.push_back({{"releases", r.releases}, {"leakage", json_of(r.leakage)}});
  Json out{{"name", a.name},
           {"kind", a.continuous ? "continuous" : "categorical"},
           {"levels", a.level},
           {"entropy_nats", finite_json(a.entropy)},
           {"leakage", json_of(a.leakage)},
           {"upper_end_nats", finite_json(a.upper_end)},
           {"verdict", to_string(a.verdict)},
           {"learned_rows", a.learned_rows},
           {"winner", a.winner},
           {"attackers", attackers},
           {"learning_curve", learning},
           {"accuracy", json_of(a.accuracy)},
           {"prior_accuracy", finite_json(a.prior_accuracy)},
           {"balanced_accuracy", json_of(a.balanced_accuracy)},
           {"auc", json_of(a.auc)},
           {"low_false_positive", low},
           {"groups", groups},
           {"sources", sources},
           {"other_estimates", others},
           {"upper_bounds", upper}};
  if (a.power) {
    Json planted = Json::array();
    for (const PlantedLeakage& p : a.power->planted)
      planted.push_back({{"score", p.score}, {"planted_nats", p.planted}, {"found_nats", json_of(p.found)}});
    out["power"] = {{"nats", finite_json(a.power->nats)}, {"probability", 0.9}, {"planted", planted}};
  }
  if (a.forecast) {
    out["forecast"] = {{"ten_times_the_rows", json_of(a.forecast->ten_times)},
                       {"any_number_of_rows", json_of(a.forecast->limit)}};
  }
  if (a.r_squared) out["r_squared"] = {{"regressor", a.regressor}, {"value", json_of(*a.r_squared)}};
  if (a.side) {
    out["side_information"] = {{"side", json_of(a.side->side)},
                               {"release_and_side", json_of(a.side->both)},
                               {"additional_nats", json_of(a.side->additional)},
                               {"upper_end_nats", finite_json(a.side->upper_end)},
                               {"sum_nats", finite_json(a.side->bound)}};
  }
  if (!a.measures.empty()) out["measures"] = measures_json(a);
  if (!a.repeats.empty()) out["repeated_releases"] = repeats;
  out["notes"] = a.notes;
  return out;
}

}  // namespace

std::string headline(const AttributeAudit& a, InformationUnit unit) {
  const Words words(unit);
  const std::string known = fmt::format("{} to be known", words.amount(a.entropy));
  if (a.leakage.interval95->low > 0) {
    return fmt::format("leakage of \"{}\" is at least {} (95 % interval {}), found by {}; {}",
                       printable(a.name), words.amount(a.leakage.nats), words.interval(a.leakage),
                       printable(a.winner), known);
  }
  if (a.side && a.side->additional.interval95.low > 0) {
    return fmt::format(
        "to those who know the side columns the release adds at least {} (95 % interval {}) about \"{}\"; by "
        "itself "
        "nothing was seen in it (95 % interval {}); {}",
        words.amount(a.side->additional.value), words.interval(a.side->additional.interval95),
        printable(a.name), words.interval(a.leakage), known);
  }
  return fmt::format(
      "nothing was seen of \"{}\" (95 % interval {}, {}); {}", printable(a.name), words.interval(a.leakage),
      a.power ? fmt::format("and leaks below {} are not seen by this audit", words.amount(a.power->nats))
              : std::string("power not measured"),
      known);
}

std::string to_text(const AuditReport& report, InformationUnit unit) {
  const Words words(unit);
  std::string text = fmt::format(
      "Audit of {} rows and {} released columns{}: attackers learned from {} rows{}{}, were chosen on {} and "
      "are "
      "reported on {}.\n",
      report.rows, report.released.size(), report.quick ? " (quick)" : "", report.training_rows,
      report.trained_rows > 0 ? fmt::format(" and {} that trained the mechanism", report.trained_rows)
                              : std::string(),
      report.releases_per_training_row > 1
          ? fmt::format(" ({} releases of each)", report.releases_per_training_row)
          : std::string(),
      report.selection_rows, report.test_rows);
  if (!report.together.empty()) {
    text += fmt::format(
        "Rows with the same \"{}\" ({} different) were held together; intervals are those of so many "
        "independent units.\n",
        report.together, report.units);
  }
  for (const AttributeAudit& a : report.attributes) {
    text += fmt::format("\n{}: {}\n", to_string(a.verdict), headline(a, unit));
    add_attackers(a, words, text);
    add_power(a, words, text);
    add_learning(a, words, text);
    add_numbers(a, words, text);
    add_measures(a, words, text);
    add_where(a, words, text);
    add_side(a, words, text);
    for (const std::string& note : a.notes) text += fmt::format("  note: {}\n", note);
  }
  if (report.joint) {
    text += fmt::format(
        "\njointly: leakage of {} is {} (95 % interval {}, upper end {}); {} to be known{}\n",
        fmt::join(report.joint->names, " and "), words.amount(report.joint->leakage.nats),
        words.interval(report.joint->leakage), words.number(report.joint->upper_end),
        words.number(report.joint->entropy),
        report.joint->still_rising ? " - still rising: INCONCLUSIVE" : "");
    add_upper(report.joint->upper, words, text);
  }
  if (!report.undeclared.empty()) {
    text += "\nColumns nobody declared sensitive, by how much of them the release gives away:\n";
    for (std::size_t u = 0; u < report.undeclared.size() && u < kShownUndeclared; ++u) {
      const UndeclaredLeak& leak = report.undeclared[u];
      text += fmt::format("  {:<24}{} of {} ({}){}\n", leak.name, words.number(leak.leakage.nats),
                          words.amount(leak.entropy), words.interval(leak.leakage),
                          leak.given_away ? "  GIVEN AWAY" : "");
    }
    if (report.undeclared.size() > kShownUndeclared) {
      text += fmt::format("  and {} more, in the JSON\n", report.undeclared.size() - kShownUndeclared);
    }
  }
  for (const std::string& column : report.not_audited) text += fmt::format("not audited: {}\n", column);
  if (report.limit) {
    text += fmt::format("\nlimit {}: {}\n", words.amount(*report.limit),
                        report.within_limit() ? "the upper end of every finding stays within it"
                                              : fmt::format("NOT shown to be kept for {}",
                                                            fmt::join(report.over_limit(), ", ")));
  }
  text +=
      "\nA finding is a lower bound: other attackers may find more. What attackers know and what is not "
      "claimed: "
      "docs/attack_model.md\n";
  return printable_lines(text);
}

std::string to_json(const AuditReport& report) {
  Json attributes = Json::array();
  for (const AttributeAudit& a : report.attributes) attributes.push_back(json_of(a));
  Json out{{"format", "ppan-audit"},
           {"version", 1},
           {"rows", report.rows},
           {"training_rows", report.training_rows},
           {"trained_rows", report.trained_rows},
           {"selection_rows", report.selection_rows},
           {"test_rows", report.test_rows},
           {"quick", report.quick},
           {"releases_per_training_row", report.releases_per_training_row},
           {"together", report.together.empty() ? Json(nullptr) : Json(report.together)},
           {"units", report.together.empty() ? report.rows : report.units},
           {"released", report.released},
           {"attributes", attributes}};
  if (report.joint) {
    Json upper = Json::array();
    for (const Estimate& e : report.joint->upper) upper.push_back(json_of(e));
    out["joint"] = {{"names", report.joint->names},
                    {"entropy_nats", finite_json(report.joint->entropy)},
                    {"leakage", json_of(report.joint->leakage)},
                    {"upper_end_nats", finite_json(report.joint->upper_end)},
                    {"still_rising", report.joint->still_rising},
                    {"upper_bounds", upper}};
  }
  Json undeclared = Json::array();
  for (const UndeclaredLeak& u : report.undeclared) {
    undeclared.push_back({{"name", u.name},
                          {"entropy_nats", finite_json(u.entropy)},
                          {"leakage", json_of(u.leakage)},
                          {"given_away", u.given_away}});
  }
  out["undeclared"] = undeclared;
  out["not_audited"] = report.not_audited;
  if (report.limit) {
    out["limit_nats"] = *report.limit;
    out["within_limit"] = report.within_limit();
    out["over_limit"] = report.over_limit();
  }
  // Cells come from files of others and may hold any bytes.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ppan
