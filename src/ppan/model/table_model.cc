#include "ppan/model/table_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "ppan/game/finite_mechanism.h"
#include "ppan/game/mechanism_json.h"
#include "ppan/model/heads_releaser.h"
#include "ppan/model/model_parts.h"
#include "ppan/read/schema_json.h"

namespace ppan {
namespace {

constexpr int kPartsVersion = 1;
constexpr std::size_t kMostComponents = 64;
constexpr double kWeightTolerance = 1e-9;

constexpr std::array<std::pair<ComponentKind, std::string_view>, 5> kComponentNames{{
    {ComponentKind::kUnchanged, "unchanged"},
    {ComponentKind::kConstant, "constant"},
    {ComponentKind::kTrained, "trained"},
    {ComponentKind::kCodebook, "codebook"},
    {ComponentKind::kHeads, "heads"},
}};
[[noreturn]] void malformed(const std::string& what) {
  throw Error(ErrorCode::kBadInput, fmt::format("the model's description is malformed: {}", what));
}

const nlohmann::json& at(const nlohmann::json& from, const char* key) {
  if (!from.is_object() || !from.contains(key)) malformed(fmt::format("\"{}\" is missing", key));
  return from.at(key);
}

template <typename Value>
Value get(const nlohmann::json& from, const char* key) {
  const nlohmann::json& value = at(from, key);
  const bool fits = std::is_same_v<Value, bool>          ? value.is_boolean()
                    : std::is_integral_v<Value>          ? value.is_number_integer()
                    : std::is_floating_point_v<Value>    ? value.is_number()
                    : std::is_same_v<Value, std::string> ? value.is_string()
                                                         : value.is_array();
  if (!fits) malformed(fmt::format("\"{}\" has the wrong type", key));
  try {
    return value.get<Value>();
  } catch (const nlohmann::json::exception&) {
    malformed(fmt::format("\"{}\" cannot be read", key));
  }
}

// An attribute of no rows that looks like what a mechanism observes.
Attribute<float> observed_like(const Encoding& encoding, const Layout& layout, MechanismKind kind) {
  EncodedRows none;
  for (const Block& block : layout.blocks) none.which.push_back(block.column);
  none.columns.resize(layout.blocks.size());
  return observed_attribute(none, encoding, layout, kind);
}

std::vector<std::int32_t> columns_of(const Layout& layout) {
  std::vector<std::int32_t> columns;
  for (const Block& block : layout.blocks) columns.push_back(block.column);
  return columns;
}

void start(const EncodedRows& in, const std::vector<std::int32_t>& columns, EncodedRows& out) {
  out.rows = in.rows;
  out.which = columns;
  out.columns.resize(columns.size());
  out.faults = in.faults;
  out.bad = in.bad;
  out.bad.resize(static_cast<std::size_t>(in.rows), 0);
  out.replaced = in.replaced;
}

// Columns `columns` of the rows `rows`.
void gather_columns(const EncodedRows& from, const std::vector<std::int32_t>& columns,
                    const std::vector<std::int32_t>& rows, EncodedRows& to) {
  to.rows = static_cast<std::int64_t>(rows.size());
  to.which = columns;
  to.columns.resize(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const EncodedColumn& source = from.columns[from.position_of(columns[c])];
    EncodedColumn& target = to.columns[c];
    target.code.resize(rows.size());
    target.value.resize(source.value.empty() ? 0 : rows.size());
    for (std::size_t r = 0; r < target.code.size(); ++r)
      target.code[r] = source.code[static_cast<std::size_t>(rows[r])];
    for (std::size_t r = 0; r < target.value.size(); ++r)
      target.value[r] = source.value[static_cast<std::size_t>(rows[r])];
  }
}

void copy_columns(const EncodedRows& from, const std::vector<std::int32_t>& columns, EncodedRows& to) {
  for (std::size_t c = 0; c < columns.size(); ++c) to.columns[c] = from.columns[from.position_of(columns[c])];
}

void check_component(const TableComponent& component, const std::string& field, bool observes_useful,
                     const Encoding& encoding, const Layout& observed, const Layout& released,
                     ProblemList& list) {
  list.require(std::isfinite(component.weight) && component.weight > 0 && component.weight <= 1,
               field + ".weight", fmt::format("is {}, must be above 0 and at most 1", component.weight));
  const std::size_t columns = released.blocks.size();
  switch (component.kind) {
    case ComponentKind::kUnchanged:
      list.require(observes_useful, field, "cannot release columns unchanged that it does not observe");
      return;
    case ComponentKind::kConstant: {
      const bool sized = component.value.size() == columns && component.code.size() == columns;
      list.require(sized, field, "needs a constant for each released column");
      for (std::size_t c = 0; sized && c < columns; ++c) {
        const Block& block = released.blocks[c];
        const Index codes = block.kind == BlockKind::kCategory          ? block.width
                            : block.kind == BlockKind::kNumberOrMissing ? 2
                                                                        : 1;
        list.require(std::isfinite(component.value[c]) && component.code[c] >= 0 && component.code[c] < codes,
                     field, fmt::format("has a constant for column {} that cannot be", c + 1));
      }
      return;
    }
    case ComponentKind::kCodebook:
      list.require(component.codebook != nullptr, field, "has no codebook");
      if (component.codebook) {
        list.add(field + ".codebook", component.codebook->check(encoding, observed, columns_of(released)));
      }
      return;
    case ComponentKind::kHeads:
      list.require(component.heads != nullptr, field, "has no heads");
      if (component.heads)
        list.add(field + ".heads", component.heads->check(encoding, observed, columns_of(released)));
      return;
    case ComponentKind::kTrained:
      break;
  }
  const MechanismOptions& options = component.mechanism;
  const bool known = options.kind == MechanismKind::kFinite || options.kind == MechanismKind::kNoisyCode ||
                     options.kind == MechanismKind::kNoiseInput;
  list.require(known, field + ".mechanism",
               fmt::format("{} cannot release a table", to_string(options.kind)));
  Problems problems = options.check();
  list.add(field + ".mechanism", problems);
  list.require(std::isfinite(options.code_radius), field + ".mechanism.code_radius", "must be a number");
  list.require_between(field + ".keep_within", component.keep_within, 0, 1);
  // What is left as it is does not go through the code, and the upper bounds would not hold for it.
  list.require(component.keep_within == 0 || options.kind == MechanismKind::kNoiseInput,
               field + ".keep_within", "is for noise-input mechanisms only");
  if (!known || !problems.empty()) return;
  const auto cells = joint_levels(encoding, columns_of(released));
  const Index width = options.kind == MechanismKind::kFinite ? cells.value_or(0) : released.width;
  list.require(options.kind != MechanismKind::kFinite || (cells && *cells <= kMostCells),
               field + ".mechanism", "the released columns are not categories of a small joint alphabet");
  list.require(options.released == width, field + ".mechanism.released",
               fmt::format("is {}, but the released columns need {}", options.released, width));
  list.require(options.draws == 1, field + ".mechanism.draws", "must be 1");
  list.require(options.gate.empty(), field + ".mechanism.gate", "is for images only");
  if (options.released != width || !options.gate.empty() ||
      (options.kind == MechanismKind::kFinite && (!cells || *cells > kMostCells)))
    return;
  const Attribute<float> like = observed_like(encoding, observed, options.kind);
  const Index least = least_parameters(options, like.width());
  list.require(component.parameters.size() >= least, field + ".parameters",
               fmt::format("are {}, but the network has at least {}", component.parameters.size(), least));
  if (component.parameters.size() < least) return;
  const auto mechanism = make_mechanism(options, like);
  list.require(mechanism->parameters().size() == component.parameters.size(), field + ".parameters",
               fmt::format("are {}, but the network has {}", component.parameters.size(),
                           mechanism->parameters().size()));
  list.require(component.parameters.allFinite(), field + ".parameters", "must be finite numbers");
}

}  // namespace

std::string_view to_string(ComponentKind kind) {
  for (const auto& [k, name] : kComponentNames) {
    if (k == kind) return name;
  }
  return "unknown";
}

Attribute<float> observed_attribute(const EncodedRows& rows, const Encoding& encoding, const Layout& layout,
                                    MechanismKind kind) {
  Attribute<float> out;
  const std::vector<std::int32_t> columns = columns_of(layout);
  const auto cells = joint_levels(encoding, columns);
  if (kind == MechanismKind::kFinite && cells && *cells <= kMostCells) {
    out.code = join_codes(rows, encoding, columns);
    out.levels = *cells;
  } else {
    to_matrix(rows, layout, out.value);
  }
  return out;
}

TableModel::TableModel(Schema schema, Encoding encoding, std::vector<TableComponent> components)
    : schema_(std::move(schema)), encoding_(std::move(encoding)), components_(std::move(components)) {
  ProblemList list;
  list.add("schema", schema_.check());
  list.add("encoding", encoding_.check());
  const auto known = [&](const std::string& name) {
    return std::any_of(encoding_.columns.begin(), encoding_.columns.end(),
                       [&](const ColumnEncoding& column) { return column.name == name; });
  };
  list.require(!schema_.useful.empty(), "schema", "no column is released");
  for (const std::vector<std::string>* names :
       {&std::as_const(schema_.useful), &schema_.observed_columns()}) {
    for (const std::string& name : *names) {
      list.require(known(name), "encoding", fmt::format("lacks the column '{}'", name));
    }
  }
  list.require(!components_.empty() && components_.size() <= kMostComponents, "components",
               fmt::format("must be 1 to {}", kMostComponents));
  Problems problems = list.take();
  require_none(problems, "this model cannot be used:", ErrorCode::kBadInput);

  observed_ = encoding_.indices_of(schema_.observed_columns());
  released_ = encoding_.indices_of(schema_.useful);
  observed_layout_ = make_layout(encoding_, observed_);
  released_layout_ = make_layout(encoding_, released_);
  const bool observes_useful = std::all_of(released_.begin(), released_.end(), [&](std::int32_t column) {
    return std::find(observed_.begin(), observed_.end(), column) != observed_.end();
  });
  ProblemList parts;
  double total = 0;
  for (std::size_t i = 0; i < components_.size(); ++i) {
    total += components_[i].weight;
    check_component(components_[i], fmt::format("components[{}]", i), observes_useful, encoding_,
                    observed_layout_, released_layout_, parts);
  }
  parts.require(std::abs(total - 1) <= kWeightTolerance, "components",
                fmt::format("have weights of sum {}, must be 1", total));
  require_none(parts.take(), "this model cannot be used:", ErrorCode::kBadInput);
}

ModelParts TableModel::to_parts() const {
  ModelParts parts;
  parts.description = {{"kind", "table"}, {"version", kPartsVersion}};
  parts.description["schema"] = ppan::to_json(schema_);
  parts.description["encoding"] = ppan::to_json(encoding_);
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const TableComponent& component = components_[i];
    nlohmann::json json{
        {"kind", to_string(component.kind)}, {"weight", component.weight}, {"label", component.label}};
    if (component.kind == ComponentKind::kConstant) {
      json["value"] = component.value;
      json["code"] = component.code;
    }
    if (component.kind == ComponentKind::kCodebook) {
      json["codebook"] = codebook_to_json(*component.codebook, fmt::format("component-{}", i), parts.tensors);
    }
    if (component.kind == ComponentKind::kHeads)
      json["heads"] = heads_to_json(*component.heads, fmt::format("component-{}", i), parts.tensors);
    if (component.kind == ComponentKind::kTrained) {
      const std::string name = fmt::format("component-{}", i);
      json["mechanism"] = mechanism_to_json(component.mechanism);
      json["tensor"] = name;
      if (component.keep_within > 0) json["keep_within"] = component.keep_within;
      parts.tensors[name] = component.parameters;
    }
    list.push_back(std::move(json));
  }
  parts.description["components"] = std::move(list);
  return parts;
}

