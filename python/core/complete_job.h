#pragma once

// A job as people give it in Python names what is sensitive and little else; the frame tells the rest.

#include <string>

#include "ppan/job/job.h"
#include "ppan/read/profile.h"

namespace ppan::python {

/// Key of JobFile::given that says: a column was described without its type, which the frame is to tell.
inline std::string untyped_key(const std::string& column) {
  return "columns." + column + " without type";
}

/// Types for the columns that the job does not name, and, where it names nothing useful, the useful columns:
/// all without another role that are neither identifiers nor the same everywhere.
void complete_job(const TableProfile& profile, JobFile& job);

}  // namespace ppan::python
