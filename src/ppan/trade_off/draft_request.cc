#include "ppan/trade_off/draft_request.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "ppan/core/error.h"
#include "ppan/image/image_files.h"
#include "ppan/job/draft.h"
#include "ppan/open/address.h"
#include "ppan/open/open_rows.h"

namespace ppan {
namespace {

// What a job file in the directory of `output` calls the data: a relative name, so that both can be moved
// together, unless the user gave an absolute one.
std::string path_for(const std::filesystem::path& data, const std::filesystem::path& output) {
  if (data.is_absolute()) return data.string();
  std::error_code error;
  const auto relative = std::filesystem::relative(
      data, output.has_parent_path() ? output.parent_path() : std::filesystem::path("."), error);
  return error || relative.empty() ? std::filesystem::absolute(data).string() : relative.string();
}

// The same for an address.
std::string source_for(const std::string& data, const std::filesystem::path& output) {
  const Address address = parse_address(data);
  if (address.kind == AddressKind::kQuery || address.server) return data;
  const std::string path = path_for(address.place, output);
  if (address.kind != AddressKind::kDatabase) return path;
  return fmt::format("{}:{}{}", address.scheme, path, data.substr(data.find('?')));
}

// A table that is not one file of delimited text says itself what its columns are.
std::string draft_rows(const DraftRequest& request, const std::string& source) {
  const OpenOptions open{.csv = {.limits = {.unpacked_bytes = request.max_unpacked}}};
  const auto rows = open_rows(request.data, open);
  return draft_job(source, *rows, request.roles, [&] { return open_rows(request.data, open); });
}

}  // namespace

std::string draft(const DraftRequest& request) {
  const auto called = [&](const std::string& data) {
    return request.into_file() ? source_for(data, request.output) : data;
  };
  if (!names_images(request.data)) {
    if (!request.labels.empty())
      throw Error(ErrorCode::kUsage, "--labels goes with images, but " + request.data + " is a table",
                  "name a directory of PNG files or a file that ends in idx3-ubyte");
    if (parse_address(request.data).kind != AddressKind::kText)
      return draft_rows(request, called(request.data));
    return draft_job(std::filesystem::path(request.data), request.roles, called(request.data),
                     request.max_unpacked);
  }
  const DraftRoles& roles = request.roles;
  for (const auto* columns : {&roles.sensitive, &roles.useful, &roles.observed, &roles.keep, &roles.side,
                              &roles.group, &roles.task}) {
    if (columns->empty()) continue;
    throw Error(ErrorCode::kUsage, "roles are for the columns of a table; of images the label is hidden",
                "leave --sensitive and the like out");
  }
  const ImageFiles files = find_image_files(request.data, request.labels);
  return draft_image_job(files, called(std::filesystem::path(files.images).string()),
                         called(std::filesystem::path(files.labels).string()));
}

}  // namespace ppan