TableModel TableModel::from_parts(const ModelParts& parts) {
  const nlohmann::json& json = parts.description;
  if (get<std::string>(json, "kind") != "table") malformed("it is not a model of a table");
  const auto version = get<std::int64_t>(json, "version");
  if (version < 1 || version > kPartsVersion) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("the model is of version {}, this program knows up to {}", version, kPartsVersion),
        "use a newer ppan");
  }
  const nlohmann::json& list = at(json, "components");
  if (!list.is_array() || list.size() > kMostComponents) malformed("\"components\" is not a short list");
  std::vector<TableComponent> components;
  std::size_t used = 0;
  for (const nlohmann::json& from : list) {
    TableComponent component;
    const auto kind = get<std::string>(from, "kind");
    const auto known = std::find_if(kComponentNames.begin(), kComponentNames.end(),
                                    [&](const auto& entry) { return entry.second == kind; });
    if (known == kComponentNames.end()) malformed(fmt::format("unknown component \"{}\"", kind));
    component.kind = known->first;
    component.weight = get<double>(from, "weight");
    component.label = get<std::string>(from, "label");
    if (component.kind == ComponentKind::kConstant) {
      component.value = get<std::vector<double>>(from, "value");
      component.code = get<Symbols>(from, "code");
    }
    if (component.kind == ComponentKind::kCodebook) {
      component.codebook =
          std::make_shared<const Codebook>(codebook_from_json(at(from, "codebook"), parts.tensors, used));
    }
    if (component.kind == ComponentKind::kHeads) {
      component.heads =
          std::make_shared<const Heads>(heads_from_json(at(from, "heads"), parts.tensors, used));
    }
    if (component.kind == ComponentKind::kTrained) {
      component.mechanism = mechanism_from_json(at(from, "mechanism"));
      if (from.contains("keep_within")) component.keep_within = get<double>(from, "keep_within");
      const auto name = get<std::string>(from, "tensor");
      const auto tensor = parts.tensors.find(name);
      if (tensor == parts.tensors.end()) malformed(fmt::format("tensor \"{}\" is missing", name));
      if (tensor->second.cols() != 1) malformed(fmt::format("tensor \"{}\" is not a single column", name));
      component.parameters = tensor->second.col(0);
      ++used;
    }
    components.push_back(std::move(component));
  }
  if (used != parts.tensors.size()) malformed("there are tensors that no component uses");
  return {schema_from_json(at(json, "schema")), encoding_from_json(at(json, "encoding")),
          std::move(components)};
}

