#include "ppan/mnist_paper.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/image/train_state_file.h"
#include "ppan/interrupt.h"
#include "ppan/mnist_figures.h"
#include "ppan/model/image_release_model.h"
#include "ppan/output.h"
#include "ppan/paper/mnist.h"
#include "ppan/progress.h"
#include "ppan/read/idx.h"
#include "ppan/source/number.h"
#include "ppan/read/png.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/details.h"
#include "ppan/report/figure.h"
#include "ppan/report/html.h"
#include "ppan/report/pdf.h"
#include "ppan/report/run_summary.h"
#include "ppan/report/terminal.h"

namespace ppan::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kSeries = "ppan/images";
constexpr const char* kCheckpoints = "checkpoint";

std::vector<double> numbers(const std::string& option, const std::string& text) {
  std::vector<double> out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    const std::optional<double> value = parse_shortest(part);
    if (!value || !std::isfinite(*value)) {
      throw Error(ErrorCode::kUsage, fmt::format("{}: '{}' is not a number", option, part),
                  fmt::format("give numbers separated by commas, for example {} 35,20,8", option));
    }
    out.push_back(*value);
    from = comma + 1;
  }
  return out;
}

MnistOptions mnist_options(const MnistPaperOptions& given) {
  MnistOptions options{.preset = preset_of(given.preset)};
  options.paper.gamma = given.gamma.value_or(0);
  options.paper.beta1 = given.beta1;
  const bool paper = options.preset == Preset::kPaper;
  if (paper && !given.budget.empty()) {
    throw Error(ErrorCode::kUsage, "the preset paper has no budgets", "give weights with --lambda");
  }
  if (!paper && !given.lambda.empty()) {
    throw Error(ErrorCode::kUsage, "the preset best has budgets instead of weights",
                "give them with --budget, or add --preset paper");
  }
  if (!paper && given.beta1) {
    throw Error(ErrorCode::kUsage, "--beta1 is of the paper's training", "add --preset paper");
  }
  const std::string& targets = paper ? given.lambda : given.budget;
  if (!targets.empty()) options.targets = numbers(paper ? "--lambda" : "--budget", targets);
  options.points = given.points;
  options.epochs = given.epochs;
  if (given.train) options.train = *given.train;
  if (given.attack_epochs) options.attack.epochs = *given.attack_epochs;
  options.seed = given.seed;
  options.threads = given.threads;
  return options;
}

