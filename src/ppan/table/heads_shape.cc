#include "ppan/table/heads_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "ppan/table/heads_numbers.h"

namespace ppan {
namespace {

constexpr double kMoveCost =
    0.25;  // variances, for leaving the own cell: what is left alone is worth more than nearly right
constexpr double kSpikeCost = 1;  // variances, for leaving or entering a spike
constexpr Index kSamples = 64;
constexpr float kFarthest = 5;  // standard deviations, as in codebook_features()
// Cells that chance would bring together in so many times the rows that people must have, and hardly anybody
// has: they do not go together.
constexpr double kExpectedRows = 3;
constexpr double kJoinedMass = 0.05;  // of independent draws, that would be such pairs: then draw together
constexpr std::size_t kMostJointCells = 64;
constexpr double kMostUncovered = 0.01;  // of the rows, with a combination too few people have
constexpr Index kMostPairCells = 1 << 14U;

// A group of released columns as one code: levels of the members, most frequent first.
struct Group {
  Head head;
  Symbols code;
  std::vector<std::int64_t> count;
};

Group join(const std::vector<std::int32_t>& members, const std::vector<Symbols>& level,
           std::int64_t least_rows) {
  Group out;
  out.head.member = members;
  std::sort(out.head.member.begin(), out.head.member.end());
  const std::size_t rows = level.front().size();
  std::map<Symbols, std::int64_t> seen;
  Symbols own(members.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t m = 0; m < own.size(); ++m)
      own[m] = level[static_cast<std::size_t>(out.head.member[m])][r];
    ++seen[own];
  }
  std::vector<std::pair<std::int64_t, Symbols>> by_count;
  for (const auto& [cell, count] : seen) {
    if (count >= least_rows) by_count.emplace_back(-count, cell);
  }
  std::sort(by_count.begin(), by_count.end());
  for (auto& [count, cell] : by_count) out.head.cell.push_back(std::move(cell));
  return out;
}

Group alone(std::int32_t member, const ColumnLevels& levels) {
  Group out;
  out.head.member = {member};
  for (std::int32_t l = 0; l < levels.levels(); ++l) out.head.cell.push_back({l});
  return out;
}

void count_cells(Group& group, const std::vector<ColumnLevels>& released, const std::vector<Symbols>& level) {
  const CellRows cells = cells_of({group.head}, released, level);
  group.code.assign(cells.data(), cells.data() + cells.size());
  group.count.assign(group.head.cell.size(), 0);
  for (const std::int32_t c : group.code) ++group.count[static_cast<std::size_t>(c)];
}

// 1 where cells stand together, 0 where they never do; `mass`: the share of independent draws that would be
// such pairs.
Matrix<float> stand_together(const Group& a, const Group& b, std::int64_t least_rows, double& mass) {
  const auto rows = static_cast<double>(a.code.size());
  Matrix<float> joint =
      Matrix<float>::Zero(static_cast<Index>(a.count.size()), static_cast<Index>(b.count.size()));
  for (std::size_t r = 0; r < a.code.size(); ++r) joint(a.code[r], b.code[r]) += 1;
  mass = 0;
  for (Index i = 0; i < joint.rows(); ++i) {
    for (Index j = 0; j < joint.cols(); ++j) {
      const double expected = static_cast<double>(a.count[static_cast<std::size_t>(i)]) *
                              static_cast<double>(b.count[static_cast<std::size_t>(j)]) / rows;
      const bool apart = joint(i, j) < static_cast<float>(least_rows) &&
                         expected >= kExpectedRows * static_cast<double>(least_rows);
      if (apart) mass += expected / rows;
      joint(i, j) = apart ? 0 : 1;
    }
  }
  return joint;
}

bool few_cells(const Group& group, const std::vector<Symbols>& level, std::int64_t least_rows) {
  if (group.head.cell.empty() || group.head.cell.size() > kMostJointCells) return false;
  const std::map<Symbols, int> known = [&] {
    std::map<Symbols, int> out;
    for (const Symbols& cell : group.head.cell) out.emplace(cell, 1);
    return out;
  }();
  const std::size_t rows = level.front().size();
  std::size_t uncovered = 0;
  Symbols own(group.head.member.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t m = 0; m < own.size(); ++m)
      own[m] = level[static_cast<std::size_t>(group.head.member[m])][r];
    uncovered += known.contains(own) ? 0 : 1;
  }
  return static_cast<double>(uncovered) <=
         std::max(kMostUncovered * static_cast<double>(rows), static_cast<double>(least_rows - 1));
}

