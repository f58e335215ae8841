#pragma once

#include <optional>
#include <vector>

#include "ppan/audit/additive_fit.h"

namespace ppan {

/// A period of the values (one for each row of `fit`, NaN: none) at which what the columns do not explain of
/// the attribute goes up and down, clearly more than chance lets the best of all that are tried; absent:
/// none. `unit`: times this a value is whole (0: it is not), and no shorter period than two units is tried.
/// `most_work`: rows times levels times periods.
std::optional<double> informative_period(const std::vector<double>& value, const AdditiveFit& fit,
                                         double unit, double most_work);

}  // namespace ppan
