#include "ppan/table/table_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include "ppan/core/parallel.h"
#include "ppan/nn/blas.h"
#include "ppan/model/row_rules.h"
#include "ppan/table/table_bound.h"
#include "ppan/table/table_optimum.h"
#include "ppan/table/table_references.h"

namespace ppan {
namespace {

constexpr std::int64_t kChunkRows = 4096;
constexpr double kSpread = 3;        // exponent of the spacing of budgets: denser where little is given up
constexpr double kMostShare = 0.95;  // last budget, as a share of what the constant release costs
constexpr double kLeastEnd = 0.05;   // of the same: budgets are spread at least up to here
// Numbers that would move by less stay as they are: half a year of a column of ages, and no hiding place.
constexpr double kKeepWithin = 0.05;
constexpr double kOverspent = 0.02;  // of a budget, that is not worth giving back
// Of the distortion a reference was meant to have: calibration on other draws misses it by a few per cent.
constexpr double kReachedShare = 0.85;
constexpr double kOverfitNats = 0.05;
constexpr double kMissedBudget = 0.1;  // share of the budget, and beyond that
constexpr double kMissedMargin = 0.005;
constexpr std::size_t kMostDropped = 6;
constexpr std::int64_t kCalibrationRows = 5000;
constexpr std::int64_t kTrainedDraws = 1'000'000;  // numbers of releases of training rows begin here
constexpr double kLeakageSpread = 2;  // exponent of the spacing of a codebook's leakages: denser near 0

std::uint64_t seed_of(std::uint64_t seed, std::string_view what, std::uint64_t number = 0) {
  return SeededRandom(seed).fork(what, number).next();
}

// All rows through a model, chunk by chunk.
EncodedRows release_all(const TableModel& model, const EncodedRows& rows, RandomSource& random) {
  TableReleaser releaser(model);
  EncodedRows out;
  EncodedRows part;
  std::vector<std::int32_t> which;
  for (std::int64_t first = 0; first < rows.rows; first += kChunkRows) {
    const std::int64_t end = std::min(rows.rows, first + kChunkRows);
    which.resize(static_cast<std::size_t>(end - first));
    std::iota(which.begin(), which.end(), static_cast<std::int32_t>(first));
    releaser.release(take_rows(rows, which), random, part);
    if (first == 0) {
      out = part;
      continue;
    }
    out.rows += part.rows;
    out.bad.insert(out.bad.end(), part.bad.begin(), part.bad.end());
    for (std::size_t c = 0; c < out.columns.size(); ++c) {
      EncodedColumn& to = out.columns[c];
      to.code.insert(to.code.end(), part.columns[c].code.begin(), part.columns[c].code.end());
      to.value.insert(to.value.end(), part.columns[c].value.begin(), part.columns[c].value.end());
    }
  }
  return out;
}

std::vector<ColumnSpec> modelled_specs(const Schema& schema) {
  std::vector<ColumnSpec> specs;
  for (const std::string& name : schema.modelled_columns()) {
    if (const ColumnSpec* spec = schema.find(name)) specs.push_back(*spec);
  }
  return specs;
}

// Rows of a column of numbers as an attacker reads them.
AuditColumn number_column(const TableColumn& column, const std::vector<std::int32_t>& which) {
  Vector<double> number(static_cast<Index>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i)
    number[static_cast<Index>(i)] = column.number[static_cast<std::size_t>(which[i])];
  return column_of_numbers(column.name, number);
}

void check_constraints(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                       std::vector<std::string>& notices) {
  const ConstraintCount count = count_constraints(rows, schema, encoding);
  ProblemList problems;
  for (std::size_t i = 0; i < count.each.size(); ++i) {
    problems.require(count.each[i] > 0, "release.constraints",
                     fmt::format("no row meets '{}'", schema.constraints[i]));
    if (count.each[i] < count.rows && count.each[i] > 0) {
      notices.push_back(fmt::format("{} of {} rows break '{}'; released rows will not",
                                    count.rows - count.each[i], count.rows, schema.constraints[i]));
    }
  }
  problems.require(count.all > 0, "release.constraints", "no row meets all of them");
  require_none(problems.take(), "these constraints cannot be kept:", ErrorCode::kBadInput);
}

bool observes_useful(const Schema& schema) {
  const auto& observed = schema.observed_columns();
  return std::all_of(schema.useful.begin(), schema.useful.end(), [&](const std::string& name) {
    return std::find(observed.begin(), observed.end(), name) != observed.end();
  });
}

// `points` budgets between `least`, what rounding to the grids costs, and `end`, where nothing is left to hide.
std::vector<double> spread_budgets(int points, double least, double end) {
  std::vector<double> budgets;
  for (int i = 1; i <= points; ++i) {
    budgets.push_back(least + (end - least) * std::pow(static_cast<double>(i) / (points + 1), kSpread));
  }
  return budgets;
}

EncodedRows useful_columns(const EncodedRows& rows, const Schema& schema, const Encoding& encoding) {
  EncodedRows out;
  out.rows = rows.rows;
  out.bad.assign(static_cast<std::size_t>(rows.rows), 0);
  for (const std::int32_t column : encoding.indices_of(schema.useful)) {
    out.which.push_back(column);
    out.columns.push_back(rows.columns[rows.position_of(column)]);
  }
  return out;
}

// The leakage that attackers found who learned from held-out rows alone.
double found_without_training_rows(const AuditReport& audit) {
  double most = 0;
  bool any = false;
  for (const AttackerScore& score : audit.attributes.front().attackers) {
    if (score.name.find("held-out rows only") == std::string::npos) continue;
    most = std::max(most, score.leakage.interval95->low);
    any = true;
  }
  return any ? most : audit.leakage().interval95->low;
}

// Leakages between `least` and `most`, falling; half a step inside both ends.
std::vector<double> spread_leakages(int points, double least, double most) {
  std::vector<double> leakages;
  for (int i = 0; i < points; ++i) {
    const double share = std::pow((points - i - 0.5) / points, kLeakageSpread);
    leakages.push_back(least + share * std::max(0.0, most - least));
  }
  return leakages;
}

class Run {
 public:
  Run(const Table& table, const Schema& schema, const EncodingOptions& encoding,
      const TableCurveOptions& options, const TableCurveHooks& hooks)
      : options_(options), hooks_(hooks) {
    result_.given = options;
    std::vector<std::string> names;
    for (const TableColumn& column : table.columns) names.push_back(column.name);
    result_.schema = schema.in_order_of(names);
    result_.rows = table.rows;
    phase("encoding");
    result_.encoding = fit_encoding(table, modelled_specs(result_.schema), encoding);
    result_.split =
        split_rows(table, result_.schema, options.validation, options.test, seed_of(options.seed, "split"));
    std::vector<std::int32_t> every(result_.encoding.columns.size());
    std::iota(every.begin(), every.end(), 0);
    EncodedRows all;
    Encoder(result_.encoding).encode(table, every, UnknownRow::kNearest, all);
    check_constraints(all, result_.schema, result_.encoding, result_.notices);
    train_ = take_rows(all, result_.split.train);
    // Rows that no choice was made on are as good as test rows.
    std::vector<std::int32_t> held_out = result_.split.test;
    // A codebook is steered by the validation rows.
    if (options.training.restarts == 1 && options.training.family != MechanismFamily::kCodebook) {
      held_out.insert(held_out.end(), result_.split.validation.begin(), result_.split.validation.end());
      std::sort(held_out.begin(), held_out.end());
    }
    const Units unit = row_units(table, result_.schema);
    held_out_ = part(table, all, unit, held_out);
    validation_ = part(table, all, unit, result_.split.validation);
    // As many training rows as held-out ones, so that attackers have the same chances on both.
    std::vector<std::int32_t> sample = result_.split.train;
    SeededRandom random(seed_of(options.seed, "training-sample"));
    shuffle(random, sample);
    sample.resize(std::min(sample.size(), held_out.size()));
    std::sort(sample.begin(), sample.end());
    train_sample_ = part(table, all, unit, sample);
    trained_ = part(table, all, unit, result_.split.train);
    recipient_ = RecipientMeasure(train_, held_out_.rows, result_.encoding.indices_of(result_.schema.useful),
                                  result_.encoding);
    grid_cost_ =
        measure_change(train_, useful_columns(train_, result_.schema, result_.encoding), result_.encoding).distortion;
  }

