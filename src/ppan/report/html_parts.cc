#include "ppan/report/html_parts.h"

#include <cmath>

#include "ppan/report/not_seen.h"
#include "ppan/report/text.h"

namespace ppan::html {
namespace {

using text::escape;
using text::show_number;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = (word << 8U) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? kDigits[(word >> (18 - 6 * k)) & 63U] : '=';
  }
  return out;
}

}  // namespace

std::string number(double value, int digits) {
  return fmt::format("<data value=\"{}\">{}</data>", shortest(value), show_number(value, digits));
}

std::string number(const std::optional<double>& value) {
  return value ? number(*value) : std::string("unknown");
}

std::string percent(double fraction) {
  return fmt::format("{:.1f}&nbsp;%", 100 * fraction);
}

std::string rate(const SuccessRate& rate) {
  std::string text = percent(rate.value);
  if (rate.interval95) {
    text += fmt::format(" (95&nbsp;%: {}&nbsp;to&nbsp;{})", percent(rate.interval95->low),
                        percent(rate.interval95->high));
  }
  return text;
}

std::string provenance(const Estimate& estimate) {
  std::string text(to_string(estimate.bound));
  if (estimate.interval95) {
    text += fmt::format(", 95&nbsp;% interval {} to {}", number(estimate.interval95->low, 3),
                        number(estimate.interval95->high, 3));
  } else if (estimate.bound != Bound::kExact) {
    text += ", no interval known";
  }
  if (estimate.method != to_string(estimate.bound)) text += ", " + escape(estimate.method);
  if (estimate.samples > 0) text += fmt::format(", {} records", estimate.samples);
  return text;
}

std::string estimate(const Estimate& estimate) {
  return fmt::format("{} nats <span class=\"note\">({})</span>", number(estimate.nats), provenance(estimate));
}

std::string sentence(const Estimate& estimate) {
  if (not_seen(estimate))
    return fmt::format("No leak was seen <span class=\"note\">(found {} nats; {})</span>",
                       number(estimate.nats), provenance(estimate));
  const char* lead = "About {} nats leak";
  switch (estimate.bound) {
    case Bound::kLower:
      lead = "At least {} nats leak";
      break;
    case Bound::kUpper:
      lead = "At most {} nats leak";
      break;
    case Bound::kExact:
      lead = "Exactly {} nats leak";
      break;
    case Bound::kEstimate:
      break;
  }
  return fmt::format(fmt::runtime(lead), number(estimate.nats)) +
         fmt::format(" <span class=\"note\">({})</span>", provenance(estimate));
}

std::string duration(double seconds) {
  if (!(seconds >= 0)) return "unknown";
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string image_figure(const ImageDetail& image, const RunFiles& run) {
  const auto found = run.images.find(image.file);
  if (found == run.images.end()) {
    return fmt::format("<p class=\"note\">The image {} is not in the run directory.</p>", escape(image.file));
  }
  // As images, drawings cannot run scripts or load anything, whoever wrote the file.
  const bool png = found->second.starts_with("\x89PNG");
  const std::string& text = image.description.empty() ? image.title : image.description;
  return fmt::format(
      "<figure class=\"figure\"><img alt=\"{}\" "
      "src=\"data:image/{};base64,{}\"><figcaption>{}</figcaption></figure>",
      escape(text), png ? "png" : "svg+xml", base64(found->second), escape(image.title));
}

}  // namespace ppan::html
