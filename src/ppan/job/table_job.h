#pragma once

// A job about a table: which one, what its columns are and are for, and the options of everything that is
// done with it. They are the option structs of the stages that do it, so that a default stands there and
// nowhere else.

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
  TableCurveOptions curve{};   ///< What `usefulness` and `encoding` say of it is put in by curve_options().
  Usefulness usefulness = Usefulness::kBoth;
  double surrogate_slack =
      0;  ///< Nats that the release may tell about the attribute beyond its surrogate. At least 0.
  UnknownRow unknown = UnknownRow::kFail;
  std::int64_t examples = 10;  ///< Records that a report shows, if it shows any. 1 to 1000.
};

/// The options of the job with what follows from its other parts: rows behind every value that a model holds,
/// and what a task weighs.
TableCurveOptions curve_options(const TableJob& job);
EncodingOptions encoding_options(const TableJob& job);

}  // namespace ppan