  TableCurveResult run() {
    const BlasThreads one(1);  // the points run side by side
    const TableModel constant = constant_model(result_.schema, result_.encoding, train_);
    SeededRandom random(1);
    result_.most_distortion =
        measure_change(train_, release_all(constant, train_, random), result_.encoding).distortion;
    result_.planned = planned_points(options_);
    constant_model_ = constant;
    measure_power();
    if (options_.training.family == MechanismFamily::kCodebook) {
      codebook_points(constant);
    } else if (options_.training.family == MechanismFamily::kHeads) {
      heads_points(constant);
    } else {
      game_points(constant);
    }
    if (!stopped() && options_.references) references();
    time_sharing();
    optimum();
    complete();
    result_.interrupted = stopped();
    return std::move(result_);
  }

 private:
  // What needs no training.
  void measure_ends(const TableModel& constant, std::int64_t which) {
    if (which == 0) {
      result_.constant = measure_model("reference/constant", "the same row for everybody", constant);
    } else if (observes_useful(result_.schema)) {
      result_.unchanged =
          measure_model("reference/unchanged", "as it is", unchanged_model(result_.schema, result_.encoding));
    }
  }

  // What a training for a budget gives.
  struct TrainedPart {
    TableComponent component;
    double belief = 0;
    TrainSummary summary;
  };
  using Trainer = std::function<TrainedPart(double budget, std::uint64_t seed, const Observer& watch)>;

  void game_points(const TableModel& constant) {
    const TableGame game = make_game(train_, result_.schema, result_.encoding, options_.training);
    result_.mechanism = to_string(game.kind);
    phase("learning the table");
    const TableStart start =
        train_start(game, options_.training, seed_of(options_.seed, "start"), {observer(0)});
    budget_points(constant, [&](double budget, std::uint64_t seed, const Observer& watch) {
      TrainedMechanism trained = train_point(game, start, budget, options_.training, seed, {watch});
      TrainedPart out{.component = {}, .belief = trained.belief, .summary = std::move(trained.summary)};
      out.component.kind = ComponentKind::kTrained;
      out.component.mechanism = trained.mechanism;
      out.component.parameters = std::move(trained.parameters);
      if (trained.mechanism.kind == MechanismKind::kNoiseInput) out.component.keep_within = kKeepWithin;
      return out;
    });
  }

