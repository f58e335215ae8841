#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ppan/core/problem.h"

namespace ppan {

/// Problems of options and of the files they name, reported together.
class RequestProblems : public ProblemList {
 public:
  /// Calls the reader of a file that an option names, and records its problems.
  void read(const std::string& option, const std::function<void()>& reader);
  /// Throws one Error with every problem; returns when there is none. Where only files are wrong it has their
  /// code, otherwise kUsage.
  void require_none(std::string_view subject);

 private:
  std::vector<std::pair<std::string, Error>> files_;
};

}  // namespace ppan
