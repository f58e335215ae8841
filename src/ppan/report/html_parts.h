#pragma once

// Pieces that the sections of the page share. Private to this stage.

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "ppan/core/estimate.h"
#include "ppan/report/html.h"

namespace ppan::html {

/// Text of a page under construction. add() takes markup made by this program; text from outside goes through
/// escape() first.
class Page {
 public:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void raw(std::string_view markup) { out_ += markup; }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// The rounded number, with the exact one as the element's value.
std::string number(double value, int digits = 4);
std::string number(const std::optional<double>& value);
/// 56.1 %.
std::string percent(double fraction);
std::string rate(const SuccessRate& rate);
/// Kind, interval and method of an estimate, which must accompany its number.
std::string provenance(const Estimate& estimate);
/// The number in nats with its provenance.
std::string estimate(const Estimate& estimate);
/// What the estimate says, as a sentence: direction first.
std::string sentence(const Estimate& estimate);
/// 1 h 02 min, 12.3 s.
std::string duration(double seconds);
std::string image_figure(const ImageDetail& image, const RunFiles& run);

/// What a recipient of the release loses; empty if no task was measured.
void add_recipient(Page& page, const RunFiles& run);

/// The parts of one row of the curve: the numbers next to the figure ...
std::string point_brief(const RunFiles& run, std::size_t row, bool dominated);
/// ... and everything else, below it.
std::string point_details(const RunFiles& run, std::size_t row);

}  // namespace ppan::html
