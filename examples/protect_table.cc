// Protects a table, from the job file to a released table: protect_table JOB HELD_OUT NEW OUTPUT_DIRECTORY

#include <cstdio>
#include <filesystem>

#include "ppan/ppan.h"

int main(int count, char** arguments) try {
  if (count != 5) return 2;
  const ppan::Runtime runtime;  // the process is ours: BLAS may be set up for this processor
  const std::filesystem::path out = arguments[4];

  const ppan::Job job = ppan::load_job(arguments[1]);
  const ppan::Curve curve = ppan::trade_off(job, ppan::open_dataset(job));
  ppan::write_run(curve, out / "run");  // the whole trade-off, as curve.csv, models and report.html

  const ppan::Model model =
      ppan::pick(curve, {.leakage = 0.1});  // the least distortion that leaks at most 0.1 nats
  ppan::save_model(out / "model.ppan", model);
  const ppan::AuditReport found = ppan::audit(model, arguments[2]);  // new attackers, rows it has never seen
  std::printf("leakage: %.3f nats (%s)\n", found.leakage().nats, found.leakage().method.c_str());

  const auto released = ppan::release(model, arguments[3], out / "released.csv");
  std::printf("released: %lld rows\n", static_cast<long long>(released.released));
} catch (const ppan::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return ppan::exit_status(error.code());
}
