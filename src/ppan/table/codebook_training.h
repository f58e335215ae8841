#pragma once

// Training of a codebook. Every term of the loss is an exact expectation over the codewords:
//
//     mean_i sum_c P(c|w_i) [ a d(w_i, centre_c) + lambda log q(x_i|c,t_i) / p(x_i|t_i) - b log q(t_i|c) ]
//
// d is the distance of codebook_encoder.h, q are tables of running counts and the centres running means: at
// the tables' own values the gradient is that of the expected distance, of I(X;C|T) and of H(T|C). T are the
// tasks; the adversary is conditioned on those that are released as they are. lambda is steered until I(X;C)
// of held-out rows, less the bias of counting, is the leakage asked for.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/encode/encoder.h"
#include "ppan/model/codebook.h"
#include "ppan/read/schema.h"
#include "ppan/train/train.h"

namespace ppan {

struct CodebookOptions {
  std::optional<Index> codewords{};   ///< Absent: a codeword for 64 training rows, 8 to 512. 2 to 4096.
  std::vector<Index> hidden{64, 64};  ///< Of the network beside the distance.
  std::optional<int> epochs{};        ///< Of a point; absent: enough for 1,200 steps.
  Index batch = 512;                  ///< At least 1.
  double rate = 0.003;                ///< Adam's. Above 0.
  double column_weight = 1;           ///< a. At least 0.
  double task_weight = 1;             ///< b; without tasks it says nothing. At least 0.
  std::int64_t least_rows = 5;        ///< People for each codeword, value and pair. At least 1.
  LevelOptions levels{};
  [[nodiscard]] Problems check() const;
};

/// Epochs of one point for so many training rows.
int codebook_epochs(Index rows, const CodebookOptions& options);
/// Codewords for so many training rows.
Index codewords_for(Index rows, const CodebookOptions& options);
/// Whether so many training rows have people enough for every codeword.
Problems check_codewords(Index rows, const CodebookOptions& options);

/// One thing to hide or to predict, as codes.
struct CodedAttribute {
  Symbols code{};
  std::int32_t levels = 1;
};

/// What is hidden, predicted and kept of rows, as codes.
struct CodedRows {
  std::vector<CodedAttribute>
      hidden{};  ///< One of all hidden columns together if they have at most 256 levels.
  std::vector<CodedAttribute> task{};
  CodedAttribute kept{};  ///< Tasks that are released as they are, as one; of one level without any.
};
/// Rows as a codebook is trained on them.
struct CodebookRows : CodedRows {
  Matrix<float> features{};
  [[nodiscard]] Index rows() const { return features.rows(); }
};

/// What rows are turned into codes and features by, fitted to the training rows.
struct CodebookShape {
  std::vector<ColumnLevels> observed{};
  std::vector<ColumnLevels> released{};
  std::vector<ColumnLevels> hidden{};
  std::vector<ColumnLevels> task{};
  Vector<float> weight{};  ///< See CodebookCentres.
};
/// The columns of these roles cut into levels that at least `least_rows` people have.
CodebookShape coded_shape(const EncodedRows& train, const Schema& schema, const Encoding& encoding,
                          LevelOptions levels, std::int64_t least_rows);
/// Throws Error(kUsage) when there are fewer training rows than the codewords need.
CodebookShape codebook_shape(const EncodedRows& train, const Schema& schema, const Encoding& encoding,
                             const CodebookOptions& options);
CodedRows coded_rows(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                     const CodebookShape& shape);
CodebookRows codebook_rows(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                           const CodebookShape& shape);

/// A codebook that hides nothing, from which every point starts.
struct CodebookStart {
  Vector<float> parameters{};
  CodebookCentres<float> centres{};
  double leakage = 0;       ///< I(X;C,T) of the held-out rows, nats.
  double kept_leakage = 0;  ///< I(X;T) of the tasks that are released as they are: no codebook leaks less.
};

struct TrainedCodebook {
  Vector<float> parameters{};
  CodebookCentres<float> centres{};
  double belief = 0;   ///< I(X;C,T) by the tables of the training rows, nats.
  double steered = 0;  ///< The same on the held-out rows, less its bias.
  TrainSummary summary{};
};

CodebookStart train_codebook_start(const CodebookRows& train, const CodebookRows& held_out,
                                   const CodebookShape& shape, const CodebookOptions& options,
                                   std::uint64_t seed, const std::vector<Observer>& observers = {});
/// A point with I(X;C,T) near `leakage` on the held-out rows.
TrainedCodebook train_codebook(const CodebookRows& train, const CodebookRows& held_out,
                               const CodebookStart& start, double leakage, const CodebookOptions& options,
                               std::uint64_t seed, const std::vector<Observer>& observers = {});

/// The trained encoder with a decoder fitted to the training rows; codewords of fewer than least_rows people
/// are left out.
Codebook finish_codebook(const TrainedCodebook& trained, const EncodedRows& train, const CodebookRows& rows,
                         const CodebookShape& shape, const Encoding& encoding,
                         const CodebookOptions& options);

}  // namespace ppan