// Joins the groups that exclude each other most, as long as there are few combinations.
void join_groups(std::vector<Group>& groups, const std::vector<ColumnLevels>& released,
                 const std::vector<Symbols>& level, std::int64_t least_rows) {
  std::map<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>, double> tried;
  while (true) {
    double most = kJoinedMass;
    std::size_t first = 0;
    std::size_t second = 0;
    for (std::size_t a = 0; a < groups.size(); ++a) {
      for (std::size_t b = a + 1; b < groups.size(); ++b) {
        const auto key = std::pair(groups[a].head.member, groups[b].head.member);
        auto at = tried.find(key);
        if (at == tried.end()) {
          double mass = 0;
          stand_together(groups[a], groups[b], least_rows, mass);
          at = tried.emplace(key, mass).first;
        }
        if (at->second <= most) continue;
        most = at->second;
        first = a;
        second = b;
      }
    }
    if (second == 0) return;
    std::vector<std::int32_t> members = groups[first].head.member;
    members.insert(members.end(), groups[second].head.member.begin(), groups[second].head.member.end());
    Group joint = join(members, level, least_rows);
    tried[{groups[first].head.member, groups[second].head.member}] = 0;  // not again
    if (!few_cells(joint, level, least_rows)) continue;
    count_cells(joint, released, level);
    groups[first] = std::move(joint);
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(second));
  }
}

// Means, variances and values of the levels of a number.
struct LevelValues {
  Vector<double> mean;
  Vector<double> variance;
  Matrix<float> sample;
  std::vector<double> binned;  // values of rows that are neither missing nor at a spike
};
LevelValues level_values(const EncodedColumn& column, const ColumnLevels& levels, const Symbols& level) {
  const Index count = levels.levels();
  std::vector<std::vector<double>> values(static_cast<std::size_t>(count));
  for (std::size_t r = 0; r < level.size(); ++r) {
    if (column.code[r] == 0) values[static_cast<std::size_t>(level[r])].push_back(column.value[r]);
  }
  LevelValues out{
      Vector<double>::Zero(count), Vector<double>::Zero(count), Matrix<float>::Zero(kSamples, count), {}};
  const auto spikes = static_cast<std::int32_t>(levels.spike.size());
  for (std::size_t r = 0; r < level.size(); ++r) {
    if (column.code[r] == 0 && level[r] >= spikes)
      out.binned.push_back(
          std::clamp(column.value[r], static_cast<double>(-kFarthest), static_cast<double>(kFarthest)));
  }
  for (Index l = 0; l < count; ++l) {
    auto& own = values[static_cast<std::size_t>(l)];
    if (own.empty()) continue;
    std::sort(own.begin(), own.end());
    for (const double v : own) out.mean[l] += v / static_cast<double>(own.size());
    for (const double v : own)
      out.variance[l] += (v - out.mean[l]) * (v - out.mean[l]) / static_cast<double>(own.size());
    for (Index i = 0; i < kSamples; ++i) {
      const auto at = static_cast<std::size_t>((2 * i + 1) * static_cast<Index>(own.size()) / (2 * kSamples));
      out.sample(i, l) =
          std::clamp(static_cast<float>(own[std::min(at, own.size() - 1)]), -kFarthest, kFarthest);
    }
  }
  return out;
}

// What it costs that level `a` of a column becomes level `b`.
struct LevelCosts {
  Matrix<double> distortion;  // levels x own levels
  Matrix<double> cost;
};
LevelCosts level_costs(const ColumnLevels& levels, const LevelValues& values) {
  const Index count = levels.levels();
  LevelCosts out{Matrix<double>::Zero(count, count), Matrix<double>::Zero(count, count)};
  const auto spikes = static_cast<Index>(levels.spike.size());
  for (Index own = 0; own < count; ++own) {
    for (Index to = 0; to < count; ++to) {
      if (to == own) continue;
      double moved = 1;
      const bool missing =
          levels.may_be_missing && (own == levels.missing_level() || to == levels.missing_level());
      if (levels.numeric && !missing) {
        const double off = values.mean[to] - values.mean[own];
        moved = off * off + values.variance[to] + values.variance[own];
      }
      out.distortion(to, own) = moved;
      const bool spiked = levels.numeric && !missing && (own < spikes || to < spikes);
      out.cost(to, own) = moved + (levels.numeric ? kMoveCost : 0) + (spiked ? kSpikeCost : 0);
    }
  }
  return out;
}

