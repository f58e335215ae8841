#include <algorithm>

#include "binding.h"
#include "complete_job.h"
#include "ppan/core/suggest.h"
#include "ppan/job/settings.h"
#include "ppan/ppan.h"

namespace ppan::python {
namespace {

// Python's numbers and lists as settings take them. A list of whole numbers is one of numbers.
SettingValue value_of(const nb::handle& value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value)) return nb::cast<std::int64_t>(value);
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  std::vector<std::string> texts;
  std::vector<double> numbers;
  for (const nb::handle item : nb::cast<nb::sequence>(value)) {
    if (nb::isinstance<nb::str>(item)) {
      texts.push_back(nb::cast<std::string>(item));
    } else {
      numbers.push_back(nb::cast<double>(item));
    }
  }
  if (!numbers.empty()) return numbers;
  return texts;
}

void set_value(JobFile& job, const std::string& key, const nb::handle& value, ProblemList& problems) {
  const Setting* found = find_setting(key);
  if (found == nullptr) {
    std::vector<std::string> known;
    for (const Setting& s : settings()) known.push_back(s.key);
    problems.require(false, key, unknown_name("key", key, known));
    return;
  }
  job.given[key] = 0;
  const std::string fault = found->set(job, value_of(value));
  problems.require(fault.empty(), key, fault);
}

void set_column(JobFile& job, const std::string& name, const nb::handle& value, ProblemList& problems) {
  ColumnSpec spec;
  spec.name = name;
  const std::string field = "columns." + name;
  const auto take = [&](const std::string& key, const nb::handle& given) {
    const auto& all = column_settings();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ColumnSetting& s) { return s.key == key; });
    if (found == all.end()) {
      std::vector<std::string> known;
      for (const ColumnSetting& s : all) known.push_back(s.key);
      problems.require(false, field, unknown_name("key", key, known));
      return;
    }
    const std::string fault = found->set(spec, value_of(given));
    problems.require(fault.empty(), field, fault);
  };
  if (nb::isinstance<nb::dict>(value)) {
    const auto given = nb::cast<nb::dict>(value);
    for (const auto& entry : given) take(nb::cast<std::string>(entry.first), entry.second);
    if (!given.contains("type")) job.given.emplace(untyped_key(name), 0);
  } else {
    take("type", value);
  }
  job.table.schema.columns.push_back(std::move(spec));
}

JobFile make_job(const nb::dict& values, const nb::dict& columns) {
  JobFile job;
  ProblemList problems;
  for (const auto& entry : values) set_value(job, nb::cast<std::string>(entry.first), entry.second, problems);
  for (const auto& entry : columns)
    set_column(job, nb::cast<std::string>(entry.first), entry.second, problems);
  require_none(problems.take(), "this job cannot be run");
  return job;
}

nb::list settings_list() {
  nb::list out;
  for (const Setting& s : settings()) out.append(nb::make_tuple(s.key, s.type, s.range, s.show({}), s.help));
  return out;
}

}  // namespace

void bind_job(nb::module_& m) {
  nb::class_<JobFile>(m, "Job")
      .def("text", [](const JobFile& job) { return write_job(job); })
      .def_static("parse", [](const std::string& text) { return parse_job(text); });
  m.def("make_job", &make_job, nb::arg("values"), nb::arg("columns"));
  m.def("load_job", [](const std::string& path) { return load_job(path); });
  m.def("settings", &settings_list);
}

}  // namespace ppan::python