// What a measurement says, in a file of its own, so that an attack need not be made twice.
json to_json(const Estimate& e) {
  json j{
      {"nats", e.nats}, {"bound", static_cast<int>(e.bound)}, {"method", e.method}, {"samples", e.samples}};
  if (e.interval95) j["interval"] = {e.interval95->low, e.interval95->high};
  return j;
}
Estimate estimate_from(const json& j) {
  Estimate e{.nats = j.at("nats").get<double>(), .bound = static_cast<Bound>(j.at("bound").get<int>())};
  e.method = j.at("method").get<std::string>();
  e.samples = j.at("samples").get<std::int64_t>();
  if (j.contains("interval"))
    e.interval95 = {j["interval"].at(0).get<double>(), j["interval"].at(1).get<double>()};
  return e;
}
json to_json(const ImageAttackerScore& s) {
  json learning = json::array();
  for (const ImageLearning& l : s.learning) learning.push_back({l.images, l.nats});
  return {{"name", s.name},
          {"selection", s.selection},
          {"leakage", to_json(s.leakage)},
          {"accuracy", {s.accuracy.value, s.accuracy.interval95.low, s.accuracy.interval95.high}},
          {"learning", learning}};
}
ImageAttackerScore score_from(const json& j) {
  ImageAttackerScore s{.name = j.at("name").get<std::string>(), .selection = j.at("selection").get<double>()};
  s.leakage = estimate_from(j.at("leakage"));
  const json& a = j.at("accuracy");
  s.accuracy = {a.at(0).get<double>(), {a.at(1).get<double>(), a.at(2).get<double>()}};
  for (const json& l : j.at("learning")) s.learning.push_back({l.at(0).get<Index>(), l.at(1).get<double>()});
  return s;
}
json to_json(const MnistMeasure& m) {
  json j{{"distortion", {m.distortion, m.distortion95.low, m.distortion95.high}},
         {"entropy", m.attack.entropy},
         {"prior_accuracy", m.attack.prior_accuracy},
         {"still_rising", m.attack.still_rising},
         {"unchanged", m.unchanged},
         {"belief", m.belief},
         {"belief_accuracy", m.belief_accuracy},
         {"seconds", m.seconds},
         {"attackers", json::array()},
         {"upper", json::array()}};
  for (const ImageAttackerScore& s : m.attack.attackers) j["attackers"].push_back(to_json(s));
  if (m.attack.code) j["code"] = to_json(*m.attack.code);
  for (const Estimate& e : m.upper) j["upper"].push_back(to_json(e));
  return j;
}
MnistMeasure measure_from(const json& j) {
  MnistMeasure m;
  const json& d = j.at("distortion");
  m.distortion = d.at(0).get<double>();
  m.distortion95 = {d.at(1).get<double>(), d.at(2).get<double>()};
  m.attack.entropy = j.at("entropy").get<double>();
  m.attack.prior_accuracy = j.at("prior_accuracy").get<double>();
  m.attack.still_rising = j.at("still_rising").get<bool>();
  m.unchanged = j.at("unchanged").get<double>();
  m.belief = j.at("belief").get<double>();
  m.belief_accuracy = j.at("belief_accuracy").get<double>();
  m.seconds = j.at("seconds").get<double>();
  for (const json& s : j.at("attackers")) m.attack.attackers.push_back(score_from(s));
  if (j.contains("code")) m.attack.code = score_from(j.at("code"));
  for (const json& e : j.at("upper")) m.upper.push_back(estimate_from(e));
  if (m.attack.attackers.empty()) throw json::other_error::create(500, "no attacker", &j);
  return m;
}

// Files of a run under way.
class Store {
 public:
  Store(fs::path directory, std::string fingerprint, const ImageAttackOptions& attack)
      : directory_(std::move(directory)),
        fingerprint_(std::move(fingerprint)),
        attack_(attack_text(attack)) {}

  [[nodiscard]] MnistStore functions() const {
    return {.load_state = [this](Index i) -> std::optional<TrainState<float>> {
              const fs::path path = state_file(i);
              if (!fs::exists(path)) return std::nullopt;
              return read_train_state(path, fingerprint_of(i));
            },
            .save_state =
                [this](Index i, const TrainState<float>& state) {
                  write_train_state(state_file(i), state, fingerprint_of(i));
                },
            .load_measure = [this](Index i) { return load_measure(i); },
            .save_measure =
                [this](Index i, const MnistMeasure& measure) {
                  json j = to_json(measure);
                  j["fingerprint"] = fingerprint_of(i);
                  j["attack"] = attack_;
                  write_file(measure_file(i), j.dump(1) + "\n");
                }};
  }
  // A checkpoint of other settings must stop the run before anything is trained.
  void check() const {
    for (Index i = -1; i < 1000; ++i) {
      if (fs::exists(state_file(i))) static_cast<void>(read_train_state(state_file(i), fingerprint_of(i)));
    }
  }

 private:
  [[nodiscard]] std::string fingerprint_of(Index i) const {
    return i < 0 ? fingerprint_ + ", start" : fmt::format("{}, point {}", fingerprint_, i + 1);
  }
  [[nodiscard]] fs::path state_file(Index i) const {
    return directory_ / (i < 0 ? "start.training" : fmt::format("point-{:02}.training", i + 1));
  }
  [[nodiscard]] fs::path measure_file(Index i) const {
    return directory_ / fmt::format("point-{:02}.json", i + 1);
  }
  [[nodiscard]] std::optional<MnistMeasure> load_measure(Index i) const {
    const fs::path path = measure_file(i);
    if (!fs::exists(path)) return std::nullopt;
    try {
      const json j = json::parse(read_file(path));
      if (j.at("fingerprint") != fingerprint_of(i) || j.at("attack") != attack_ || !j.contains("belief"))
        return std::nullopt;
      return measure_from(j);
    } catch (const json::exception& error) {
      throw Error(ErrorCode::kBadInput, fmt::format("{} cannot be read: {}", path.string(), error.what()),
                  "remove it; the attack is then made again");
    }
  }

