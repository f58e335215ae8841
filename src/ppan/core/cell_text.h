#pragma once

// Values of records in messages. A message contains the value with a mark around it. The code that displays
// the message decides whether to show the value, so that no log contains a cell of a record unless a person
// asked for it.

#include <string>
#include <string_view>

namespace ppan {

/// `shown` where values are shown, `hidden` where they are not.
std::string marked_value(std::string_view shown, std::string_view hidden = "the cell");

/// The message with every marked value shown, and with every marked value hidden.
std::string with_values(std::string_view message);
std::string without_values(std::string_view message);

}  // namespace ppan
