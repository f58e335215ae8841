#include <algorithm>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/model/release_model.h"
#include "ppan/report/group_warnings.h"
#include "ppan/table/table_domain.h"
#include "ppan/trade_off/dataset.h"
#include "ppan/trade_off/table_run.h"

namespace ppan {
namespace {

class TableTask final : public CurveTask {
 public:
  TableTask(CurveRun run, CurveEvents events)
      : run_(std::move(run)),
        events_(std::move(events)),
        data_(open_dataset(run_.job)),
        options_(curve_options(run_.job.table)) {
    require_none(options_.check(), "this job cannot be run");
    run_.names = data_.names;
    identify_data(run_, data_.sha256);
    prior_ = hidden_prior(*data_.table, data_.schema, options_.training.alpha);
    hooks_.interrupted = events_.interrupted;
    hooks_.phase = [this](const std::string& phase) {
      if (events_.phase && !phase.starts_with("point")) events_.phase(phase);
    };
    hooks_.epoch = [this](int point, const EpochReport& epoch) {
      if (events_.epoch && point > 0) events_.epoch({point, metrics_of(point, epoch, prior_)});
    };
    hooks_.finished = [this](const TablePoint& point) { finished(point); };
  }

  [[nodiscard]] const CurveRun& run() const override { return run_; }
  [[nodiscard]] const std::vector<std::string>& notices() const override { return data_.notices; }
  [[nodiscard]] int threads() const override { return options_.threads; }
  [[nodiscard]] int planned() const override { return planned_points(options_); }
  [[nodiscard]] int epochs() const override {
    if (options_.training.epochs) return *options_.training.epochs;
    const auto training = static_cast<double>(data_.table->rows) * (1 - options_.validation - options_.test);
    const Index count = std::max<Index>(1, static_cast<Index>(training));
    if (options_.training.family == MechanismFamily::kCodebook)
      return codebook_epochs(count, options_.codebook);
    if (options_.training.family == MechanismFamily::kHeads ||
        options_.training.family == MechanismFamily::kAuto)
      return heads_epochs(count, options_.heads);
    return epochs_for(count, options_.training.batch);
  }
  [[nodiscard]] bool start_counts() const override { return false; }

  [[nodiscard]] Domain& domain() override {
    if (!domain_) {
      hooks_.phase("encoding");
      domain_.emplace(std::make_shared<const CurveRows>(make_curve_rows(
                          *data_.table, data_.schema, encoding_options(run_.job.table), options_)),
                      hooks_, run_.fingerprint);
    }
    return *domain_;
  }

  [[nodiscard]] CurveOutcome write(const Pieces& pieces, const std::filesystem::path& directory,
                                   double seconds) override {
    run_.seconds = seconds;
    static_cast<void>(domain());
    const TableCurveResult result = finish_table(domain_->finish(pieces), run_.job);
    CurveOutcome out{curve_of(result), group_warnings(result.warnings),
                     static_cast<int>(result.points.size()), result.interrupted, limit_points(result)};
    if (!result.points.empty()) {
      write_table_run(directory, result, *data_.table, run_);
    } else if (!result.interrupted) {
      throw Error(ErrorCode::kDiverged, "no point of the curve could be trained",
                  "try a smaller train.learning_rate, or other columns");
    }
    return out;
  }

 private:
  void finished(const TablePoint& point) {
    if (events_.place) {
      const std::filesystem::path place = events_.place(point.number);
      if (!place.empty()) {
        TablePoint bounded = point;
        add_surrogate_slack(bounded.measured, run_.job.table.surrogate_slack);
        save_model(place / model_name(point.number), point_model(bounded, run_));
      }
    }
    if (events_.finished) events_.finished(point.number);
  }

  CurveRun run_;
  CurveEvents events_;
  Dataset data_;
  TableCurveOptions options_;
  AlphaPrior prior_{};
  TableCurveHooks hooks_;
  std::optional<TableDomain> domain_;
};

}  // namespace

std::vector<LimitPoint> limit_points(const TableCurveResult& result) {
  std::vector<LimitPoint> out;
  for (const TablePoint& point : result.points) {
    const AuditReport& audit = point.measured.audit;
    const Estimate& leakage = audit.leakage();
    out.push_back({point.number, point.measured.change.distortion,
                   leakage.interval95.value_or(Interval{leakage.nats, leakage.nats}), audit.upper_end(),
                   audit.inconclusive()});
  }
  return out;
}

std::unique_ptr<CurveTask> make_table_task(CurveRun run, CurveEvents events) {
  return std::make_unique<TableTask>(std::move(run), std::move(events));
}

}  // namespace ppan
