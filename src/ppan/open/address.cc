#include "ppan/open/address.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <system_error>

#include "ppan/core/error.h"

namespace ppan {
namespace {

constexpr const char* kDatabaseForm = "write ?table=NAME or ?query=SELECT ... behind it";

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return out;
}

bool is_sql(std::string_view text) {
  const std::string word = lower(text.substr(0, text.find_first_of(" \t\n(")));
  return word.size() < text.size() &&
         (word == "select" || word == "with" || word == "from" || word == "values");
}

bool is_pattern(std::string_view path) {
  return path.find_first_of("*?[") != std::string_view::npos;
}

void require_text(std::string_view text) {
  if (text.empty()) throw Error(ErrorCode::kUsage, "the address of the table is empty");
  if (text.find('\0') != std::string_view::npos)
    throw Error(ErrorCode::kUsage, "the address of the table holds a NUL byte");
}

// Takes table= or query= out of what stands behind the question mark; the rest comes back.
std::string take_table(std::string_view parameters, Address& out) {
  std::string rest;
  while (!parameters.empty()) {
    if (parameters.starts_with("query=")) {
      out.query = parameters.substr(6);
      break;
    }
    const std::string_view one = parameters.substr(0, parameters.find('&'));
    parameters.remove_prefix(std::min(parameters.size(), one.size() + 1));
    if (one.starts_with("table=")) {
      out.table = one.substr(6);
    } else if (!one.empty()) {
      rest += rest.empty() ? "" : "&";
      rest += one;
    }
  }
  return rest;
}

void require_one_of_both(const Address& address) {
  if (address.table.empty() == address.query.empty())
    throw Error(ErrorCode::kUsage, fmt::format("{} names no table", address.shown), kDatabaseForm);
}

// The word in front of the colon, if there is one: letters and digits, at least two, so that it is no drive.
std::string_view scheme_of(std::string_view text) {
  const std::string_view word = text.substr(0, std::min(text.find(':'), text.size()));
  if (word.size() < 2 || word.size() == text.size() ||
      std::isalpha(static_cast<unsigned char>(word.front())) == 0)
    return {};
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+';
  });
  return plain ? word : std::string_view{};
}

// scheme:FILE?table=NAME
void parse_file_database(std::string_view body, Address& out) {
  const std::size_t mark = body.find('?');
  out.place = body.substr(0, mark);
  if (out.place.empty())
    throw Error(ErrorCode::kUsage, fmt::format("{}: names no file", out.scheme),
                fmt::format("write {}:FILE?table=NAME", out.scheme));
  const std::string rest = mark == std::string_view::npos ? "" : take_table(body.substr(mark + 1), out);
  if (!rest.empty())
    throw Error(ErrorCode::kUsage, fmt::format("\"{}\" is not known in {}", rest, out.shown), kDatabaseForm);
  require_one_of_both(out);
}

[[noreturn]] void refuse_password() {
  throw Error(ErrorCode::kUsage, "the address of a database holds a password",
              "leave it out, and give it where its clients look for it: of PostgreSQL in PGPASSWORD, in "
              "~/.pgpass or in a "
              "service file");
}

// scheme://[USER@]HOST/DATABASE?table=NAME
void parse_server_database(std::string_view body, Address& out) {
  const std::size_t mark = body.find('?');
  const std::string_view place = body.substr(0, mark);
  const std::string_view authority = place.substr(0, place.find('/'));
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos && authority.substr(0, at).find(':') != std::string_view::npos)
    refuse_password();
  const std::string rest = mark == std::string_view::npos ? "" : take_table(body.substr(mark + 1), out);
  // Clients decode names of parameters too: an escaped one is refused rather than understood.
  for (std::string_view left = rest; !left.empty();) {
    const std::string_view one = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    const std::string parameter = lower(one.substr(0, one.find('=')));
    if (parameter.find('%') != std::string::npos)
      throw Error(ErrorCode::kUsage, "the name of a parameter of the address is escaped",
                  "write it as it is");
  }
  out.place = fmt::format("{}://{}{}{}", out.scheme, place, rest.empty() ? "" : "?", rest);
  // Wherever it stands: a client may take apart what was put together wrongly here.
  if (lower(out.place).find("password=") != std::string::npos) refuse_password();
  out.shown = fmt::format("{}://{}", out.scheme, place);
  require_one_of_both(out);
  out.shown += out.table.empty() ? " (query)" : fmt::format(" table {}", out.table);
}

