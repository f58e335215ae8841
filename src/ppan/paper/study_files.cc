#include "ppan/paper/study_files.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "ppan/core/file.h"
#include "ppan/model/model_file.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/figure.h"
#include "ppan/report/html.h"
#include "ppan/report/pdf.h"
#include "ppan/report/run_summary.h"

namespace ppan {
namespace {

void write_scatter(const ExperimentResult& result, const std::filesystem::path& out) {
  std::vector<ScatterPanel> panels;
  std::string csv = "component,rho,y,x,z\n";
  int component = 0;
  for (const ScatterCloud& cloud : result.scatter) {
    ++component;
    ScatterPanel panel{.title = fmt::format("correlation {}", cloud.rho),
                       .x_label = "useful Y",
                       .y_label = "sensitive X, released Z"};
    for (std::size_t i = 0; i < cloud.y.size(); ++i) {
      panel.before.emplace_back(cloud.y[i], cloud.x[i]);
      panel.after.emplace_back(cloud.y[i], cloud.z[i]);
      csv += fmt::format("{},{},{},{},{}\n", component, cloud.rho, cloud.y[i], cloud.x[i], cloud.z[i]);
    }
    panels.push_back(std::move(panel));
  }
  write_file(out / "scatter.csv", csv);
  write_file(out / "scatter.svg",
             to_svg(scatter_figure("Release by component", panels, "sensitive X", "released Z")));
}

// Each trained mechanism of the first seed as a container of its parameters with what it is.
void write_mechanisms(const Study& study, const StudyPart& part, const std::filesystem::path& out) {
  const ExperimentResult& first = part.by_seed.front();
  const std::string size = study.parts.size() > 1 ? fmt::format("{}-", part.train_records) : std::string();
  for (const ExperimentPoint& point : first.points) {
    if (!point.mechanism) continue;
    const MechanismOptions& o = point.mechanism->options();
    ModelContainer model;
    model.metadata = {{"kind", "mechanism"},
                      {"experiment", first.given.name},
                      {"series", point.series},
                      {"plan", point.plan},
                      {"family", to_string(o.kind)},
                      {"released", o.released},
                      {"hidden", o.hidden},
                      {"activation", to_string(o.activation)},
                      {"skip", o.skip},
                      {"noise_inputs", o.noise_inputs},
                      {"normal_noise", o.noise == NoiseKind::kNormal},
                      {"components", o.components},
                      {"full_scale", o.full_scale},
                      {"full_components", o.full_components},
                      {"train_records", part.train_records},
                      {"seed", first.given.seed},
                      {"code", o.code},
                      {"code_radius", o.code_radius},
                      {"decoder", o.decoder},
                      {"distortion", point.distortion},
                      {"leakage", point.leakage.nats}};
    const Vector<float>& parameters = point.mechanism->parameters();
    model.tensors["parameters"] = {.shape = {parameters.size()},
                                   .values = std::vector<float>(parameters.begin(), parameters.end())};
    write_model(out / fmt::format("mechanism-{}{:03}.safetensors", size, point.plan + 1), model);
  }
}

}  // namespace

CurveTable write_study(const Study& study, const std::filesystem::path& directory, const std::string& command,
                       const std::string& version) {
  RunSummary summary = study_summary(study);
  summary.version = version;
  summary.command = command;
  CurveTable curve = study_curve(study);
  CurveTable whole = curve;
  const CurveTable optimum = study_optimum(study);
  if (!curve.rows.empty()) whole.rows.insert(whole.rows.end(), optimum.rows.begin(), optimum.rows.end());
  write_file(directory / "curve.csv", to_csv(whole));
  write_file(directory / "metrics.jsonl", study_metrics(study));
  write_file(directory / "summary.json", to_json(summary));
  if (const std::string channels = study_channels(study); !channels.empty())
    write_file(directory / "mechanisms.csv", channels);
  for (const StudyPart& part : study.parts) write_mechanisms(study, part, directory);
  const ExperimentResult& first = study.parts.front().by_seed.front();
  if (!first.scatter.empty()) write_scatter(first, directory);
  if (const std::optional<Figure> sizes = size_figure(study))
    write_file(directory / "sizes.svg", to_svg(*sizes));
  if (!curve.rows.empty()) write_report(directory);
  for (const char* name : {"curve", "scatter", "sizes"}) {
    const std::filesystem::path drawing = directory / fmt::format("{}.svg", name);
    if (std::filesystem::exists(drawing))
      write_file(directory / fmt::format("{}.pdf", name), figure_pdf(read_file(drawing)));
  }
  return curve;
}

}  // namespace ppan
