#include "ppan/model/heads_drawer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/random_values.h"

namespace ppan {
namespace {

constexpr Index kRows = 3000;

// Rows of which feature 1 is a number, and one feature of 0, 2, 3, one of 4 .. 8 and perhaps the last are 1.
struct Rows {
  HeadsInput input;
  Matrix<float> features = Matrix<float>::Zero(kRows, 10);  // the same
  Matrix<float> noise;
  Matrix<float> uniform;
  CellRows own;

  Rows(const HeadsShape& shape, std::int32_t none) {
    SeededRandom random(3);
    input.numbers.resize(1, kRows);
    input.ones.resize(3, kRows);
    for (Index i = 0; i < kRows; ++i) {
      features(i, 1) = input.numbers(0, i) = static_cast<float>(4 * random.uniform() - 2);
      const std::int32_t first[] = {0, 2, 3};
      input.ones.col(i) << first[random.index(3)], static_cast<std::int32_t>(4 + random.index(5)),
          random.uniform() < 0.5 ? 9 : none;
      for (Index k = 0; k < 3; ++k) {
        if (input.ones(k, i) != none) features(i, input.ones(k, i)) = 1;
      }
    }
    noise.resize(shape.noise_inputs, kRows);
    fill_normal(random, noise);
    const auto heads = static_cast<Index>(shape.cells.size());
    uniform.resize(2 * heads, kRows);
    fill_uniform(random, 0.0F, 1.0F, uniform);
    own.resize(heads, kRows);
    for (Index i = 0; i < own.size(); ++i) {
      const Index cells = shape.cells[static_cast<std::size_t>(i % heads)];
      own.data()[i] = static_cast<std::int32_t>(random.index(cells));
    }
  }
};

HeadsShape shape_of(std::vector<Index> hidden, std::vector<Index> cells) {
  HeadsShape shape{.features = 10, .noise_inputs = 2, .hidden = std::move(hidden), .cells = std::move(cells)};
  SeededRandom random(8);
  for (const Index count : shape.cells)
    shape.base.emplace_back(testing::random_vector(random, count).cast<float>());
  return shape;
}

// Two links, and cells that cannot stand together: of those of the second head only the first fits cell 2,
// and none cell 3, of the first.
HeadsShape few_heads(std::vector<Index> hidden) {
  HeadsShape shape = shape_of(std::move(hidden), {5, 40, 2});
  SeededRandom random(9);
  shape.links = {{0, 1, testing::random_matrix(random, 40, 5).cast<float>()},
                 {1, 2, testing::random_matrix(random, 2, 40).cast<float>()}};
  HeadPair pair{0, 1, Matrix<float>::Ones(5, 40)};
  pair.together.block(2, 1, 2, 39).setZero();
  pair.together(3, 0) = 0;
  HeadPair last{0, 2, Matrix<float>::Ones(5, 2)};
  last.together(1, 0) = 0;
  shape.pairs = {pair, last};
  return shape;
}

// The last head hangs on all the others.
HeadsShape many_before(std::size_t heads) {
  std::vector<Index> cells(heads, 21);
  cells.push_back(7);
  HeadsShape shape = shape_of({20}, cells);
  SeededRandom random(9);
  for (std::size_t h = 0; h < heads; ++h)
    shape.links.push_back({static_cast<std::int32_t>(h), static_cast<std::int32_t>(heads),
                           testing::random_matrix(random, 7, 21).cast<float>()});
  return shape;
}

// Rows in which a cell is another one, or stays in one and not in the other.
Index rows_apart(const HeadsShape& shape, std::size_t forgotten, float gate = 0, bool first_kept = false) {
  HeadsNetwork<float> network(shape);
  SeededRandom random(4);
  Vector<float> parameters = 0.12F * testing::random_vector(random, network.parameter_count()).cast<float>();
  for (std::size_t h = 0; h < forgotten; ++h) network.forget_row(h, parameters);
  if (first_kept) network.keep_row(0, parameters);
  if (forgotten < shape.cells.size()) parameters.tail(shape.cells.back()).array() += 0.5F;
  Vector<float> other = parameters;
  other.tail(shape.cells.back()).array() += gate;
  HeadsDrawer drawer(shape, other, {1});
  const Rows rows(shape, drawer.no_feature());
  CellRows plain;
  CellRows drawn;
  network.draw(parameters, rows.features, rows.own, rows.noise.transpose(), rows.uniform, plain);
  drawer.draw(rows.input, rows.own, rows.noise, rows.uniform, drawn);
  if (first_kept) {
    EXPECT_EQ(drawn.row(0), rows.own.row(0));
  }
  Index apart = 0;
  std::set<std::int32_t> seen;
  for (Index i = 0; i < kRows; ++i) {
    bool same = plain.col(i) == drawn.col(i);
    for (std::size_t h = 0; h < shape.cells.size(); ++h)
      same = same && network.stays(h, i) == drawer.stays(h, i);
    apart += same ? 0 : 1;
    seen.insert(drawn(1, i) == rows.own(1, i) ? -1 : drawn(1, i));
  }
  EXPECT_GT(seen.size(), 10U);
  return apart;
}

// A sum that is off by its last bits, a millionth, turns a draw in one of a million; of up to 50,000 draws
// more than 2 do so in one of 50,000 cases. In the last line the gates of a head are off by 0.5.
TEST(HeadsDrawer, DrawsAsTheNetworkDoes) {
  EXPECT_LE(rows_apart(few_heads({20, 18}), 1), 2);
  EXPECT_LE(rows_apart(few_heads({64, 64, 80}), 1), 2);
  EXPECT_LE(rows_apart(few_heads({}), 1), 2);
  EXPECT_LE(rows_apart(many_before(3), 1), 2);   // more combinations than are kept
  EXPECT_LE(rows_apart(many_before(16), 1), 2);  // more than there are numbers for
  EXPECT_LE(rows_apart(many_before(3), 4), 2);   // none looks at the rows
  EXPECT_LE(rows_apart(few_heads({20, 18}), 0, 0, true), 2);
  EXPECT_GT(rows_apart(few_heads({20, 18}), 1, 0.5F), 20);
}

}  // namespace
}  // namespace ppan
