// Writes the sample run of the report's tests into a directory, as a command would: make_run DIRECTORY
// [points columns].

#include <cstdlib>
#include <filesystem>
#include <string>

#include "ppan/core/file.h"
#include "ppan/report/figure.h"
#include "ppan/report/trade_off.h"
#include "unit/report/sample_run.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  ppan::test::SampleRun options;
  if (argc > 3) {
    options.points = std::atoi(argv[2]);
    options.columns = std::atoi(argv[3]);
  }
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  const ppan::RunFiles run = ppan::test::sample_run(options);
  ppan::write_file(directory / "curve.csv", ppan::to_csv(run.curve));
  ppan::write_file(directory / "summary.json", ppan::to_json(run.summary));
  ppan::write_file(directory / "details.json", ppan::to_json(run.details));
  std::string metrics;
  for (const ppan::MetricsLine& line : run.metrics) metrics += ppan::to_json_line(line);
  ppan::write_file(directory / "metrics.jsonl", metrics);
  ppan::write_file(directory / "curve.svg", ppan::to_svg(ppan::trade_off_figure(run.curve, run.summary)));
  ppan::write_file(directory / "report.html", ppan::to_html(ppan::read_run(directory)));
  return 0;
}