/// One component, ready to release rows: the mechanism with its buffers.
class TableReleaser::Part {
 public:
  Part(const TableModel& model, const TableComponent& component) : model_(&model), component_(&component) {
    if (component.kind == ComponentKind::kCodebook) {
      codebook_.emplace(*component.codebook, model.encoding(), model.observed_layout());
    }
    if (component.kind == ComponentKind::kHeads)
      heads_.emplace(*component.heads, model.encoding(), model.observed_layout());
    if (component.kind != ComponentKind::kTrained) return;
    if (component.mechanism.kind != MechanismKind::kFinite && needs_double(model)) {
      in_double_.emplace(model, component);
    } else {
      in_float_.emplace(model, component);
    }
  }

  /// Fills the columns of `out`, which has been started.
  void release(const EncodedRows& in, RandomSource& random, EncodedRows& out) {
    const std::vector<std::int32_t>& columns = model_->released();
    if (component_->kind == ComponentKind::kUnchanged) {
      copy_columns(in, columns, out);
      return;
    }
    if (component_->kind == ComponentKind::kConstant) {
      const auto rows = static_cast<std::size_t>(in.rows);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const bool number = model_->released_layout().blocks[c].kind != BlockKind::kCategory;
        out.columns[c].value.assign(number ? rows : 0, component_->value[c]);
        out.columns[c].code.assign(rows, component_->code[c]);
      }
      return;
    }
    if (codebook_) {
      codebook_->release(in, random, out.columns);
      return;
    }
    if (heads_) {
      heads_->release(in, random, out.columns);
      return;
    }
    if (component_->mechanism.kind == MechanismKind::kFinite) {
      const Attribute<float> observed =
          observed_attribute(in, model_->encoding(), model_->observed_layout(), MechanismKind::kFinite);
      split_codes(in_float_->mechanism->release(observed, random).code, model_->encoding(), columns, split_);
    } else if (in_double_) {
      in_double_->release(*model_, in, random, split_);
    } else {
      in_float_->release(*model_, in, random, split_);
    }
    if (component_->keep_within > 0) keep_small_moves(in);
    for (std::size_t c = 0; c < columns.size(); ++c) std::swap(out.columns[c], split_.columns[c]);
  }

 private:
  // The mechanism with its buffers.
  template <typename Scalar>
  struct Network {
    Network(const TableModel& model, const TableComponent& component) {
      const auto like = observed_like(model.encoding(), model.observed_layout(), component.mechanism.kind);
      mechanism = make_mechanism<Scalar>(component.mechanism, cast<Scalar>(like));
      mechanism->parameters() = component.parameters.template cast<Scalar>();
    }
    void release(const TableModel& model, const EncodedRows& in, RandomSource& random, EncodedRows& out) {
      to_matrix(in, model.observed_layout(), observed.value);
      mechanism->fill_noise(random, in.rows, noise);
      mechanism->draw(observed, noise, draws);
      read_heads<Scalar>(draws.released, model.released_layout(), out);
    }
    std::unique_ptr<Mechanism<Scalar>> mechanism;
    Attribute<Scalar> observed;
    Matrix<Scalar> noise;
    Draws<Scalar> draws;
  };

  // Float has a grid of its own, 2^-23 of a value, which differs from value to value. On released numbers
  // whose grid is not far coarser than that it would show, and with it what went in.
  static bool needs_double(const TableModel& model) {
    constexpr double kFloatShows = 0x1.0p-12;
    return std::any_of(model.released().begin(), model.released().end(), [&](std::int32_t index) {
      const ColumnEncoding& column = model.encoding().columns[static_cast<std::size_t>(index)];
      return column.numeric() && column.grid < kFloatShows * (column.most - column.least);
    });
  }

  // Networks are never exact: without this almost every number of a table is off by a little, which hides
  // nothing and spoils all of them.
  void keep_small_moves(const EncodedRows& in) {
    const std::vector<std::int32_t>& columns = model_->released();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::vector<std::int32_t>& observed = model_->observed();
      if (model_->released_layout().blocks[c].kind == BlockKind::kCategory ||
          std::find(observed.begin(), observed.end(), columns[c]) == observed.end())
        continue;
      const EncodedColumn& from = in.columns[in.position_of(columns[c])];
      EncodedColumn& to = split_.columns[c];
      for (std::size_t r = 0; r < to.value.size(); ++r) {
        if (from.code[r] == to.code[r] && std::abs(to.value[r] - from.value[r]) <= component_->keep_within)
          to.value[r] = from.value[r];
      }
    }
  }

  const TableModel* model_;
  const TableComponent* component_;
  std::optional<Network<float>> in_float_;
  std::optional<Network<double>> in_double_;
  std::optional<CodebookReleaser> codebook_;
  std::optional<HeadsReleaser> heads_;
  EncodedRows split_;
};

