#include "streams.h"

#include "ppan/core/error.h"

namespace ppan::python {
namespace {

constexpr const char* kName = "arrow_array_stream";

void release_capsule(PyObject* capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, kName));
  if (stream == nullptr) return;
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

}  // namespace

ArrowArrayStream take_stream(const nb::object& capsule) {
  if (!PyCapsule_IsValid(capsule.ptr(), kName))
    throw Error(ErrorCode::kUsage, "this is no Arrow stream", "give an object with __arrow_c_stream__");
  auto* inside = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  if (inside->release == nullptr) throw Error(ErrorCode::kUsage, "this Arrow stream was read before");
  const ArrowArrayStream stream = *inside;
  inside->release = nullptr;
  return stream;
}

nb::object give_stream(ArrowArrayStream stream) {
  auto* kept = new ArrowArrayStream(stream);
  PyObject* capsule = PyCapsule_New(kept, kName, release_capsule);
  if (capsule == nullptr) {
    kept->release(kept);
    delete kept;
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

}  // namespace ppan::python
