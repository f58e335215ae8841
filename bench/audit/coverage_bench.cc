// How often an audit's statement holds: releases of known leakage, drawn again for every seed.
//   bench_audit-coverage [--seeds N] [--first SEED] [--table K] [--least-rows N] [--most-rows N] [--whole]
//                        [--threads N] [--misses]
// --misses prints each audit that does not hold, with the attacker it rests on.
// A row a table: the truth; the mean finding and power; how often the interval, widened by what the audit may
// have missed, holds the truth; how often a limit of half the truth passes; how often the forecast for ten
// times the rows holds the truth, which is what it grows to.

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "known_releases.h"
#include "ppan/core/parallel.h"

namespace {

struct Arguments {
  int seeds = 20;
  int first = 1;
  int table = -1;  // Of all of them.
  bool misses = false;
  ppan::Index least_rows = 0;
  ppan::Index most_rows = 50'000;
  bool whole = false;
  int threads = 0;
};

struct Tally {
  double found = 0;
  double power = 0;
  double upper = 0;
  int held = 0;
  int false_clear = 0;
  int forecasts = 0;
  int forecast_held = 0;
};

Tally run(const ppan::bench::KnownRelease& release, double truth, const Arguments& arguments) {
  std::vector<ppan::AuditReport> reports(static_cast<std::size_t>(arguments.seeds));
  ppan::parallel_for(arguments.seeds, ppan::thread_count(arguments.threads), [&](std::int64_t seed) {
    ppan::AuditOptions options;
    options.quick = !arguments.whole;
    options.threads = 1;
    options.seed = static_cast<std::uint64_t>(seed + arguments.first);
    options.limit = truth / 2;
    reports[static_cast<std::size_t>(seed)] = ppan::audit(draw(release, options.seed), options);
  });
  Tally tally;
  for (const ppan::AuditReport& report : reports) {
    const ppan::AttributeAudit& a = report.attributes.front();
    tally.found += a.leakage.nats / arguments.seeds;
    tally.power += a.power->nats / arguments.seeds;
    tally.upper += a.upper_end / arguments.seeds;
    const bool held = a.leakage.interval95->low <= truth && truth <= a.upper_end;
    if (held) ++tally.held;
    if (!held && arguments.misses)
      fmt::print("{}: {:.4f} ({:.4f} to {:.4f}), upper end {:.4f}, truth {:.4f}: {}\n", release.name,
                 a.leakage.nats, a.leakage.interval95->low, a.leakage.interval95->high, a.upper_end, truth,
                 a.winner);
    if (report.within_limit()) ++tally.false_clear;
    if (!a.forecast) continue;
    ++tally.forecasts;
    if (truth <= a.forecast->ten_times.interval95->high) ++tally.forecast_held;
  }
  return tally;
}

Arguments parse(int count, char** given) {
  Arguments out;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = given[i];
    if (name == "--whole") {
      out.whole = true;
    } else if (name == "--misses") {
      out.misses = true;
    } else if (i + 1 < count && name == "--seeds") {
      out.seeds = std::atoi(given[++i]);
    } else if (i + 1 < count && name == "--first") {
      out.first = std::atoi(given[++i]);
    } else if (i + 1 < count && name == "--table") {
      out.table = std::atoi(given[++i]);
    } else if (i + 1 < count && name == "--least-rows") {
      out.least_rows = std::atoi(given[++i]);
    } else if (i + 1 < count && name == "--most-rows") {
      out.most_rows = std::atoi(given[++i]);
    } else if (i + 1 < count && name == "--threads") {
      out.threads = std::atoi(given[++i]);
    } else {
      fmt::print(stderr, "unknown argument {}\n", name);
      std::exit(2);
    }
  }
  return out;
}

}  // namespace

int main(int count, char** given) {
  const Arguments arguments = parse(count, given);
  fmt::print(
      "| release | truth | found | power | upper end | held | limit of half passes | forecast holds |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  int held = 0;
  int clear = 0;
  int all = 0;
  int table = 0;
  for (const ppan::bench::KnownRelease& release : ppan::bench::known_releases()) {
    const bool other = arguments.table >= 0 && arguments.table != table;
    ++table;
    if (other || release.rows < arguments.least_rows || release.rows > arguments.most_rows) continue;
    const double truth = true_leakage(release);
    const Tally tally = run(release, truth, arguments);
    held += tally.held;
    clear += tally.false_clear;
    all += arguments.seeds;
    fmt::print("| {} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {} of {} | {} | {} of {} |\n", release.name, truth,
               tally.found, tally.power, tally.upper, tally.held, arguments.seeds, tally.false_clear,
               tally.forecast_held, tally.forecasts);
    std::fflush(stdout);
  }
  fmt::print("all: held {:.1f} %, limits of half the truth passed {:.1f} %\n", 100.0 * held / all,
             100.0 * clear / all);
}
