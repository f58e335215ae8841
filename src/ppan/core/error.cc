#include "ppan/core/error.h"

#include "ppan/core/cell_text.h"

namespace ppan {

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInternal:
      return 1;
    case ErrorCode::kUsage:
      return 2;
    case ErrorCode::kBadInput:
      return 3;
    case ErrorCode::kIo:
      return 4;
    case ErrorCode::kDiverged:
      return 5;
    case ErrorCode::kLimitExceeded:
      return 6;
  }
  return 1;
}

Error::Error(ErrorCode code, const std::string& what, const std::string& fix)
    : std::runtime_error(without_values(what)),
      code_(code),
      fix_(without_values(fix)),
      what_with_values_(with_values(what)),
      fix_with_values_(with_values(fix)) {}

}  // namespace ppan
