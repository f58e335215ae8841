#include <filesystem>
#include <map>

#include "binding.h"
#include "curve_files.h"
#include "ppan/core/file.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/run_summary.h"
#include "ppan/report/trade_off.h"
#include "sources.h"

namespace ppan::python {
namespace {

namespace fs = std::filesystem;

CurveFiles fit(const nb::object& frame, const JobFile& job, const nb::object& listener) {
  const auto source = source_of(frame);
  std::atomic<bool> stop{false};
  Messages messages;
  std::optional<nb::python_error> raised;
  const auto work = [&]() -> CurveFiles {
    const Prepared ready = prepare_frame(*source, job);
    const Curve curve = trade_off(ready.job, ready.data, hooks_of(stop, messages));
    if (curve.result.points.empty()) return {.files = {}, .interrupted = true, .notices = {}, .warnings = {}};
    return files_of(curve, ready.data);
  };
  CurveFiles out = run_interruptible(work, stop, &messages, listener, raised);
  if (raised && (out.files.empty() || !raised->matches(PyExc_KeyboardInterrupt))) throw std::move(*raised);
  messages.deliver(listener);
  return out;
}

nb::list rows_of(const CurveFiles& run) {
  const CurveTable table = run.table();
  const std::vector<int> numbers = point_numbers(table);
  nb::list out;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CurveRow& row = table.rows[i];
    nb::dict cells;
    cells["series"] = row.series;
    cells["point"] = numbers[i];
    cells["budget"] = row.budget;
    cells["distortion"] = row.distortion;
    cells["leakage"] = row.leakage;
    for (const auto& entry : row.more) {
      if (entry.first == curve_column::kPoint) continue;
      const auto number = parse_shortest(entry.second);
      if (entry.second.empty()) {
        cells[entry.first.c_str()] = nb::none();
      } else if (number) {
        cells[entry.first.c_str()] = *number;
      } else {
        cells[entry.first.c_str()] = entry.second;
      }
    }
    out.append(cells);
  }
  return out;
}

Choice choice_of(std::optional<double> leakage, std::optional<double> budget, std::optional<int> point,
                 std::optional<double> task_loss, bool found, bool accept_inconclusive,
                 bool least_distortion) {
  return {.leakage = leakage,
          .budget = budget,
          .point = point,
          .task_loss = task_loss,
          .least_distortion = least_distortion,
          .found = found,
          .accept_inconclusive = accept_inconclusive};
}

AnyModel pick_from(const CurveFiles& run, const Choice& choice) {
  require_none(choice.check(), "this point cannot be picked");
  const Candidates candidates = candidates_of(run.table(), choice, "the curve");
  if (candidates.points.empty() && !candidates.left_out.empty())
    throw Error(ErrorCode::kUsage, "the audit of every point of the curve was inconclusive",
                "use more rows, or take them as they are: accept_inconclusive=True");
  return chosen_model(candidates, choose(candidates, choice), choice,
                      [&run](const std::string& file) { return run.model(file); });
}

std::string svg_of(const CurveFiles& run) {
  CurveTable table = run.table();
  const CurveTable optimum = take_optimum(table);
  const RunSummary summary = run_summary_from_json(run.at("summary.json"));
  return to_svg(trade_off_figure(table, summary, optimum));
}

nb::tuple state_of(const CurveFiles& run) {
  nb::dict files;
  for (const auto& entry : run.files)
    files[entry.first.c_str()] = nb::bytes(entry.second.data(), entry.second.size());
  return nb::make_tuple(files, run.interrupted, run.notices, run.warnings);
}

CurveFiles from_state(const nb::dict& files, bool interrupted, std::vector<std::string> notices,
                      std::vector<std::string> warnings) {
  CurveFiles out{.files = {},
                 .interrupted = interrupted,
                 .notices = std::move(notices),
                 .warnings = std::move(warnings)};
  for (const auto& entry : files) {
    const auto bytes = nb::cast<nb::bytes>(entry.second);
    out.files.emplace(nb::cast<std::string>(entry.first), std::string(bytes.c_str(), bytes.size()));
  }
  static_cast<void>(out.at("curve.csv"));
  return out;
}

void write_files(const CurveFiles& run, const std::string& directory, bool force) {
  make_output_directory(directory, force);
  for (const auto& entry : run.files)
    write_file(fs::path(directory) / entry.first, entry.second,
               entry.first.ends_with(".ppan") ? Access::kPrivate : Access::kShared);
}

}  // namespace

void bind_curve(nb::module_& m) {
  nb::class_<CurveFiles>(m, "Curve")
      .def_ro("interrupted", &CurveFiles::interrupted)
      .def_ro("notices", &CurveFiles::notices)
      .def_ro("warnings", &CurveFiles::warnings)
      .def("rows", &rows_of)
      .def("names",
           [](const CurveFiles& run) {
             std::vector<std::string> out;
             for (const auto& entry : run.files) out.push_back(entry.first);
             return out;
           })
      .def("file",
           [](const CurveFiles& run, const std::string& name) {
             const std::string& bytes = run.at(name);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def(
          "pick",
          [](const CurveFiles& run, std::optional<double> leakage, std::optional<double> budget,
             std::optional<int> point, std::optional<double> task_loss, bool found, bool accept_inconclusive,
             bool least_distortion) {
            return pick_from(run, choice_of(leakage, budget, point, task_loss, found, accept_inconclusive,
                                            least_distortion));
          },
          nb::arg("leakage").none(), nb::arg("budget").none(), nb::arg("point").none(),
          nb::arg("task_loss").none(), nb::arg("found"), nb::arg("accept_inconclusive"),
          nb::arg("least_distortion"))
      .def("svg", &svg_of)
      .def("write", &write_files, nb::arg("directory"), nb::arg("force"))
      .def("state", &state_of)
      .def_static("from_state", &from_state)
      .def_static("read", [](const std::string& directory) {
        if (!fs::exists(fs::path(directory) / "curve.csv"))
          throw Error(ErrorCode::kUsage, directory + " is not the directory of a run: it has no curve.csv",
                      "give the directory that 'ppan curve' wrote");
        return CurveFiles{.files = files_in(directory), .interrupted = false, .notices = {}, .warnings = {}};
      });
  m.def("fit", &fit, nb::arg("frame"), nb::arg("job"), nb::arg("listener").none());
}

}  // namespace ppan::python
