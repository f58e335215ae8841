#include "ppan/audit/gain_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ppan/core/error.h"
#include "ppan/source/csv.h"

namespace ppan {
namespace {

double gain_of(std::string_view cell, const std::filesystem::path& path, std::int64_t line,
               const std::string& level) {
  const std::string text(cell);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(value) || value < 0)
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} line {}, column \"{}\": a gain must be a number of at least 0", path.string(),
                            line, level));
  return value;
}

}  // namespace

GainTable read_gain_table(const std::filesystem::path& path) {
  CsvReader reader = open_csv(path);
  GainTable out;
  const std::size_t first = reader.names().front() == "guess" ? 1 : 0;
  out.levels.assign(reader.names().begin() + static_cast<std::ptrdiff_t>(first), reader.names().end());
  std::vector<double> gains;
  CsvChunk chunk;
  Index rows = 0;
  while (reader.next(chunk)) {
    for (std::int64_t r = 0; r < chunk.rows(); ++r, ++rows) {
      for (std::size_t c = first; c < chunk.columns(); ++c)
        gains.push_back(gain_of(chunk.cell(r, c), path, chunk.line(r), out.levels[c - first]));
    }
  }
  if (rows == 0 || out.levels.empty())
    throw Error(ErrorCode::kBadInput, fmt::format("{} holds no gains", path.string()),
                "a header of levels, then a row of gains for each guess");
  out.gain = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      gains.data(), rows, static_cast<Index>(out.levels.size()));
  return out;
}

Matrix<double> gain_for(const GainTable& table, const std::vector<std::string>& levels) {
  Matrix<double> out(table.gain.rows(), static_cast<Index>(levels.size()));
  std::vector<std::string> absent;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto at = std::find(table.levels.begin(), table.levels.end(), levels[l]);
    if (at == table.levels.end()) {
      absent.push_back(levels[l]);
      continue;
    }
    out.col(static_cast<Index>(l)) = table.gain.col(at - table.levels.begin());
  }
  if (!absent.empty())
    throw Error(ErrorCode::kBadInput, fmt::format("the gains have no column for {}", fmt::join(absent, ", ")),
                "give a column for every value of the sensitive attribute");
  return out;
}

}  // namespace ppan
