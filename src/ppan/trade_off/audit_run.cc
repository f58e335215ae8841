#include "ppan/trade_off/audit_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "ppan/audit/audit_text.h"
#include "ppan/core/file.h"
#include "ppan/report/claims.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/html.h"
#include "ppan/report/run_summary.h"

namespace ppan {
namespace {

constexpr const char* kSeries = "audit/release";

SuccessRate rate_of(const Rate& rate) {
  return {rate.value, rate.interval95};
}

AuditDetail detail_of(const AttributeAudit& attribute, const std::string& made) {
  AuditDetail out;
  out.target = attribute.name;
  out.leakage = attribute.leakage;
  if (!attribute.upper.empty()) out.upper_bound = attribute.upper.front();
  out.accuracy = rate_of(attribute.accuracy);
  out.prior_accuracy = attribute.prior_accuracy;
  out.inconclusive = attribute.verdict == AuditVerdict::kInconclusive;
  out.note = made;
  if (!attribute.notes.empty()) out.note += fmt::format(": {}", fmt::join(attribute.notes, "; "));
  for (const LeakageMeasure& measure : attribute.measures)
    out.measures.push_back({measure.title, std::string(to_string(measure.unit)), measure.estimate});
  bool learning = false;
  for (const AttackerScore& score : attribute.attackers) {
    AttackerDetail attacker;
    attacker.name = score.name;
    attacker.leakage = score.leakage;
    attacker.won = score.chosen;
    if (attacker.won) {
      attacker.accuracy = out.accuracy;
      attacker.balanced_accuracy = rate_of(attribute.balanced_accuracy);
      attacker.auc = rate_of(attribute.auc);
    }
    // The learning curve is that of the strongest single attacker.
    if (!learning && !score.combined) {
      learning = true;
      for (const LearningPoint& point : attribute.learning)
        attacker.learning_curve.push_back(
            {point.rows, std::max(0.0, point.gain.value),
             Interval{std::max(0.0, point.gain.interval95.low), std::max(0.0, point.gain.interval95.high)}});
    }
    out.attackers.push_back(std::move(attacker));
  }
  for (const GroupLeakage& group : attribute.groups) {
    GroupDetail detail;
    const bool own = group.column == attribute.name;
    detail.name = own ? group.level : fmt::format("{}: {}", group.column, group.level);
    detail.rows = group.rows;
    detail.leakage = group.leakage;
    (own ? out.classes : out.groups).push_back(std::move(detail));
  }
  return out;
}

std::string made_by_audit(const AuditReport& report) {
  return fmt::format("'ppan audit{}' on {} rows", report.quick ? " --quick" : "", report.rows);
}

std::vector<std::string> names_of(const AuditReport& report) {
  std::vector<std::string> names;
  for (const AttributeAudit& attribute : report.attributes) names.push_back(attribute.name);
  return names;
}

CurveTable curve_of(const AuditReport& report, const AuditRun& run) {
  CurveRow row;
  row.series = kSeries;
  row.distortion = run.changed;
  row.set_leakage(report.leakage());
  if (const auto upper = report.upper_bound()) row.set(curve_column::kUpperBound, upper->nats);
  row.set(curve_column::kUpperEnd, report.upper_end());
  if (const auto power = report.power()) row.set(curve_column::kPower, *power);
  row.set(curve_column::kInconclusive, report.inconclusive() ? "yes" : "no");
  set_measures(report, row);
  row.set("label", run.released);
  CurveTable out;
  for (const std::string_view name :
       {curve_column::kLeakageLow, curve_column::kLeakageHigh, curve_column::kLeakageKind,
        curve_column::kLeakageMethod, curve_column::kUpperEnd, curve_column::kPower,
        curve_column::kInconclusive, curve_column::kUpperBound, std::string_view("label")})
    out.more_columns.emplace_back(name);
  out.rows.push_back(std::move(row));
  return out;
}

RunSummary make_run_summary(const AuditReport& report, const AuditRun& run) {
  RunSummary out;
  out.version = run.version;
  out.command = run.command;
  out.name = fmt::format("Audit of {}", run.released);
  out.description =
      "What new attackers, who know the mechanism and have records to learn from, can infer about the hidden "
      "columns of other records from their release.";
  out.hidden = fmt::format("{}", fmt::join(names_of(report), ", "));
  out.useful = fmt::format("{}", fmt::join(report.released, ", "));
  out.distortion_name = "cells changed";
  out.distortion_unit = "share of all cells";
  out.leakage_ceiling = report.entropy();
  out.seed = run.seed;
  out.seconds = run.seconds;
  out.facts = run.facts;
  out.facts.emplace_back("rows", fmt::to_string(report.rows));
  out.facts.emplace_back("rows that attackers learned from", fmt::to_string(report.training_rows));
  out.facts.emplace_back("rows that the strongest was chosen on", fmt::to_string(report.selection_rows));
  out.facts.emplace_back("rows that are reported on", fmt::to_string(report.test_rows));
  if (!report.together.empty()) out.facts.emplace_back("rows held together by", report.together);
  PointSummary point;
  point.series = kSeries;
  point.distortion = run.changed;
  point.leakage = report.leakage();
  for (const AttributeAudit& attribute : report.attributes) {
    out.warnings.push_back(
        fmt::format("{}: {}", to_string(attribute.verdict), headline(attribute, InformationUnit::kNats)));
  }
  for (const UndeclaredLeak& leak : report.undeclared) {
    if (leak.given_away)
      out.warnings.push_back(
          fmt::format("\"{}\" was not declared sensitive, and the release reveals {:.4f} "
                      "of its {:.4f} nats",
                      leak.name, leak.leakage.nats, leak.entropy));
  }
  if (!report.within_limit()) {
    out.warnings.push_back(fmt::format("not shown to be within the limit of {:.4f} nats: {}", *report.limit,
                                       fmt::join(report.over_limit(), ", ")));
  }
  out.points.push_back(std::move(point));
  out.claimed = claims::of_audit();
  out.not_claimed = claims::not_of_audit();
  return out;
}

}  // namespace

std::optional<double> changed_cells(const AuditTable& original, const AuditTable& released) {
  double cells = 0;
  double changed = 0;
  for (const AuditColumn& after : released.columns) {
    const AuditColumn* before = original.find(after.name);
    if (before == nullptr || !before->has_text() || !after.has_text()) continue;
    for (Index i = 0; i < std::min(before->rows(), after.rows()); ++i) {
      const auto row = static_cast<std::size_t>(i);
      const bool numbers =
          before->numeric() && after.numeric() && !before->missing[row] && !after.missing[row];
      const bool same = numbers ? before->number[i] == after.number[i]
                                : before->level[static_cast<std::size_t>(before->code[row])] ==
                                      after.level[static_cast<std::size_t>(after.code[row])];
      cells += 1;
      changed += same ? 0 : 1;
    }
  }
  if (cells == 0) return std::nullopt;
  return changed / cells;
}

std::string audit_text(const AuditReport& report) {
  const Estimate& found = report.leakage();
  return fmt::format("{} {:.4f} nats ({:.4f} to {:.4f}), {} rows{}{}", to_string(found.bound), found.nats,
                     found.interval95->low, found.interval95->high, report.rows,
                     report.quick ? ", quick" : "", report.inconclusive() ? ", inconclusive" : "");
}

// How far a finding can be trusted, in a sentence.
static std::string reach_of(const AttributeAudit& attribute) {
  std::string out;
  if (attribute.power) {
    out += fmt::format(
        "; leaks of {:.4f} nats and more are found with probability 0.9, so the upper end is {:.4f} "
        "nats",
        attribute.power->nats, attribute.upper_end);
  }
  if (attribute.forecast) {
    const Estimate& later = attribute.forecast->ten_times;
    out += fmt::format(
        "; with ten times the rows attackers are expected to find {:.4f} nats (estimate, 95 % interval "
        "{:.4f} to {:.4f})",
        later.nats, later.interval95->low, later.interval95->high);
  }
  return out;
}

void set_measures(const AuditReport& report, CurveRow& row) {
  const auto end = [](const LeakageMeasure& m) {
    const Interval interval = m.estimate.interval95.value_or(Interval{m.estimate.nats, m.estimate.nats});
    return m.more_is_worse ? interval.high : -interval.low;
  };
  std::map<std::string_view, const LeakageMeasure*> worst;
  for (const AttributeAudit& attribute : report.attributes) {
    for (const LeakageMeasure& m : attribute.measures) {
      const LeakageMeasure*& known = worst[m.name];
      if (known == nullptr || end(m) > end(*known)) known = &m;
    }
  }
  for (const auto& [name, m] : worst) {
    row.set(name, m->estimate.nats);
    if (!m->estimate.interval95) continue;
    row.set(fmt::format("{}_low", name), m->estimate.interval95->low);
    row.set(fmt::format("{}_high", name), m->estimate.interval95->high);
  }
}

std::vector<AuditDetail> audit_details(const AuditReport& report, const std::string& made) {
  std::vector<AuditDetail> out;
  if (report.joint) {
    AuditDetail joint;
    joint.target = fmt::format("{} together", fmt::join(report.joint->names, ", "));
    joint.leakage = report.joint->leakage;
    if (!report.joint->upper.empty()) joint.upper_bound = report.joint->upper.front();
    joint.inconclusive = report.joint->still_rising;
    joint.note = made;
    out.push_back(std::move(joint));
  }
  for (const AttributeAudit& attribute : report.attributes)
    out.push_back(detail_of(attribute, made + reach_of(attribute)));
  return out;
}

std::filesystem::path write_audit_run(const std::filesystem::path& directory, const AuditReport& report,
                                      const AuditRun& run) {
  RunDetails details;
  PointDetails point;
  point.series = kSeries;
  point.audits = audit_details(report, made_by_audit(report));
  details.points.push_back(std::move(point));
  write_file(directory / "findings.json", to_json(report));
  write_file(directory / "audit.json", to_json(details));
  write_file(directory / "summary.json", to_json(make_run_summary(report, run)));
  write_file(directory / "curve.csv", to_csv(curve_of(report, run)));
  return write_report(directory);
}

std::optional<std::filesystem::path> add_to_run(const std::filesystem::path& model,
                                                const AuditReport& report) {
  const std::filesystem::path directory =
      model.has_parent_path() ? model.parent_path() : std::filesystem::path(".");
  const std::filesystem::path curve_path = directory / "curve.csv";
  if (!std::filesystem::is_regular_file(curve_path)) return std::nullopt;
  CurveTable curve = from_csv(read_file(curve_path), curve_path.string());
  const std::vector<int> numbers = point_numbers(curve);
  const std::string name = model.filename().string();
  const auto row = std::find_if(curve.rows.begin(), curve.rows.end(),
                                [&](const CurveRow& r) { return r.text("model") == name; });
  if (row == curve.rows.end()) return std::nullopt;
  row->set(kAuditColumn, audit_text(report));
  PointDetails point;
  point.series = row->series;
  point.number = numbers[static_cast<std::size_t>(row - curve.rows.begin())];
  point.audits = audit_details(report, made_by_audit(report));

  const std::filesystem::path path = directory / "audit.json";
  RunDetails details;
  if (std::filesystem::is_regular_file(path)) details = run_details_from_json(read_file(path), path.string());
  std::erase_if(details.points, [&](const PointDetails& other) {
    return other.series == point.series && other.number == point.number;
  });
  details.points.push_back(std::move(point));
  write_file(path, to_json(details));
  write_file(curve_path, to_csv(curve));
  return write_report(directory);
}

}  // namespace ppan
