#include "ppan/paper/mnist_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "ppan/core/crypto.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/engine/engine.h"
#include "ppan/model/image_release_model.h"
#include "ppan/paper/experiment.h"
#include "ppan/read/idx.h"
#include "ppan/read/png.h"
#include "ppan/report/claims.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/details.h"
#include "ppan/report/figure.h"
#include "ppan/report/html.h"
#include "ppan/report/image_grid.h"
#include "ppan/report/pdf.h"
#include "ppan/report/run_summary.h"
#include "ppan/source/number.h"
#include "ppan/trade_off/image_figures.h"
#include "ppan/trade_off/image_rows.h"
#include "ppan/trade_off/run_directory.h"
#include "ppan/trade_off/table_run.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;

// What a run knows beside its result.
struct MnistRun {
  std::string version{};      // of this program
  std::string training{};     // image_fingerprint(), for people
  std::string fingerprint{};  // by which --resume knows the run
  double seconds = 0;
};

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

std::string gap_text(const ImagePoint& p) {
  return fmt::format("{:+.3f}", p.measure.attack.strongest().leakage.nats - p.measure.belief);
}

// The completed curve at every hundredth of distortion.
std::string shares_text(const ImageCurveResult& result) {
  std::string text;
  const auto first = static_cast<int>(std::ceil(100 * result.unchanged_distortion));
  for (int i = first; i < 100 * result.constant_distortion; ++i) {
    const std::optional<double> share = result.share_of_time_sharing(i / 100.0);
    if (share) text += fmt::format("{}{:.2f} at {:.2f}", text.empty() ? "" : ", ", *share, i / 100.0);
  }
  return text;
}

std::vector<RunSetting> settings_of(const MnistPaperOptions& given, const ImageCurveResult& result) {
  const ImageCurveOptions& o = result.given;
  const bool paper = o.method == ImageMethod::kPaper;
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
      {"epochs", text(given.epochs), fmt::format("{}", image_epochs(o))},
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

AuditDetail audit_of(const ImagePoint& p) {
  std::string note =
      fmt::format("The training adversary believed {:.3f} nats; the difference to what was found is {}.",
                  p.measure.belief, gap_text(p));
  if (p.measure.unchanged > 0) {
    note += fmt::format(
        " {:.1f} % of the images are released unchanged, those that are expensive to hide; whoever sees one "
        "is taken "
        "to know its digit.",
        100 * p.measure.unchanged);
  }
  return image_audit_detail(p, "digit", std::move(note));
}

RunSummary make_run_summary(const MnistPaperOptions& given, const ImageCurveResult& result,
                            const MnistRun& run) {
  RunSummary summary;
  summary.version = run.version;
  summary.command = fmt::format("ppan paper mnist --preset {}{} --seed {}", given.preset,
                                given.gamma ? fmt::format(" --gamma {}", *given.gamma) : "", given.seed);
  summary.name = "mnist";
  summary.description = kMnistDescription;
  summary.hidden = "X, which digit is shown";
  summary.observed = "Y, the image";
  summary.useful = "Y, the image itself";
  summarize_images(result, summary);
  summary.settings = settings_of(given, result);
  summary.seconds = run.seconds;
  summary.facts = {{"training", run.training},
                   {"unchanged costs", fmt::format("{:.5f}", result.unchanged_distortion)},
                   {"mean image costs", fmt::format("{:.5f}", result.constant_distortion)},
                   {"completed curve as a share of time-sharing", shares_text(result)}};
  summary.claimed = claims::of_digits();
  summary.not_claimed = claims::not_of_digits();
  return summary;
}

// Figures of the whole run; what the report shows of them.
std::vector<ImageDetail> write_figures(const fs::path& out, const ImageSplit& data,
                                       const ImageCurveResult& result, std::uint64_t seed) {
  const ImageGrid grid = image_grid_of(data.test, result, seed);
  write_png(out / "digits.png", grid.image);
  const std::string title = result.given.method == ImageMethod::kPaper
                                ? fmt::format("Released digits, \u03b3 = {}", result.given.paper.gamma)
                                : std::string("Released digits, noisy code");
  write_file(out / "digits.svg",
             grid_svg(grid.image, title, grid.row_names, "d: mean distortion of the point, nats per pixel"));
  const std::string both = to_svg(accuracy_and_leakage_figure(result));
  write_file(out / "accuracy-leakage.svg", both);
  write_file(out / "accuracy-leakage.pdf", figure_pdf(both));
  write_file(out / "accuracy.svg", to_svg(accuracy_figure(result)));
  write_file(out / "leakage.svg", to_svg(leakage_figure(result)));
  return {{title + ": originals in the top row, then one row for each point", "digits.svg",
           "Grid of released digits"},
          {"Distortion against accuracy and leakage", "accuracy-leakage.svg",
           "Accuracy and leakage against distortion, on two axes"},
          {"Distortion against leakage", "leakage.svg", "Leakage against distortion"},
          {"Distortion against accuracy", "accuracy.svg", "Accuracy against distortion"}};
}

PointDetails write_point(const fs::path& out, const ImagePoint& p, const ImageSplit& data,
                         const MnistPaperOptions& given) {
  const int number = static_cast<int>(p.plan) + 1;
  PointDetails point{.series = kImageSeries, .number = number};
  point.audits.push_back(audit_of(p));
  const ImagePanels panels = image_panels(data.test, p, given.seed, given.digit);
  const std::string file = fmt::format("panels-{:02}", number);
  write_png(out / (file + ".png"), panels.image);
  write_file(out / (file + ".svg"),
             grid_svg(panels.image, "One digit: original, release, independent noise", {"one digit"},
                      fmt::format("release costs {:.3f}, noise {:.3f} nats per pixel", panels.distortion,
                                  panels.noise_distortion)));
  point.images.push_back({"One digit: original, released, and the same amount of independent noise",
                          file + ".png", "Three panels of one digit"});
  return point;
}

// Everything a person looks at. Returns the curve for the terminal.
CurveTable write_mnist_run(const MnistPaperOptions& given, const ImageSplit& data,
                           const ImageCurveResult& result, const MnistRun& run) {
  const fs::path out = given.out;
  const RunSummary summary = make_run_summary(given, result, run);
  ModelOrigin origin{.program = fmt::format("ppan {}", run.version), .title = "mnist"};
  origin.seed = result.given.seed;
  origin.training_rows = result.train_images;
  origin.test_rows = result.test_images;
  save_image_models(out, result, data.train, origin);
  RunDetails details;
  for (const ImagePoint& point : result.points)
    details.points.push_back(write_point(out, point, data, given));
  CurveTable curve = image_curve_table(result);
  if (!result.points.empty()) details.images = write_figures(out, data, result, given.seed);
  write_file(out / "curve.csv", to_csv(curve));
  write_file(out / "metrics.jsonl", image_metrics(result));
  write_file(out / "summary.json", to_json(summary));
  write_file(out / "details.json", to_json(details));
  if (!result.points.empty()) write_report(out);
  return curve;
}

Problems problems_of(const MnistPaperOptions& given, const ImageCurveOptions& options) {
  Problems problems = options.check();
  if (given.out.empty()) problems.push_back({"out", "no output directory given; add --out DIR"});
  if (given.data.empty()) {
    problems.push_back(
        {"data",
         "no directory with the images given; script/fetch-mnist DIR fetches them, then add --data DIR"});
  }
  return problems;
}

RunMode mode_of(const MnistPaperOptions& given) {
  if (given.resume && !fs::is_directory(given.out)) {
    throw Error(ErrorCode::kUsage, fmt::format("{} holds no run to resume", given.out),
                "leave --resume out, or name the directory of the run that was interrupted");
  }
  if (given.resume) return RunMode::kResume;
  return given.force ? RunMode::kForce : RunMode::kNew;
}

}  // namespace

