// The audit's attackers one by one on rows from a file: floats, a row after the other, the features first and
// the true level last. The first `TRAIN` rows are learned from, the next `SELECTION` choose, the others test.
//   bench_attack_file FILE FEATURES LEVELS TRAIN SELECTION
// Prints one JSON object: processor seconds of each attacker, and the entropy less its log loss on the test
// rows, nats. bench/peers/attackers.py gives the same rows to other packages.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "ppan/audit/attacker.h"
#include "ppan/core/random.h"
#include "ppan/nn/blas.h"

namespace {

using ppan::AttackerKind;
using ppan::AttackRows;
using ppan::AttackTask;
using ppan::Index;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

RowMajor read(const char* path, Index columns) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto rows = static_cast<Index>(bytes.size() / sizeof(float)) / columns;
  return Eigen::Map<const RowMajor>(reinterpret_cast<const float*>(bytes.data()), rows, columns);
}

AttackRows part(const RowMajor& all, Index first, Index count) {
  AttackRows rows{.data = all.block(first, 0, count, all.cols() - 1),
                  .keys = ppan::KeyMatrix(count, 0),
                  .cell = ppan::Symbols(static_cast<std::size_t>(count), -1),
                  .x = {},
                  .score = {}};
  for (Index i = first; i < first + count; ++i)
    rows.x.push_back(static_cast<std::int32_t>(all(i, all.cols() - 1)));
  return rows;
}

ppan::Vector<double> shares(const ppan::Symbols& x, std::int32_t levels) {
  ppan::Vector<double> count = ppan::Vector<double>::Constant(levels, 1e-9);
  for (const std::int32_t level : x) count[level] += 1;
  return count / count.sum();
}

std::string fitted(AttackerKind kind, const AttackTask& task, const std::array<AttackRows, 3>& rows) {
  const auto attacker = ppan::make_attacker(kind, task);
  ppan::SeededRandom random(1);
  const std::clock_t start = std::clock();
  attacker->fit(rows[0], rows[1], random);
  const ppan::Matrix<float> answer = attacker->log_probability(rows[2]);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  double entropy = 0;
  for (const double share : shares(rows[2].x, task.levels)) entropy -= share * std::log(share);
  return fmt::format(R"("{}": {{"held_out_nats": {}, "cpu_seconds": {}}})", ppan::to_string(kind),
                     entropy + ppan::mean_score(answer, rows[2].x), seconds);
}

}  // namespace

int main(int count, char** words) {
  if (count != 6) {
    fmt::print(stderr, "usage: bench_attack_file FILE FEATURES LEVELS TRAIN SELECTION\n");
    return 2;
  }
  try {
    const Index features = std::atoi(words[2]);
    const Index train = std::atoi(words[4]);
    const Index selection = std::atoi(words[5]);
    const RowMajor all = read(words[1], features + 1);
    if (features < 1 || train < 1 || selection < 1 || train + selection >= all.rows()) {
      fmt::print(stderr, "bench_attack_file: {} rows do not make three parts\n", all.rows());
      return 2;
    }
    const std::array<AttackRows, 3> rows{part(all, 0, train), part(all, train, selection),
                                         part(all, train + selection, all.rows() - train - selection)};
    AttackTask task{.levels = std::atoi(words[3])};
    task.prior = shares(rows[0].x, task.levels);
    task.values.resize(static_cast<std::size_t>(features));
    std::iota(task.values.begin(), task.values.end(), Index{0});
    const ppan::Runtime runtime;
    const ppan::BlasThreads one(1);
    std::string out;
    for (const AttackerKind kind :
         {AttackerKind::kLogistic, AttackerKind::kTrees, AttackerKind::kForest, AttackerKind::kSmallMlp})
      out += (out.empty() ? "" : ", ") + fitted(kind, task, rows);
    fmt::print("{{{}}}\n", out);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_attack_file: {}\n", error.what());
    return 1;
  }
}