  void heads_points(const TableModel& constant) {
    result_.mechanism = to_string(MechanismFamily::kHeads);
    phase("learning the table");
    const HeadsStart start = start_heads(train_, result_.schema, result_.encoding, options_.heads,
                                         seed_of(options_.seed, "start"));
    budget_points(constant, [&](double budget, std::uint64_t seed, const Observer& watch) {
      TrainedHeads trained = train_heads(start, budget, options_.heads, seed, {watch});
      TrainedPart out{.component = {}, .belief = trained.belief, .summary = std::move(trained.summary)};
      out.component.kind = ComponentKind::kHeads;
      out.component.heads = std::make_shared<const Heads>(std::move(trained.heads));
      return out;
    });
  }

  // Points of rising distortion.
  void budget_points(const TableModel& constant, const Trainer& trainer) {
    const bool spread = options_.budgets.empty();
    // The ends, and the last point: it may spend almost everything and stops where nothing is
    // left to hide. The budgets of the others are spread up to there.
    std::optional<TablePoint> end;
    parallel_for(3, thread_count(options_.threads), [&](std::int64_t i) {
      if (stopped()) return;
      if (i == 0 && spread) {
        end = point(trainer, result_.planned, kMostShare * result_.most_distortion);
      } else if (i > 0) {
        measure_ends(constant, i - 1);
      }
    });
    std::vector<double> budgets = options_.budgets;
    if (end) {
      budgets = spread_budgets(
          result_.planned - 1, grid_cost_,
          std::clamp(end->measured.change.distortion, kLeastEnd * result_.most_distortion, end->budget));
    }
    std::sort(budgets.begin(), budgets.end());
    std::vector<std::optional<TablePoint>> points(budgets.size());
    parallel_for(static_cast<std::int64_t>(budgets.size()), thread_count(options_.threads),
                 [&](std::int64_t i) {
                   if (stopped()) return;
                   points[static_cast<std::size_t>(i)] =
                       point(trainer, static_cast<int>(i) + 1, budgets[static_cast<std::size_t>(i)]);
                 });
    if (end) points.push_back(std::move(end));
    for (auto& finished : points) {
      if (finished) result_.points.push_back(std::move(*finished));
    }
  }

  // Points of falling leakage, each from the codebook that hides nothing.
  void codebook_points(const TableModel& constant) {
    result_.mechanism = to_string(MechanismFamily::kCodebook);
    phase("learning the table");
    codebook_shape_ = codebook_shape(train_, result_.schema, result_.encoding, options_.codebook);
    codebook_train_ = codebook_rows(train_, result_.schema, result_.encoding, codebook_shape_);
    codebook_held_out_ = codebook_rows(validation_.rows, result_.schema, result_.encoding, codebook_shape_);
    const CodebookStart start =
        train_codebook_start(codebook_train_, codebook_held_out_, codebook_shape_, options_.codebook,
                             seed_of(options_.seed, "start"), {observer(0)});
    std::vector<double> leakages = options_.leakages;
    if (leakages.empty()) leakages = spread_leakages(result_.planned, start.kept_leakage, start.leakage);
    std::sort(leakages.rbegin(), leakages.rend());
    std::vector<std::optional<TablePoint>> points(leakages.size());
    const auto jobs = static_cast<std::int64_t>(leakages.size()) + 2;
    parallel_for(jobs, thread_count(options_.threads), [&](std::int64_t i) {
      if (stopped()) return;
      if (i < 2) {
        measure_ends(constant, i);
        return;
      }
      const auto index = static_cast<std::size_t>(i - 2);
      points[index] = codebook_point(start, static_cast<int>(index) + 1, leakages[index]);
    });
    for (auto& finished : points) {
      if (finished) result_.points.push_back(std::move(*finished));
    }
  }

  std::optional<TablePoint> codebook_point(const CodebookStart& start, int number, double leakage) {
    phase(fmt::format("point {}", number));
    const auto begin = std::chrono::steady_clock::now();
    TablePoint out{.number = number};
    TrainedCodebook trained = train_codebook(
        codebook_train_, codebook_held_out_, start, leakage, options_.codebook,
        seed_of(options_.seed, "point", static_cast<std::uint64_t>(number) * 1000), {observer(number)});
    if (stopped()) return std::nullopt;
    TableComponent component;
    component.kind = ComponentKind::kCodebook;
    component.label = fmt::format("point {}", number);
    component.codebook = std::make_shared<const Codebook>(finish_codebook(
        trained, train_, codebook_train_, codebook_shape_, result_.encoding, options_.codebook));
    out.model = TableModel(result_.schema, result_.encoding, {std::move(component)});
    out.training = std::move(trained.summary);
    out.training_belief = trained.belief;
    // It was steered by leakage; what it may change is what it changes.
    out.budget =
        measure_change(train_sample_.rows, releases(*out.model)(train_sample_.rows, 0), result_.encoding).distortion;
    finish_point(out, begin);
    return out;
  }

  void phase(const std::string& what) const {
    if (hooks_.phase) hooks_.phase(what);
  }
  bool stopped() {
    if (!stopped_ && hooks_.interrupted && hooks_.interrupted()) stopped_ = true;
    return stopped_;
  }
  Observer observer(int number) {
    return [this, number](const EpochReport& report) {
      if (hooks_.epoch) hooks_.epoch(number, report);
      return Verdict{stopped(), "interrupted"};
    };
  }

