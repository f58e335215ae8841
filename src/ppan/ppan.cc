#include "ppan/ppan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "ppan/audit/surrogate_slack.h"
#include "ppan/core/archive.h"
#include "ppan/core/file.h"
#include "ppan/core/random.h"
#include "ppan/core/suggest.h"
#include "ppan/engine/engine.h"
#include "ppan/image/image_files.h"
#include "ppan/report/html.h"
#include "ppan/table/table_domain.h"
#include "ppan/trade_off/image_rows.h"
#include "ppan/trade_off/image_run.h"
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
  if (file == kIndependentModel)
    return end_model(result.independent_model.value(), result.independent.value(), curve.run);
  for (std::size_t i = 0; i < result.redrawn.size(); ++i) {
    if (file == redrawn_name(static_cast<int>(i) + 1))
      return end_model(result.redrawn[i].model.value(), result.redrawn[i].measured, curve.run);
  }
  for (const TablePoint& point : result.points) {
    if (file == model_name(point.number)) return point_model(point, curve.run);
  }
  throw Error(ErrorCode::kInternal, "the curve has no model '" + file + "'");
}

std::shared_ptr<const CurveRows> rows_of(const Job& job, const Dataset& data, const Hooks& hooks) {
  require_none(job.check(), "this job cannot be run");
  const TableCurveOptions options = curve_options(job.table);
  require_none(options.check(), "this job cannot be run");
  if (hooks.phase) hooks.phase("encoding");
  return std::make_shared<const CurveRows>(
      make_curve_rows(*data.table, data.schema, encoding_options(job.table), options));
}

EngineOptions engine_options(const Start& start, const Hooks& hooks, std::vector<std::string> only = {}) {
  return {start.rows->options.threads, std::move(only), hooks.interrupted};
}

Curve curve_of(const Start& start, const Pieces& pieces, const Hooks& hooks,
               std::chrono::steady_clock::time_point begin) {
  Curve curve;
  curve.table = start.data.table;
  curve.run.job = start.job;
  curve.run.version = version();
  curve.run.names = start.data.names;
  identify_data(curve.run, start.data.sha256);
  curve.result = finish_table(TableDomain(start.rows, hooks).finish(pieces), start.job);
  curve.run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (curve.result.points.empty() && !curve.result.interrupted)
    throw Error(ErrorCode::kDiverged, "no point of the curve could be trained",
                "try a smaller train.learning_rate, or other columns");
  return curve;
}

AnyModel pick_from(const CurveTable& rows, const Choice& choice,
                   const std::function<AnyModel(const std::string& file)>& model_of) {
  require_none(choice.check(), "this point cannot be picked");
  const Candidates candidates = candidates_of(rows, choice, "the curve");
  return chosen_model(candidates, choose(candidates, choice), choice, model_of);
}

// An empty run of this job; an earlier one is removed.
void start_run_directory(const CurveRun& run, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  remove_old_run(directory);
  write_file(directory / "job.toml", run.job_text.empty() ? write_job(run.job) : run.job_text);
}

}  // namespace

std::string fingerprint(const Job& job, const Dataset& data) {
  return fingerprint_of(job, data.sha256, version());
}

Curve trade_off(const Job& job, const Dataset& data, const Hooks& hooks, Store* store) {
  const auto begin = std::chrono::steady_clock::now();
  const Start start{job, data, rows_of(job, data, hooks), {}};
  TableDomain domain(start.rows, hooks, fingerprint(job, data));
  return curve_of(start, make_pieces(domain, store, engine_options(start, hooks)).pieces, hooks, begin);
}

Start prepare(const Job& job, const Dataset& data, const Hooks& hooks) {
  Start start{job, data, rows_of(job, data, hooks), {}};
  TableDomain domain(start.rows, hooks);
  EngineResult made = make_pieces(domain, nullptr, engine_options(start, hooks, domain.start_pieces()));
  if (made.interrupted) throw Error(ErrorCode::kUsage, "interrupted before the curve was prepared");
  start.pieces = std::move(made.pieces);
  return start;
}

std::optional<PointResult> train_point(const Start& start, int number, const Hooks& hooks) {
  if (number < 1 || number > start.points())
    throw Error(ErrorCode::kUsage, "the curve has no point " + std::to_string(number));
  TableDomain domain(start.rows, hooks);
  EngineResult made =
      make_pieces(domain, nullptr, engine_options(start, hooks, domain.point_pieces(number)), start.pieces);
  if (made.interrupted) return std::nullopt;
  PointResult out{number, fingerprint(start.job, start.data), {}};
  for (const std::string& name : domain.point_pieces(number))
    out.pieces[name] = std::move(made.pieces.at(name));
  return out;
}

