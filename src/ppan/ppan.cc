#include "ppan/ppan.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <utility>

#include "ppan/audit/surrogate_slack.h"
#include "ppan/core/file.h"
#include "ppan/core/suggest.h"
#include "ppan/report/html.h"
#include "ppan/trade_off/model_audit.h"
#include "ppan/trade_off/run_files.h"

namespace ppan {
namespace {

// The model of a row of curve.csv.
Model model_of(const Curve& curve, const std::string& file) {
  const TableCurveResult& result = curve.result;
  if (file == kUnchangedModel)
    return end_model(unchanged_model(result.schema, result.encoding), result.unchanged.value(), curve.run);
  if (file == kConstantModel)
    return end_model(result.constant_model.value(), result.constant.value(), curve.run);
  for (const TablePoint& point : result.points) {
    if (file == model_name(point.number)) return point_model(point, curve.run);
  }
  throw Error(ErrorCode::kInternal, "the curve has no model '" + file + "'");
}

}  // namespace

Curve trade_off(const Job& job, const Dataset& data, const Hooks& hooks) {
  const auto start = std::chrono::steady_clock::now();
  require_none(job.check(), "this job cannot be run");
  const TableCurveOptions options = table_curve_options(job);
  require_none(options.check(), "this job cannot be run");
  Curve curve;
  curve.table = data.table;
  curve.run.job = job;
  curve.run.version = version();
  curve.run.data_sha256 = data.sha256;
  curve.run.names = data.names;
  curve.result = table_curve(*data.table, data.schema, encoding_options(job), options, hooks);
  add_surrogate_slack(curve.result, job.privacy.surrogate_slack);
  for (std::string& text : grouped_columns(curve.result)) curve.result.warnings.push_back(std::move(text));
  curve.run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (curve.result.points.empty() && !curve.result.interrupted)
    throw Error(ErrorCode::kDiverged, "no point of the curve could be trained",
                "try a smaller train.learning_rate, or other columns");
  return curve;
}

Model pick(const Curve& curve, const Choice& choice) {
  const Candidates candidates = candidates_of(curve_of(curve.result), choice, "the curve");
  const HullMixture mixture = choose(candidates, choice);
  Model model = model_of(curve, candidates.files[mixture.first]);
  if (mixture.second_weight > 0)
    model = mix_models(model, model_of(curve, candidates.files[mixture.second]), mixture.second_weight);
  if (choice.budget) model.origin.budget = choice.budget;
  return model;
}

std::filesystem::path write_run(const Curve& curve, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  remove_old_run(directory);
  write_file(directory / "job.toml",
             curve.run.job_text.empty() ? write_job(curve.run.job) : curve.run.job_text);
  for (const TablePoint& point : curve.result.points)
    save_model(directory / model_name(point.number), point_model(point, curve.run));
  return write_table_run(directory, curve.result, *curve.table, curve.run);
}

ReleaseSummary release(const Model& model, const std::string& table, const std::string& output,
                       const ReleaseOptions& options) {
  const auto in = open_rows(table, {.csv = table_options(model)});
  const auto out = create_rows(output, {.style = in->style(), .input = table});
  return release(model, *in, *out, options);
}

ReleaseSummary release(const Model& model, RowSource& rows, RowSink& output, const ReleaseOptions& options) {
  const ReleaseSummary summary = release_table(model, rows, output, nullptr, options);
  if (!summary.interrupted) output.finish();
  return summary;
}

AuditReport audit(const Model& model, const std::string& held_out, const AuditOptions& options) {
  const ModelAuditData data(model, held_out, options.seed);
  AuditReport report = audit(model_audit_input(model, data), options);
  add_surrogate_slack(report, surrogate_slack_of(model.origin));
  return report;
}

AuditReport audit(const Model& model, RowSource& held_out, const AuditOptions& options) {
  const ModelAuditData data(model, held_out, options.seed);
  AuditReport report = audit(model_audit_input(model, data), options);
  add_surrogate_slack(report, surrogate_slack_of(model.origin));
  return report;
}

AuditReport audit(RowSource& original, RowSource& released, const ReleaseAudit& what,
                  const AuditOptions& options) {
  const AuditTable before = table_of_rows(original);
  AuditInput input;
  input.released = table_of_rows(released);
  if (before.rows() != input.released.rows())
    throw Error(ErrorCode::kBadInput, fmt::format("{} has {} rows, {} has {}", original.name(), before.rows(),
                                                  released.name(), input.released.rows()));
  const auto take = [&](const std::vector<std::string>& names, std::vector<AuditColumn>& to) {
    for (const std::string& name : names) {
      const AuditColumn* column = before.find(name);
      if (column == nullptr)
        throw Error(ErrorCode::kBadInput,
                    fmt::format("{}: {}", original.name(), unknown_name("column", name, before.names())));
      to.push_back(*column);
    }
  };
  take(what.sensitive, input.sensitive);
  take(what.side, input.side);
  return audit(input, options);
}

const char* version() {
  return PPAN_VERSION;
}

}  // namespace ppan