  // Rows that something is measured on, with what goes with them.
  struct Part {
    EncodedRows rows;
    Units unit;
    std::vector<AuditColumn> kept;
  };
  Part part(const Table& table, const EncodedRows& all, const Units& unit,
            const std::vector<std::int32_t>& which) const {
    Part out{take_rows(all, which), {}, {}};
    if (!unit.empty()) {
      for (const std::int32_t row : which) out.unit.push_back(unit[static_cast<std::size_t>(row)]);
    }
    for (const std::string& name : result_.schema.kept_columns()) {
      const TableColumn* column = table.find(name);
      if (column == nullptr) continue;
      out.kept.push_back(is_numeric(column->type) ? number_column(*column, which)
                                                  : audit_column(*column, which));
    }
    return out;
  }

  // One release of some rows, told apart by its number.
  using Releases = std::function<EncodedRows(const EncodedRows&, std::int64_t)>;

  // What the attackers find of planted leaks in these rows, whatever the mechanism: planted once for all of
  // them, into the table as it is.
  void measure_power() {
    phase("planting leaks to see what would be found");
    LeakageOptions options = leakage_options();
    options.measure_power = true;
    options.quick = true;
    options.training_releases = 1;
    const TrainedRows trained{trained_.rows, [this](std::int64_t) { return useful(trained_.rows); }, trained_.kept};
    const AuditReport report = measure_leakage({.rows = held_out_.rows,
                                                .schema = result_.schema,
                                                .encoding = result_.encoding,
                                                .release = [this](std::int64_t) { return useful(held_out_.rows); },
                                                .kept = held_out_.kept,
                                                .unit = held_out_.unit,
                                                .trained = &trained},
                                               options);
    for (const AttributeAudit& attribute : report.attributes) {
      if (attribute.power) power_.push_back(*attribute.power);
    }
  }

  [[nodiscard]] EncodedRows useful(const EncodedRows& rows) const {
    return useful_columns(rows, result_.schema, result_.encoding);
  }

  [[nodiscard]] LeakageOptions leakage_options() const {
    LeakageOptions options = options_.leakage;
    options.seed = seed_of(options_.seed, "attack", options_.leakage.seed);
    options.known_power = power_;
    return options;
  }

  // Attackers of held-out rows learn from releases of the training rows as well.
  AuditReport leakage(const Part& part, const Releases& release, LeakageDetail detail = LeakageDetail::kNumber,
                      const TableModel* model = nullptr) {
    const LeakageOptions options = leakage_options();
    const TrainedRows trained{
        trained_.rows, [&](std::int64_t number) { return release(trained_.rows, number + kTrainedDraws); },
        trained_.kept};
    LeakageInput input{.rows = part.rows,
                       .schema = result_.schema,
                       .encoding = result_.encoding,
                       .release = [&](std::int64_t number) { return release(part.rows, number); },
                       .kept = part.kept,
                       .unit = part.unit};
    if (&part == &held_out_) input.trained = &trained;
    if (model != nullptr) {
      input.upper_bounds = [&](const EncodedRows& rows, const AttackTarget& target) {
        return table_upper_bounds(*model, rows, {target.code, target.levels, !target.continuous},
                                  {.seed = seed_of(options_.seed, "upper-bound")});
      };
    }
    return measure_leakage(input, options, detail);
  }

  Releases releases(const TableModel& model) const {
    return [this, &model](const EncodedRows& rows, std::int64_t number) {
      SeededRandom random =
          SeededRandom(options_.seed).fork("measured-release", static_cast<std::uint64_t>(number));
      return release_all(model, rows, random);
    };
  }

  // `release` releases any rows once.
  std::vector<TaskScore> tasks(const std::function<EncodedRows(const EncodedRows&)>& release) const {
    if (result_.schema.task.empty()) return {};
    return measure_tasks({train_, release(train_), held_out_.rows, release(held_out_.rows)}, result_.schema,
                         result_.encoding, {.seed = seed_of(options_.seed, "task")});
  }

  MeasuredRelease measure(std::string series, std::string label, const Releases& release) {
    MeasuredRelease out{std::move(series), std::move(label)};
    const EncodedRows released = release(held_out_.rows, 0);
    out.change = measure_change(held_out_.rows, released, result_.encoding);
    out.recipient = recipient_.measure(released);
    out.audit = leakage(held_out_, release);
    return out;
  }
  MeasuredRelease measure_model(std::string series, std::string label, const TableModel& model) {
    phase(label);
    MeasuredRelease out{std::move(series), std::move(label)};
    const Releases release = releases(model);
    const EncodedRows released = release(held_out_.rows, 0);
    out.change = measure_change(held_out_.rows, released, result_.encoding);
    out.recipient = recipient_.measure(released);
    out.audit = leakage(held_out_, release, LeakageDetail::kWhole, &model);
    out.upper = out.audit.upper_bound();
    out.task = tasks([&](const EncodedRows& rows) { return release(rows, 0); });
    return out;
  }

