#include "ppan/audit/suite_input.h"

#include <algorithm>
#include <limits>

namespace ppan {

SuiteInput suite_input(const FeatureMap& map, const AuditTable& released) {
  return {map.apply(released),    {},
          map.source(),           map.values(),
          map.key_values(),       map.key_source(),
          map.coarse_values(),    map.coarse_column(),
          map.coarse_in_threes(), map.numbers()};
}

void add_known(SuiteInput& input, const AttackTarget& known) {
  const auto extend = [&](AttackFeatures& features) {
    const Index first = features.data.cols();
    features.data.conservativeResize(Eigen::NoChange, first + known.levels);
    features.data.rightCols(known.levels).setZero();
    for (std::size_t i = 0; i < known.code.size(); ++i) {
      features.data(static_cast<Index>(i), first + known.code[i]) = 2;
      if (features.cell[i] >= 0) features.cell[i] = features.cell[i] * known.levels + known.code[i];
    }
    features.cells *= known.levels;
  };
  // Cells of the pair must fit; a table of that many would be empty anyway.
  if (std::int64_t{input.released.cells} * known.levels > std::numeric_limits<std::int32_t>::max()) {
    std::fill(input.released.cell.begin(), input.released.cell.end(), -1);
    input.released.cells = 0;
    for (AttackFeatures& again : input.again) {
      std::fill(again.cell.begin(), again.cell.end(), -1);
      again.cells = 0;
    }
  }
  for (std::int32_t l = 0; l < known.levels; ++l) {
    input.values.push_back(input.released.data.cols() + l);
    input.source.push_back({known.name, "known"});
  }
  extend(input.released);
  for (AttackFeatures& again : input.again) extend(again);
}

}  // namespace ppan
