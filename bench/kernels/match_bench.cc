// One iteration of the game at the settings of the paper's synthetic experiments: gather a mini-batch, then
// adversary and mechanism updates, with new draws for each update (redraw 1) or one draw for all (redraw 0,
// as in the paper). The first iterations are compared with the same game in double precision.

#include "checked_benchmark.h"
#include "ppan/train/match.h"

namespace ppan {
namespace {

struct Setting {
  GameOptions game;
  Records<float> records;
  Index batch;
  int adversary_steps;
};

Setting gaussian(Index dimensions, Index units, Index noise_inputs) {
  Setting s{.batch = 200, .adversary_steps = 5};
  SeededRandom random(1);
  s.records.useful.value = bench::random_matrix(random, 8000, dimensions);
  s.records.observed = s.records.useful;
  s.records.sensitive.resize(1);
  s.records.sensitive[0].value =
      0.85F * s.records.useful.value + 0.527F * bench::random_matrix(random, 8000, dimensions);
  s.game.mechanism = {.kind = MechanismKind::kNoiseInput,
                      .released = dimensions,
                      .hidden = {units, units},
                      .noise_inputs = noise_inputs};
  s.game.adversary.hidden = {units, units};
  s.game.budget = {.form = BudgetForm::kExpected, .limit = 0.3, .weight = 10};
  return s;
}

Setting scalar_gaussian() {
  return gaussian(1, 5, 1);
}
Setting vector_gaussian() {
  return gaussian(5, 20, 8);
}

// Symmetric pair, m = 10, p = 0.4, full data: W is the pair, a code of 100 levels.
Setting discrete() {
  Setting s{.batch = 100, .adversary_steps = 1};
  SeededRandom random(2);
  Attribute<float> x{.levels = 10};
  Attribute<float> y{.levels = 10};
  Attribute<float> w{.levels = 100};
  for (int i = 0; i < 1000; ++i) {
    x.code.push_back(static_cast<std::int32_t>(random.index(10)));
    const bool differs = random.uniform() < 0.4;
    y.code.push_back(differs ? (x.code.back() + 1 + static_cast<std::int32_t>(random.index(9))) % 10
                             : x.code.back());
    w.code.push_back(x.code.back() * 10 + y.code.back());
  }
  s.records = {w, {x}, y};
  s.game.mechanism = {.kind = MechanismKind::kFinite, .released = 10};
  s.game.adversary.bias = false;
  s.game.distortion = DistortionKind::kError;
  s.game.budget = {.form = BudgetForm::kExpected, .limit = 0.3, .weight = 500};
  return s;
}

template <typename Scalar>
class Player {
 public:
  Player(const Setting& setting, bool redraw)
      : setting_(setting),
        redraw_(redraw),
        records_(cast<Scalar>(setting.records)),
        match_(setting.game, records_),
        noise_stream_(SeededRandom(3)) {
    match_.initialise(SeededRandom(4));
    SeededRandom random(5);
    order_.resize(static_cast<std::size_t>(records_.rows()));
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<std::int32_t>(i);
    shuffle(random, order_);
  }

  // The same noise in both precisions: drawn in single precision, then cast.
  StepReport iterate(double rate) {
    gather(records_, order_.data() + next_ * setting_.batch, setting_.batch, batch_);
    next_ = (next_ + 1) % (records_.rows() / setting_.batch);
    for (int s = 0; s < setting_.adversary_steps; ++s) {
      if (s == 0 || redraw_) draw();
      match_.step_adversary(batch_, rate);
    }
    if (redraw_) draw();
    return match_.step_mechanism(batch_, rate);
  }

 private:
  void draw() {
    if constexpr (sizeof(Scalar) == sizeof(float)) {
      match_.mechanism().fill_noise(noise_stream_, setting_.batch, noise_);
    } else {
      Matrix<float> single(setting_.batch, setting_.game.mechanism.noise_inputs);
      if (setting_.game.mechanism.kind == MechanismKind::kNoiseInput) {
        fill_uniform(noise_stream_, -1.0F, 1.0F, single);
      }
      noise_ = single.cast<Scalar>();
    }
    match_.draw(batch_, noise_);
  }

  const Setting& setting_;
  bool redraw_;
  Records<Scalar> records_;
  Match<Scalar> match_;
  SeededRandom noise_stream_;
  std::vector<std::int32_t> order_;
  Index next_ = 0;
  Records<Scalar> batch_;
  Matrix<Scalar> noise_;
};

Vector<double> values(const StepReport& report) {
  Vector<double> v(3);
  v << report.log_likelihood, report.distortion, report.penalty;
  return v;
}

void iteration(benchmark::State& state, Setting (*make)()) {
  const Setting setting = make();
  const bool redraw = state.range(0) != 0;
  Player<float> player(setting, redraw);
  Player<double> reference(setting, redraw);
  for (int i = 0; i < 10; ++i) {
    const Vector<double> got = values(player.iterate(1e-3));
    bench::check(state, got, values(reference.iterate(1e-3)), 1e-4);
  }
  for (auto _ : state) benchmark::DoNotOptimize(player.iterate(1e-3));
  state.SetLabel(std::to_string(setting.adversary_steps) + " + 1 updates, batch " +
                 std::to_string(setting.batch));
}
BENCHMARK_CAPTURE(iteration, scalar, scalar_gaussian)
    ->ArgName("redraw")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(iteration, vector, vector_gaussian)
    ->ArgName("redraw")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(iteration, discrete, discrete)
    ->ArgName("redraw")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ppan

int main(int argc, char** argv) {
  return ppan::bench::run(argc, argv);
}