Curve finish(const Start& start, std::span<const PointResult> points, const Hooks& hooks) {
  const auto begin = std::chrono::steady_clock::now();
  TableDomain domain(start.rows, hooks);
  Pieces known = start.pieces;
  std::vector<std::string> wanted = domain.reference_pieces();
  for (const PointResult& point : points) {
    if (point.fingerprint != fingerprint(start.job, start.data))
      throw Error(ErrorCode::kUsage, "point " + std::to_string(point.number) + " belongs to another curve");
    known.insert(point.pieces.begin(), point.pieces.end());
    for (std::string& name : domain.point_pieces(point.number)) wanted.push_back(std::move(name));
  }
  const auto there = [&](int number) {
    return std::any_of(points.begin(), points.end(),
                       [&](const PointResult& point) { return point.number == number; });
  };
  bool all = true;
  for (int number = 1; number <= start.points(); ++number) all = all && there(number);
  if (all) {
    for (std::string& name : domain.mend_pieces()) wanted.push_back(std::move(name));
  }
  const EngineResult made =
      make_pieces(domain, nullptr, engine_options(start, hooks, std::move(wanted)), std::move(known));
  return curve_of(start, made.pieces, hooks, begin);
}

std::string to_bytes(const Start& start) {
  return seal_piece("start", fingerprint(start.job, start.data), archived(start.pieces));
}

std::string to_bytes(const PointResult& point) {
  ByteWriter writer;
  writer(point.number, point.pieces);
  return seal_piece("point", point.fingerprint, writer.take());
}

Start start_from_bytes(std::string_view bytes, const Job& job, const Dataset& data) {
  const std::string opened = open_piece(bytes, "start", fingerprint(job, data), "this start");
  return {job, data, rows_of(job, data, {}), unarchived<Pieces>(opened)};
}

PointResult point_from_bytes(std::string_view bytes, const Start& start) {
  PointResult out;
  out.fingerprint = fingerprint(start.job, start.data);
  const std::string opened = open_piece(bytes, "point", out.fingerprint, "this point");
  ByteReader reader(opened);
  reader(out.number, out.pieces);
  reader.finish();
  return out;
}

Model pick(const Curve& curve, const Choice& choice) {
  return std::get<Model>(pick_from(curve_of(curve.result), choice,
                                   [&](const std::string& file) { return model_of(curve, file); }));
}

std::filesystem::path write_run(const Curve& curve, const std::filesystem::path& directory) {
  start_run_directory(curve.run, directory);
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

ImageCurve trade_off(const Job& job, const ImageSet& images, const ImageCurveHooks& hooks, Store* store) {
  const auto begin = std::chrono::steady_clock::now();
  if (!job.about_images()) throw Error(ErrorCode::kUsage, "this job is about a table", "give it data.images");
  require_none(job.check(), "this job cannot be run");
  require_none(images.check(), "these images cannot be used", ErrorCode::kBadInput);
  ImageCurve curve;
  const auto data = std::make_shared<const ImageSplit>(split_images(images, job));
  const ImageCurveOptions options = image_options(job.image, *data);
  require_none(options.check(), "this job cannot be run");
  curve.data = data;
  curve.run.job = job;
  curve.run.version = version();
  identify_data(curve.run, images_sha256(images));
  ImageDomain domain(*data, options, hooks, curve.run.fingerprint);
  curve.result = domain.finish(make_pieces(domain, store, {options.threads, {}, hooks.interrupted}).pieces);
  curve.run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (curve.result.points.empty() && !curve.result.interrupted)
    throw Error(ErrorCode::kDiverged, "no point of the curve could be trained",
                "try a smaller train.learning_rate");
  return curve;
}

ImageReleaseModel pick(const ImageCurve& curve, const Choice& choice) {
  const ModelOrigin origin = image_origin(curve.run, *curve.data);
  return std::get<ImageReleaseModel>(pick_from(
      image_curve_table(curve.result), choice,
      [&](const std::string& file) { return image_model(file, curve.result, curve.data->train, origin); }));
}

std::filesystem::path write_run(const ImageCurve& curve, const std::filesystem::path& directory) {
  start_run_directory(curve.run, directory);
  return write_image_run(directory, curve.result, *curve.data, curve.run);
}

ImageSet release(const ImageReleaseModel& model, const ImageSet& images) {
  SecureRandom random;
  return release_images(model, images, random, "these images");
}

ImageFindings audit(const ImageReleaseModel& model, const ImageSet& held_out,
                    const ImageAuditOptions& options) {
  require_none(held_out.check(), "these images cannot be used", ErrorCode::kBadInput);
  return audit_images(model, held_out, options);
}

const char* version() {
  return PPAN_VERSION;
}

}  // namespace ppan