TableReleaser::TableReleaser(const TableModel& model)
    : model_(&model), rules_(model.schema(), model.encoding()) {
  for (const TableComponent& component : model.components()) {
    parts_.push_back(std::make_unique<Part>(model, component));
    weights_.push_back(component.weight);
  }
  rows_of_.resize(parts_.size());
}
TableReleaser::~TableReleaser() = default;
TableReleaser::TableReleaser(TableReleaser&&) noexcept = default;
TableReleaser& TableReleaser::operator=(TableReleaser&&) noexcept = default;

void TableReleaser::release(const EncodedRows& in, RandomSource& random, EncodedRows& out) {
  start(in, model_->released(), out);
  if (parts_.size() == 1) {
    parts_.front()->release(in, random, out);
  } else {
    release_mixed(in, random, out);
  }
  if (!rules_.empty()) rules_.apply(out);
}

void TableReleaser::release_mixed(const EncodedRows& in, RandomSource& random, EncodedRows& out) {
  for (auto& rows : rows_of_) rows.clear();
  for (std::int64_t r = 0; r < in.rows; ++r) {
    rows_of_[static_cast<std::size_t>(draw_index(random, weights_))].push_back(static_cast<std::int32_t>(r));
  }
  const auto rows = static_cast<std::size_t>(in.rows);
  for (std::size_t c = 0; c < out.columns.size(); ++c) {
    const bool number = model_->released_layout().blocks[c].kind != BlockKind::kCategory;
    out.columns[c].code.resize(rows);
    out.columns[c].value.resize(number ? rows : 0);
  }
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (rows_of_[p].empty()) continue;
    gather_columns(in, model_->observed(), rows_of_[p], gathered_);
    start(gathered_, model_->released(), released_);
    parts_[p]->release(gathered_, random, released_);
    for (std::size_t c = 0; c < out.columns.size(); ++c) {
      const EncodedColumn& from = released_.columns[c];
      EncodedColumn& to = out.columns[c];
      for (std::size_t r = 0; r < rows_of_[p].size(); ++r)
        to.code[static_cast<std::size_t>(rows_of_[p][r])] = from.code[r];
      for (std::size_t r = 0; r < from.value.size(); ++r)
        to.value[static_cast<std::size_t>(rows_of_[p][r])] = from.value[r];
    }
  }
}

