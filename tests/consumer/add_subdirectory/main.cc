// A program that only releases: draws noise, and is told that there is no model. What it links holds networks
// and mechanisms, compiled without training in double, and neither training nor attackers.

#include "ppan/core/error.h"
#include "ppan/core/random.h"
#include "ppan/release/release_table.h"
#include "ppan/source/csv_sink.h"

int main() {
  ppan::SeededRandom random(1);
  ppan::Matrix<float> noise(100, 3);
  ppan::fill_normal(random, noise);
  if (!noise.allFinite() || noise.isZero()) return 1;

  try {
    const ppan::ReleaseModel model = ppan::load_model("no-such-model.ppan");
    ppan::CsvSource table = ppan::open_table(model, "no-such-table.csv");
    ppan::CsvSink output(ppan::open_sink("never-written.csv"), table.style());
    ppan::release_table(model, table, output, nullptr);
  } catch (const ppan::Error& error) {
    return error.code() == ppan::ErrorCode::kIo ? 0 : 1;
  }
  return 1;
}
