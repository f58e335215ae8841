#include "ppan/audit/undeclared_scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "ppan/audit/audit_input.h"
#include "ppan/audit/audit_suites.h"
#include "ppan/core/error.h"

namespace ppan {

void scan_undeclared(const AuditInput& input, const SuiteInput& suite_in, const AttackSplit& split,
                     const AuditOptions& options, AuditReport& report) {
  const double widen = normal_multiple(static_cast<Index>(input.undeclared.size())) / normal_multiple();
  for (const AuditColumn& column : input.undeclared) {
    try {
      const AttackTarget target = target_for(column, split, options);
      SuiteOptions suite = side_suite(options, target.continuous);
      suite.most_training_rows = std::min<Index>(suite.most_training_rows, 10'000);
      if (!options.suite) {
        suite.attackers = {AttackerKind::kTrees, AttackerKind::kLogistic, AttackerKind::kLookup,
                           AttackerKind::kPrior};
        suite.effort.trees = 200;
        suite.effort.epochs = 10;
      }
      const SuiteResult result = attack(suite_in, target, split, suite);
      const Rate mean = mean_rate(result.gain, split.test_unit);
      const double low = mean.value - widen * (mean.value - mean.interval95.low);
      report.undeclared.push_back(
          {column.name, result.entropy,
           lower_bound(result.gain, result.entropy, "held-out log loss, " + result.winner, split.test_unit),
           low > 0});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBadInput) throw;
      report.not_audited.push_back(fmt::format("{}: {}", column.name, error.what()));
    }
  }
  std::stable_sort(report.undeclared.begin(), report.undeclared.end(),
                   [](const UndeclaredLeak& a, const UndeclaredLeak& b) {
                     return a.leakage.nats * b.entropy > b.leakage.nats * a.entropy;
                   });
}

}  // namespace ppan