  // What decides how hard a point is attacked: another attack is made anew, on the same trained point.
  static std::string attack_text(const ImageAttackOptions& a) {
    std::string text =
        fmt::format("epochs {}, batch {}, rate {}, releases {}, selection {}, trees {} of {}", a.epochs,
                    a.batch, a.rate, a.releases, a.selection, a.trees, a.tree_images);
    for (const ImageNetworkShape& shape : a.networks)
      text += fmt::format(", {}", fmt::join(shape.hidden, "-"));
    return text + (a.convolution ? ", convolution" : "") + (a.code ? ", code" : "");
  }

  fs::path directory_;
  std::string fingerprint_;
  std::string attack_;
};

std::string gap_text(const MnistPoint& p) {
  return fmt::format("{:+.3f}", p.measure.attack.strongest().leakage.nats - p.measure.belief);
}

std::string model_file(const MnistPoint& p) {
  return fmt::format("point-{:02}.ppan", p.plan + 1);
}

CurveTable curve_of(const MnistResult& result) {
  CurveTable curve;
  curve.more_columns = {"point",        "accuracy",      "belief_accuracy",
                        "time_sharing", "code_attacker", "unchanged_share"};
  const bool paper = result.given.preset == Preset::kPaper;
  for (const MnistPoint& p : result.points) {
    CurveRow row;
    row.series = kSeries;
    (paper ? row.weight : row.budget) = p.target;
    row.distortion = p.measure.distortion;
    row.set(curve_column::kPoint, static_cast<double>(p.plan + 1));
    const ImageAttackerScore& best = p.measure.attack.strongest();
    row.set_leakage(best.leakage);
    if (!p.measure.upper.empty()) row.set(curve_column::kUpperBound, p.measure.upper.front().nats);
    row.set(curve_column::kTrainingDistortion, p.training_distortion);
    row.set(curve_column::kTrainingBelief, p.measure.belief);
    row.set(curve_column::kStop, to_string(p.training.stop));
    row.set("model", model_file(p));
    row.set("accuracy", best.accuracy.value);
    row.set("belief_accuracy", p.measure.belief_accuracy);
    row.set("time_sharing", result.time_sharing(p.measure.distortion));
    if (p.measure.attack.code) row.set("code_attacker", p.measure.attack.code->leakage.nats);
    if (!result.given.code.gate.empty() && !paper) row.set("unchanged_share", p.measure.unchanged);
    curve.rows.push_back(std::move(row));
  }
  const auto reference = [&](const std::string& series, double distortion, double leakage,
                             const std::string& method) {
    CurveRow row;
    row.series = series;
    row.distortion = distortion;
    row.set_leakage({.nats = leakage, .bound = Bound::kExact, .method = method});
    curve.rows.push_back(std::move(row));
  };
  const std::string line = "straight line from H(X) at unchanged to 0 at the mean image";
  reference("reference/time-sharing", result.unchanged_distortion, result.entropy, line);
  for (const MnistPoint& p : result.points) {
    reference("reference/time-sharing", p.measure.distortion, result.time_sharing(p.measure.distortion),
              line);
  }
  reference("reference/time-sharing", result.constant_distortion, 0, line);
  const std::vector<HullPoint> servable = result.servable();
  for (const std::size_t i : lower_hull(servable)) {
    CurveRow row;
    row.series = "ppan/hull";
    row.distortion = servable[i].distortion;
    Estimate leakage{.nats = servable[i].leakage, .bound = Bound::kLower};
    // Unchanged and the mean image, first and last, are known exactly.
    const bool trained = i > 0 && i + 1 < servable.size();
    leakage.interval95 = trained ? result.points[i - 1].measure.attack.strongest().leakage.interval95
                                 : Interval{leakage.nats, leakage.nats};
    leakage.method = "lower convex hull of the points, unchanged and the mean image";
    row.set_leakage(leakage);
    row.set("time_sharing", result.time_sharing(servable[i].distortion));
    curve.rows.push_back(std::move(row));
  }
  return curve;
}

