#include "ppan/job/table_job.h"

namespace ppan {

TableCurveOptions curve_options(const TableJob& job) {
  TableCurveOptions out = job.curve;
  out.codebook.least_rows = job.encoding.min_rows;
  out.heads.least_rows = job.encoding.min_rows;
  if (job.usefulness == Usefulness::kTask) out.codebook.column_weight = 0;
  if (job.usefulness == Usefulness::kColumns) {
    out.codebook.task_weight = 0;
    out.heads.task_weight = 0;
  }
  return out;
}

EncodingOptions encoding_options(const TableJob& job) {
  EncodingOptions out = job.encoding;
  out.missing = job.csv.missing;
  return out;
}

}  // namespace ppan
