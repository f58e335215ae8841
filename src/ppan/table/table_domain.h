#pragma once

// The curve of a table as pieces (engine/domain.h): which there are, what each needs, and the curve that
// finished ones make.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ppan/engine/domain.h"
#include "ppan/table/curve_pieces.h"
#include "ppan/table/table_curve.h"

namespace ppan {

class TableDomain final : public Domain {
 public:
  /// `hooks` must outlive it; `identity` is whatever tells this job, table and version from others.
  TableDomain(std::shared_ptr<const CurveRows> rows, const TableCurveHooks& hooks, std::string identity = {});

  [[nodiscard]] std::string fingerprint() const override { return identity_; }
  [[nodiscard]] std::vector<Piece> pieces() const override;
  [[nodiscard]] std::optional<std::string> make(const std::string& name, const Pieces& needed,
                                                const Checkpoint& checkpoint) override;
  void finished(const std::string& name, const std::string& bytes, bool made) override;

  [[nodiscard]] int planned() const override { return planned_points(rows_.options); }
  [[nodiscard]] std::vector<std::string> start_pieces() const override;
  [[nodiscard]] std::vector<std::string> point_pieces(int number) const override;
  [[nodiscard]] std::vector<std::string> reference_pieces() const override;
  /// What can be made once all points are there.
  [[nodiscard]] std::vector<std::string> mend_pieces() const;

  /// Points whose audit is among the pieces, by number; those that others dominate are mended if that is
  /// there.
  [[nodiscard]] std::vector<TablePoint> points(const Pieces& pieces) const;
  /// The curve of the finished pieces: points, references, time-sharing, hull, dominated points, warnings.
  [[nodiscard]] TableCurveResult finish(const Pieces& pieces) const;

 private:
  [[nodiscard]] bool has_references() const { return rows_.options.references && rows_.observes_useful(); }
  [[nodiscard]] CurveMeasure measure(const Pieces& needed) const;
  [[nodiscard]] TablePoint point(const std::string& trained, const std::string& audited) const;
  [[nodiscard]] std::optional<std::string> train(int number, const Pieces& needed);
  [[nodiscard]] std::string drop(int count, const Pieces& needed);
  [[nodiscard]] std::vector<TablePoint> trained_points(const Pieces& pieces) const;
  [[nodiscard]] std::optional<TrainedPoint> mended(int number, const Pieces& pieces) const;
  void phase(const std::string& what) const;
  bool stopped();
  [[nodiscard]] CurveWatch watch(int number);

  std::shared_ptr<const CurveRows> shared_;
  const CurveRows& rows_;
  const TableCurveHooks& hooks_;
  std::string identity_;
  std::atomic<bool> stopped_ = false;
  std::map<std::string, std::string> trained_;  // trainings whose audit is not finished yet
  std::once_flag ordered_;
  std::vector<std::int32_t> order_;  // columns, those that leak most first
};

}  // namespace ppan
