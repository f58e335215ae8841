#include "ppan/model/heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ppan/game/mechanism_json.h"
#include "ppan/model/codebook.h"
#include "ppan/nn/cell_draw.h"
#include "ppan/nn/record_layers.h"

namespace ppan {
namespace {

constexpr std::size_t kMostHeadCells = 4096;  // of a head
static_assert(kMostHeadCells + kRecordOutputs <= kMostDrawnCells);
constexpr Index kMostNoise = 1024;
constexpr std::int64_t kMostInTable = 1 << 16;  // combinations of levels

void check_head(const Heads& heads, std::size_t h, std::vector<int>& covered, ProblemList& list) {
  const Head& head = heads.heads[h];
  const std::string field = fmt::format("heads[{}]", h);
  bool known = !head.member.empty();
  for (const std::int32_t member : head.member)
    known = known && member >= 0 && static_cast<std::size_t>(member) < heads.released.size();
  list.require(known, field + ".member", "must name released columns");
  list.require(!head.cell.empty() && head.cell.size() <= kMostHeadCells, field + ".cell",
               fmt::format("must be 1 to {}", kMostHeadCells));
  if (!known) return;
  for (const std::int32_t member : head.member) ++covered[static_cast<std::size_t>(member)];
  bool fits = true;
  for (const Symbols& cell : head.cell) {
    fits = fits && cell.size() == head.member.size();
    for (std::size_t m = 0; fits && m < cell.size(); ++m) {
      const ColumnLevels& levels = heads.released[static_cast<std::size_t>(head.member[m])];
      fits = cell[m] >= 0 && cell[m] < levels.levels();
    }
  }
  list.require(fits, field + ".cell", "must hold a level of each member");
}

void check_levels(const std::vector<ColumnLevels>& levels, const std::vector<std::int32_t>& columns,
                  const Encoding& encoding, const std::string& field, ProblemList& list) {
  list.require(levels.size() == columns.size(), field, "has not every column");
  for (std::size_t c = 0; c < levels.size() && c < columns.size(); ++c) {
    const ColumnEncoding& how = encoding.columns[static_cast<std::size_t>(columns[c])];
    list.require(levels[c].column == columns[c] && levels[c].numeric == how.numeric() &&
                     (how.numeric() || levels[c].category_levels == how.width()) &&
                     (!levels[c].may_be_missing || how.may_be_missing),
                 fmt::format("{}[{}]", field, c), "has levels of another column");
    list.add(fmt::format("{}[{}]", field, c), levels[c].check());
  }
}

}  // namespace

HeadsShape Heads::shape(Index features) const {
  HeadsShape out{.features = features,
                 .noise_inputs = noise_inputs,
                 .hidden = hidden,
                 .cells = {},
                 .pairs = pairs,
                 .links = links,
                 .base = base};
  for (const Head& head : heads) out.cells.push_back(static_cast<Index>(head.cell.size()));
  return out;
}

Problems Heads::check(const Encoding& encoding, const Layout& observed_layout,
                      const std::vector<std::int32_t>& released_columns) const {
  ProblemList list;
  list.require(hidden.size() <= kMostLayers, "hidden", "has too many layers");
  for (const Index units : hidden) list.require_between("hidden", static_cast<double>(units), 1, kMostUnits);
  list.require(noise_inputs >= 0 && noise_inputs <= kMostNoise, "noise_inputs",
               fmt::format("are {}, must be 0 to {}", noise_inputs, kMostNoise));
  std::vector<std::int32_t> seen;
  for (const Block& block : observed_layout.blocks) seen.push_back(block.column);
  check_levels(observed, seen, encoding, "observed", list);
  check_levels(released, released_columns, encoding, "released", list);
  for (const std::int32_t column : released_columns) {
    list.require(std::find(seen.begin(), seen.end(), column) != seen.end(), "released",
                 fmt::format("column {} is not observed", column + 1));
  }
  Problems problems = list.take();
  if (!problems.empty()) return problems;
  std::vector<int> covered(released.size(), 0);
  for (std::size_t h = 0; h < heads.size(); ++h) check_head(*this, h, covered, list);
  for (std::size_t c = 0; c < covered.size(); ++c) {
    const bool derived =
        !encoding.columns[static_cast<std::size_t>(released_columns[c])].derived_from.empty();
    list.require(covered[c] == (derived ? 0 : 1), "heads",
                 fmt::format("released column {} is in {} of them", c + 1, covered[c]));
  }
  const auto sized = [&](std::int32_t first, std::int32_t second, Index of_first, Index of_second) {
    return first >= 0 && first < second && static_cast<std::size_t>(second) < heads.size() &&
           of_first == static_cast<Index>(heads[static_cast<std::size_t>(first)].cell.size()) &&
           of_second == static_cast<Index>(heads[static_cast<std::size_t>(second)].cell.size());
  };
  for (const HeadPair& pair : pairs) {
    list.require(sized(pair.first, pair.second, pair.together.rows(), pair.together.cols()) &&
                     pair.together.allFinite(),
                 "pairs", "must name two heads in their order");
  }
  for (const HeadLink& link : links) {
    list.require(
        sized(link.first, link.second, link.logit.cols(), link.logit.rows()) && link.logit.allFinite(),
        "links", "must name two heads in their order");
  }
  bool based = base.size() == heads.size();
  for (std::size_t h = 0; based && h < heads.size(); ++h)
    based = base[h].size() == static_cast<Index>(heads[h].cell.size()) && base[h].allFinite();
  list.require(based, "base", "must have a finite number for each cell");
  problems = list.take();
  if (!problems.empty() || heads.empty()) return problems;
  Index width = codebook_features(observed_layout, observed) + noise_inputs;
  Index cells = 0;
  Index needed = 0;
  for (const Head& head : heads) {
    const auto count = static_cast<Index>(head.cell.size());
    cells += count;
    needed += count * count + count;
  }
  for (const Index units : hidden) {
    needed += (width + 1) * units;
    width = units;
  }
  needed += (width + 1) * (cells + static_cast<Index>(heads.size()));
  list.require(parameters.size() == needed && parameters.allFinite(), "parameters",
               fmt::format("must be {} finite numbers", needed));
  return list.take();
}

CellFinder::CellFinder(const Head& head, const std::vector<ColumnLevels>& released)
    : head_(&head),
      // Unless it leaves some out.
      plain_(head.member.size() == 1 &&
             static_cast<std::int32_t>(head.cell.size()) ==
                 released[static_cast<std::size_t>(head.member.front())].levels()) {
  if (plain_) return;
  std::int64_t combinations = 1;
  for (const std::int32_t member : head.member) {
    step_.push_back(combinations);
    combinations =
        std::min(combinations * released[static_cast<std::size_t>(member)].levels(), 2 * kMostInTable);
  }
  if (combinations <= kMostInTable) table_.assign(static_cast<std::size_t>(combinations), -1);
  for (std::size_t c = head.cell.size(); c-- > 0;) {  // of two that are the same, the first
    const auto cell = static_cast<std::int32_t>(c);
    if (table_.empty()) {
      map_[head.cell[c]] = cell;
    } else {
      table_[static_cast<std::size_t>(
          std::inner_product(step_.begin(), step_.end(), head.cell[c].begin(), std::int64_t{0}))] = cell;
    }
  }
}

std::int32_t CellFinder::nearest(const Symbols& own) const {
  std::int32_t best = 0;
  std::ptrdiff_t most = -1;
  for (std::size_t c = 0; c < head_->cell.size(); ++c) {
    const std::ptrdiff_t alike =
        std::inner_product(own.begin(), own.end(), head_->cell[c].begin(), std::ptrdiff_t{0}, std::plus<>(),
                           [](std::int32_t a, std::int32_t b) { return std::ptrdiff_t{a == b}; });
    if (alike <= most) continue;
    most = alike;
    best = static_cast<std::int32_t>(c);
  }
  return best;
}

void CellFinder::find(const std::vector<Symbols>& level, std::int32_t* cell, std::size_t stride) {
  const std::vector<std::int32_t>& member = head_->member;
  const Symbols& first = level[static_cast<std::size_t>(member.front())];
  if (plain_) {
    for (std::size_t r = 0; r < first.size(); ++r) cell[r * stride] = first[r];
    return;
  }
  Symbols own(member.size());
  for (std::size_t r = 0; r < first.size(); ++r) {
    std::int64_t number = 0;
    for (std::size_t m = 0; m < own.size(); ++m) {
      own[m] = level[static_cast<std::size_t>(member[m])][r];
      number += step_[m] * own[m];
    }
    if (table_.empty()) {
      auto at = map_.find(own);
      if (at == map_.end()) at = map_.emplace(own, nearest(own)).first;
      cell[r * stride] = at->second;
      continue;
    }
    std::int32_t& known = table_[static_cast<std::size_t>(number)];
    if (known < 0) known = nearest(own);
    cell[r * stride] = known;
  }
}

CellRows cells_of(const std::vector<Head>& heads, const std::vector<ColumnLevels>& released,
                  const std::vector<Symbols>& level) {
  const Index rows = level.empty() ? 0 : static_cast<Index>(level.front().size());
  CellRows out(static_cast<Index>(heads.size()), rows);
  for (std::size_t h = 0; h < heads.size(); ++h)
    CellFinder(heads[h], released).find(level, out.data() + h, heads.size());
  return out;
}

Heads with_forgotten(const Heads& heads, std::size_t count, Index features) {
  Heads out = heads;
  const HeadsNetwork<float> network(heads.shape(features));
  for (std::size_t k = 0; k < std::min(count, heads.heads.size()); ++k)
    network.forget_row(heads.heads.size() - 1 - k, out.parameters);
  return out;
}

bool forgets_rows(const Heads& heads, Index features) {
  const HeadsNetwork<float> network(heads.shape(features));
  for (std::size_t h = 0; h < heads.heads.size(); ++h) {
    if (!network.forgets_row(h, heads.parameters)) return false;
  }
  return true;
}

Heads with_redrawn(const Heads& heads, std::size_t count, Index features) {
  Heads out = heads;
  out.hidden = {1};  // says nothing; without it, every feature would have a weight for every cell
  out.noise_inputs = 0;
  const HeadsNetwork<float> network(out.shape(features));
  out.parameters = Vector<float>::Zero(network.parameter_count());
  for (std::size_t h = 0; h < heads.heads.size(); ++h) {
    if (h + count < heads.heads.size()) {
      network.keep_row(h, out.parameters);
    } else {
      network.forget_row(h, out.parameters);
    }
  }
  return out;
}

std::optional<std::vector<std::int32_t>> redrawn_columns(const Heads& heads, Index features) {
  const HeadsNetwork<float> network(heads.shape(features));
  std::vector<std::int32_t> out;
  for (std::size_t h = 0; h < heads.heads.size(); ++h) {
    if (network.keeps_row(h, heads.parameters)) continue;
    if (!network.forgets_row(h, heads.parameters)) return std::nullopt;
    out.insert(out.end(), heads.heads[h].member.begin(), heads.heads[h].member.end());
  }
  std::sort(out.begin(), out.end());
  return out;
}

nlohmann::json heads_to_json(const Heads& heads, const std::string& prefix,
                             std::map<std::string, Matrix<float>>& tensors) {
  nlohmann::json json{{"hidden", heads.hidden}, {"noise_inputs", heads.noise_inputs}, {"tensors", prefix}};
  for (const auto& [name, list] :
       {std::pair{"observed", &heads.observed}, std::pair{"released", &heads.released}}) {
    json[name] = nlohmann::json::array();
    for (const ColumnLevels& levels : *list) json[name].push_back(to_json(levels));
  }
  json["heads"] = nlohmann::json::array();
  for (const Head& head : heads.heads)
    json["heads"].push_back({{"member", head.member}, {"cell", head.cell}});
  json["pairs"] = nlohmann::json::array();
  for (std::size_t p = 0; p < heads.pairs.size(); ++p) {
    json["pairs"].push_back({{"first", heads.pairs[p].first}, {"second", heads.pairs[p].second}});
    tensors[fmt::format("{}.pair-{}", prefix, p)] = heads.pairs[p].together;
  }
  json["links"] = nlohmann::json::array();
  for (std::size_t l = 0; l < heads.links.size(); ++l) {
    json["links"].push_back({{"first", heads.links[l].first}, {"second", heads.links[l].second}});
    tensors[fmt::format("{}.link-{}", prefix, l)] = heads.links[l].logit;
  }
  for (std::size_t h = 0; h < heads.base.size(); ++h)
    tensors[fmt::format("{}.base-{}", prefix, h)] = heads.base[h];
  tensors[prefix + ".parameters"] = heads.parameters;
  return json;
}

Heads heads_from_json(const nlohmann::json& json, const std::map<std::string, Matrix<float>>& tensors,
                      std::size_t& used) {
  Heads out;
  const auto tensor = [&](const std::string& name) {
    const auto at = tensors.find(name);
    if (at == tensors.end())
      throw Error(ErrorCode::kBadInput, fmt::format("the model lacks the tensor \"{}\"", name));
    ++used;
    return at->second;
  };
  try {
    out.hidden = json.at("hidden").get<std::vector<Index>>();
    out.noise_inputs = json.at("noise_inputs").get<Index>();
    const auto prefix = json.at("tensors").get<std::string>();
    for (const nlohmann::json& levels : json.at("observed")) out.observed.push_back(levels_from_json(levels));
    for (const nlohmann::json& levels : json.at("released")) out.released.push_back(levels_from_json(levels));
    for (const nlohmann::json& head : json.at("heads"))
      out.heads.push_back(
          {head.at("member").get<std::vector<std::int32_t>>(), head.at("cell").get<std::vector<Symbols>>()});
    for (const nlohmann::json& pair : json.at("pairs")) {
      const std::string name = fmt::format("{}.pair-{}", prefix, out.pairs.size());
      out.pairs.push_back(
          {pair.at("first").get<std::int32_t>(), pair.at("second").get<std::int32_t>(), tensor(name)});
    }
    for (const nlohmann::json& link : json.at("links")) {
      const std::string name = fmt::format("{}.link-{}", prefix, out.links.size());
      out.links.push_back(
          {link.at("first").get<std::int32_t>(), link.at("second").get<std::int32_t>(), tensor(name)});
    }
    const auto column = [&](const std::string& name) -> Vector<float> {
      const Matrix<float> values = tensor(name);
      if (values.cols() != 1)
        throw Error(ErrorCode::kBadInput,
                    fmt::format("the tensor \"{}\" of heads is not a single column", name));
      return values.col(0);
    };
    for (std::size_t h = 0; h < out.heads.size(); ++h)
      out.base.push_back(column(fmt::format("{}.base-{}", prefix, h)));
    out.parameters = column(prefix + ".parameters");
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("heads cannot be read: {}", error.what()));
  }
  return out;
}

}  // namespace ppan
