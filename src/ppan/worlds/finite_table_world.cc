#include "ppan/worlds/finite_table_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "ppan/core/printable.h"
#include "ppan/theory/information.h"
#include "ppan/worlds/sampling.h"

namespace ppan {
namespace {

// A table written with six decimals sums to 1 no better than this.
constexpr double kSumTolerance = 1e-6;

FiniteTableWorld observed(const FiniteTableWorld& world, std::int32_t levels,
                          const std::function<void(const FiniteCell&, std::vector<FiniteCell>&)>& add) {
  FiniteTableWorld seen = world;
  seen.w_levels = levels;
  seen.cells.clear();
  for (const FiniteCell& cell : world.cells) add(cell, seen.cells);
  return seen;
}

std::vector<std::string> split_line(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t from = 0; from <= line.size();) {
    const std::size_t comma = std::min(line.find(',', from), line.size());
    std::string_view cell = line.substr(from, comma - from);
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t' || cell.back() == '\r'))
      cell.remove_suffix(1);
    cells.emplace_back(cell);
    from = comma + 1;
  }
  return cells;
}

// Lines that hold something, with their number in the file.
std::vector<std::pair<int, std::vector<std::string>>> lines_of(const std::string& text) {
  std::vector<std::pair<int, std::vector<std::string>>> lines;
  int number = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    ++number;
    const std::string_view line(text.data() + from, end - from);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos)
      lines.emplace_back(number, split_line(line));
    from = end + 1;
  }
  return lines;
}

std::optional<double> number_in(const std::string& cell) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Codes of names in order of first appearance.
class Codes {
 public:
  std::int32_t of(const std::string& name) {
    const auto [place, fresh] = code_.try_emplace(name, static_cast<std::int32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return place->second;
  }
  [[nodiscard]] std::vector<std::string> names() const { return names_; }

 private:
  std::map<std::string, std::int32_t> code_;
  std::vector<std::string> names_;
};

// A column that is not known would be left out in silence: a misspelt w, and the mechanism sees something
// else.
void check_header(const std::vector<std::string>& header, ProblemList& list) {
  static const std::vector<std::string> known{"x", "y", "w", "probability"};
  for (auto name = header.begin(); name != header.end(); ++name) {
    list.require(std::ranges::find(known, *name) != known.end(), "first line",
                 fmt::format("'{}' is not a column of such a table, which has x, y, w and probability",
                             printable(*name)));
    list.require(std::find(header.begin(), name, *name) == name, "first line",
                 fmt::format("there are two columns '{}'", printable(*name)));
  }
}

void check_symbols(const std::vector<std::string>& header, const std::vector<std::string>& cells,
                   const std::string& where, ProblemList& list) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (header[c] == "probability") continue;
    list.require(!cells[c].empty(), where, fmt::format("{} is empty", printable(header[c])));
    list.require(
        printable(cells[c]) == cells[c], where,
        fmt::format("{} holds bytes that are not text: {}", printable(header[c]), printable(cells[c])));
  }
}

}  // namespace

Problems FiniteTableWorld::check() const {
  ProblemList list;
  list.require(!cells.empty(), "probability", "there is no cell");
  double sum = 0;
  bool sound = true;
  for (const FiniteCell& cell : cells) {
    sum += cell.probability;
    sound = sound && std::isfinite(cell.probability) && cell.probability >= 0;
  }
  list.require(sound, "probability", "has an entry that is negative or not finite");
  list.require(cells.empty() || std::abs(sum - 1) <= kSumTolerance, "probability",
               fmt::format("sums to {:.9g}, not to 1", sum));
  return list.take();
}

double FiniteTableWorld::mutual_information() const {
  return theory::mutual_information(distribution().wx);
}

theory::FiniteDistribution FiniteTableWorld::distribution() const {
  theory::FiniteDistribution distribution{Matrix<double>::Zero(w_levels, x_levels),
                                          Matrix<double>::Zero(w_levels, y_levels)};
  double sum = 0;
  for (const FiniteCell& cell : cells) sum += cell.probability;
  for (const FiniteCell& cell : cells) {
    distribution.wx(cell.w, cell.x) += cell.probability / sum;
    distribution.wy(cell.w, cell.y) += cell.probability / sum;
  }
  return distribution;
}

Matrix<double> FiniteTableWorld::pair() const {
  Matrix<double> pair = Matrix<double>::Zero(x_levels, y_levels);
  for (const FiniteCell& cell : cells) pair(cell.x, cell.y) += cell.probability;
  return pair / pair.sum();
}

Records<double> FiniteTableWorld::sample(Index count, RandomSource& random) const {
  require_none(check(), "finite world", ErrorCode::kBadInput);
  std::vector<double> below(cells.size());
  double sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) below[i] = sum += cells[i].probability;
  Symbols x(static_cast<std::size_t>(count));
  Symbols y(x.size());
  Symbols w(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto place = std::upper_bound(below.begin(), below.end(), random.uniform() * sum);
    const FiniteCell& cell = cells[static_cast<std::size_t>(
        std::min<std::ptrdiff_t>(place - below.begin(), static_cast<std::ptrdiff_t>(cells.size()) - 1))];
    x[i] = cell.x;
    y[i] = cell.y;
    w[i] = cell.w;
  }
  return {finite(std::move(w), w_levels), {finite(std::move(x), x_levels)}, finite(std::move(y), y_levels)};
}

FiniteTableWorld finite_table(const MatrixRef<double>& pair) {
  FiniteTableWorld world{{},
                         static_cast<std::int32_t>(pair.rows()),
                         static_cast<std::int32_t>(pair.cols()),
                         static_cast<std::int32_t>(pair.cols())};
  for (std::int32_t x = 0; x < world.x_levels; ++x) {
    for (std::int32_t y = 0; y < world.y_levels; ++y) world.cells.push_back({x, y, y, pair(x, y)});
  }
  return world;
}

