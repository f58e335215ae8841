#pragma once

// What the rows of a release are like beside the original ones: whether columns still go together, whether
// favourite values are as frequent as they were, and whether somebody else's row was handed out.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/encode/encoder.h"

namespace ppan {

struct RecipientView {
  /// Mean absolute difference of Cramer's V over all pairs of released columns, numbers cut at their
  /// deciles; over 5,000 pairs of a table with more than 100 columns.
  double associations = 0;
  double spikes = 0;  ///< Greatest change of the share of a value that at least 5 % of the rows have.
  double copied = 0;  ///< Share of the released rows that equal a training row in every released column ...
  double copied_original = 0;  ///< ... and of the original ones, which are of other people as well.
};

/// Compares releases of some rows, which trained nothing, with those rows and with the training rows.
class RecipientMeasure {
 public:
  RecipientMeasure() = default;
  RecipientMeasure(const EncodedRows& train, const EncodedRows& rows, std::vector<std::int32_t> columns,
                   const Encoding& encoding);
  /// `released` is a release of `rows`, row by row.
  [[nodiscard]] RecipientView measure(const EncodedRows& released) const;

 private:
  struct Spike {
    std::size_t column;
    double value;
    double share;
  };
  [[nodiscard]] Symbols coded(const EncodedRows& rows, std::size_t column) const;
  [[nodiscard]] std::vector<double> associations(const EncodedRows& rows) const;
  [[nodiscard]] double share_known(const EncodedRows& rows) const;

  std::shared_ptr<const Encoding> encoding_{};
  std::vector<std::int32_t> columns_;
  std::vector<std::vector<double>> edge_;  // of numbers
  std::vector<Spike> spikes_;
  std::vector<double> before_;
  std::unordered_set<std::uint64_t> known_;
  double copied_original_ = 0;
};

}  // namespace ppan
