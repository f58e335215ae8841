#include "ppan/audit/audit_suites.h"

#include <algorithm>

namespace ppan {

SuiteOptions suite_options(const AuditOptions& options) {
  SuiteOptions suite = options.suite.value_or(SuiteOptions{});
  if (!options.suite && options.quick) {
    suite.effort = {.epochs = 12, .patience = 2, .trees = 200, .neighbours = 5'000};
    suite.most_training_rows = 10'000;
    suite.most_releases = 20'000;
    suite.screen_traces = true;
  }
  suite.learning_curve = suite.learning_curve && options.details;
  suite.sources = suite.sources && options.details;
  suite.threads = options.threads;
  suite.seed = options.seed;
  return suite;
}

SuiteOptions side_suite(const AuditOptions& options, bool continuous) {
  SuiteOptions suite = suite_options(options);
  if (suite.attackers.empty()) suite.attackers = quick_attackers(continuous);
  suite.learning_curve = false;
  suite.sources = false;
  suite.effort.epochs = std::min(suite.effort.epochs, 20);
  suite.effort.trees = std::min(suite.effort.trees, 400);
  suite.most_training_rows = std::min<Index>(suite.most_training_rows, 20'000);
  suite.most_releases = std::min<Index>(suite.most_releases, 40'000);
  return suite;
}

}  // namespace ppan
