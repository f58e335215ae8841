#include "ppan/model/codebook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ppan/game/mechanism_json.h"

namespace ppan {
namespace {

constexpr Index kMostCodewords = 4096;

bool counts(const Matrix<float>& matrix) {
  return matrix.allFinite() && (matrix.size() == 0 || matrix.minCoeff() >= 0);
}

void check_column(const Codebook& book, std::size_t c, const Encoding& encoding, std::int32_t released,
                  ProblemList& list) {
  const DecoderColumn& column = book.columns[c];
  const std::string field = fmt::format("columns[{}]", c);
  const ColumnEncoding& how = encoding.columns[static_cast<std::size_t>(released)];
  list.require(column.levels.column == released && column.levels.numeric == how.numeric() &&
                   (how.numeric() || column.levels.category_levels == how.width()) &&
                   (!column.levels.may_be_missing || how.may_be_missing),
               field, "has levels of another column");
  list.add(field + ".levels", column.levels.check());
  const Index levels = column.levels.levels();
  const auto parent = static_cast<std::size_t>(column.parent);
  list.require(column.parent >= -1 && (column.parent < 0 || (parent < book.columns.size() && parent != c)),
               field + ".parent", "is not another column");
  if (column.parent >= 0 && parent >= book.columns.size()) return;
  const Index above = column.parent < 0 ? 0 : book.columns[parent].levels.levels();
  list.require(column.in_code.rows() == book.codewords() && column.in_code.cols() == levels &&
                   counts(column.in_code) && (levels == 0 || column.in_code.rowwise().sum().minCoeff() > 0),
               field + ".in_code", "must hold counts of every codeword");
  list.require(
      column.pair.rows() == above && column.pair.cols() == (above > 0 ? levels : 0) && counts(column.pair),
      field + ".pair", "must hold counts of every pair");
  const Matrix<float>& own = column.pair_in_code;
  bool fits = own.rows() == 0 || (own.cols() == 4 && counts(own));
  for (Index i = 0; fits && i < own.rows(); ++i) {
    fits = own(i, 0) < static_cast<float>(book.codewords()) && own(i, 1) < static_cast<float>(above) &&
           own(i, 2) < static_cast<float>(levels) && own(i, 0) == std::floor(own(i, 0)) &&
           own(i, 1) == std::floor(own(i, 1)) && own(i, 2) == std::floor(own(i, 2)) &&
           (i == 0 || std::pair(own(i - 1, 0), own(i - 1, 1)) <= std::pair(own(i, 0), own(i, 1)));
  }
  list.require(fits, field + ".pair_in_code", "must hold sorted counts of known pairs");
}

}  // namespace

Index codebook_features(const Layout& observed_layout, const std::vector<ColumnLevels>& observed) {
  Index width = observed_layout.width;
  for (const ColumnLevels& levels : observed) width += static_cast<Index>(levels.spike.size());
  return width;
}

void codebook_features(const EncodedRows& rows, const Encoding& encoding, const Layout& observed_layout,
                       const std::vector<ColumnLevels>& observed, Matrix<float>& out) {
  std::vector<Symbols> levels(observed.size());
  std::vector<const Symbols*> known(observed.size(), nullptr);
  for (std::size_t c = 0; c < observed.size(); ++c) {
    if (observed[c].spike.empty()) continue;
    levels[c] = levels_of(rows, observed[c], encoding);
    known[c] = &levels[c];
  }
  codebook_features(rows, observed_layout, observed, known, out);
}

void codebook_features(const EncodedRows& rows, const Layout& observed_layout,
                       const std::vector<ColumnLevels>& observed, const std::vector<const Symbols*>& level,
                       Matrix<float>& out) {
  Matrix<float> plain;
  to_matrix(rows, observed_layout, plain);
  out.resize(rows.rows, codebook_features(observed_layout, observed));
  out.leftCols(plain.cols()) = plain.cwiseMax(-kFarthestFeature).cwiseMin(kFarthestFeature);
  Index next = plain.cols();
  for (std::size_t c = 0; c < observed.size(); ++c) {
    if (level[c] == nullptr) continue;
    const auto spikes = static_cast<std::int32_t>(observed[c].spike.size());
    out.middleCols(next, spikes).setZero();
    for (std::size_t r = 0; r < level[c]->size(); ++r) {
      if ((*level[c])[r] < spikes) out(static_cast<Index>(r), next + (*level[c])[r]) = 1;
    }
    next += spikes;
  }
}

Vector<float> codebook_distance_weights(const Encoding& encoding, const Layout& observed_layout,
                                        const std::vector<ColumnLevels>& observed,
                                        const std::vector<std::int32_t>& released) {
  Vector<float> out = Vector<float>::Zero(codebook_features(observed_layout, observed));
  double total = 0;
  for (const std::int32_t column : released)
    total += encoding.columns[static_cast<std::size_t>(column)].weight;
  const auto weight_of = [&](std::int32_t column) {
    const bool used = std::find(released.begin(), released.end(), column) != released.end();
    return used ? static_cast<float>(encoding.columns[static_cast<std::size_t>(column)].weight / total)
                : 0.0F;
  };
  for (const Block& block : observed_layout.blocks) {
    const float weight = weight_of(block.column);
    if (block.kind == BlockKind::kCategory) {
      out.segment(block.first, block.width).setConstant(weight / 2);  // two indicators differ
      continue;
    }
    out.segment(block.first, block.width).setConstant(weight);
  }
  Index next = observed_layout.width;
  for (const ColumnLevels& levels : observed) {
    const auto spikes = static_cast<Index>(levels.spike.size());
    out.segment(next, spikes).setConstant(weight_of(levels.column) / 2);
    next += spikes;
  }
  return out;
}

Problems Codebook::check(const Encoding& encoding, const Layout& observed_layout,
                         const std::vector<std::int32_t>& released) const {
  ProblemList list;
  list.require(codewords() >= 1 && codewords() <= kMostCodewords, "codewords",
               fmt::format("are {}, must be 1 to {}", codewords(), kMostCodewords));
  list.require_at_least("least_rows", least_rows, 1);
  list.require(hidden.size() <= kMostLayers, "hidden", "has too many layers");
  for (const Index units : hidden) list.require_between("hidden", static_cast<double>(units), 1, kMostUnits);
  list.require(observed.size() == observed_layout.blocks.size(), "observed", "has not every observed column");
  for (std::size_t c = 0; c < observed.size() && c < observed_layout.blocks.size(); ++c) {
    const ColumnEncoding& how = encoding.columns[static_cast<std::size_t>(observed_layout.blocks[c].column)];
    list.require(observed[c].column == observed_layout.blocks[c].column &&
                     observed[c].numeric == how.numeric() &&
                     (how.numeric() || observed[c].category_levels == how.width()),
                 fmt::format("observed[{}]", c), "has levels of another column");
    list.add(fmt::format("observed[{}]", c), observed[c].check());
  }
  list.require(columns.size() == released.size(), "columns", "has not every released column");
  Problems problems = list.take();
  if (!problems.empty()) return problems;
  const Index features = codebook_features(observed_layout, observed);
  list.require(centres.centre.cols() == features && centres.weight.size() == features &&
                   centres.centre.allFinite() && centres.weight.allFinite(),
               "centres", fmt::format("must have {} finite features", features));
  Index width = features;
  Index needed = 1;
  for (const Index units : hidden) {
    needed += (width + 1) * units;
    width = units;
  }
  needed += (width + 1) * codewords();
  list.require(parameters.size() == needed && parameters.allFinite(), "parameters",
               fmt::format("must be {} finite numbers", needed));
  std::vector<bool> seen(columns.size(), false);
  bool tree = order.size() == columns.size();
  for (std::size_t i = 0; tree && i < order.size(); ++i) {
    tree = order[i] >= 0 && static_cast<std::size_t>(order[i]) < columns.size() &&
           !seen[static_cast<std::size_t>(order[i])];
    if (!tree) break;
    const std::int32_t parent = columns[static_cast<std::size_t>(order[i])].parent;
    tree = parent < 0 ||
           (static_cast<std::size_t>(parent) < columns.size() && seen[static_cast<std::size_t>(parent)]);
    seen[static_cast<std::size_t>(order[i])] = true;
  }
  list.require(tree, "order", "must name every column once, parents first");
  for (std::size_t c = 0; c < columns.size(); ++c) check_column(*this, c, encoding, released[c], list);
  return list.take();
}

CodebookReleaser::CodebookReleaser(const Codebook& codebook, const Encoding& encoding,
                                   const Layout& observed_layout)
    : codebook_(&codebook),
      encoding_(&encoding),
      layout_(&observed_layout),
      encoder_(codebook_features(observed_layout, codebook.observed), codebook.hidden, codebook.codewords()) {
  for (const DecoderColumn& column : codebook.columns) {
    share_.push_back(column.in_code.colwise().sum().transpose());
    std::vector<std::int32_t> first;
    if (column.parent >= 0) {
      const Index above = column.pair.rows();
      first.assign(static_cast<std::size_t>(codebook.codewords() * above) + 1, 0);
      for (Index i = 0; i < column.pair_in_code.rows(); ++i) {
        const auto at =
            static_cast<std::size_t>(column.pair_in_code(i, 0)) * static_cast<std::size_t>(above) +
            static_cast<std::size_t>(column.pair_in_code(i, 1));
        ++first[at + 1];
      }
      for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    }
    first_.push_back(std::move(first));
  }
}

const Matrix<float>& CodebookReleaser::probabilities(const EncodedRows& in) {
  codebook_features(in, *encoding_, *layout_, codebook_->observed, features_);
  return encoder_.forward(codebook_->parameters, codebook_->centres, features_);
}

std::int32_t CodebookReleaser::draw_level(std::size_t column, std::int32_t c, std::int32_t parent_level,
                                          RandomSource& random) {
  const DecoderColumn& from = codebook_->columns[column];
  const Index levels = from.in_code.cols();
  weight_.assign(static_cast<std::size_t>(levels), 0);
  double sum = 0;
  if (parent_level >= 0) {
    for (Index l = 0; l < levels; ++l) {
      const float pair = from.pair(parent_level, l);
      const float all = share_[column][l];
      if (pair <= 0 || all <= 0) continue;
      const double w =
          static_cast<double>(pair) * static_cast<double>(from.in_code(c, l)) / static_cast<double>(all);
      weight_[static_cast<std::size_t>(l)] = w;
      sum += w;
    }
    if (sum > 0) {
      for (double& w : weight_) w *= codebook_->least_rows / sum;
      sum = codebook_->least_rows;
      const auto at = static_cast<std::size_t>(c) * static_cast<std::size_t>(from.pair.rows()) +
                      static_cast<std::size_t>(parent_level);
      for (std::int32_t i = first_[column][at]; i < first_[column][at + 1]; ++i) {
        const double own = from.pair_in_code(i, 3);
        weight_[static_cast<std::size_t>(from.pair_in_code(i, 2))] += own;
        sum += own;
      }
    }
  }
  // The root; or a parent's level none of whose pairs this codeword has: as often as all rows have the pairs,
  // and if there are none, as often as the codeword has the level.
  if (sum <= 0 && parent_level >= 0) {
    for (Index l = 0; l < levels; ++l)
      sum += weight_[static_cast<std::size_t>(l)] = from.pair(parent_level, l);
  }
  if (sum <= 0) {
    for (Index l = 0; l < levels; ++l) sum += weight_[static_cast<std::size_t>(l)] = from.in_code(c, l);
  }
  double left = random.uniform() * sum;
  std::int32_t last = 0;
  for (Index l = 0; l < levels; ++l) {
    const double w = weight_[static_cast<std::size_t>(l)];
    if (w <= 0) continue;
    last = static_cast<std::int32_t>(l);
    left -= w;
    if (left < 0) break;
  }
  return last;
}

void CodebookReleaser::draw_row(std::int32_t c, RandomSource& random, std::vector<std::int32_t>& level) {
  level.resize(codebook_->columns.size());
  for (const std::int32_t next : codebook_->order) {
    const auto column = static_cast<std::size_t>(next);
    const std::int32_t parent = codebook_->columns[column].parent;
    level[column] = draw_level(column, c, parent < 0 ? -1 : level[static_cast<std::size_t>(parent)], random);
  }
}

void CodebookReleaser::release(const EncodedRows& in, RandomSource& random, std::vector<EncodedColumn>& out) {
  const auto rows = static_cast<std::size_t>(in.rows);
  out.resize(codebook_->columns.size());
  for (std::size_t c = 0; c < out.size(); ++c) {
    out[c].code.resize(rows);
    out[c].value.resize(codebook_->columns[c].levels.numeric ? rows : 0);
  }
  const Matrix<float>& probability = probabilities(in);
  std::vector<std::int32_t> level;
  for (std::size_t r = 0; r < rows; ++r) {
    double left = random.uniform();
    std::int32_t code = 0;
    while (code + 1 < probability.cols()) {
      left -= static_cast<double>(probability(static_cast<Index>(r), code));
      if (left < 0) break;
      ++code;
    }
    draw_row(code, random, level);
    for (std::size_t c = 0; c < out.size(); ++c) {
      const DrawnCell cell = draw_cell(codebook_->columns[c].levels, level[c], *encoding_, random);
      out[c].code[r] = cell.code;
      if (!out[c].value.empty()) out[c].value[r] = cell.value;
    }
  }
}

nlohmann::json codebook_to_json(const Codebook& codebook, const std::string& prefix,
                                std::map<std::string, Matrix<float>>& tensors) {
  nlohmann::json json{{"hidden", codebook.hidden},
                      {"order", codebook.order},
                      {"least_rows", codebook.least_rows},
                      {"tensors", prefix}};
  json["observed"] = nlohmann::json::array();
  for (const ColumnLevels& levels : codebook.observed) json["observed"].push_back(to_json(levels));
  tensors[prefix + ".parameters"] = codebook.parameters;
  tensors[prefix + ".centre"] = codebook.centres.centre;
  tensors[prefix + ".weight"] = codebook.centres.weight;
  json["columns"] = nlohmann::json::array();
  for (std::size_t c = 0; c < codebook.columns.size(); ++c) {
    const DecoderColumn& column = codebook.columns[c];
    json["columns"].push_back({{"levels", to_json(column.levels)}, {"parent", column.parent}});
    const std::string name = fmt::format("{}.column-{}", prefix, c);
    tensors[name + ".in_code"] = column.in_code;
    if (column.pair.size() > 0) tensors[name + ".pair"] = column.pair;
    if (column.pair_in_code.size() > 0) tensors[name + ".pair_in_code"] = column.pair_in_code;
  }
  return json;
}

Codebook codebook_from_json(const nlohmann::json& json, const std::map<std::string, Matrix<float>>& tensors,
                            std::size_t& used) {
  Codebook out;
  const auto tensor = [&](const std::string& name, bool optional = false) {
    const auto at = tensors.find(name);
    if (at == tensors.end()) {
      if (optional) return Matrix<float>();
      throw Error(ErrorCode::kBadInput, fmt::format("the model lacks the tensor \"{}\"", name));
    }
    ++used;
    return at->second;
  };
  try {
    out.hidden = json.at("hidden").get<std::vector<Index>>();
    out.order = json.at("order").get<std::vector<std::int32_t>>();
    out.least_rows = json.at("least_rows").get<double>();
    const auto prefix = json.at("tensors").get<std::string>();
    for (const nlohmann::json& levels : json.at("observed")) out.observed.push_back(levels_from_json(levels));
    const Matrix<float> parameters = tensor(prefix + ".parameters");
    const Matrix<float> weight = tensor(prefix + ".weight");
    if (parameters.cols() != 1 || weight.cols() != 1)
      throw Error(ErrorCode::kBadInput, "a codebook's parameters are not a single column");
    out.parameters = parameters.col(0);
    out.centres = {tensor(prefix + ".centre"), weight.col(0)};
    for (const nlohmann::json& from : json.at("columns")) {
      const std::string name = fmt::format("{}.column-{}", prefix, out.columns.size());
      DecoderColumn column;
      column.levels = levels_from_json(from.at("levels"));
      column.parent = from.at("parent").get<std::int32_t>();
      column.in_code = tensor(name + ".in_code");
      column.pair = tensor(name + ".pair", true);
      column.pair_in_code = tensor(name + ".pair_in_code", true);
      out.columns.push_back(std::move(column));
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("a codebook cannot be read: {}", error.what()));
  }
  return out;
}

}  // namespace ppan
