#pragma once

namespace ppan {

std::string greeting();

}  // namespace ppan