MnistTask::MnistTask(MnistPaperOptions given, std::string version)
    : given_(std::move(given)), version_(std::move(version)), options_(mnist_options(given_)) {
  require_none(problems_of(given_, options_), "the experiment cannot be run:");
  data_ = read_mnist_directory(given_.data);
  if (given_.digit && (*given_.digit < 0 || *given_.digit >= data_.test.size())) {
    throw Error(ErrorCode::kUsage, fmt::format("digit: {} is not allowed; it must lie between 0 and {}",
                                               *given_.digit, data_.test.size() - 1));
  }
}

MnistOutcome MnistTask::run(ImageCurveHooks hooks) {
  MnistRun run{.version = version_, .training = image_fingerprint(options_, data_)};
  run.fingerprint = sha256(fmt::format("ppan {}\n{}", run.version, run.training));
  RunDirectory directory(given_.out, mode_of(given_), run.fingerprint, {});
  if (directory.finished()) return {.was_finished = true};
  const auto start = std::chrono::steady_clock::now();
  hooks.finished = [&directory, finished = std::move(hooks.finished)](const ImagePoint& point) {
    directory.keep();
    if (finished) finished(point);
  };
  ImageDomain domain(data_, options_, hooks, run.fingerprint);
  const ImageCurveResult result = domain.finish(
      make_pieces(domain, &directory.store(), {options_.threads, {}, hooks.interrupted}).pieces);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  directory.begin();
  directory.keep();
  const auto diverged = [](const ImagePoint& p) { return p.training.stop == Stop::kDiverged; };
  MnistOutcome out{.curve = write_mnist_run(given_, data_, result, run),
                   .finished = result.points.size(),
                   .planned = result.targets.size(),
                   .interrupted = result.interrupted,
                   .diverged = std::ranges::any_of(result.points, diverged)};
  if (!out.interrupted) directory.complete();
  return out;
}

ImageCurveOptions mnist_options(const MnistPaperOptions& given) {
  ImageCurveOptions options{.method = preset_of(given.preset) == Preset::kPaper ? ImageMethod::kPaper
                                                                                : ImageMethod::kCode};
  options.paper.gamma = given.gamma.value_or(0);
  options.paper.beta1 = given.beta1;
  const bool paper = options.method == ImageMethod::kPaper;
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

}  // namespace ppan
