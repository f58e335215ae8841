#pragma once

// Values of records in messages. A message is made with the value in it, marked; whoever shows it decides
// whether the value is shown, so that a cell of somebody's record is in no log unless a person asked for it.

#include <string>
#include <string_view>

namespace ppan {

/// `shown` where values are shown, `hidden` where they are not.
std::string marked_value(std::string_view shown, std::string_view hidden = "the cell");

/// The message with every marked value as it is, and without any.
std::string with_values(std::string_view message);
std::string without_values(std::string_view message);

}  // namespace ppan