// The completed curve at every hundredth of distortion.
std::string shares_text(const MnistResult& result) {
  std::string text;
  const auto first = static_cast<int>(std::ceil(100 * result.unchanged_distortion));
  for (int i = first; i < 100 * result.constant_distortion; ++i) {
    const std::optional<double> share = result.share_of_time_sharing(i / 100.0);
    if (share) text += fmt::format("{}{:.2f} at {:.2f}", text.empty() ? "" : ", ", *share, i / 100.0);
  }
  return text;
}

std::vector<RunSetting> settings_of(const MnistPaperOptions& given, const MnistResult& result) {
  const MnistOptions& o = result.given;
  const bool paper = o.preset == Preset::kPaper;
  const auto text = [](const auto& value) -> std::optional<std::string> {
    if (!value) return std::nullopt;
    return fmt::format("{}", *value);
  };
  const auto word = [](const std::string& value) -> std::optional<std::string> {
    if (value.empty()) return std::nullopt;
    return value;
  };
  std::vector<RunSetting> list{
      {"preset", given.preset, given.preset},
      {paper ? "lambda" : "budget", word(paper ? given.lambda : given.budget),
       fmt::format("{}", fmt::join(result.targets, ", "))},
      {"epochs", text(given.epochs), fmt::format("{}", mnist_epochs(o))},
      {"training images", text(given.train), fmt::format("{}", result.train_images)},
      {"test images", {}, fmt::format("{}", result.test_images)},
      {"seed", fmt::format("{}", o.seed), fmt::format("{}", o.seed)},
      {"attack epochs", text(given.attack_epochs), fmt::format("{}", o.attack.epochs)},
  };
  if (paper) {
    list.push_back({"gamma", text(given.gamma), fmt::format("{}", o.paper.gamma)});
    list.push_back({"mechanism",
                    {},
                    fmt::format("noise-input, {} tanh, {} noise inputs", fmt::join(o.paper.hidden, "-"),
                                o.paper.noise_inputs)});
    list.push_back({"adversary", {}, fmt::format("{} tanh, 1 step", fmt::join(o.paper.adversary, "-"))});
    list.push_back({"batch", {}, fmt::format("{}", o.paper.batch)});
    list.push_back({"rate", {}, fmt::format("{}", o.paper.rate)});
    list.push_back({"beta1", text(given.beta1), fmt::format("{}", o.paper.beta1_used())});
  } else {
    list.push_back({"mechanism",
                    {},
                    fmt::format("noisy code, encoder {} relu, code {}, R {}, decoder {} relu",
                                fmt::join(o.code.encoder, "-"), o.code.code, o.code.radius,
                                fmt::join(o.code.decoder, "-"))});
    list.push_back({"adversary",
                    {},
                    fmt::format("{} relu on the code, {} steps", fmt::join(o.code.adversary, "-"),
                                o.code.adversary_steps)});
    list.push_back(
        {"gate",
         {},
         o.code.gate.empty() ? std::string("none") : fmt::format("{} relu", fmt::join(o.code.gate, "-"))});
    list.push_back({"price of the code", {}, fmt::format("{}", o.code.code_weight)});
    list.push_back({"autoencoder epochs", {}, fmt::format("{}", o.code.start_epochs)});
    list.push_back({"batch", {}, fmt::format("{}", o.code.batch)});
    list.push_back({"rate", {}, fmt::format("{}", o.code.rate)});
  }
  return list;
}

// The point as a model that `ppan release` takes.
void write_point_model(const fs::path& path, const MnistPoint& p, const ImageSplit& data,
                       const MnistResult& result) {
  ImageReleaseModel model{.images = p.model, .class_names = data.train.class_names};
  ModelOrigin& origin = model.origin;
  origin.program = fmt::format("ppan {}", PPAN_VERSION);
  origin.title = "mnist";
  origin.label = fmt::format("point {}", p.plan + 1);
  if (result.given.preset == Preset::kBest) origin.budget = p.target;
  origin.distortion = p.measure.distortion;
  origin.leakage = p.measure.attack.strongest().leakage;
  origin.stop = to_string(p.training.stop);
  origin.epochs = static_cast<int>(p.training.epochs.size());
  origin.iterations = p.training.iterations;
  origin.seed = result.given.seed;
  origin.training_rows = result.train_images;
  origin.test_rows = result.test_images;
  save_model(path, model);
}