  // Where little may change, training cannot hit the budget: a number either stays on its grid or moves by a
  // whole step. What was spent too much on training rows is given back by leaving some rows as they are, by a
  // hidden coin, which by convexity leaks no more than the straight line to "unchanged".
  void hold_to_budget(TablePoint& point) {
    if (!observes_useful(result_.schema)) return;
    const double spent =
        measure_change(train_sample_.rows, releases(*point.model)(train_sample_.rows, 0), result_.encoding)
            .distortion;
    if (spent <= point.budget * (1 + kOverspent) || spent <= grid_cost_) return;
    const double share = std::clamp((point.budget - grid_cost_) / (spent - grid_cost_), 0.0, 1.0);
    point.model = mix(*point.model, unchanged_model(result_.schema, result_.encoding), 1 - share);
  }

  std::optional<TablePoint> point(const Trainer& trainer, int number, double budget) {
    phase(fmt::format("point {}", number));
    const auto begin = std::chrono::steady_clock::now();
    TablePoint out{.number = number, .budget = budget};
    double best = 0;
    for (int restart = 0; restart < options_.training.restarts; ++restart) {
      const auto stream = static_cast<std::uint64_t>(number) * 1000 + static_cast<std::uint64_t>(restart);
      TrainedPart trained = trainer(std::max(0.0, budget - grid_cost_), seed_of(options_.seed, "point", stream),
                                    observer(number));
      if (stopped()) return std::nullopt;
      trained.component.label = fmt::format("point {}", number);
      TableModel model(result_.schema, result_.encoding, {std::move(trained.component)});
      if (options_.training.restarts > 1) {
        // Leakage and what is spent above the budget, at the rate of the straight line to the constant.
        const Releases release = releases(model);
        const double spent =
            measure_change(validation_.rows, release(validation_.rows, 0), result_.encoding).distortion;
        const AuditReport found = leakage(validation_, release);
        const double loss =
            found.leakage().nats + found.entropy() / result_.most_distortion * std::max(0.0, spent - budget);
        if (out.model && loss >= best) continue;
        best = loss;
      }
      out.model = std::move(model);
      out.training = std::move(trained.summary);
      out.training_belief = trained.belief;
    }
    hold_to_budget(out);
    finish_point(out, begin);
    return out;
  }

  // Measures a trained point and hands it on.
  void finish_point(TablePoint& out, std::chrono::steady_clock::time_point begin) {
    if (!out.training.epochs.empty()) out.training_distortion = out.training.epochs.back().mean.distortion;
    out.measured = measure_model("ppan/table", fmt::format("point {}", out.number), *out.model);
    out.measured.budget = out.budget;
    out.training_leakage = leakage(train_sample_, releases(*out.model)).leakage();
    out.warnings = point_warnings(out);
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (hooks_.finished) {
      const std::scoped_lock lock(finished_);
      hooks_.finished(out);
    }
  }

  struct NoiseReference {
    const char* series;
    NoisyColumns noisy;
  };
  // Every column by the noise that fits it; in a table of both kinds, each kind of noise by itself as well.
  std::vector<NoiseReference> noise_references(const std::vector<std::int32_t>& columns) const {
    const auto numbers = std::count_if(columns.begin(), columns.end(), [&](std::int32_t column) {
      return result_.encoding.columns[static_cast<std::size_t>(column)].numeric();
    });
    std::vector<NoiseReference> out{{"reference/noise", NoisyColumns::kEvery}};
    if (numbers > 0 && numbers < static_cast<std::ptrdiff_t>(columns.size())) {
      out.push_back({"reference/randomized-response", NoisyColumns::kCategories});
      out.push_back({"reference/gaussian-noise", NoisyColumns::kNumbers});
    }
    return out;
  }

  // Nothing if this noise cannot cost as much: then there is nothing to compare at that distortion.
  std::optional<MeasuredRelease> noise(const NoiseReference& reference,
                                       const std::vector<std::int32_t>& columns, const EncodedRows& some,
                                       double distortion) {
    const double strength = noise_strength(some, columns, result_.encoding, distortion,
                                           seed_of(options_.seed, "calibration"), reference.noisy);
    const auto release = [&](const EncodedRows& rows, std::int64_t number) {
      SeededRandom random = SeededRandom(options_.seed).fork("noise", static_cast<std::uint64_t>(number));
      return add_noise(rows, columns, result_.encoding, strength, random, reference.noisy);
    };
    const double reached =
        measure_change(held_out_.rows, release(held_out_.rows, 0), result_.encoding).distortion;
    if (reached < kReachedShare * distortion) return std::nullopt;
    MeasuredRelease out =
        measure(reference.series, fmt::format("noise of strength {:.3g}", strength), release);
    out.budget = distortion;
    out.task = tasks([&](const EncodedRows& rows) {
      SeededRandom random = SeededRandom(options_.seed).fork("noise", 0);
      return add_noise(rows, columns, result_.encoding, strength, random, reference.noisy);
    });
    return out;
  }

