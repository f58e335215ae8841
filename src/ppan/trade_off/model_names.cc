#include "ppan/trade_off/model_names.h"

#include <fmt/format.h>

namespace ppan {

std::string model_name(int point) {
  return fmt::format("point-{:02}.ppan", point);
}

std::string redrawn_name(int number) {
  return fmt::format("redrawn-{:02}.ppan", number);
}

}  // namespace ppan
