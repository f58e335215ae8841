#pragma once

// A job about a table: which table, the types and roles of its columns, and the options of all processing.
// These are the option structs of the stages that do the work, so that a default exists once.

#include <cstdint>
#include <string>

#include "ppan/encode/encoder.h"
#include "ppan/encode/encoding.h"
#include "ppan/job/usefulness.h"
#include "ppan/read/schema.h"
#include "ppan/source/csv.h"
#include "ppan/table/table_curve.h"

namespace ppan {

struct TableJob {
  std::string
      source{};  ///< An address (docs/sources.md); files as written: relative to the job file, or "-".
  CsvOptions csv{};
  Schema schema{};
  EncodingOptions encoding{};  ///< Markers of missing values are those of `csv`; see encoding_options().
  TableCurveOptions curve{};   ///< curve_options() fills in what follows from `usefulness` and `encoding`.
  Usefulness usefulness = Usefulness::kBoth;
  double surrogate_slack =
      0;  ///< Nats that the release may reveal about the attribute beyond its surrogate. At least 0.
  UnknownRow unknown = UnknownRow::kFail;
  std::int64_t examples = 10;  ///< Records that a report shows, if it shows any. 1 to 1000.
};

/// The options of the job, completed with what follows from its other parts: the least number of rows behind
/// every value in a model, and the weight of a task.
TableCurveOptions curve_options(const TableJob& job);
EncodingOptions encoding_options(const TableJob& job);

}  // namespace ppan