  // Noise at the distortion of every point, and columns dropped one after the other.
  void references() {
    phase("references");
    const std::vector<std::int32_t> columns = result_.encoding.indices_of(result_.schema.useful);
    if (!observes_useful(result_.schema)) return;
    const std::vector<std::int32_t> order = by_leakage(train_, columns, result_.schema, result_.encoding);
    std::vector<std::int32_t> first(
        static_cast<std::size_t>(std::min(held_out_.rows.rows, kCalibrationRows)));
    std::iota(first.begin(), first.end(), 0);
    const EncodedRows some = take_rows(held_out_.rows, first);
    const std::vector<NoiseReference> noises = noise_references(columns);
    const std::size_t noisy = noises.size() * result_.points.size();
    const std::size_t dropped = std::min(order.size() - 1, kMostDropped);
    std::vector<std::optional<MeasuredRelease>> out(noisy + dropped);
    parallel_for(static_cast<std::int64_t>(out.size()), thread_count(options_.threads), [&](std::int64_t i) {
      if (stopped()) return;
      const auto index = static_cast<std::size_t>(i);
      if (index < noisy) {
        out[index] = noise(noises[index / result_.points.size()], columns, some,
                           result_.points[index % result_.points.size()].measured.change.distortion);
        return;
      }
      const std::span<const std::int32_t> gone(order.data(), index - noisy + 1);
      std::vector<std::string> names;
      for (const std::int32_t column : gone)
        names.push_back(result_.encoding.columns[static_cast<std::size_t>(column)].name);
      MeasuredRelease dropped_release = measure(
          "reference/dropped", fmt::format("without {}", fmt::join(names, ", ")),
          [&](const EncodedRows& rows, std::int64_t) {
            return drop_columns(rows, columns, gone, result_.encoding);
          });
      dropped_release.task =
          tasks([&](const EncodedRows& rows) { return drop_columns(rows, columns, gone, result_.encoding); });
      out[index] = std::move(dropped_release);
    });
    for (auto& measured : out) {
      if (measured) result_.references.push_back(std::move(*measured));
    }
  }

  // Unchanged with some probability, otherwise the constant: both numbers fall along a straight line.
  void time_sharing() {
    if (!result_.unchanged || !result_.constant) return;
    const double most = result_.constant->change.distortion;
    if (most <= 0) return;
    for (const TablePoint& point : result_.points) {
      const double share = std::clamp(1 - point.measured.change.distortion / most, 0.0, 1.0);
      MeasuredRelease out{"reference/time-sharing", fmt::format("unchanged with probability {:.3f}", share)};
      out.budget = most * (1 - share);
      out.change = result_.constant->change;
      out.change.distortion *= 1 - share;
      out.change.changed *= 1 - share;
      for (ColumnChange& column : out.change.columns) {
        column.changed *= 1 - share;
        column.distortion *= 1 - share;
        column.rms_error *= std::sqrt(1 - share);
      }
      const auto scaled = [share](Estimate estimate) {
        estimate.nats *= share;
        if (estimate.interval95)
          estimate.interval95 = {estimate.interval95->low * share, estimate.interval95->high * share};
        estimate.method = "a share of the unchanged release's; " + estimate.method;
        return estimate;
      };
      const AuditReport& whole = result_.unchanged->audit;
      for (const AttributeAudit& attribute : whole.attributes) {
        AttributeAudit& to = out.audit.attributes.emplace_back();
        to.name = attribute.name;
        to.entropy = attribute.entropy;
        to.leakage = scaled(attribute.leakage);
        to.upper_end = share * attribute.upper_end;
        to.power = attribute.power;
      }
      if (whole.joint)
        out.audit.joint = JointAudit{whole.joint->names,  scaled(whole.joint->leakage),  whole.joint->entropy, false, {},
                                     share * whole.joint->upper_end};
      result_.references.push_back(std::move(out));
    }
  }

  // Where the table is small enough for the exact optimum: beside each point, and on a line of its own.
  void optimum() {
    if (!result_.schema.kept_columns().empty()) return;  // what is kept tells as well
    const auto exact = TableOptimum::fit(train_, result_.schema, result_.encoding);
    if (!exact) return;
    phase("the exact optimum");
    for (TablePoint& point : result_.points) {
      const auto mechanism = exact->mechanism_of(*point.model);
      const double distortion = mechanism ? exact->distortion(*mechanism) : point.measured.change.distortion;
      const theory::ConvexSolution best = exact->at(distortion);
      point.optimum = best.leakage;
      point.excess = (mechanism ? exact->leakage(*mechanism) : point.measured.audit.leakage().nats) - best.leakage;
      MeasuredRelease out{"reference/optimum", "the least leakage of any mechanism, for the rows of the table"};
      out.budget = distortion;
      out.change.distortion = best.distortion;
      AttributeAudit& to = out.audit.attributes.emplace_back();
      to.name = point.measured.audit.attributes.front().name;
      to.entropy = point.measured.audit.entropy();
      to.leakage = {.nats = best.leakage,
                    .interval95 = std::nullopt,
                    .bound = Bound::kExact,
                    .method = fmt::format("exact for the empirical distribution of {} rows, within {:.1g} nats",
                                          train_.rows, std::max(best.gap(), 1e-12)),
                    .samples = train_.rows};
      to.upper_end = best.leakage;
      result_.references.push_back(std::move(out));
    }
  }

