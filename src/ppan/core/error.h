#pragma once

#include <stdexcept>
#include <string>

namespace ppan {

/// Why an operation could not continue. The command line maps each to one exit status; see exit_status().
enum class ErrorCode {
  kInternal,       ///< A fault of this program.
  kUsage,          ///< Wrong arguments, options or job file.
  kBadInput,       ///< Data that cannot be used.
  kIo,             ///< A file could not be read or written.
  kDiverged,       ///< Training did not produce a usable mechanism.
  kLimitExceeded,  ///< An audit limit set by the user was exceeded.
};

/// 1 internal, 2 usage, 3 bad input, 4 input/output, 5 diverged, 6 limit exceeded. Part of the contract.
int exit_status(ErrorCode code);

/// Thrown when an operation cannot continue. `what()` says what is wrong and where; `fix()` how to fix it.
/// Neither quotes a value of a record; what_with_values() and fix_with_values() do (core/cell_text.h).
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& what, const std::string& fix = {});
  [[nodiscard]] ErrorCode code() const { return code_; }
  [[nodiscard]] const std::string& fix() const { return fix_; }
  [[nodiscard]] const std::string& what_with_values() const { return what_with_values_; }
  [[nodiscard]] const std::string& fix_with_values() const { return fix_with_values_; }
  /// Whether a value is left out of what() or fix().
  [[nodiscard]] bool hides_values() const { return what_with_values_ != what() || fix_with_values_ != fix_; }

 private:
  ErrorCode code_;
  std::string fix_;
  std::string what_with_values_;
  std::string fix_with_values_;
};

}  // namespace ppan
