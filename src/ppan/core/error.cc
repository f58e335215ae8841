#include "ppan/core/error.h"

#include <utility>

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

Error::Error(ErrorCode code, const std::string& what, std::string fix)
    : std::runtime_error(what), code_(code), fix_(std::move(fix)) {}

}  // namespace ppan