  // Hull, dominated points, and the warnings of all points together.
  void complete() {
    const std::vector<HullPoint> points = result_.hull_points();
    const std::size_t before = result_.unchanged ? 1 : 0;
    for (std::size_t i = 0; i < result_.points.size(); ++i) {
      TablePoint& point = result_.points[i];
      std::vector<HullPoint> others = points;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(before + i));
      const Estimate& found = point.measured.audit.leakage();
      point.dominated = is_dominated(
          {point.measured.change.distortion, found.interval95 ? found.interval95->low : found.nats}, others);
      if (result_.unchanged) {
        for (const std::string& task : inflated_tasks(result_.unchanged->task, point.measured.task)) {
          point.warnings.push_back(fmt::format(
              "point {}: the release predicts '{}' better than the original does; a finding on released rows "
              "would be inflated",
              point.number, task));
        }
      }
      result_.warnings.insert(result_.warnings.end(), point.warnings.begin(), point.warnings.end());
    }
    for (const std::size_t index : lower_hull(points)) {
      MeasuredRelease vertex = index < before ? *result_.unchanged
                               : index - before < result_.points.size()
                                   ? result_.points[index - before].measured
                                   : *result_.constant;
      vertex.series = "ppan/hull";
      vertex.budget = vertex.change.distortion;
      result_.hull.push_back(std::move(vertex));
    }
    result_.constant_model = constant_model_;
  }

  TableCurveOptions options_;
  const TableCurveHooks& hooks_;
  TableCurveResult result_;
  EncodedRows train_;
  CodebookShape codebook_shape_;
  CodebookRows codebook_train_;
  CodebookRows codebook_held_out_;
  Part validation_;
  Part held_out_;
  Part train_sample_;
  Part trained_;
  RecipientMeasure recipient_;
  double grid_cost_ = 0;  // distortion of the table as it is, rounded to the grids
  std::vector<AttackPower> power_;
  std::optional<TableModel> constant_model_;
  std::atomic<bool> stopped_ = false;
  std::mutex finished_;
};

}  // namespace

Problems TableCurveOptions::check() const {
  ProblemList list;
  list.require_between("points", points, 1, 200);
  list.require(budgets.size() <= 200, "budgets", "must be at most 200");
  for (const double budget : budgets) list.require_at_least("budgets", budget, 0);
  list.add("training", training.check());
  list.add("codebook", codebook.check());
  list.add("heads", heads.check());
  const bool by_leakage = training.family == MechanismFamily::kCodebook;
  list.require(by_leakage ? budgets.empty() : leakages.empty(), by_leakage ? "budgets" : "leakages",
               "belong to another family of mechanisms");
  list.require(leakages.size() <= 200, "leakages", "must be at most 200");
  for (const double each : leakages) list.require_at_least("leakages", each, 0);
  list.require_between("validation", validation, 0, 0.5);
  list.require_between("test", test, 0.01, 0.8);
  list.require(validation + test < 1, "test", "leaves no rows to train on");
  list.require(training.restarts == 1 || validation > 0, "validation",
               "must be above 0 to choose between restarts");
  list.add("leakage", leakage.check());
  list.require_at_least("threads", threads, 0);
  return list.take();
}

TableCurveOptions table_curve_options(const JobFile& job) {
  TableCurveOptions out;
  out.points = static_cast<int>(job.privacy.points);
  out.budgets = job.privacy.budgets;
  out.training.family = job.mechanism.family;
  out.training.hidden.assign(job.mechanism.hidden.begin(), job.mechanism.hidden.end());
  if (job.mechanism.code_size) out.training.code_size = *job.mechanism.code_size;
  out.training.code_radius = job.mechanism.code_radius;
  out.training.noise_inputs = job.mechanism.noise_inputs;
  out.leakages = job.privacy.leakages;
  if (job.mechanism.codewords) out.codebook.codewords = *job.mechanism.codewords;
  out.codebook.hidden = out.training.hidden;
  if (job.train.epochs) out.codebook.epochs = static_cast<int>(*job.train.epochs);
  out.codebook.least_rows = job.encode.min_rows;
  out.codebook.column_weight = job.privacy.usefulness == Usefulness::kTask ? 0 : 1;
  out.codebook.task_weight = job.privacy.usefulness == Usefulness::kColumns ? 0 : job.privacy.task_weight;
  out.heads.hidden = out.training.hidden;
  out.heads.noise_inputs = out.training.noise_inputs;
  if (job.train.epochs) out.heads.epochs = static_cast<int>(*job.train.epochs);
  out.heads.batch = job.train.batch;
  out.heads.adversary_steps = static_cast<int>(job.train.adversary_steps);
  out.heads.rate = job.train.learning_rate;
  out.heads.least_rows = job.encode.min_rows;
  out.heads.task_weight = out.codebook.task_weight;
  out.heads.row_weight = job.privacy.row_weight;
  switch (job.privacy.budget_form) {
    case BudgetChoice::kDual:
      out.training.budget_form = BudgetForm::kDual;
      break;
    case BudgetChoice::kExpected:
      out.training.budget_form = BudgetForm::kExpected;
      break;
    case BudgetChoice::kRecord:
      out.training.budget_form = BudgetForm::kRecord;
      break;
  }
  if (job.train.epochs) out.training.epochs = static_cast<int>(*job.train.epochs);
  out.training.batch = job.train.batch;
  out.training.adversary_steps = static_cast<int>(job.train.adversary_steps);
  out.training.rate = job.train.learning_rate;
  out.training.restarts = static_cast<int>(job.train.restarts);
  out.validation = job.split.validation;
  out.test = job.split.test;
  out.leakage.quick = job.audit.quick;
  out.threads = static_cast<int>(job.train.threads.value_or(0));
  out.seed = static_cast<std::uint64_t>(job.train.seed);
  return out;
}

