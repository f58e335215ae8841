#include <fmt/format.h>
#include <fmt/ranges.h>

#include "binding.h"
#include "ppan/audit/alignment.h"
#include "ppan/audit/audit_text.h"
#include "ppan/core/suggest.h"
#include "ppan/ppan.h"
#include "ppan/trade_off/audit_run.h"
#include "sources.h"

namespace ppan::python {
namespace {

const AuditColumn& column_of(const AuditTable& table, const std::string& name) {
  if (const AuditColumn* column = table.find(name)) return *column;
  throw Error(ErrorCode::kBadInput, fmt::format("original: {}", unknown_name("column", name, table.names())));
}

void require_alignment(const AuditTable& original, const AuditTable& released) {
  const Alignment found = compare_rows(original, released);
  if (!found.by_chance()) return;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("row 1 of the release does not look like row 1 of the original: {} (compared: {})",
                  found.shift != 0
                      ? fmt::format("it agrees best when moved by {} rows", std::abs(found.shift))
                      : std::string("the rows agree no more often than rows paired at random"),
                  fmt::join(found.compared, ", ")),
      "give frames of the same records in the same order; if the rows do belong together and the release has "
      "changed everything, aligned=True");
}

// A frame's texts are names though they may look like numbers.
std::map<std::string, CellKind> text_is_text(const RowSource& source) {
  std::map<std::string, CellKind> kinds;
  for (const RowColumn& column : source.columns()) {
    if (column.storage == CellStorage::kText || column.meaning == CellMeaning::kBoolean)
      kinds[column.name] = CellKind::kCategory;
  }
  return kinds;
}

AuditOptions options_of(std::optional<double> limit, bool quick, int threads, std::uint64_t seed) {
  AuditOptions options;
  options.quick = quick;
  options.limit = limit;
  options.threads = threads;
  options.seed = seed;
  return options;
}

struct AuditRequest {
  std::vector<std::string> sensitive;
  std::vector<std::string> side;
  std::vector<std::string> groups;
  std::optional<std::string> together;
  bool aligned = false;
  bool scan = false;
};

AuditInput input_of(const AuditRequest& request, const AuditTable& original, AuditTable released) {
  if (original.rows() != released.rows())
    throw Error(ErrorCode::kBadInput,
                fmt::format("original has {} rows, released has {}", original.rows(), released.rows()),
                "the audit compares row by row: give frames of the same records in the same order");
  if (!request.aligned) require_alignment(original, released);
  AuditInput input;
  input.released = std::move(released);
  for (const std::string& name : request.sensitive) input.sensitive.push_back(column_of(original, name));
  for (const std::string& name : request.side) input.side.push_back(column_of(original, name));
  for (const std::string& name : request.groups) input.groups.push_back(column_of(original, name));
  if (request.together) input.together = column_of(original, *request.together);
  if (!request.scan) return input;
  const auto listed = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const AuditColumn& column : original.columns) {
    if (!input.released.find(column.name) && !listed(request.sensitive, column.name) &&
        !listed(request.side, column.name) && column.name != request.together)
      input.undeclared.push_back(column);
  }
  return input;
}

AuditReport audit_frames(const nb::object& original, const nb::object& released, const AuditRequest& request,
                         const AuditOptions& options) {
  const auto before = source_of(original, "original");
  const auto after = source_of(released, "released");
  std::atomic<bool> stop{false};
  return run_or_raise(
      [&] {
        const AuditTable table = table_of_rows(*before, text_is_text(*before));
        return audit(input_of(request, table, table_of_rows(*after, text_is_text(*after))), options);
      },
      stop);
}

AuditReport audit_model(const ReleaseModel& model, const nb::object& frame, const AuditOptions& options) {
  const auto source = source_of(frame);
  std::atomic<bool> stop{false};
  return run_or_raise([&] { return audit(model, *source, options); }, stop);
}

}  // namespace

nb::dict estimate(const Estimate& found) {
  nb::dict out;
  out["nats"] = found.nats;
  out["low"] = found.interval95 ? std::optional(found.interval95->low) : std::nullopt;
  out["high"] = found.interval95 ? std::optional(found.interval95->high) : std::nullopt;
  out["bound"] = std::string(to_string(found.bound));
  out["method"] = found.method;
  out["samples"] = found.samples;
  return out;
}

void bind_audit(nb::module_& m) {
  nb::class_<AuditReport>(m, "AuditReport")
      .def("text", [](const AuditReport& report) { return to_text(report, InformationUnit::kNats); })
      .def("json", [](const AuditReport& report) { return to_json(report); })
      .def("leakage", [](const AuditReport& report) { return estimate(report.leakage()); })
      .def("upper_bound",
           [](const AuditReport& report) -> nb::object {
             const auto upper = report.upper_bound();
             return upper ? nb::object(estimate(*upper)) : nb::none();
           })
      .def_prop_ro("upper_end", &AuditReport::upper_end)
      .def_prop_ro("entropy", &AuditReport::entropy)
      .def_prop_ro("power", &AuditReport::power)
      .def_prop_ro("inconclusive", &AuditReport::inconclusive)
      .def_prop_ro("within_limit", &AuditReport::within_limit);
  m.def(
      "audit",
      [](const nb::object& original, const nb::object& released, std::vector<std::string> sensitive,
         std::vector<std::string> side, std::vector<std::string> groups, std::optional<std::string> together,
         std::optional<double> limit, bool quick, bool aligned, bool scan, int threads, std::uint64_t seed) {
        return audit_frames(original, released,
                            {.sensitive = std::move(sensitive),
                             .side = std::move(side),
                             .groups = std::move(groups),
                             .together = std::move(together),
                             .aligned = aligned,
                             .scan = scan},
                            options_of(limit, quick, threads, seed));
      },
      nb::arg("original"), nb::arg("released"), nb::arg("sensitive"), nb::arg("side"), nb::arg("groups"),
      nb::arg("together").none(), nb::arg("limit").none(), nb::arg("quick"), nb::arg("aligned"),
      nb::arg("scan"), nb::arg("threads"), nb::arg("seed"));
  m.def(
      "audit_model",
      [](const ReleaseModel& model, const nb::object& frame, std::optional<double> limit, bool quick,
         int threads,
         std::uint64_t seed) { return audit_model(model, frame, options_of(limit, quick, threads, seed)); },
      nb::arg("model"), nb::arg("frame"), nb::arg("limit").none(), nb::arg("quick"), nb::arg("threads"),
      nb::arg("seed"));
}

}  // namespace ppan::python
