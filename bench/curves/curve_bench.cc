// One series of a synthetic experiment at the paper's settings, timed as bench/peers/paper_curves.py times
// it: training only, with the data drawn before and the score taken afterwards.
//   bench_curve EXPERIMENT OBSERVATION [--points N] [--epochs N] [--rows N] [--units N] [--tests N]
//   [--threads N]
//               [--seed S]
// Prints one JSON object; `quality` is per point distortion, leakage, the optimum there and the excess, nats.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "ppan/audit/exact_information.h"
#include "ppan/audit/gaussian_information.h"
#include "ppan/core/parallel.h"
#include "ppan/nn/blas.h"
#include "ppan/paper/settings.h"
#include "ppan/theory/finite_distribution.h"
#include "ppan/train/train.h"
#include "ppan/worlds/gaussian_worlds.h"
#include "ppan/worlds/symmetric_pair_world.h"

namespace {

using ppan::Index;
using ppan::Matrix;
using ppan::Mechanism;
using ppan::RandomSource;
using ppan::Records;
using ppan::SeededRandom;
using ppan::TrainOptions;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

struct Score {
  double distortion = 0;
  double leakage = 0;
};

// An experiment's world, as far as timing and scoring need it.
struct World {
  std::function<Records<double>(Index, RandomSource&)> sample;
  std::function<double(double)> optimum;
  std::function<Score(Mechanism<float>&, Index tests, RandomSource&)> score;
};

template <typename Distribution>
World gaussian(const Distribution& distribution) {
  return {[distribution](Index count, RandomSource& random) { return distribution.sample(count, random); },
          [distribution](double distortion) { return distribution.optimum(distortion); },
          [distribution](Mechanism<float>& mechanism, Index tests, RandomSource& random) {
            const Records<double> test = distribution.sample(tests, random);
            const Matrix<double> z =
                mechanism.release(ppan::cast<float>(test.observed), random).value.template cast<double>();
            return Score{(z - test.useful.value).rowwise().squaredNorm().mean(),
                         ppan::gaussian_information(test.sensitive.front().value, z).nats};
          }};
}

World discrete(const ppan::SymmetricPairWorld& pair) {
  return {[pair](Index count, RandomSource& random) { return pair.sample(count, random); },
          [pair](double distortion) { return pair.optimum(distortion); },
          [pair](Mechanism<float>& mechanism, Index /*tests*/, RandomSource& /*random*/) {
            const ppan::theory::FiniteDistribution distribution = pair.distribution();
            ppan::Attribute<float> every{.levels = static_cast<std::int32_t>(distribution.wx.rows())};
            every.code.resize(static_cast<std::size_t>(every.levels));
            std::iota(every.code.begin(), every.code.end(), 0);
            ppan::Draws<float> draws;
            mechanism.draw(every, {}, draws);
            Matrix<double> p = draws.weight.cast<double>();
            for (Index w = 0; w < p.rows(); ++w) p.row(w) /= p.row(w).sum();
            return Score{
                ppan::theory::expected_distortion(distribution, p, ppan::theory::error_distortion(p.cols())),
                ppan::exact_information(distribution.wx, p).nats};
          }};
}

World world_of(const std::string& experiment, const std::string& observation) {
  ppan::Vector<double> five(5);
  five << 0.47, 0.24, 0.85, 0.07, 0.66;
  const auto view =
      observation == "full-data" ? ppan::Observation::kFullData : ppan::Observation::kUsefulOnly;
  if (experiment == "discrete") return discrete({{.m = 10, .p = 0.4}, view});
  if (experiment == "scalar-gaussian")
    return gaussian(ppan::GaussianScalarWorld{.rho = 0.85, .observation = view});
  if (experiment == "vector-gaussian") return gaussian(ppan::GaussianVectorWorld{five});
  return gaussian(ppan::GaussianRateDistortionWorld{five});
}

struct Arguments {
  std::string experiment;
  std::string observation;
  std::map<std::string, int> numbers{{"--points", 20},  {"--epochs", 0},  {"--rows", 0}, {"--units", 0},
                                     {"--tests", 4000}, {"--threads", 0}, {"--seed", 1}};
  [[nodiscard]] int operator[](const char* name) const { return numbers.at(name); }
};

// Where the arguments are wrong, nothing.
std::optional<Arguments> read(int count, char** words) {
  if (count < 3 || count % 2 == 0) return {};
  Arguments arguments{words[1], words[2]};
  for (int i = 3; i < count; i += 2) {
    const auto number = arguments.numbers.find(words[i]);
    if (number == arguments.numbers.end()) return {};
    number->second = std::atoi(words[i + 1]);
  }
  return arguments;
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

Json run(const Arguments& arguments, const ppan::SeriesSettings& series, Index paper_rows) {
  const World world = world_of(arguments.experiment, arguments.observation);
  TrainOptions options = series.train;
  const int paper_epochs = options.epochs;
  if (arguments["--epochs"] > 0) options.epochs = arguments["--epochs"];
  if (arguments["--units"] > 0) {
    options.game.mechanism.hidden.assign(2, arguments["--units"]);
    options.game.adversary.hidden.assign(2, arguments["--units"]);
  }
  const Index rows = arguments["--rows"] > 0 ? arguments["--rows"] : paper_rows;
  const int points = arguments["--points"];
  const int threads = ppan::thread_count(arguments["--threads"]);

  const SeededRandom root(static_cast<std::uint64_t>(arguments["--seed"]));
  std::vector<Records<float>> data;
  std::vector<double> budgets;
  for (int i = 0; i < points; ++i) {
    auto stream = root.fork("data", static_cast<std::uint64_t>(i));
    data.push_back(ppan::cast<float>(world.sample(rows, stream)));
    budgets.push_back(points == 1 ? 0.5 * series.most_budget : series.most_budget * i / (points - 1));
  }

  const ppan::Runtime runtime;
  const ppan::BlasThreads one(1);
  std::vector<ppan::Trained<float>> trained(static_cast<std::size_t>(points));
  const auto start = Clock::now();
  const double processor_start = processor_seconds();
  ppan::parallel_for(points, threads, [&](std::int64_t i) {
    TrainOptions mine = options;
    const auto point = static_cast<std::size_t>(i);
    mine.game.budget.limit = budgets[point];
    mine.seed = root.fork("training", point).next();
    trained[point] = ppan::train(data[point], mine);
  });
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const double processor = processor_seconds() - processor_start;

  Json list = Json::array();
  double sum = 0;
  double most = -1e300;
  for (int i = 0; i < points; ++i) {
    auto stream = root.fork("test", static_cast<std::uint64_t>(i));
    const auto point = static_cast<std::size_t>(i);
    const Score score = world.score(*trained[point].mechanism, arguments["--tests"], stream);
    const double optimum = world.optimum(std::max(0.0, score.distortion));
    const double excess = score.leakage - optimum;
    sum += excess;
    most = std::max(most, excess);
    list.push_back({{"budget", budgets[point]},
                    {"distortion", score.distortion},
                    {"leakage", score.leakage},
                    {"optimum", optimum},
                    {"excess", excess}});
  }
  const auto iterations = static_cast<double>(trained.front().summary.iterations);
  return {{"experiment", arguments.experiment},
          {"observation", arguments.observation},
          {"points", points},
          {"epochs", options.epochs},
          {"paper_epochs", paper_epochs},
          {"rows", rows},
          {"batch", trained.front().summary.batch_used},
          {"adversary_steps", options.adversary_steps},
          {"threads", threads},
          {"iterations", iterations},
          {"seconds", seconds},
          {"cpu_seconds", processor},
          {"microseconds_per_point_iteration", 1e6 * seconds / (points * iterations)},
          {"quality", {{"mean_excess", sum / points}, {"max_excess", most}, {"points", list}}},
          {"blas", ppan::blas_description()}};
}

}  // namespace

int main(int count, char** words) {
  try {
    const auto arguments = read(count, words);
    if (!arguments) {
      fmt::print(stderr,
                 "usage: bench_curve EXPERIMENT OBSERVATION [--points N] [--epochs N] [--rows N] [--units N] "
                 "[--tests N] [--threads N] [--seed S]\n");
      return 2;
    }
    const ppan::ExperimentOptions paper{.name = arguments->experiment, .preset = ppan::Preset::kPaper};
    ppan::require_none(paper.check(), "there is no such experiment");
    const ppan::ExperimentSettings settings = ppan::settings_of(paper);
    for (const ppan::SeriesSettings& series : settings.series) {
      if (series.observation != arguments->observation) continue;
      fmt::print("{}\n", run(*arguments, series, settings.train_records).dump(1));
      return 0;
    }
    fmt::print(stderr, "bench_curve: {} has no series {}\n", arguments->experiment, arguments->observation);
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_curve: {}\n", error.what());
    return 1;
  }
}