AuditDetail audit_of(const MnistPoint& p) {
  AuditDetail audit;
  audit.target = "digit";
  const ImageAttack& attack = p.measure.attack;
  audit.leakage = attack.strongest().leakage;
  if (!p.measure.upper.empty()) audit.upper_bound = p.measure.upper.front();
  const auto rate = [](const Rate& r) { return SuccessRate{r.value, r.interval95}; };
  audit.accuracy = rate(attack.strongest().accuracy);
  audit.prior_accuracy = attack.prior_accuracy;
  audit.inconclusive = attack.still_rising;
  audit.note =
      fmt::format("The training adversary believed {:.3f} nats; the difference to what was found is {}.",
                  p.measure.belief, gap_text(p));
  if (p.measure.unchanged > 0) {
    audit.note += fmt::format(
        " {:.1f} % of the images are released as they are, those that are costly to hide; whoever sees one "
        "is "
        "taken to know its digit.",
        100 * p.measure.unchanged);
  }
  for (const ImageAttackerScore& s : attack.attackers) {
    AttackerDetail detail{.name = s.name, .leakage = s.leakage, .accuracy = rate(s.accuracy)};
    detail.won = &s == &attack.attackers.front();
    for (const ImageLearning& l : s.learning) detail.learning_curve.push_back({l.images, l.nats});
    audit.attackers.push_back(std::move(detail));
  }
  return audit;
}

