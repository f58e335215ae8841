#include "ppan/open/open_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "ppan/core/cell_text.h"
#include "ppan/core/error.h"
#include "ppan/open/address.h"
#include "ppan/open/backends.h"

namespace ppan {

namespace {

const Backend& backend_of(const Address& address) {
  const auto has = [](const auto& all, const auto& one) { return std::ranges::find(all, one) != all.end(); };
  std::string known;
  for (const Backend& backend : backends()) {
    if (address.kind == AddressKind::kDatabase ? has(backend.schemes, std::string_view(address.scheme))
                                               : has(backend.kinds, address.kind)) {
      if (backend.needs.empty()) return backend;
      throw Error(
          ErrorCode::kUsage,
          fmt::format("{} needs {}, which this program was built without", address.shown, backend.needs),
          std::string(backend.fix));
    }
    for (const std::string_view scheme : backend.schemes)
      known += fmt::format("{}{}:", known.empty() ? "" : ", ", scheme);
  }
  throw Error(ErrorCode::kUsage,
              fmt::format("no database is known as \"{}:\"; known: {}", address.scheme, known),
              fmt::format("of a file with a colon in its name write ./{}:...", address.scheme));
}

}  // namespace

std::unique_ptr<RowSource> open_rows(const std::string& text, const OpenOptions& options) {
  const Address address = relative_to(parse_address(text), options.directory);
  return backend_of(address).open(address, options);
}

std::unique_ptr<RowSink> create_rows(const std::string& text, const CreateOptions& options) {
  const Address address = parse_address(text);
  const bool one = address.is_file() || (address.server && !address.table.empty()) || address.place == "-";
  if (!one)
    throw Error(ErrorCode::kUsage, fmt::format("{} names no single table to write", address.shown),
                "name a file, or a table of a database");
  return backend_of(address).create(address, options);
}

TextStyle text_style(const CsvOptions& csv) {
  return {.missing = csv.missing, .decimal = csv.decimal};
}

std::string words_about_data(const std::string& words, std::string_view known) {
  // A value may itself hold quotes, so all from the first one on is taken for values. Numbers stand without.
  constexpr const char* kQuotes = "\"'";
  constexpr std::string_view kNumber = " with value ";
  if (const std::size_t number = words.find(kNumber);
      number != std::string::npos && number < words.find_first_of(kQuotes)) {
    const std::size_t first = number + kNumber.size();
    return words.substr(0, first) +
           marked_value(std::string_view(words).substr(first), "a value of the table");
  }
  std::size_t quote = words.find_first_of(kQuotes);
  const auto is_known = [&] {
    return !known.empty() && words.compare(quote + 1, known.size(), known) == 0 &&
           words.size() > quote + 1 + known.size() && words[quote + 1 + known.size()] == words[quote];
  };
  while (quote != std::string::npos && is_known())
    quote = words.find_first_of(kQuotes, quote + known.size() + 2);
  if (quote == std::string::npos) return words;
  return words.substr(0, quote) + marked_value(std::string_view(words).substr(quote), "a value of the table");
}

std::string sources_built_in() {
  std::string out;
  for (const Backend& backend : backends()) {
    if (backend.version != nullptr) out += (out.empty() ? "" : ", ") + backend.version();
  }
  return out;
}

}  // namespace ppan
