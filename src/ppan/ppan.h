#pragma once

// All of ppan, and the few functions that most programs need:
//
//     Job job = load_job("job.toml");        // or fill in a Job: which table, what is sensitive, what is
//     useful Curve curve = trade_off(job, open_dataset(job)); write_run(curve, "run");               //
//     curve.csv, models, report.html Model model = pick(curve, {.leakage = 0.05}); save_model("model.ppan",
//     model);       // load_model() reads it release(model, "new.csv", "released.csv"); AuditReport found =
//     audit(model, "holdout.csv");
//
// The commands `ppan curve`, `pick`, `release` and `audit` do the same for tables. Everything throws
// ppan::Error with a code, what is wrong and how to fix it; nothing prints, and nothing changes the process.
// A program that owns its process makes a Runtime first, for faster products.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/audit/audit.h"
#include "ppan/core/error.h"
#include "ppan/engine/store.h"
#include "ppan/image/image_curve.h"
#include "ppan/job/job.h"
#include "ppan/model/image_release_model.h"
#include "ppan/model/release_model.h"
#include "ppan/nn/blas.h"
#include "ppan/open/open_rows.h"
#include "ppan/release/release_table.h"
#include "ppan/table/curve_rows.h"
#include "ppan/table/table_curve.h"
#include "ppan/trade_off/dataset.h"
#include "ppan/trade_off/image_audit.h"
#include "ppan/trade_off/image_data.h"
#include "ppan/trade_off/pick.h"
#include "ppan/trade_off/table_run.h"

namespace ppan {

/// What to learn from and how. load_job() reads one from a file; a program may fill it in. job.check() lists
/// every problem.
using Job = JobFile;
/// What is asked and told while a curve is trained. All may be left empty.
using Hooks = TableCurveHooks;
/// A mechanism with everything that a release needs. load_model() and save_model() keep it in a file.
using Model = ReleaseModel;

/// A finished (or interrupted) curve: trained points, references, the completed curve, and what they came
/// from.
struct Curve {
  TableCurveResult result{};
  CurveRun run{};
  std::shared_ptr<const Table> table{};  ///< For the report: what became of each column.
};

/// Trains a mechanism for each point of the job, attacks each on rows that it never saw, and measures the
/// references beside them. The same job and data give the same bits, whatever the number of threads. Throws
/// Error(kUsage) for a job that cannot be run and Error(kDiverged) if no point could be trained. When
/// hooks.interrupted says so, what is finished comes back. With a store, what is finished is kept there, and
/// what is there is not done again; it must have the fingerprint of this job and data.
Curve trade_off(const Job& job, const Dataset& data, const Hooks& hooks = {}, Store* store = nullptr);

/// Tells job, data and version apart from others. The number of threads is not part of it.
std::string fingerprint(const Job& job, const Dataset& data);

// The same work in pieces, which can be done in any process, in any order, any number of times, with the same
// result on processors of one kind:
//
//     Start start = prepare(job, data);
//     std::vector<PointResult> points;
//     for (int k = 1; k <= start.points(); ++k) points.push_back(*train_point(start, k));
//     Curve curve = finish(start, points);
//
// to_bytes() and from bytes take them from one process to another; each needs the job and the data.

/// A curve ready to be trained. Copies share what they hold, which nothing changes.
class Start {
 public:
  [[nodiscard]] int points() const { return planned_points(rows->options); }

