#pragma once

// clang-format off
//
// The facade of ppan: the few functions that most programs need, and the headers of the stages they use.
//
//     const ppan::Job job = ppan::load_job("job.toml");         // or fill in a Job
//     const ppan::Dataset data = ppan::open_dataset(job);       // read and check the table
//     const ppan::Curve curve = ppan::trade_off(job, data);     // train and attack every point
//     ppan::write_run(curve, "run");                            // curve.csv, models, report.html
//
//     const ppan::Model model = ppan::pick(curve, {.leakage = 0.05});
//     ppan::save_model("model.ppan", model);                    // load_model() reads it
//     const ppan::AuditReport found = ppan::audit(model, "holdout.csv");
//     ppan::release(model, "new.csv", "released.csv");
//
// clang-format on
//
// The commands `ppan curve`, `pick`, `audit` and `release` do the same for tables. Declared elsewhere:
// load_job() (job/job.h), open_dataset() (trade_off/dataset.h), load_model() and save_model()
// (model/release_model.h).
//
// Errors. Every function throws ppan::Error, which holds a code, what is wrong and how to fix it.
// Effects. The library never prints and has no lasting effect on the process. A program that owns its process
// creates a ppan::Runtime (nn/blas.h) first, which lets BLAS use the best kernels for the processor.
// Units. All information is in nats.

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

/// What to learn from, what is sensitive and what is useful, and how to train. load_job() reads a job from a
/// file; a program may also fill in its members, which are the options of the stages that do the work.
/// job.check() lists every problem.
using Job = JobFile;
/// Callbacks of a running curve: progress, phases, and whether to stop (`interrupted`). Each may be empty.
using Hooks = TableCurveHooks;
/// A trained mechanism with everything that a release needs. load_model() and save_model() read and write its
/// file.
using Model = ReleaseModel;

/// A finished or interrupted curve. pick() chooses a model from it, write_run() writes its files.
struct Curve {
  TableCurveResult result{};  ///< Trained points, references and the completed curve, each with its leakage.
  CurveRun run{};             ///< The job, the data and the version that the curve was made from.
  std::shared_ptr<const Table> table{};  ///< The data, from which the report shows the change of each column.
};

/// Trains a mechanism for each point of the curve, attacks each on rows that it never saw, and measures the
/// references in the same way.
///
/// The same job and data give the same bits, whatever the number of threads.
///
/// hooks  When hooks.interrupted() returns true, the function stops and returns the finished points;
///        result.interrupted is then true.
/// store  Finished pieces of work are saved here, and pieces found here are not computed again, so that an
///        interrupted curve can be resumed. The store must have the fingerprint() of this job and data. Null:
///        nothing is saved.
///
/// Throws Error(kUsage) for a job that cannot be run, and Error(kDiverged) if no point could be trained.
Curve trade_off(const Job& job, const Dataset& data, const Hooks& hooks = {}, Store* store = nullptr);

/// Identifies a job, its data and the version of ppan: equal for equal ones. The number of threads does not
/// affect it.
std::string fingerprint(const Job& job, const Dataset& data);

// clang-format off
//
// The same work in pieces. They can be computed in any process, in any order and any number of times, with the
// same result on processors of one kind:
//
//     const ppan::Start start = ppan::prepare(job, data);
//     std::vector<ppan::PointResult> points;
//     for (int k = 1; k <= start.points(); ++k) points.push_back(*ppan::train_point(start, k));
//     const ppan::Curve curve = ppan::finish(start, points);
//
// To move them between processes, use to_bytes(), start_from_bytes() and point_from_bytes(). Every process
// needs the job and the data.
//
// clang-format on

/// A curve that is ready to be trained: what all points share. Immutable in use; copies share their rows.
class Start {
 public:
  [[nodiscard]] int points() const { return planned_points(rows->options); }  ///< Number of points to train.

  Job job{};
  Dataset data{};
  std::shared_ptr<const CurveRows> rows{};  ///< The encoded rows and their split.
  Pieces pieces{};                          ///< Results of the work that all points share.
};

