// Images as NumPy arrays: curves, releases and audits of them.

#include <nanobind/ndarray.h>

#include <nlohmann/json.hpp>

#include "binding.h"
#include "curve_files.h"
#include "ppan/model/model_file.h"
#include "ppan/ppan.h"

namespace ppan::python {
namespace {

using Pixels = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Codes = std::pair<std::vector<std::int32_t>, std::vector<std::string>>;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

ImageSet image_set(const Pixels& pixels) {
  ImageSet set{.height = static_cast<Index>(pixels.shape(1)), .width = static_cast<Index>(pixels.shape(2))};
  set.pixels =
      Eigen::Map<const RowMajor>(pixels.data(), static_cast<Index>(pixels.shape(0)), set.height * set.width);
  return set;
}

ImageSet labelled_set(const Pixels& pixels, Codes labels, std::optional<Codes> task) {
  ImageSet set = image_set(pixels);
  set.classes = static_cast<int>(labels.second.size());
  set.labels = std::move(labels.first);
  set.class_names = std::move(labels.second);
  if (task) {
    const int classes = static_cast<int>(task->second.size());
    set.task = {"task", std::move(task->first), classes, std::move(task->second)};
  }
  return set;
}

CurveFiles fit_images(const Pixels& pixels, Codes labels, std::optional<Codes> task, const JobFile& job,
                      const nb::object& listener) {
  const ImageSet set = labelled_set(pixels, std::move(labels), std::move(task));
  std::atomic<bool> stop{false};
  Messages messages;
  std::optional<nb::python_error> raised;
  ImageCurveHooks hooks;
  hooks.interrupted = [&stop] { return stop.load(); };
  hooks.epoch = [&messages](Index point, const EpochReport& epoch, double /*leakage*/) {
    messages.add("epoch", static_cast<int>(point) + 1, epoch.epoch, epoch.epochs);
  };
  hooks.finished = [&messages](const ImagePoint& point) {
    messages.add("finished", static_cast<int>(point.plan) + 1, 0, 0);
  };
  const auto work = [&]() -> CurveFiles {
    const ImageCurve curve = trade_off(job, set, hooks);
    if (curve.result.points.empty()) return {.files = {}, .interrupted = true, .notices = {}, .warnings = {}};
    return files_of(curve);
  };
  CurveFiles out = run_interruptible(work, stop, &messages, listener, raised);
  if (raised && (out.files.empty() || !raised->matches(PyExc_KeyboardInterrupt))) throw std::move(*raised);
  messages.deliver(listener);
  return out;
}

nb::ndarray<nb::numpy, float> released(const ImageReleaseModel& model, const Pixels& pixels) {
  const ImageSet set = image_set(pixels);
  std::atomic<bool> stop{false};
  const ImageSet out = run_or_raise([&] { return release(model, set); }, stop);
  auto* rows = new RowMajor(out.pixels);
  const nb::capsule owner(rows, [](void* p) noexcept { delete static_cast<RowMajor*>(p); });
  return {rows->data(), {pixels.shape(0), pixels.shape(1), pixels.shape(2)}, owner};
}

ImageFindings audited(const ImageReleaseModel& model, const Pixels& pixels, Codes labels,
                      std::optional<double> limit, bool quick, std::uint64_t seed) {
  const ImageSet set = labelled_set(pixels, std::move(labels), std::nullopt);
  std::atomic<bool> stop{false};
  return run_or_raise(
      [&] {
        return audit(model, set, {.source = "these images", .quick = quick, .limit = limit, .seed = seed});
      },
      stop);
}

nb::bytes image_bytes(const ImageReleaseModel& model) {
  const std::string bytes = model_bytes(to_container(model));
  return nb::bytes(bytes.data(), bytes.size());
}

void bind_findings(nb::module_& m) {
  nb::class_<ImageFindings>(m, "ImageFindings")
      .def("text",
           [](const ImageFindings& found) { return to_text(found, "this model", InformationUnit::kNats); })
      .def("json", [](const ImageFindings& found) { return to_json(found); })
      .def("leakage", [](const ImageFindings& found) { return estimate(found.attack.strongest().leakage); })
      .def("upper_bound",
           [](const ImageFindings& found) -> nb::object {
             return found.upper.empty() ? nb::none() : nb::object(estimate(found.upper.front()));
           })
      .def_prop_ro("upper_end", &ImageFindings::upper_end)
      .def_prop_ro("entropy", [](const ImageFindings& found) { return found.attack.entropy; })
      .def_prop_ro("power", [](const ImageFindings& found) { return found.attack.least_seen(); })
      .def_prop_ro("inconclusive", [](const ImageFindings& found) { return found.attack.still_rising; })
      .def_prop_ro("within_limit", &ImageFindings::within_limit);
}

}  // namespace

void bind_images(nb::module_& m) {
  nb::class_<ImageReleaseModel>(m, "ImageModel")
      .def("to_bytes", &image_bytes)
      .def_static(
          "from_bytes",
          [](const nb::bytes& bytes, const std::string& name) {
            return image_model_from_container(parse_model({bytes.c_str(), bytes.size()}, name), name);
          },
          nb::arg("bytes"), nb::arg("name") = "model")
      .def_static("load",
                  [](const std::string& path) { return image_model_from_container(read_model(path), path); })
      .def("save", [](const ImageReleaseModel& model, const std::string& path) { save_model(path, model); })
      .def("describe", [](const ImageReleaseModel& model) { return describe(model); })
      .def("json", [](const ImageReleaseModel& model) { return to_json(model).dump(); })
      .def_prop_ro("height", [](const ImageReleaseModel& model) { return model.images.height; })
      .def_prop_ro("width", [](const ImageReleaseModel& model) { return model.images.width; })
      .def_prop_ro("class_names", [](const ImageReleaseModel& model) { return model.class_names; });
  bind_findings(m);
  m.def("image_points", [](const JobFile& job) {
    const auto given = static_cast<int>(job.image.curve.targets.size());
    return given > 0 ? given : job.image.points;
  });
  m.def("fit_images", &fit_images, nb::arg("pixels"), nb::arg("labels"), nb::arg("task").none(),
        nb::arg("job"), nb::arg("listener").none());
  m.def("release_images", &released, nb::arg("model"), nb::arg("pixels"));
  m.def("audit_images", &audited, nb::arg("model"), nb::arg("pixels"), nb::arg("labels"),
        nb::arg("limit").none(), nb::arg("quick"), nb::arg("seed"));
}

}  // namespace ppan::python