FiniteTableWorld see_useful(const FiniteTableWorld& world) {
  return observed(world, world.y_levels, [](const FiniteCell& c, std::vector<FiniteCell>& out) {
    out.push_back({c.x, c.y, c.y, c.probability});
  });
}

FiniteTableWorld see_sensitive(const FiniteTableWorld& world) {
  return observed(world, world.x_levels, [](const FiniteCell& c, std::vector<FiniteCell>& out) {
    out.push_back({c.x, c.y, c.x, c.probability});
  });
}

FiniteTableWorld see_all(const FiniteTableWorld& world) {
  return observed(world, world.x_levels * world.y_levels,
                  [&](const FiniteCell& c, std::vector<FiniteCell>& out) {
                    out.push_back({c.x, c.y, c.x * world.y_levels + c.y, c.probability});
                  });
}

FiniteTableWorld see_flipped(const FiniteTableWorld& world, double flip) {
  const std::int32_t levels = world.y_levels;
  return observed(world, levels, [=](const FiniteCell& c, std::vector<FiniteCell>& out) {
    for (std::int32_t w = 0; w < levels; ++w) {
      const double share = w == c.y ? 1 - flip : flip / std::max(1, levels - 1);
      if (share > 0) out.push_back({c.x, c.y, w, c.probability * share});
    }
  });
}

FiniteTableWorld see_erased(const FiniteTableWorld& world, double erase) {
  const std::int32_t levels = world.y_levels;
  return observed(world, levels + 1, [=](const FiniteCell& c, std::vector<FiniteCell>& out) {
    if (erase < 1) out.push_back({c.x, c.y, c.y, c.probability * (1 - erase)});
    if (erase > 0) out.push_back({c.x, c.y, levels, c.probability * erase});
  });
}

FiniteTableFile parse_finite_table(const std::string& text, const std::string& name) {
  const auto lines = lines_of(text);
  ProblemList list;
  const auto fail = [&] {
    require_none(list.take(), fmt::format("{} is not a table of probabilities:", name), ErrorCode::kBadInput);
  };
  const std::vector<std::string> header = lines.empty() ? std::vector<std::string>{} : lines.front().second;
  const auto column = [&](const char* wanted, bool needed) -> std::size_t {
    const auto found = std::find(header.begin(), header.end(), wanted);
    list.require(!needed || found != header.end(), wanted,
                 "there is no column of this name in the first line");
    return static_cast<std::size_t>(found - header.begin());
  };
  const std::size_t x = column("x", true);
  const std::size_t y = column("y", true);
  const std::size_t p = column("probability", true);
  const std::size_t w = column("w", false);
  FiniteTableFile file;
  file.observation_given = w < header.size();
  check_header(header, list);
  if (x == header.size() || y == header.size() || p == header.size()) fail();
  Codes codes[3];
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto& [line, cells] = lines[i];
    const std::string where = fmt::format("line {}", line);
    if (cells.size() != header.size()) {
      list.require(false, where,
                   fmt::format("has {} cells where there are {} columns", cells.size(), header.size()));
      continue;
    }
    check_symbols(header, cells, where, list);
    const std::optional<double> probability = number_in(cells[p]);
    list.require(probability.has_value(), where, fmt::format("probability '{}' is not a number", cells[p]));
    list.require(!probability || *probability >= 0, where,
                 fmt::format("probability {} is negative", cells[p]));
    FiniteCell cell{codes[0].of(cells[x]), codes[1].of(cells[y]), 0, probability.value_or(0)};
    cell.w = file.observation_given ? codes[2].of(cells[w]) : cell.y;
    file.world.cells.push_back(cell);
  }
  file.x = codes[0].names();
  file.y = codes[1].names();
  file.w = file.observation_given ? codes[2].names() : file.y;
  file.world.x_levels = static_cast<std::int32_t>(file.x.size());
  file.world.y_levels = static_cast<std::int32_t>(file.y.size());
  file.world.w_levels = static_cast<std::int32_t>(file.w.size());
  Problems seen = list.take();
  const bool lines_sound = seen.empty();
  for (const Problem& problem : file.world.check()) {
    // A negative one has been named with its line.
    if (lines_sound || problem.what.find("sums to") != std::string::npos) seen.push_back(problem);
  }
  require_none(seen, fmt::format("{} is not a table of probabilities:", name), ErrorCode::kBadInput);
  return file;
}

Matrix<double> parse_matrix(const std::string& text, const std::string& name) {
  const auto lines = lines_of(text);
  ProblemList list;
  list.require(!lines.empty(), "matrix", "the file is empty");
  Matrix<double> matrix(static_cast<Index>(lines.size()),
                        lines.empty() ? 0 : static_cast<Index>(lines.front().second.size()));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [line, cells] = lines[i];
    const std::string where = fmt::format("line {}", line);
    if (static_cast<Index>(cells.size()) != matrix.cols()) {
      list.require(false, where,
                   fmt::format("has {} cells where the first line has {}", cells.size(), matrix.cols()));
      continue;
    }
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::optional<double> value = number_in(cells[c]);
      list.require(value.has_value(), where, fmt::format("'{}' is not a number", cells[c]));
      matrix(static_cast<Index>(i), static_cast<Index>(c)) = value.value_or(0);
    }
  }
  require_none(list.take(), fmt::format("{} is not a matrix:", name), ErrorCode::kBadInput);
  return matrix;
}

}  // namespace ppan
