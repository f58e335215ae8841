// Releases a table through a model, and can do nothing else: release_only MODEL TABLE OUTPUT
// Links ppan::release alone, so neither attackers nor training nor reports are in the program.

#include <cstdio>

#include "ppan/core/error.h"
#include "ppan/release/release_table.h"
#include "ppan/source/csv_sink.h"

int main(int count, char** arguments) try {
  if (count != 4) return 2;
  const ppan::ReleaseModel model = ppan::load_model(arguments[1]);
  ppan::CsvSource table = ppan::open_table(model, arguments[2]);
  ppan::CsvSink output(ppan::open_sink(arguments[3]), table.style());
  const ppan::ReleaseSummary summary = ppan::release_table(model, table, output, nullptr);
  output.finish();
  std::printf("%lld rows\n", static_cast<long long>(summary.released));
} catch (const ppan::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return ppan::exit_status(error.code());
}
