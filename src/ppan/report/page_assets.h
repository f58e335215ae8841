#pragma once

// Style sheet and script of the report, compiled in from page.css and page.js. Private to this stage.

#include <string_view>

namespace ppan {

extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace ppan
