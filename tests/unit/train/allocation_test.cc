// A training step allocates nothing: from the second mini-batch on, nothing that gathers a batch, draws its
// noise or moves a player asks the heap for memory. Counted at malloc itself, through which operator new and
// Eigen go.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "games.h"
#include "ppan/nn/blas.h"
#include "ppan/train/match.h"

namespace {

std::atomic<long> allocations{0};

}  // namespace

// glibc's own entry points, which these stand in front of.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) noexcept {
  ++allocations;
  return __libc_realloc(block, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
}

namespace ppan {
namespace {

using testing::NamedGame;

template <typename Scalar>
long allocations_of_later_batches(testing::World world, const GameOptions& game, Index batch_size) {
  const auto records = testing::sample<Scalar>(world, 10 * batch_size, 111);
  Match<Scalar> match(game, records);
  const SeededRandom root(112);
  match.initialise(root.fork("parameters"));
  auto order_stream = root.fork("order");
  auto noise_stream = root.fork("noise");
  std::vector<std::int32_t> order(static_cast<std::size_t>(records.rows()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  shuffle(order_stream, order);
  Records<Scalar> batch;
  Matrix<Scalar> noise;
  const auto draw = [&] {
    match.mechanism().fill_noise(noise_stream, batch_size, noise);
    match.draw(batch, noise);
  };
  long before = 0;
  for (Index b = 0; b < 10; ++b) {
    if (b == 1) before = allocations.load();
    gather(records, order.data() + b * batch_size, batch_size, batch);
    for (int s = 0; s < 2; ++s) {
      draw();
      match.step_adversary(batch, 1e-3);
    }
    draw();
    match.step_discriminator(batch, 1e-3);
    match.step_utility(batch, 1e-3);
    draw();
    match.step_mechanism(batch, 1e-3);
  }
  return allocations.load() - before;
}

class Allocation : public ::testing::TestWithParam<NamedGame> {};

TEST_P(Allocation, NoneAfterTheFirstBatch) {
  for (const Index batch : {7, 64, 200}) {
    EXPECT_EQ(allocations_of_later_batches<float>(GetParam().world, GetParam().game, batch), 0) << batch;
    EXPECT_EQ(allocations_of_later_batches<double>(GetParam().world, GetParam().game, batch), 0) << batch;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Allocation, ::testing::ValuesIn(testing::games()),
                         [](const auto& each) { return each.param.name; });

// Wide enough that OpenBLAS does not use its kernels for small matrices, some of which allocate.
TEST(Allocation, NoneInLayersThatGoToBlas) {
  const BlasThreads one(1);
  GameOptions game;
  game.mechanism = {.kind = MechanismKind::kNoiseInput,
                    .released = 6,
                    .hidden = {200, 200},
                    .activation = Activation::kTanh,
                    .sigmoid_output = true};
  game.adversary = {.hidden = {200, 200}, .activation = Activation::kTanh};
  game.distortion = DistortionKind::kPixelCrossEntropy;
  game.budget = {.form = BudgetForm::kWeighted, .weight = 5};
  game.discriminator = {.weight = 2, .hidden = {200, 200}};
  EXPECT_EQ(allocations_of_later_batches<float>(testing::World::kImages, game, 100), 0);
}

// The counter must see what it is there to see.
TEST(Allocation, CounterSeesEigenAndTheStandardLibrary) {
  const long start = allocations.load();
  const Matrix<float> matrix = Matrix<float>::Zero(10, 10);
  const long after_matrix = allocations.load();
  const std::vector<int> numbers(100);
  const long after_vector = allocations.load();
  EXPECT_GT(after_matrix, start);
  EXPECT_GT(after_vector, after_matrix);
  EXPECT_EQ(matrix.sum(), static_cast<float>(numbers[5]));
}

}  // namespace
}  // namespace ppan
