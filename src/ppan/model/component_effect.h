#pragma once

// What a component of a model does, derived from its effect on rows and not from its label: a description can
// say anything.

#include <cstddef>
#include <optional>
#include <string>

#include "ppan/model/table_model.h"

namespace ppan {

struct ComponentEffect {
  double changed = 0;     ///< Share of the cells that changed.
  bool constant = false;  ///< Every row became the same one.
};

/// Releases a few rows, drawn evenly over the levels and ranges of the columns, through one component.
/// Nothing for a network that is too large to try quickly.
std::optional<ComponentEffect> try_component(const TableModel& model, std::size_t component);

/// "releases rows as they are", "releases one row for everybody", or of which kind its network is and how
/// much it changes; then its label.
std::string component_text(const TableModel& model, std::size_t component);

}  // namespace ppan