// The same for a derived column, by the levels of its source. A level of a number holds several values: then
// it is the mean over what follows from them.
Matrix<double> derived_costs(const ColumnEncoding& how, const EncodedColumn& derived, const Symbols& level,
                             Index levels) {
  const Index codes = how.numeric() ? 2 : static_cast<Index>(how.levels.size());
  Matrix<double> share = Matrix<double>::Zero(codes, levels);
  Vector<double> count = Vector<double>::Zero(levels);
  Vector<double> mean = Vector<double>::Zero(levels);
  Vector<double> square = Vector<double>::Zero(levels);
  for (std::size_t r = 0; r < level.size(); ++r) {
    count[level[r]] += 1;
    share(derived.code[r], level[r]) += 1;
    if (!how.numeric() || derived.code[r] != 0) continue;
    mean[level[r]] += derived.value[r];
    square[level[r]] += derived.value[r] * derived.value[r];
  }
  Matrix<double> out = Matrix<double>::Zero(levels, levels);
  for (Index l = 0; l < levels; ++l) {
    const double present = how.numeric() ? share(0, l) : 0;
    mean[l] = present > 0 ? mean[l] / present : 0;
    square[l] = present > 0 ? square[l] / present : 0;
    share.col(l) /= std::max(1.0, count[l]);
  }
  for (Index own = 0; own < levels; ++own) {
    for (Index to = 0; to < levels; ++to) {
      if (to == own || count[own] == 0 || count[to] == 0) continue;
      out(to, own) = 1 - share.col(own).dot(share.col(to));
      if (how.numeric())
        out(to, own) += share(0, own) * share(0, to) * (square[own] + square[to] - 2 * mean[own] * mean[to]);
    }
  }
  return out;
}

// Fits costs, tables and numbers of the heads.
class CostFit {
 public:
  CostFit(const EncodedRows& train, const Encoding& encoding, const std::vector<std::int32_t>& columns,
          const std::vector<Symbols>& level, HeadsFit& fit)
      : train_(train), encoding_(encoding), columns_(columns), level_(level), fit_(fit) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      total_ += column(c).weight;
      const ColumnLevels& levels = fit.coded.released[c];
      values_.push_back(levels.numeric
                            ? level_values(train.columns[train.position_of(columns[c])], levels, level[c])
                            : LevelValues{});
      costs_.push_back(level_costs(levels, values_.back()));
      numbers_ += levels.numeric ? 1 : 0;
    }
  }

  void add_head(std::size_t h) {
    const Head& head = fit_.heads[h];
    const auto cells = static_cast<Index>(head.cell.size());
    Matrix<double> distortion = Matrix<double>::Zero(cells, cells);
    Matrix<double> cost = Matrix<double>::Zero(cells, cells);
    double weight = 0;
    for (std::size_t m = 0; m < head.member.size(); ++m) {
      const auto c = static_cast<std::size_t>(head.member[m]);
      const LevelCosts own = with_derived(c, weight);
      for (Index to = 0; to < cells; ++to) {
        for (Index from = 0; from < cells; ++from) {
          const std::int32_t a = head.cell[static_cast<std::size_t>(from)][m];
          const std::int32_t b = head.cell[static_cast<std::size_t>(to)][m];
          distortion(to, from) += own.distortion(b, a);
          cost(to, from) += own.cost(b, a);
        }
      }
      if (fit_.coded.released[c].numeric) add_number(h, m, c);
    }
    fit_.distortion.push_back((distortion / total_).cast<float>());
    fit_.cost.push_back((cost / total_).cast<float>());
    fit_.near.emplace_back((-(cost / weight).cwiseSqrt()).cast<float>());
  }

 private:
  [[nodiscard]] const ColumnEncoding& column(std::size_t c) const {
    return encoding_.columns[static_cast<std::size_t>(columns_[c])];
  }
  // Weighted costs of a column and of those that follow from it.
  LevelCosts with_derived(std::size_t c, double& weight) {
    LevelCosts out = costs_[c];
    out.distortion *= column(c).weight;
    out.cost *= column(c).weight;
    weight += column(c).weight;
    for (std::size_t d = 0; d < columns_.size(); ++d) {
      if (column(d).derived_from != column(c).name) continue;
      const EncodedColumn& derived = train_.columns[train_.position_of(columns_[d])];
      const Matrix<double> more =
          column(d).weight * derived_costs(column(d), derived, level_[c], out.cost.rows());
      out.distortion += more;
      out.cost += more;
      weight += column(d).weight;
    }
    return out;
  }
  void add_number(std::size_t h, std::size_t m, std::size_t c) {
    HeadNumber number;
    number.head = static_cast<std::int32_t>(h);
    for (const Symbols& cell : fit_.heads[h].cell) number.level.push_back(cell[m]);
    number.sample = values_[c].sample;
    number.knots = number_knots(values_[c].binned, numbers_);
    fit_.numbers.push_back(std::move(number));
  }

  const EncodedRows& train_;
  const Encoding& encoding_;
  const std::vector<std::int32_t>& columns_;
  const std::vector<Symbols>& level_;
  HeadsFit& fit_;
  double total_ = 0;
  std::size_t numbers_ = 0;
  std::vector<LevelValues> values_;
  std::vector<LevelCosts> costs_;
};

