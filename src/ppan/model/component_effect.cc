#include "ppan/model/component_effect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "ppan/core/random.h"
#include "ppan/encode/encoder.h"

namespace ppan {
namespace {

constexpr std::int64_t kRows = 64;
// A few rows through as many weights as this take a moment.
constexpr Index kMostParameters = Index{1} << 22U;

EncodedRows drawn_rows(const TableModel& model, SeededRandom& random) {
  EncodedRows rows;
  rows.rows = kRows;
  rows.which = model.observed();
  rows.bad.assign(static_cast<std::size_t>(kRows), 0);
  for (const std::int32_t index : model.observed()) {
    const ColumnEncoding& column = model.encoding().columns[static_cast<std::size_t>(index)];
    EncodedColumn drawn;
    for (std::int64_t r = 0; r < kRows; ++r) {
      const double at = random.uniform();
      const auto levels = static_cast<double>(column.levels.size());
      drawn.code.push_back(column.numeric() ? 0 : static_cast<std::int32_t>(at * levels));
      // Not most - least, which may be more than a double holds.
      if (column.numeric()) drawn.value.push_back(column.encode(column.least * (1 - at) + column.most * at));
    }
    rows.columns.push_back(std::move(drawn));
  }
  return rows;
}

bool same_cell(const ColumnEncoding& column, const EncodedColumn& a, std::size_t i, const EncodedColumn& b,
               std::size_t j) {
  if (a.code[i] != b.code[j]) return false;
  return !column.numeric() || a.code[i] != 0 || column.decode(a.value[i]) == column.decode(b.value[j]);
}

std::string network_text(const TableComponent& component) {
  if (component.kind == ComponentKind::kCodebook)
    return fmt::format("codebook of {} codewords", component.codebook->codewords());
  if (component.kind == ComponentKind::kHeads)
    return fmt::format("{} heads, {} parameters", component.heads->heads.size(),
                       component.heads->parameters.size());
  std::string text =
      fmt::format("{}, {} parameters", to_string(component.mechanism.kind), component.parameters.size());
  if (component.mechanism.kind == MechanismKind::kNoisyCode)
    text += fmt::format(", code of {} numbers within ±{:g}", component.mechanism.code,
                        component.mechanism.code_radius);
  return text;
}

// Of heads that redraw some columns and keep the others; empty of any other.
std::string redrawn_text(const TableModel& model, const Heads& heads) {
  const auto redrawn = redrawn_columns(heads, codebook_features(model.observed_layout(), heads.observed));
  if (!redrawn || redrawn->empty()) return {};
  std::vector<std::string> names;
  for (const std::int32_t position : *redrawn) {
    const auto column = static_cast<std::size_t>(model.released()[static_cast<std::size_t>(position)]);
    names.push_back(model.encoding().columns[column].name);
  }
  return fmt::format("released unchanged, except for columns that are redrawn from the others: {}",
                     fmt::join(names, ", "));
}

}  // namespace

std::optional<ComponentEffect> try_component(const TableModel& model, std::size_t component) {
  TableComponent alone = model.components()[component];
  const Index parameters =
      alone.kind == ComponentKind::kHeads ? alone.heads->parameters.size() : alone.parameters.size();
  if (parameters > kMostParameters) return std::nullopt;
  alone.weight = 1;
  const TableModel part(model.schema(), model.encoding(), {std::move(alone)});
  SeededRandom random = SeededRandom(1).fork("try-component");
  const EncodedRows in = drawn_rows(part, random);
  EncodedRows out;
  TableReleaser(part).release(in, random, out);
  ComponentEffect effect{.changed = 0, .constant = true};
  std::int64_t compared = 0;
  for (std::size_t c = 0; c < part.released().size(); ++c) {
    const std::int32_t index = part.released()[c];
    const ColumnEncoding& column = part.encoding().columns[static_cast<std::size_t>(index)];
    const EncodedColumn& after = out.columns[c];
    const auto before = std::find(in.which.begin(), in.which.end(), index);
    for (std::size_t r = 0; r < static_cast<std::size_t>(kRows); ++r) {
      effect.constant = effect.constant && same_cell(column, after, r, after, 0);
      // A column that the mechanism does not see cannot come out as it was.
      const bool same =
          before != in.which.end() &&
          same_cell(column, after, r, in.columns[static_cast<std::size_t>(before - in.which.begin())], r);
      effect.changed += same ? 0 : 1;
      ++compared;
    }
  }
  effect.changed /= static_cast<double>(std::max<std::int64_t>(1, compared));
  return effect;
}

std::string component_text(const TableModel& model, std::size_t component) {
  const TableComponent& part = model.components()[component];
  const std::string label = part.label.empty() ? "" : fmt::format("; labelled \"{}\"", part.label);
  if (part.kind == ComponentKind::kUnchanged) return "released unchanged" + label;
  if (part.kind == ComponentKind::kConstant) return "replaced by one row for everybody (constant)" + label;
  if (part.kind == ComponentKind::kHeads &&
      forgets_rows(*part.heads, codebook_features(model.observed_layout(), part.heads->observed)))
    return fmt::format("replaced by rows drawn without looking at them: {}{}", network_text(part), label);
  if (part.kind == ComponentKind::kHeads) {
    if (const std::string text = redrawn_text(model, *part.heads); !text.empty()) return text + label;
  }
  const auto effect = try_component(model, component);
  const std::string network = network_text(part);
  if (!effect) return fmt::format("a network: {}{}", network, label);
  if (effect->changed == 0)
    return fmt::format("released unchanged, by a network that changes nothing: {}{}", network, label);
  if (effect->constant)
    return fmt::format("replaced by one row for everybody, by a network: {}{}", network, label);
  return fmt::format("a network that changes {:.0f} % of the cells of random rows: {}{}",
                     100 * effect->changed, network, label);
}

}  // namespace ppan
