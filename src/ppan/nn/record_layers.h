#pragma once

// Products of dense layers for records stored one after the other, each contiguous, as in a release: one
// column of x and z here is one row in dense.h. Weights are outputs x inputs, and outputs are a multiple of
// kRecordOutputs, padded with 0.

#include <cstddef>
#include <cstdint>

namespace ppan {

inline constexpr std::ptrdiff_t kRecordOutputs = 16;

/// z += W x, then max(0, .) if `relu`. x: inputs x records, w: outputs x inputs, z: outputs x records.
void add_record_product(std::ptrdiff_t records, std::ptrdiff_t inputs, std::ptrdiff_t outputs, const float* x,
                        const float* w, bool relu, float* z);
/// The same where many numbers of x are 0, as after max(0, .): their weights are not read. Inputs are a
/// multiple of kRecordOutputs too.
void add_sparse_product(std::ptrdiff_t records, std::ptrdiff_t inputs, std::ptrdiff_t outputs, const float* x,
                        const float* w, bool relu, float* z);

/// A layer whose inputs are features, some of which are 1 and all others 0, numbers, and noise.
struct FirstLayer {
  std::ptrdiff_t outputs = 0;
  std::ptrdiff_t ones = 0;  ///< Features of a record that are 1.
  std::ptrdiff_t numbers = 0;
  std::ptrdiff_t noise = 0;
  const float* bias = nullptr;
  const float* of_features = nullptr;  ///< Weights, outputs x features; ...
  const float* of_numbers = nullptr;   ///< ... x numbers
  const float* of_noise = nullptr;     ///< ... x noise.
};
struct FirstInput {
  const std::int32_t* ones = nullptr;  ///< Which, `ones` for each record.
  const float* numbers = nullptr;      ///< Numbers x records.
  const float* noise = nullptr;        ///< Noise x records.
};
/// z = bias + W x, then max(0, .) if `relu`.
void first_record_layer(const FirstLayer& layer, std::ptrdiff_t records, const FirstInput& in, bool relu,
                        float* z);

}  // namespace ppan