void require_observed(const Schema& schema) {
  const auto& observed = schema.observed_columns();
  for (const std::string& name : schema.useful) {
    if (std::find(observed.begin(), observed.end(), name) != observed.end()) continue;
    throw Error(ErrorCode::kUsage, "heads need every useful column among the observed ones",
                fmt::format("add '{}' to roles.observed, or set mechanism.family to \"noise-input\"", name));
  }
}

}  // namespace

HeadsFit fit_heads(const EncodedRows& train, const Schema& schema, const Encoding& encoding,
                   const LevelOptions& levels, std::int64_t least_rows, bool joined) {
  require_observed(schema);
  HeadsFit fit;
  fit.coded = coded_shape(train, schema, encoding, levels, least_rows);
  const std::vector<std::int32_t> columns = encoding.indices_of(schema.useful);
  std::vector<Symbols> level;
  std::vector<Group> groups;
  for (std::size_t c = 0; c < columns.size(); ++c)
    level.push_back(levels_of(train, fit.coded.released[c], encoding));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!encoding.columns[static_cast<std::size_t>(columns[c])].derived_from.empty()) continue;
    groups.push_back(alone(static_cast<std::int32_t>(c), fit.coded.released[c]));
    count_cells(groups.back(), fit.coded.released, level);
  }
  if (joined) join_groups(groups, fit.coded.released, level, least_rows);
  for (std::size_t b = 0; b < groups.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (static_cast<Index>(groups[a].count.size() * groups[b].count.size()) > kMostPairCells) continue;
      double mass = 0;
      Matrix<float> together = stand_together(groups[a], groups[b], least_rows, mass);
      if (mass <= 0) continue;
      fit.pairs.push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), std::move(together)});
    }
  }
  for (Group& group : groups) fit.heads.push_back(std::move(group.head));
  CostFit costs(train, encoding, columns, level, fit);
  for (std::size_t h = 0; h < fit.heads.size(); ++h) costs.add_head(h);
  return fit;
}

HeadsRows heads_rows(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                     const HeadsFit& fit) {
  HeadsRows out;
  const Layout layout = make_layout(encoding, encoding.indices_of(schema.observed_columns()));
  out.features = FeatureRows(rows, encoding, layout, fit.coded.observed);
  out.coded = coded_rows(rows, schema, encoding, fit.coded);
  std::vector<Symbols> level;
  for (const ColumnLevels& levels : fit.coded.released) level.push_back(levels_of(rows, levels, encoding));
  out.own = cells_of(fit.heads, fit.coded.released, level);
  out.number.resize(static_cast<Index>(fit.numbers.size()), rows.rows);
  Index n = 0;
  for (const Head& head : fit.heads) {
    for (const std::int32_t member : head.member) {
      const ColumnLevels& levels = fit.coded.released[static_cast<std::size_t>(member)];
      if (!levels.numeric) continue;
      const EncodedColumn& from = rows.columns[rows.position_of(levels.column)];
      for (Index r = 0; r < rows.rows; ++r)
        out.number(n, r) =
            std::clamp(static_cast<float>(from.value[static_cast<std::size_t>(r)]), -kFarthest, kFarthest);
      ++n;
    }
  }
  return out;
}

HeadsFit reordered(const HeadsFit& fit, const std::vector<std::int32_t>& order) {
  HeadsFit out;
  out.coded = fit.coded;
  std::vector<std::int32_t> place(order.size());
  for (std::size_t h = 0; h < order.size(); ++h) {
    const auto from = static_cast<std::size_t>(order[h]);
    place[from] = static_cast<std::int32_t>(h);
    out.heads.push_back(fit.heads[from]);
    out.distortion.push_back(fit.distortion[from]);
    out.cost.push_back(fit.cost[from]);
    out.near.push_back(fit.near[from]);
  }
  for (HeadPair pair : fit.pairs) {
    pair.first = place[static_cast<std::size_t>(pair.first)];
    pair.second = place[static_cast<std::size_t>(pair.second)];
    if (pair.first > pair.second) {
      std::swap(pair.first, pair.second);
      pair.together.transposeInPlace();
    }
    out.pairs.push_back(std::move(pair));
  }
  out.numbers = fit.numbers;  // in their order, which heads_rows() has as well
  for (HeadNumber& number : out.numbers) number.head = place[static_cast<std::size_t>(number.head)];
  return out;
}

CellRows reordered(const CellRows& own, const std::vector<std::int32_t>& order) {
  CellRows out(own.rows(), own.cols());
  for (std::size_t h = 0; h < order.size(); ++h) out.row(static_cast<Index>(h)) = own.row(order[h]);
  return out;
}

}  // namespace ppan
