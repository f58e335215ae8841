#pragma once

// A first job file for a table that is not one file of delimited text; draft_job() of job.h for one that is.

#include <functional>
#include <memory>
#include <string>

#include "ppan/read/job.h"
#include "ppan/source/row_source.h"

namespace ppan {

/// Reads `rows` to their end. `source` is what the job calls them; `again` opens them once more, to find columns that follow
/// from others, or gives nothing.
std::string draft_job(const std::string& source, RowSource& rows, const DraftRoles& roles,
                      const std::function<std::unique_ptr<RowSource>()>& again);

}  // namespace ppan
