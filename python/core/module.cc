// The extension module: the facade of the library (ppan/ppan.h), value by value. Everything that people see
// is made of it in Python.

#include "binding.h"
#include "ppan/core/error.h"
#include "ppan/ppan.h"
#include "sources.h"

namespace {

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ppan::Error& error) {
    const nb::object made = nb::module_::import_("ppan._errors")
                                .attr("make")(ppan::exit_status(error.code()), nb::str(error.what()),
                                              nb::str(error.fix().c_str()));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  }
}

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator(translate);
  m.def("version", &ppan::version);
  m.def("blas_description", &ppan::blas_description);
  // The kernels stay chosen; nothing else of a Runtime is wanted in a process that is not ours.
  m.def("choose_kernels", [] { const ppan::Runtime chosen; });
  ppan::python::bind_frames(m);
  ppan::python::bind_job(m);
  ppan::python::bind_model(m);
  ppan::python::bind_images(m);
  ppan::python::bind_curve(m);
  ppan::python::bind_audit(m);
  ppan::python::bind_engine(m);
  ppan::python::bind_research(m);
}
