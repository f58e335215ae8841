#include "ppan/report/image_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "ppan/report/text.h"

namespace ppan {
namespace {

constexpr Index kGap = 2;
constexpr std::uint8_t kGapGrey = 96;

// Sixty-four characters for three bytes at a time.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
    };
    const unsigned word = byte(0) << 16U | byte(1) << 8U | byte(2);
    for (unsigned k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : kAlphabet[word >> (18U - 6U * k) & 63U];
    }
  }
  return out;
}

}  // namespace

GreyImage image_grid(const std::vector<std::vector<GreyImage>>& rows, Index magnify) {
  const GreyImage& first = rows.front().front();
  std::size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  const Index cell_height = first.height * magnify + kGap;
  const Index cell_width = first.width * magnify + kGap;
  GreyImage grid{.height = static_cast<Index>(rows.size()) * cell_height + kGap,
                 .width = static_cast<Index>(columns) * cell_width + kGap};
  grid.bytes.assign(static_cast<std::size_t>(grid.height * grid.width), kGapGrey);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const GreyImage& image = rows[r][c];
      const Index top = static_cast<Index>(r) * cell_height + kGap;
      const Index left = static_cast<Index>(c) * cell_width + kGap;
      for (Index y = 0; y < image.height * magnify; ++y) {
        for (Index x = 0; x < image.width * magnify; ++x) {
          grid.bytes[static_cast<std::size_t>((top + y) * grid.width + left + x)] =
              image.bytes[static_cast<std::size_t>(y / magnify * image.width + x / magnify)];
        }
      }
    }
  }
  return grid;
}

std::string grid_svg(const GreyImage& grid, const std::string& title,
                     const std::vector<std::string>& row_names, const std::string& note) {
  constexpr Index kText = 190;
  constexpr Index kTop = 34;
  constexpr Index kBottom = 30;
  const Index width = kText + grid.width + 10;
  const Index height = kTop + grid.height + kBottom;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"13\"><title>{2}</title><rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#fff\"/><text x=\"8\" y=\"21\" font-size=\"15\">{2}</text>",
      width, height, text::escape(title));
  const Index step = (grid.height - kGap) / static_cast<Index>(std::max<std::size_t>(1, row_names.size()));
  for (std::size_t r = 0; r < row_names.size(); ++r) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kText - 8,
                       kTop + static_cast<Index>(r) * step + step / 2 + 5, text::escape(row_names[r]));
  }
  svg +=
      fmt::format("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" href=\"data:image/png;base64,{}\"/>",
                  kText, kTop, grid.width, grid.height, base64(encode_png(grid)));
  svg += fmt::format("<text x=\"8\" y=\"{}\" font-size=\"12\">{}</text></svg>\n", height - 10,
                     text::escape(note));
  return svg;
}

}  // namespace ppan