// Everything a person looks at. Returns the curve for the terminal.
CurveTable write_run(const MnistPaperOptions& given, const ImageSplit& data, const MnistResult& result,
                     const std::string& fingerprint, double seconds) {
  const fs::path out = given.out;
  const bool paper = result.given.preset == Preset::kPaper;
  RunSummary summary;
  summary.version = PPAN_VERSION;
  summary.command = fmt::format("ppan paper mnist --preset {}{} --seed {}", given.preset,
                                given.gamma ? fmt::format(" --gamma {}", *given.gamma) : "", given.seed);
  summary.name = "mnist";
  summary.description = kMnistDescription;
  summary.hidden = "X, which digit is shown";
  summary.observed = "Y, the image";
  summary.useful = "Y, the image itself";
  summary.distortion_name = "pixel cross-entropy";
  summary.distortion_unit = "nats per pixel";
  summary.leakage_ceiling = result.entropy;
  summary.settings = settings_of(given, result);
  summary.seed = given.seed;
  summary.seconds = seconds;
  summary.status = result.interrupted ? RunStatus::kInterrupted : RunStatus::kComplete;
  summary.facts = {{"training", fingerprint},
                   {"unchanged costs", fmt::format("{:.5f}", result.unchanged_distortion)},
                   {"mean image costs", fmt::format("{:.5f}", result.constant_distortion)},
                   {"completed curve as a share of time-sharing", shares_text(result)}};

  std::string metrics;
  RunDetails details;
  std::size_t finished = 0;
  for (std::size_t i = 0; i < result.targets.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    const std::optional<double> target = result.targets[i];
    if (finished == result.points.size() || result.points[finished].plan != static_cast<Index>(i)) {
      summary.missing.push_back({kSeries, number, target, "interrupted"});
      continue;
    }
    const MnistPoint& p = result.points[finished++];
    PointSummary s{.series = kSeries, .number = number};
    (paper ? s.weight : s.budget) = target;
    s.distortion = p.measure.distortion;
    s.stop = to_string(p.training.stop);
    s.message = p.training.message;
    s.epochs = static_cast<int>(p.training.epochs.size());
    s.iterations = p.training.iterations;
    s.seconds = p.seconds + p.measure.seconds;
    s.leakage = p.measure.attack.strongest().leakage;
    for (const ImageAttackerScore& a : p.measure.attack.attackers) s.estimates.push_back({a.name, a.leakage});
    if (p.measure.attack.code)
      s.estimates.push_back({"attacker on the code", p.measure.attack.code->leakage});
    for (const Estimate& e : p.measure.upper) s.estimates.push_back({"upper bound", e});
    s.training_belief = p.measure.belief;
    s.model = model_file(p);
    write_point_model(out / s.model, p, data, result);
    const double gap = p.measure.attack.strongest().leakage.nats - p.measure.belief;
    if (gap > 0.05) {
      s.warnings.push_back(
          fmt::format("Fresh attackers found {:.2f} nats more than the training adversary believed.", gap));
    }
    if (p.measure.attack.still_rising) {
      s.warnings.emplace_back("The strongest attacker was still getting better: more leaks than was found.");
    }
    if (p.measure.attack.strongest().leakage.nats > result.time_sharing(p.measure.distortion)) {
      s.warnings.emplace_back("Time-sharing at the same distortion would leak less.");
    }
    if (p.training.stop == Stop::kDiverged) s.warnings.push_back(p.training.message);
    summary.points.push_back(std::move(s));
    for (const EpochReport& epoch : p.training.epochs) {
      MetricsLine line{.series = kSeries, .number = number, .epoch = epoch.epoch};
      line.distortion = epoch.mean.distortion;
      line.leakage = result.entropy + epoch.adversary;
      line.loss = epoch.mean.loss();
      line.penalty = epoch.mean.penalty;
      if (!paper) line.multiplier = epoch.multiplier;
      if (result.given.paper.gamma > 0) line.discriminator = epoch.discriminator;
      metrics += to_json_line(line);
    }
    PointDetails point{.series = kSeries, .number = number};
    point.audits.push_back(audit_of(p));
    const DigitPanels panels = digit_panels(data.test, p, given.seed, given.digit);
    const std::string file = fmt::format("panels-{:02}", number);
    write_png(out / (file + ".png"), panels.image);
    write_file(out / (file + ".svg"),
               grid_svg(panels.image, "One digit: original, release, independent noise", {"one digit"},
                        fmt::format("release costs {:.3f}, noise {:.3f} nats per pixel", panels.distortion,
                                    panels.noise_distortion)));
    point.images.push_back({"One digit: original, released, and the same amount of independent noise",
                            file + ".png", "Three panels of one digit"});
    details.points.push_back(std::move(point));
  }
  summary.claimed = {
      "Leakage is what the strongest of several attackers found that started from nothing after training, "
      "learned from new releases of the training images, were chosen on one part of the test images and "
      "reported on the rest: a lower bound.",
      "Where a gate releases some images as they are, those count as read by everybody.",
      "Time-sharing (the image as it is with some probability, otherwise the mean image) is the "
      "reference "
      "to beat; the completed curve is what can be served by mixing mechanisms."};
  summary.not_claimed = {
      "What the training adversary believes is no evidence and is shown only beside the measurement.",
      "A stronger attacker may find more than was found here; only an upper bound excludes that."};
  CurveTable curve = curve_of(result);
  if (!result.points.empty()) {
    const DigitGrid grid = digit_grid(data.test, result, given.seed);
    write_png(out / "digits.png", grid.image);
    const std::string title = paper ? fmt::format("Released digits, \u03b3 = {}", result.given.paper.gamma)
                                    : std::string("Released digits, noisy code");
    write_file(out / "digits.svg", grid_svg(grid.image, title, grid.row_names,
                                            "d: mean distortion of the point, nats per pixel"));
    const std::string both = to_svg(accuracy_and_leakage_figure(result));
    write_file(out / "accuracy-leakage.svg", both);
    write_file(out / "accuracy-leakage.pdf", figure_pdf(both));
    write_file(out / "accuracy.svg", to_svg(accuracy_figure(result)));
    write_file(out / "leakage.svg", to_svg(leakage_figure(result)));
    details.images = {{title + ": originals in the top row, then one row for each point", "digits.svg",
                       "Grid of released digits"},
                      {"Distortion against accuracy and leakage", "accuracy-leakage.svg",
                       "Accuracy and leakage against distortion, on two axes"},
                      {"Distortion against leakage", "leakage.svg", "Leakage against distortion"},
                      {"Distortion against accuracy", "accuracy.svg", "Accuracy against distortion"}};
  }
  write_file(out / "curve.csv", to_csv(curve));
  write_file(out / "metrics.jsonl", metrics);
  write_file(out / "summary.json", to_json(summary));
  write_file(out / "details.json", to_json(details));
  if (!result.points.empty()) write_report(out);
  return curve;
}

}  // namespace