/// One point, trained and attacked, with the noise reference that it is compared with.
struct PointResult {
  int number = 1;             ///< From 1.
  std::string fingerprint{};  ///< That of the job and data it belongs to.
  Pieces pieces{};
};

/// Encodes and splits the rows, and does the work that all points share. Throws as trade_off() does, and
/// Error(kUsage) if hooks.interrupted() returned true.
Start prepare(const Job& job, const Dataset& data, const Hooks& hooks = {});

/// Trains and attacks the point `number`, from 1 to start.points(). Returns nothing if hooks.interrupted()
/// returned true. May be called from several threads at once. Throws Error(kUsage) for a number out of range.
std::optional<PointResult> train_point(const Start& start, int number, const Hooks& hooks = {});

/// Measures the references and returns the curve of these points, which may be given in any order; points
/// that are not given are missing from the curve. Throws Error(kUsage) for a point of another job or other
/// data.
Curve finish(const Start& start, std::span<const PointResult> points, const Hooks& hooks = {});

/// The start, or the point, as bytes for another process. They hold results but neither job nor data.
std::string to_bytes(const Start& start);
std::string to_bytes(const PointResult& point);

/// The inverse of to_bytes(). Throws Error(kBadInput) for bytes that to_bytes() did not write, and
/// Error(kUsage) for bytes of another job, other data or another version.
Start start_from_bytes(std::string_view bytes, const Job& job, const Dataset& data);
PointResult point_from_bytes(std::string_view bytes, const Start& start);

/// The model of a point of the completed curve, selected by leakage, budget, number, task loss or another
/// measure (trade_off/pick.h). Where no trained point serves the choice exactly, the model is a mixture of
/// two. Throws Error(kUsage) if no point serves the choice; the message names the closest one.
Model pick(const Curve& curve, const Choice& choice);

/// Writes the run directory that `ppan curve` writes (docs/run_directory.md), and returns the path of the
/// report. Creates the directory; removes the files of an earlier run from it.
std::filesystem::path write_run(const Curve& curve, const std::filesystem::path& directory);

/// Releases a table, row by row, in constant memory, with noise from the operating system's cryptographic
/// source.
///
/// table, output  Addresses (open/address.h): files, databases, queries; "-" is standard input or output.
///                Columns are matched by name.
/// options        Threads, progress, interruption, and the policy for rows that cannot be released.
///
/// All or nothing: `output` is unchanged if this throws or is interrupted. Throws Error(kBadInput) with the
/// line, column and value of a row that cannot be released. Rejected rows (UnknownRow::kReject) need a
/// destination: use release_table() (release/release_table.h) for them.
ReleaseSummary release(const Model& model, const std::string& table, const std::string& output,
                       const ReleaseOptions& options = {});

/// The same from any source to any sink, as typed chunks (source/row_source.h, row_sink.h). Finishes the
/// sink, unless the release was interrupted.
ReleaseSummary release(const Model& model, RowSource& rows, RowSink& output,
                       const ReleaseOptions& options = {});

/// Attacks releases of `held_out` with new attackers and reports what they find about the columns that the
/// job of the model called sensitive. `held_out` is the address of a table, or its rows. The model must not
/// have been trained on them: otherwise the numbers are worthless, and this function cannot notice it.
AuditReport audit(const Model& model, const std::string& held_out, const AuditOptions& options = {});
AuditReport audit(const Model& model, RowSource& held_out, const AuditOptions& options = {});

/// The roles of the columns of `original` in an audit of two tables.
struct ReleaseAudit {
  std::vector<std::string> sensitive{};  ///< What attackers try to infer. At least one.
  std::vector<std::string> side{};       ///< What attackers already know.
};

/// Attacks a release that may have been made by any program, and reports what new attackers find in
/// `released` about columns of `original`. Both tables hold the same records in the same order. Throws
/// Error(kBadInput) if the tables differ in length or a named column does not exist.
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

/// The version of the library, such as "0.1.0".
const char* version();

}  // namespace ppan
