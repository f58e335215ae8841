// A curve in pieces, for engines: prepared here, its points trained anywhere, finished here.

#include "binding.h"
#include "curve_files.h"
#include "sources.h"

namespace ppan::python {
namespace {

nb::bytes bytes_of(const std::string& text) {
  return nb::bytes(text.data(), text.size());
}

Start prepare_start(const nb::object& frame, const JobFile& job, const nb::object& listener) {
  const auto source = source_of(frame);
  std::atomic<bool> stop{false};
  Messages messages;
  std::optional<nb::python_error> raised;
  const auto work = [&] {
    const Prepared ready = prepare_frame(*source, job);
    return prepare(ready.job, ready.data, hooks_of(stop, messages));
  };
  try {
    Start start = run_interruptible(work, stop, &messages, listener, raised);
    if (!raised) return start;
  } catch (const Error&) {  // that it was interrupted is an error of the library
    if (!raised) throw;
  }
  throw std::move(*raised);
}

Start start_of(const nb::bytes& bytes, const nb::object& frame, const JobFile& job) {
  const auto source = source_of(frame);
  std::atomic<bool> stop{false};
  return run_or_raise(
      [&] {
        const Prepared ready = prepare_frame(*source, job);
        return start_from_bytes({bytes.c_str(), bytes.size()}, ready.job, ready.data);
      },
      stop);
}

nb::bytes train(const Start& start, int number) {
  std::atomic<bool> stop{false};
  const std::string bytes = run_or_raise(
      [&]() -> std::string {
        Hooks hooks;
        hooks.interrupted = [&stop] { return stop.load(); };
        const auto point = train_point(start, number, hooks);
        return point ? to_bytes(*point) : std::string();
      },
      stop);
  return bytes_of(bytes);
}

// `interrupted`: somebody waits for what there is, so nothing more is measured.
CurveFiles finish_curve(const Start& start, const std::vector<nb::bytes>& points, const nb::object& listener,
                        bool interrupted) {
  std::vector<std::string> texts;
  for (const nb::bytes& point : points) texts.emplace_back(point.c_str(), point.size());
  std::atomic<bool> stop{interrupted};
  Messages messages;
  std::optional<nb::python_error> raised;
  CurveFiles out = run_interruptible(
      [&] {
        std::vector<PointResult> made;
        for (const std::string& text : texts) made.push_back(point_from_bytes(text, start));
        return files_of(finish(start, made, hooks_of(stop, messages)), start.data);
      },
      stop, &messages, listener, raised);
  if (raised) throw std::move(*raised);
  return out;
}

}  // namespace

void bind_engine(nb::module_& m) {
  nb::class_<Start>(m, "Start").def_prop_ro("points", &Start::points).def("to_bytes", [](const Start& start) {
    return bytes_of(to_bytes(start));
  });
  m.def("prepare", &prepare_start, nb::arg("frame"), nb::arg("job"), nb::arg("listener").none());
  m.def("start_from_bytes", &start_of, nb::arg("bytes"), nb::arg("frame"), nb::arg("job"));
  m.def("train_point", &train, nb::arg("start"), nb::arg("number"));
  m.def("finish", &finish_curve, nb::arg("start"), nb::arg("points"), nb::arg("listener").none(),
        nb::arg("interrupted") = false);
}

}  // namespace ppan::python
