// The estimators of mutual information on a sample from a file: doubles, a record after the other, the
// columns of X first.
//   bench_estimate_file FILE DIMENSIONS_OF_X DIMENSIONS_OF_Z [THREADS]
// Prints one JSON object: nats of KSG and of the Gaussian formula, each with its seconds and processor
// seconds. bench/peers/estimators.py gives the same samples to others.

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>
#include <vector>

#include "ppan/audit/gaussian_information.h"
#include "ppan/audit/ksg.h"

namespace {

using ppan::Index;
using ppan::Matrix;

struct Sample {
  Matrix<double> x;
  Matrix<double> z;
};

Sample read(const char* path, Index x_columns, Index z_columns) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const Index columns = x_columns + z_columns;
  const auto rows = static_cast<Index>(bytes.size() / sizeof(double)) / columns;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const RowMajor> all(reinterpret_cast<const double*>(bytes.data()), rows, columns);
  return {all.leftCols(x_columns), all.rightCols(z_columns)};
}

// "NAME": {...} of what `estimate` gives and takes.
template <typename Estimate>
std::string timed(const char* name, const Estimate& estimate) {
  const std::clock_t processor = std::clock();
  const auto start = std::chrono::steady_clock::now();
  const double nats = estimate().nats;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return fmt::format(R"("{}": {{"nats": {}, "seconds": {}, "cpu_seconds": {}}})", name, nats, seconds,
                     static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC);
}

}  // namespace

int main(int count, char** words) {
  if (count < 4 || std::atoi(words[2]) < 1 || std::atoi(words[3]) < 1) {
    fmt::print(stderr, "usage: bench_estimate_file FILE DIMENSIONS_OF_X DIMENSIONS_OF_Z [THREADS]\n");
    return 2;
  }
  try {
    const Sample sample = read(words[1], std::atoi(words[2]), std::atoi(words[3]));
    const ppan::KsgOptions options{.threads = count > 4 ? std::atoi(words[4]) : 1};
    fmt::print("{{{}, {}}}\n",
               timed("ksg", [&] { return ppan::ksg_information(sample.x, sample.z, options); }),
               timed("gaussian", [&] { return ppan::gaussian_information(sample.x, sample.z); }));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_estimate_file: {}\n", error.what());
    return 1;
  }
}