int run_mnist_paper(const MnistPaperOptions& given) {
  const MnistOptions options = mnist_options(given);
  Problems problems = options.check();
  if (given.out.empty()) problems.push_back({"out", "no output directory given; add --out DIR"});
  if (given.data.empty()) {
    problems.push_back(
        {"data",
         "no directory with the images given; script/fetch-mnist DIR fetches them, then add --data DIR"});
  }
  require_none(problems, "the experiment cannot be run:");
  const ImageSplit data = read_mnist_directory(given.data);
  if (given.digit && (*given.digit < 0 || *given.digit >= data.test.size())) {
    throw Error(ErrorCode::kUsage, fmt::format("digit: {} is not allowed; it must lie between 0 and {}",
                                               *given.digit, data.test.size() - 1));
  }
  const std::string fingerprint = mnist_fingerprint(options, data);
  const Store store(fs::path(given.out) / kCheckpoints, fingerprint, options.attack);
  if (given.resume) {
    if (!fs::is_directory(fs::path(given.out) / kCheckpoints)) {
      throw Error(ErrorCode::kUsage, fmt::format("{} holds no run to resume", given.out),
                  "leave --resume out, or name the directory of the run that was interrupted");
    }
    store.check();
  } else {
    make_output_directory(given.out, given.force);
    fs::remove_all(fs::path(given.out) / kCheckpoints);
    make_output_directory(fs::path(given.out) / kCheckpoints, true);
  }

  const InterruptScope interrupt_scope;
  const auto start = std::chrono::steady_clock::now();
  const bool paper = options.preset == Preset::kPaper;
  const std::vector<double> targets = mnist_targets(options);
  MnistResult result;
  {
    // The autoencoder counts as a point of its own.
    const Index before = paper ? 0 : 1;
    Progress progress(progress_style(given.quiet), static_cast<std::int64_t>(targets.size()) + before,
                      mnist_epochs(options));
    MnistHooks hooks;
    hooks.store = store.functions();
    hooks.interrupted = [] { return interrupted(); };
    hooks.epoch = [&](Index i, const EpochReport& report, double leakage) {
      const std::string label =
          i < 0 ? std::string("autoencoder")
                : fmt::format("{} {:.4g}", paper ? "lambda" : "budget", targets[static_cast<std::size_t>(i)]);
      progress.epoch_done({.point = i + before,
                           .epoch = report.epoch,
                           .label = label,
                           .distortion = report.mean.distortion,
                           .leakage_nats = leakage});
      if (i < 0 && report.epoch == report.epochs) progress.point_done(0);
    };
    hooks.attacking = [&](Index i) {
      progress.note(fmt::format("point {} is trained; attacking it", i + 1));
    };
    hooks.finished = [&](const MnistPoint& p) {
      progress.point_done(p.plan + before);
      const ImageAttackerScore& best = p.measure.attack.strongest();
      progress.note(
          fmt::format("point {}: distortion {:.4f}, at least {:.3f} nats ({}; accuracy {:.1f} %), training "
                      "believed {:.3f}",
                      p.plan + 1, p.measure.distortion, best.leakage.nats, best.name,
                      100 * best.accuracy.value, p.measure.belief));
    };
    result = run_mnist(data, options, hooks);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const CurveTable curve = write_run(given, data, result, fingerprint, seconds);

  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  TerminalStyle style{.width = 110, .unicode = terminal, .colour = terminal, .unit = given.unit};
  winsize size{};
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = size.ws_col;
  write_stdout((terminal ? plot_text(curve, style) + "\n" : std::string()) + table_text(curve, style));
  if (!given.quiet) {
    say("{} of {} points in {}\n", result.points.size(), targets.size(), given.out);
  }
  if (result.interrupted) {
    say("ppan: interrupted; finished points were kept, --resume goes on\n");
    return interrupt_status();
  }
  for (const MnistPoint& p : result.points) {
    if (p.training.stop == Stop::kDiverged) return exit_status(ErrorCode::kDiverged);
  }
  return 0;
}

}  // namespace ppan::cli