Units row_units(const Table& table, const Schema& schema) {
  Units unit;
  if (!schema.group) return unit;
  const TableColumn& column = table.at(*schema.group);
  std::map<std::string, std::int32_t> known;
  std::int32_t count = 0;
  for (std::int64_t r = 0; r < table.rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    std::string key;
    if (is_numeric(column.type)) {
      key = std::isnan(column.number[row]) ? std::string() : fmt::format("{}", column.number[row]);
    } else if (column.code[row] != kMissingCode) {
      key = column.level[static_cast<std::size_t>(column.code[row])];
    }
    // A row that names no group stands alone.
    if (key.empty()) {
      unit.push_back(count++);
      continue;
    }
    const auto [at, added] = known.try_emplace(key, count);
    if (added) ++count;
    unit.push_back(at->second);
  }
  return unit;
}

TableSplit split_rows(const Table& table, const Schema& schema, double validation, double test,
                      std::uint64_t seed) {
  const Units unit = row_units(table, schema);
  std::vector<std::vector<std::int32_t>> units;
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(table.rows); ++row) {
    const auto own = static_cast<std::size_t>(unit.empty() ? row : unit[static_cast<std::size_t>(row)]);
    if (own == units.size()) units.emplace_back();
    units[own].push_back(row);
  }
  std::vector<std::int32_t> order(units.size());
  std::iota(order.begin(), order.end(), 0);
  SeededRandom random(seed);
  shuffle(random, order);
  TableSplit split;
  const auto rows = static_cast<double>(table.rows);
  for (const std::int32_t next : order) {
    auto& part = static_cast<double>(split.test.size()) < test * rows               ? split.test
                 : static_cast<double>(split.validation.size()) < validation * rows ? split.validation
                                                                                    : split.train;
    const auto& members = units[static_cast<std::size_t>(next)];
    part.insert(part.end(), members.begin(), members.end());
  }
  for (auto* part : {&split.train, &split.validation, &split.test}) std::sort(part->begin(), part->end());
  if (split.train.empty() || split.test.empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} rows in {} groups cannot be split into training and test rows", table.rows,
                            units.size()),
                "use more rows, or no group column");
  }
  return split;
}

std::vector<HullPoint> TableCurveResult::hull_points() const {
  std::vector<HullPoint> out;
  const auto add = [&](const MeasuredRelease& release) {
    out.push_back({release.change.distortion, release.audit.leakage().nats});
  };
  if (unchanged) add(*unchanged);
  for (const TablePoint& point : points) add(point.measured);
  if (constant) add(*constant);
  return out;
}

TableModel TableCurveResult::model_of(std::size_t index) const {
  if (unchanged) {
    if (index == 0) return unchanged_model(schema, encoding);
    --index;
  }
  if (index < points.size()) return points[index].model.value();
  if (index == points.size() && constant) return constant_model.value();
  throw Error(ErrorCode::kInternal, fmt::format("the curve has no point of index {}", index));
}

TableModel TableCurveResult::model_of(const HullMixture& mixture) const {
  if (mixture.second_weight == 0) return model_of(mixture.first);
  return mix(model_of(mixture.first), model_of(mixture.second), mixture.second_weight);
}

std::vector<std::string> point_warnings(const TablePoint& point) {
  std::vector<std::string> out;
  if (point.training.stop == Stop::kDiverged)
    out.push_back(fmt::format("point {}: {}", point.number, point.training.message));
  // By attackers with as many rows to learn from on both sides, and by more than both intervals leave open.
  const double found = found_without_training_rows(point.measured.audit);
  const double training =
      point.training_leakage.interval95 ? point.training_leakage.interval95->high : point.training_leakage.nats;
  if (found - training > kOverfitNats) {
    out.push_back(fmt::format(
        "point {}: held-out rows leak at least {:.3f} nats, training rows at most {:.3f}: the mechanism overfits "
        "its training rows; use more rows or fewer epochs",
        point.number, found, training));
  }
  if (point.measured.audit.inconclusive()) {
    out.push_back(fmt::format(
        "point {}: attackers were still getting stronger with more rows, so more may leak than they found; use "
        "more rows",
        point.number));
  }
  const double spent = point.measured.change.distortion;
  if (spent > point.budget * (1 + kMissedBudget) + kMissedMargin) {
    out.push_back(fmt::format("point {}: the distortion {:.4f} is above its budget {:.4f}", point.number,
                              spent, point.budget));
  }
  return out;
}

int planned_points(const TableCurveOptions& options) {
  const std::vector<double>& given =
      options.training.family == MechanismFamily::kCodebook ? options.leakages : options.budgets;
  return given.empty() ? options.points : static_cast<int>(given.size());
}

TableCurveResult table_curve(const Table& table, const Schema& schema, const EncodingOptions& encoding,
                             const TableCurveOptions& options, const TableCurveHooks& hooks) {
  require_none(options.check(), "this curve cannot be trained:");
  require_none(schema.check(), "these roles cannot be used:");
  require_none(encoding.check(), "this encoding cannot be made:");
  if (table.rows == 0) throw Error(ErrorCode::kBadInput, "the table has no rows");
  return Run(table, schema, encoding, options, hooks).run();
}

}  // namespace ppan