  Job job{};
  Dataset data{};
  std::shared_ptr<const CurveRows> rows{};
  Pieces pieces{};
};

/// A point, trained and attacked, with the noise that it is compared with.
struct PointResult {
  int number = 1;
  std::string fingerprint{};
  Pieces pieces{};
};

/// What all points share. Throws as trade_off() does; Error(kUsage) too when hooks.interrupted said so.
Start prepare(const Job& job, const Dataset& data, const Hooks& hooks = {});
/// Points are numbered from 1. Nothing when hooks.interrupted said so. Any number of calls at once.
std::optional<PointResult> train_point(const Start& start, int number, const Hooks& hooks = {});
/// The curve of these points, in any order; others are missing from it. Measures the references. Throws
/// Error(kUsage) for a point of another start.
Curve finish(const Start& start, std::span<const PointResult> points, const Hooks& hooks = {});

std::string to_bytes(const Start& start);
std::string to_bytes(const PointResult& point);
/// Throws Error(kBadInput) for bytes that to_bytes() has not written, Error(kUsage) for those of another job,
/// other data or another version.
Start start_from_bytes(std::string_view bytes, const Job& job, const Dataset& data);
PointResult point_from_bytes(std::string_view bytes, const Start& start);

/// The model of a point of the completed curve; a mixture of two where no trained point is there. Throws
/// Error(kUsage) if no point serves the choice, naming the nearest.
Model pick(const Curve& curve, const Choice& choice);

/// The run directory that `ppan curve` writes (docs/run_directory.md); returns the path of the report. The
/// directory is made; an earlier run in it is removed.
std::filesystem::path write_run(const Curve& curve, const std::filesystem::path& directory);

/// Releases a table, row by row, in constant memory, from one address to another (open/address.h): files,
/// databases, queries; "-" is standard input or output. All or nothing: `output` is what it was if this
/// throws or is interrupted. Throws Error(kBadInput) naming line, column and value of a row that cannot be
/// released; for ReleaseOptions::unknown kReject use release_table(), which wants to know where such rows go.
ReleaseSummary release(const Model& model, const std::string& table, const std::string& output,
                       const ReleaseOptions& options = {});

/// The same from any source to any sink, which it finishes: rows as typed chunks (source/row_source.h,
/// row_sink.h).
ReleaseSummary release(const Model& model, RowSource& rows, RowSink& output,
                       const ReleaseOptions& options = {});

/// What new attackers find in releases of `held_out`, rows that the model was not trained on, about the
/// columns that its job called sensitive.
AuditReport audit(const Model& model, const std::string& held_out, const AuditOptions& options = {});
AuditReport audit(const Model& model, RowSource& held_out, const AuditOptions& options = {});

/// Whose release is audited, and what of it.
struct ReleaseAudit {
  std::vector<std::string> sensitive{};  ///< Columns of the original. At least one.
  std::vector<std::string> side{};       ///< Columns of the original that an attacker knows already.
};
/// What new attackers find about columns of `original` in `released`, whoever released it: the same records
/// in the same order. Throws Error(kBadInput) for tables of different length and for columns that are not
/// there.
AuditReport audit(RowSource& original, RowSource& released, const ReleaseAudit& what,
                  const AuditOptions& options = {});

// Images go the same way, by functions of the same names:
//
//     Job job = load_job("digits.toml");
//     ImageCurve curve = trade_off(job, load_images(job));
//     ImageReleaseModel model = pick(curve, {.leakage = 0.1});
//     ImageSet safe = release(model, images);
//     ImageFindings found = audit(model, held_out);

/// A finished (or interrupted) curve of images, and what it came from.
struct ImageCurve {
  ImageCurveResult result{};
  CurveRun run{};
  std::shared_ptr<const ImageSplit> data{};  ///< The images trained on and those held out.
};

/// Trains a mechanism for each point of the job, attacks each on images that it never saw. `images` have
/// labels, which are hidden; load_images() reads those that the job names, and a program may fill in its own,
/// whatever the job calls its files. Throws Error(kUsage) for a job that cannot be run or is about a table,
/// Error(kBadInput) for images that cannot be used, Error(kDiverged) if no point could be trained.
/// Interruption and stores are as for tables.
ImageCurve trade_off(const Job& job, const ImageSet& images, const ImageCurveHooks& hooks = {},
                     Store* store = nullptr);

/// As for tables.
ImageReleaseModel pick(const ImageCurve& curve, const Choice& choice);
std::filesystem::path write_run(const ImageCurve& curve, const std::filesystem::path& directory);

/// Releases every image once, with noise from the secure source. Labels are not carried over. Throws
/// Error(kBadInput) for images of another size than the model's.
ImageSet release(const ImageReleaseModel& model, const ImageSet& images);

/// What new attackers learn about the labels from releases of images that the model was not trained on.
ImageFindings audit(const ImageReleaseModel& model, const ImageSet& held_out,
                    const ImageAuditOptions& options = {});

/// "0.1.0".
const char* version();

}  // namespace ppan
