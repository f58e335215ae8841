#include "ppan/paper/request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/paper/settings.h"
#include "ppan/source/number.h"

namespace ppan {
namespace {

// Which options an experiment takes besides those that every one takes.
struct OptionGroup {
  std::vector<std::string> experiments;  ///< Empty: all but mnist.
  std::vector<std::string> options;
};

const std::vector<std::string>& common_options() {
  static const std::vector<std::string> list{"experiment", "out",     "preset", "points", "seed",
                                             "epochs",     "threads", "force",  "quiet",  "unit",
                                             "list",       "verbose", "lambda", "budget", "train"};
  return list;
}

const std::vector<OptionGroup>& option_groups() {
  static const std::vector<OptionGroup> groups{
      {{},
       {"mechanism", "budget-form", "weight", "rate", "batch", "hidden", "adversary-hidden",
        "adversary-steps", "draws", "noise-inputs", "components", "covariances", "test", "alpha", "seeds"}},
      {{"mnist"}, {"data", "gamma", "beta1", "attack-epochs", "resume", "digit"}},
      {{"symmetric-pair"}, {"m", "p", "observation", "flip", "erase", "released"}},
      {{"gaussian"}, {"rho", "covariance", "sensitive", "observation", "noise", "seen"}},
      {{"finite"}, {"pmf", "distortion", "observation", "flip", "erase", "released"}},
  };
  return groups;
}

std::vector<std::string> options_of(const std::string& experiment) {
  std::vector<std::string> list = common_options();
  for (const OptionGroup& group : option_groups()) {
    const bool takes = group.experiments.empty()
                           ? experiment != "mnist"
                           : std::ranges::find(group.experiments, experiment) != group.experiments.end();
    if (takes) list.insert(list.end(), group.options.begin(), group.options.end());
  }
  return list;
}

}  // namespace

void check_request(const PaperRequest& options, ProblemList& problems) {
  if (options.name != "mnist" && !find_experiment(options.name)) return;  // reported as such
  const std::vector<std::string> taken = options_of(options.name);
  for (const std::string& name : options.given) {
    if (std::ranges::find(taken, name) != taken.end()) continue;
    std::vector<std::string> names(taken.begin() + 1, taken.end());
    std::sort(names.begin(), names.end());
    problems.require(
        false, name,
        fmt::format("does not apply to {}, which takes --{}", options.name, fmt::join(names, ", --")));
  }
}

namespace {

std::vector<double> numbers(const char* field, const std::string& text, ProblemList& problems) {
  std::vector<double> list;
  for (std::size_t from = 0; from <= text.size() && !text.empty();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    const std::optional<double> value = parse_shortest(part);
    problems.require(value && !std::isnan(*value), field, fmt::format("'{}' is not a number", part));
    if (value) list.push_back(*value);
    from = comma + 1;
  }
  return list;
}

// "250,1000" as numbers; `field` is for problems.
std::vector<Index> whole_numbers(const char* field, const std::string& text, ProblemList& problems) {
  std::vector<Index> list;
  for (const double v : numbers(field, text, problems)) {
    problems.require(v == std::floor(v) && std::abs(v) < 1e9, field,
                     fmt::format("{} is not a whole number", v));
    list.push_back(static_cast<Index>(std::clamp(v, -1e9, 1e9)));
  }
  return list;
}

std::optional<std::vector<Index>> layers(const char* field, const std::string& text, ProblemList& problems) {
  if (text.empty()) return std::nullopt;
  if (text == "none") return std::vector<Index>{};
  return whole_numbers(field, text, problems);
}

std::vector<ObservationOptions> observations_of(const PaperRequest& options, ProblemList& problems) {
  std::vector<ObservationOptions> list;
  for (const std::string& name : options.observation) {
    ObservationOptions o;
    try {
      o.kind = observation_kind(name);
    } catch (const Error& error) {
      problems.require(false, "observation", error.what());
      continue;
    }
    if (options.flip) o.flip = *options.flip;
    if (options.noise) o.noise = *options.noise;
    if (options.erase) o.erase = *options.erase;
    if (!options.seen.empty()) {
      o.seen = whole_numbers("seen", options.seen, problems);
      for (Index& c : o.seen) --c;  // people count from 1
    }
    list.push_back(o);
  }
  const auto seen = [&](ObservationKind kind) {
    return std::ranges::any_of(list, [&](const ObservationOptions& o) { return o.kind == kind; });
  };
  problems.require(!options.flip || seen(ObservationKind::kNoisy), "flip", "needs --observation noisy");
  problems.require(!options.noise || seen(ObservationKind::kNoisy), "noise", "needs --observation noisy");
  problems.require(!options.erase || seen(ObservationKind::kPartial), "erase", "needs --observation partial");
  problems.require(options.seen.empty() || seen(ObservationKind::kPartial), "seen",
                   "needs --observation partial");
  return list;
}

void take_covariance(const PaperRequest& options, RequestProblems& problems, WorldOptions& world) {
  problems.require(options.rho.empty(), "rho", "goes with no --covariance; give one of them");
  problems.read("covariance", [&] {
    const Matrix<double> whole = parse_matrix(read_file(options.covariance), options.covariance);
    const Index sensitive = options.sensitive.value_or(whole.rows() / 2);
    const std::string subject = options.covariance + " is not a covariance:";
    require_none(theory::check_covariance(whole, sensitive), subject, ErrorCode::kBadInput);
    const theory::GaussianCovariance split = theory::split_covariance(whole, sensitive);
    require_none(split.check(), subject, ErrorCode::kBadInput);
    world.covariance = split;
  });
}

void take_table(const PaperRequest& options, RequestProblems& problems, WorldOptions& world) {
  std::optional<FiniteTableFile> table;
  problems.read("pmf", [&] { table = parse_finite_table(read_file(options.pmf), options.pmf); });
  if (table) world.table = *table;
  if (options.distortion.empty()) return;
  world.from_file = options.distortion != "error" && options.distortion != "squared";
  problems.read("distortion", [&] {
    // Without a table its shape cannot be judged, but the rest of it can.
    if (table) world.distortion = finite_distortion(options.distortion, *table);
    if (!table && world.from_file)
      check_distortion(parse_matrix(read_file(options.distortion), options.distortion), {},
                       options.distortion);
  });
}

// The world of a changeable experiment; where a file cannot be used, the registry's stands in for what else
// is to be said.
std::optional<WorldOptions> world_of(const PaperRequest& options, RequestProblems& problems) {
  const ExperimentEntry* entry = find_experiment(options.name);
  if (!entry || !entry->changeable) return std::nullopt;
  WorldOptions world = entry->world;
  if (options.m) world.pair.m = *options.m;
  if (options.p) world.pair.p = *options.p;
  if (!options.rho.empty()) {
    const std::vector<double> rho = numbers("rho", options.rho, problems);
    world.rho = Eigen::Map<const Vector<double>>(rho.data(), static_cast<Index>(rho.size()));
  }
  if (!options.covariance.empty()) take_covariance(options, problems, world);
  problems.require(!options.sensitive || !options.covariance.empty(), "sensitive", "needs --covariance");
  if (!options.pmf.empty()) take_table(options, problems, world);
  problems.require(options.name != "finite" || !options.pmf.empty(), "pmf", "no file given; add --pmf FILE");
  if (options.released) world.released = *options.released;
  return world;
}

}  // namespace

StudyOptions study_options(const PaperRequest& options, RequestProblems& problems) {
  StudyOptions study;
  study.seeds = options.seeds;
  ExperimentOptions& e = study.experiment;
  e.name = options.name;
  e.preset = preset_of(options.preset);
  e.points = options.points;
  e.seed = options.seed;
  e.epochs = options.epochs;
  e.threads = options.threads;
  if (!options.mechanism.empty()) e.mechanism = mechanism_kind(options.mechanism);
  if (!options.budget_form.empty()) e.budget_form = budget_form(options.budget_form);
  e.budgets = numbers("budget", options.budget, problems);
  e.lambda = numbers("lambda", options.lambda, problems);
  if (!options.alpha.empty()) {
    const std::vector<double> alpha = numbers("alpha", options.alpha, problems);
    problems.require(alpha.size() == 1, "alpha", "must be one number, or inf");
    if (alpha.size() == 1) e.alpha = alpha.front();
  }
  study.train_sizes = whole_numbers("train", options.train, problems);
  TrainingChanges& c = e.change;
  c.weight = options.weight;
  c.rate = options.rate;
  c.batch = options.batch;
  c.draws = options.draws;
  c.noise_inputs = options.noise_inputs;
  c.components = options.components;
  if (!options.covariances.empty()) {
    problems.require(options.covariances == "full" || options.covariances == "diagonal", "covariances",
                     fmt::format("'{}' must be full or diagonal", options.covariances));
    c.full_covariance = options.covariances == "full";
  }
  c.test_records = options.test;
  c.adversary_steps = options.adversary_steps;
  c.hidden = layers("hidden", options.hidden, problems);
  c.adversary_hidden = layers("adversary-hidden", options.adversary_hidden, problems);
  e.observations = observations_of(options, problems);
  e.world = world_of(options, problems);
  return study;
}

std::string PaperRequest::command() const {
  std::string text = fmt::format("ppan paper {} --preset {} --seed {}", name, preset, seed);
  const auto add = [&](const char* option, const auto& value) {
    if (value) text += fmt::format(" --{} {}", option, *value);
  };
  const auto add_text = [&](const char* option, const std::string& value) {
    if (!value.empty()) text += fmt::format(" --{} {}", option, value);
  };
  add("points", points);
  add("m", m);
  add("p", p);
  add_text("rho", rho);
  add_text("covariance", covariance);
  add("sensitive", sensitive);
  add_text("pmf", pmf);
  add_text("distortion", distortion);
  add("released", released);
  if (!observation.empty()) text += fmt::format(" --observation {}", fmt::join(observation, ","));
  add("flip", flip);
  add("noise", noise);
  add("erase", erase);
  add_text("seen", seen);
  add_text("budget", budget);
  add_text("lambda", lambda);
  add_text("train", train);
  add("test", test);
  add_text("mechanism", mechanism);
  add_text("budget-form", budget_form);
  add("weight", weight);
  add("epochs", epochs);
  add("batch", batch);
  add("rate", rate);
  add("adversary-steps", adversary_steps);
  add_text("hidden", hidden);
  add_text("adversary-hidden", adversary_hidden);
  add("draws", draws);
  add("noise-inputs", noise_inputs);
  add("components", components);
  add_text("covariances", covariances);
  add_text("alpha", alpha);
  if (seeds > 1) text += fmt::format(" --seeds {}", seeds);
  return text;
}

namespace {

// The same of the experiment on images; its points are trained elsewhere (image/image_training.h).
std::vector<std::string> mnist_deviations_from_paper() {
  return {"leakage is what fresh attackers find, shown next to the training adversary\u2019s belief",
          "with a discriminator Adam's beta1 is 0.5, since the game as printed falls to one image for all; "
          "--beta1 0.9 is "
          "the printed one",
          "of the weights only the ends are printed: between them they are spread evenly in their logarithm",
          "the initial weights are not printed: uniform as Glorot and Bengio have them, biases 0"};
}

}  // namespace

std::string experiment_list(bool verbose) {
  std::string text;
  for (const ExperimentEntry& entry : experiment_registry()) {
    text += fmt::format("{}\n    {}\n", entry.name, entry.description);
    if (!verbose) continue;
    for (const std::string& deviation : deviations_from_paper(entry))
      text += fmt::format("    --preset paper: {}\n", deviation);
  }
  text += fmt::format("mnist\n    {}\n", kMnistDescription);
  if (!verbose) return text;
  for (const std::string& deviation : mnist_deviations_from_paper())
    text += fmt::format("    --preset paper: {}\n", deviation);
  return text;
}

MnistPaperOptions mnist_request(const PaperRequest& options) {
  ProblemList problems;
  check_request(options, problems);
  MnistPaperOptions mnist = options.mnist;
  const std::vector<Index> train = whole_numbers("train", options.train, problems);
  problems.require(train.size() < 2, "train", "mnist takes one number");
  require_none(problems.take(), "the experiment cannot be run:");
  if (!train.empty()) mnist.train = train.front();
  mnist.lambda = options.lambda;
  mnist.budget = options.budget;
  mnist.out = options.out;
  mnist.preset = options.preset;
  mnist.points = options.points;
  mnist.epochs = options.epochs;
  mnist.seed = options.seed;
  mnist.threads = options.threads;
  mnist.force = options.force;
  return mnist;
}

}  // namespace ppan
