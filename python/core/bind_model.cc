#include <nlohmann/json.hpp>

#include "binding.h"
#include "ppan/model/model_file.h"
#include "ppan/ppan.h"
#include "sources.h"

namespace ppan::python {
namespace {

ReleaseModel from_bytes(const nb::bytes& bytes, const std::string& name) {
  return from_container(parse_model({bytes.c_str(), bytes.size()}, name), name);
}

nb::bytes to_bytes(const ReleaseModel& model) {
  const std::string bytes = model_bytes(to_container(model));
  return nb::bytes(bytes.data(), bytes.size());
}

// Names of the columns that a release looks at, and of those it copies.
std::vector<std::string> needed(const ReleaseModel& model) {
  std::vector<std::string> out;
  for (const std::int32_t column : model.table.observed())
    out.push_back(model.table.encoding().columns[static_cast<std::size_t>(column)].name);
  for (const std::string& name : model.table.schema().kept_columns()) {
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  return out;
}

UnknownRow unknown_of(const std::string& name) {
  if (name == "fail") return UnknownRow::kFail;
  if (name == "nearest") return UnknownRow::kNearest;
  throw Error(ErrorCode::kUsage, "unknown: '" + name + "' is not known", "it is fail or nearest");
}

Stream release_frame(const ReleaseModel& model, const nb::object& frame,
                     const std::optional<std::string>& unknown, int threads,
                     std::optional<std::uint64_t> insecure_seed) {
  const auto source = source_of(frame);
  const auto sink = sink_like(*source);
  std::atomic<bool> stop{false};
  ReleaseOptions options;
  if (unknown) options.unknown = unknown_of(*unknown);
  if (!unknown && model.unknown == UnknownRow::kReject)
    options.unknown = UnknownRow::kFail;  // rows keep their index
  options.threads = threads;
  options.insecure_seed = insecure_seed;
  options.interrupted = [&stop] { return stop.load(); };
  run_or_raise([&] { return release(model, *source, *sink, options); }, stop);
  return Stream(sink->take());
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<ReleaseModel>(m, "Model")
      .def("to_bytes", &to_bytes)
      .def_static("from_bytes", &from_bytes, nb::arg("bytes"), nb::arg("name") = "model")
      .def_static("load", [](const std::string& path) { return load_model(path); })
      .def("save", [](const ReleaseModel& model, const std::string& path) { save_model(path, model); })
      .def("describe", [](const ReleaseModel& model) { return describe(model); })
      .def("json", [](const ReleaseModel& model) { return to_json(model).dump(); })
      .def_prop_ro("needed", &needed)
      .def_prop_ro("released", [](const ReleaseModel& model) { return model.order; })
      .def_prop_ro("kept", [](const ReleaseModel& model) { return model.table.schema().kept_columns(); })
      .def_prop_ro("sensitive",
                   [](const ReleaseModel& model) { return model.table.schema().hidden_columns(); })
      .def_prop_ro("side", [](const ReleaseModel& model) { return model.table.schema().side; })
      .def_prop_ro("columns",
                   [](const ReleaseModel& model) {
                     std::vector<std::pair<std::string, std::string>> out;
                     for (const ColumnSpec& spec : model.table.schema().columns)
                       out.emplace_back(spec.name, std::string(to_string(spec.type)));
                     return out;
                   })
      .def_prop_ro("unknown", [](const ReleaseModel& model) { return std::string(to_string(model.unknown)); })
      .def_prop_ro("checksum", [](const ReleaseModel& model) { return model.checksum; })
      .def_prop_ro("signer", [](const ReleaseModel& model) { return model.signer; });
  m.def("release", &release_frame, nb::arg("model"), nb::arg("frame"), nb::arg("unknown").none(),
        nb::arg("threads"), nb::arg("insecure_seed").none());
}

}  // namespace ppan::python
