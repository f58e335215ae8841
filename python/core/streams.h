#pragma once

// Arrow streams in and out of Python: the PyCapsule protocol.

#include "arrow_c.h"
#include "binding.h"

namespace ppan::python {

/// Takes the stream out of a capsule named "arrow_array_stream"; the capsule is left with nothing to release.
ArrowArrayStream take_stream(const nb::object& capsule);
/// Puts a stream into such a capsule, which releases it if nobody takes it.
nb::object give_stream(ArrowArrayStream stream);

}  // namespace ppan::python
