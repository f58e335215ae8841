// How often an audit's statement holds: releases of known leakage, drawn again for every seed.
//   bench_audit-coverage [--seeds N] [--first SEED] [--table K] [--least-rows N] [--most-rows N] [--whole]
//                        [--threads N] [--misses] [--results FILE]
// --misses prints each audit that does not hold, with the attacker it rests on. --results keeps a line for
// every audit as soon as it is done, and audits that are in FILE are not made again: a run of hours may be
// stopped and gone on with, or made in parts. FILE belongs to one build and one choice of --whole.
// A row a table: the truth; the mean finding and power; how often the interval, widened by what the audit may
// have missed, holds the truth; how often a limit of half the truth passes; how often the forecast for ten
// times the rows holds the truth, which is what it grows to.

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  std::string results;  // Empty: nothing is kept.
};

// What one audit said.
struct Said {
  double found = 0;
  double low = 0;
  double power = 0;
  double upper = 0;
  bool passed = false;          // a limit of half the truth
  double forecast = -1;         // upper end for ten times the rows; below 0: none was made
  std::string winner = "none";  // the attacker that the finding rests on
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

Said audit_once(const ppan::bench::KnownRelease& release, double truth, int seed, bool whole) {
  ppan::AuditOptions options;
  options.quick = !whole;
  options.threads = 1;
  options.seed = static_cast<std::uint64_t>(seed);
  options.limit = truth / 2;
  const ppan::AuditReport report = ppan::audit(draw(release, options.seed), options);
  const ppan::AttributeAudit& a = report.attributes.front();
  return {a.leakage.nats, a.leakage.interval95->low, a.power->nats,
          a.upper_end,    report.within_limit(),     a.forecast ? a.forecast->ten_times.interval95->high : -1,
          a.winner};
}

// Audits that are done, by table and seed, and the file that keeps them.
class Results {
 public:
  explicit Results(const std::string& path) {
    if (path.empty()) return;
    std::ifstream before(path);
    for (std::string line; std::getline(before, line);) {
      std::istringstream in(line);
      std::pair<int, int> at;
      Said said;
      in >> at.first >> at.second >> said.found >> said.low >> said.power >> said.upper >> said.passed >>
          said.forecast >> std::ws;
      std::getline(in, said.winner);
      if (in) done_[at] = said;
    }
    out_.open(path, std::ios::app);
  }

  [[nodiscard]] const Said* find(int table, int seed) const {
    const auto at = done_.find({table, seed});
    return at == done_.end() ? nullptr : &at->second;
  }

  void add(int table, int seed, const Said& said) {
    const std::scoped_lock lock(mutex_);
    done_[{table, seed}] = said;
    if (!out_.is_open()) return;
    out_ << fmt::format("{} {} {:.6f} {:.6f} {:.6f} {:.6f} {:d} {:.6f} {}\n", table, seed, said.found,
                        said.low, said.power, said.upper, said.passed, said.forecast, said.winner)
         << std::flush;
  }

 private:
  std::map<std::pair<int, int>, Said> done_;
  std::ofstream out_;
  std::mutex mutex_;
};

Tally run(const ppan::bench::KnownRelease& release, int table, double truth, const Arguments& arguments,
          Results& results) {
  std::vector<int> left;
  for (int seed = arguments.first; seed < arguments.first + arguments.seeds; ++seed) {
    if (results.find(table, seed) == nullptr) left.push_back(seed);
  }
  ppan::parallel_for(static_cast<std::int64_t>(left.size()), ppan::thread_count(arguments.threads),
                     [&](std::int64_t k) {
                       const int seed = left[static_cast<std::size_t>(k)];
                       results.add(table, seed, audit_once(release, truth, seed, arguments.whole));
                     });
  Tally tally;
  for (int seed = arguments.first; seed < arguments.first + arguments.seeds; ++seed) {
    const Said& said = *results.find(table, seed);
    tally.found += said.found / arguments.seeds;
    tally.power += said.power / arguments.seeds;
    tally.upper += said.upper / arguments.seeds;
    const bool held = said.low <= truth && truth <= said.upper;
    if (held) ++tally.held;
    if (!held && arguments.misses)
      fmt::print("{}, seed {}: {:.4f} (from {:.4f}), upper end {:.4f}, truth {:.4f}: {}\n", release.name,
                 seed, said.found, said.low, said.upper, truth, said.winner);
    if (said.passed) ++tally.false_clear;
    if (said.forecast < 0) continue;
    ++tally.forecasts;
    if (truth <= said.forecast) ++tally.forecast_held;
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
    } else if (i + 1 < count && name == "--results") {
      out.results = given[++i];
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
  int table = -1;
  Results results(arguments.results);
  for (const ppan::bench::KnownRelease& release : ppan::bench::known_releases()) {
    ++table;
    const bool other = arguments.table >= 0 && arguments.table != table;
    if (other || release.rows < arguments.least_rows || release.rows > arguments.most_rows) continue;
    const double truth = true_leakage(release);
    const Tally tally = run(release, table, truth, arguments, results);
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
