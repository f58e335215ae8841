#pragma once

// An experiment as requested on the command line: names and lists of numbers as text; options that were not
// given are absent.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/core/problem.h"
#include "ppan/paper/mnist_run.h"
#include "ppan/paper/request_problems.h"
#include "ppan/paper/study.h"

namespace ppan {

struct PaperRequest {
  std::string name;
  std::string out;
  std::string preset = "best";
  std::optional<int> points;
  std::uint64_t seed = 1;
  int threads = 0;
  bool force = false;
  bool quiet = false;
  bool list = false;
  bool verbose = false;
  InformationUnit unit = InformationUnit::kNats;
  std::optional<int> epochs;
  // Lists are text here and read together, so that every problem of theirs is reported at once.
  std::string budget, lambda, train;
  std::string mechanism, budget_form, covariances;
  std::string hidden, adversary_hidden;
  std::string alpha;
  std::optional<double> weight, rate;
  std::optional<std::int64_t> batch, draws, noise_inputs, components, test;
  std::optional<int> adversary_steps;
  int seeds = 1;
  // Worlds.
  std::optional<int> m;
  std::optional<double> p, flip, noise, erase;
  std::string rho, covariance, pmf, distortion, seen;
  std::optional<std::int64_t> sensitive, released;
  std::vector<std::string> observation;
  MnistPaperOptions mnist;           ///< What only the experiment on images takes.
  std::vector<std::string> given{};  ///< Names of the options on the command line.

  /// The command line that reproduces the numbers.
  [[nodiscard]] std::string command() const;
};

/// An option that would be ignored is a problem.
void check_request(const PaperRequest& options, ProblemList& problems);
/// The options that the request describes. Every problem of its lists and files is added to `problems`.
StudyOptions study_options(const PaperRequest& options, RequestProblems& problems);
/// The same for the experiment on images. Throws Error(kUsage) naming every problem.
MnistPaperOptions mnist_request(const PaperRequest& options);

/// Every experiment with its description; `verbose`: with where the preset `paper` departs from the paper.
std::string experiment_list(bool verbose);

}  // namespace ppan