TableModel mix(const TableModel& first, const TableModel& second, double second_weight) {
  if (!(second_weight >= 0 && second_weight <= 1)) {
    throw Error(ErrorCode::kUsage, fmt::format("a share of {} is not between 0 and 1", second_weight));
  }
  if (!(first.schema() == second.schema()) || !(first.encoding() == second.encoding())) {
    throw Error(ErrorCode::kUsage, "only models of the same table can be mixed",
                "take two points of the same run");
  }
  if (second_weight == 0) return first;
  if (second_weight == 1) return second;
  std::vector<TableComponent> components;
  for (const auto& [model, share] :
       {std::pair{&first, 1 - second_weight}, std::pair{&second, second_weight}}) {
    for (TableComponent component : model->components()) {
      component.weight *= share;
      components.push_back(std::move(component));
    }
  }
  return {first.schema(), first.encoding(), std::move(components)};
}

TableModel unchanged_model(const Schema& schema, const Encoding& encoding) {
  TableComponent component;
  component.label = "unchanged";
  return {schema, encoding, {std::move(component)}};
}

TableModel constant_model(const Schema& schema, const Encoding& encoding, const EncodedRows& rows) {
  TableComponent component;
  component.kind = ComponentKind::kConstant;
  component.label = "constant";
  for (const std::string& name : schema.useful) {
    const std::int32_t index = encoding.index_of(name);
    const ColumnEncoding& column = encoding.columns[static_cast<std::size_t>(index)];
    const EncodedColumn& from = rows.columns[rows.position_of(index)];
    std::vector<std::int64_t> seen(static_cast<std::size_t>(column.numeric() ? 2 : column.width()), 0);
    for (const std::int32_t code : from.code) ++seen[static_cast<std::size_t>(code)];
    const auto most = std::max_element(seen.begin(), seen.end());
    component.code.push_back(static_cast<std::int32_t>(most - seen.begin()));
    double sum = 0;
    for (const double v : from.value) sum += v;  // 0 where missing
    const bool number = column.numeric() && component.code.back() == 0 && seen[0] > 0;
    component.value.push_back(number ? sum / static_cast<double>(seen[0]) : 0);
  }
  return {schema, encoding, {std::move(component)}};
}

}  // namespace ppan