Address parse_database(std::string_view text, std::string_view scheme) {
  Address out{.kind = AddressKind::kDatabase, .scheme = std::string(scheme), .shown = std::string(text)};
  std::string_view body = text.substr(scheme.size() + 1);
  out.server = body.starts_with("//");
  if (out.server) body.remove_prefix(2);
  (out.server ? parse_server_database : parse_file_database)(body, out);
  return out;
}

bool ends_in(const std::string& text, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return text.ends_with(e); });
}

}  // namespace

bool Address::is_file() const {
  const bool path = kind == AddressKind::kText || kind == AddressKind::kParquet || kind == AddressKind::kJson;
  std::error_code ignored;
  const bool one = !is_pattern(place) || std::filesystem::exists(place, ignored);
  return (path && one) || (kind == AddressKind::kDatabase && !server);
}

Address parse_address(std::string_view text) {
  require_text(text);
  Address out{.place = std::string(text), .shown = std::string(text)};
  std::error_code ignored;
  const bool there = std::filesystem::exists(out.place, ignored);
  if (const std::string_view scheme = scheme_of(text); !there && !scheme.empty())
    return parse_database(text, scheme);
  if (!there && is_sql(text)) {
    out.kind = AddressKind::kQuery;
    out.shown = "the query";
    return out;
  }
  const std::string name = lower(text);
  if (ends_in(name, {".parquet", ".parq"})) {
    out.kind = AddressKind::kParquet;
  } else if (ends_in(name, {".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"})) {
    out.kind = AddressKind::kJson;
  } else if (!there && is_pattern(text)) {
    out.kind = AddressKind::kTexts;
  }
  return out;
}

bool names_file(const Address& address, const std::filesystem::path& file) {
  const bool paths = address.kind == AddressKind::kTexts || address.kind == AddressKind::kParquet ||
                     address.kind == AddressKind::kJson;
  if (!paths || address.is_file()) return false;
  const auto plain = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  constexpr std::string_view kAnyDirectories = "**/";  // none as well
  std::string pattern = plain(address.place);
  const auto matches = [&](int flags) { return ::fnmatch(pattern.c_str(), plain(file).c_str(), flags) == 0; };
  if (pattern.find("**") == std::string::npos) return matches(FNM_PATHNAME);
  if (matches(0)) return true;
  for (std::size_t at = 0; (at = pattern.find(kAnyDirectories)) != std::string::npos;)
    pattern.erase(at, kAnyDirectories.size());
  return matches(0);
}

std::string short_name(const Address& address) {
  if (!address.table.empty()) return address.table;
  if (address.kind == AddressKind::kQuery || !address.query.empty()) return "a query";
  return std::filesystem::path(address.place).filename().string();
}

Address relative_to(Address address, const std::filesystem::path& directory) {
  const bool path = address.kind != AddressKind::kQuery && !address.server;
  if (path && address.place != "-" && !directory.empty()) {
    address.place = (directory / address.place).string();
    if (address.kind != AddressKind::kDatabase) address.shown = address.place;
  }
  return address;
}

std::filesystem::path file_of(const std::string& address, const std::filesystem::path& directory) {
  if (address.empty()) return {};
  const Address found = relative_to(parse_address(address), directory);
  const bool file = found.is_file() && found.kind != AddressKind::kDatabase;
  return file ? std::filesystem::path(found.place) : std::filesystem::path();
}

}  // namespace ppan
