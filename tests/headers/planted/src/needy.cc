#include <string>

#include "needy.h"

namespace ppan {

std::string greeting() {
  return "hello";
}

}  // namespace ppan
