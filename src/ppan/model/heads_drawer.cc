#include "ppan/model/heads_drawer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "ppan/nn/dense.h"

namespace ppan {
namespace {

constexpr Index kKeptChances = 1 << 16;  // of a head
constexpr std::size_t kWaiting = 64;     // rows with a model that is not kept
constexpr float kNothing = -std::numeric_limits<float>::infinity();

using Lanes __attribute__((vector_size(kRecordOutputs * sizeof(float)))) = float;
using LanesOf = Eigen::Map<Eigen::Array<float, kRecordOutputs, 1>>;

Index filled_up(Index count) {
  return (count + kRecordOutputs - 1) / kRecordOutputs * kRecordOutputs;
}

float sum_of(Index size, const float* v) {
  Lanes sum{};
  for (Index i = 0; i < size; i += kRecordOutputs) {
    Lanes lanes;
    std::memcpy(&lanes, v + i, sizeof lanes);
    sum += lanes;
  }
  float lane[kRecordOutputs];
  std::memcpy(lane, &sum, sizeof sum);
  return LanesOf(lane).sum();
}

// Logits become chances, but for a factor. What is left out is exactly 0, and everything is where nothing is
// left: vectorised exponentials of minus infinity end at the least normal number.
void exponentiate(Index size, float* v) {
  constexpr float kOut = -80;
  constexpr float kLeast = 1e-30F;
  float most = kNothing;
  for (Index i = 0; i < size; i += kRecordOutputs) most = std::max(most, LanesOf(v + i).maxCoeff());
  if (most == kNothing) {
    std::fill_n(v, size, 0.0F);
    return;
  }
  for (Index i = 0; i < size; i += kRecordOutputs) {
    LanesOf(v + i) = (LanesOf(v + i) - most).max(kOut).exp();
    Lanes lanes;
    std::memcpy(&lanes, v + i, sizeof lanes);
    lanes = lanes < kLeast ? Lanes{} : lanes;
    std::memcpy(v + i, &lanes, sizeof lanes);
  }
}

void start_with(const Vector<float>& bias, Index records, Matrix<float>& out) {
  out.resize(bias.size(), records);
  sum_record_columns(records, 0, bias.size(), nullptr, nullptr, bias.data(), out.data());
}

// The cell at `left` of the sum of all. It is looked for in the sums of blocks first.
// Rounding may leave something behind the last: then it is that.
std::int32_t find_cell(Index size, float* weight, float left) {
  Index block = 0;
  float before = left;  // what is left at the block
  for (Index first = 0; first < size; first += kRecordOutputs) {
    const float sum = LanesOf(weight + first).sum();
    if (sum <= 0) continue;
    block = first;
    before = left;
    if (left < sum) break;
    left -= sum;
  }
  Index cell = block;
  for (Index c = block; c < block + kRecordOutputs; ++c) {
    if (weight[c] <= 0) continue;
    cell = c;
    before -= weight[c];
    if (before < 0) break;
  }
  return static_cast<std::int32_t>(cell);
}

}  // namespace

HeadsDrawer::Layer HeadsDrawer::packed(const float* weights, const float* bias, Index inputs, Index outputs,
                                       Index all) {
  Layer out{Matrix<float>::Zero(filled_up(outputs), all), Vector<float>::Zero(filled_up(outputs))};
  out.weight.topLeftCorner(outputs, inputs) =
      Eigen::Map<const Matrix<float>>(weights, inputs, outputs).transpose();
  out.bias.head(outputs) = Eigen::Map<const Vector<float>>(bias, outputs);
  return out;
}

HeadsDrawer::HeadsDrawer(HeadsShape given, const Vector<float>& parameters, const std::vector<Index>& numbers)
    : network_(std::move(given)), deep_(!network_.shape().hidden.empty()) {
  const HeadsShape& shape = network_.shape();
  const float* next = parameters.data();
  Index inputs = shape.features + shape.noise_inputs;
  Index padded = inputs;
  if (!deep_) {
    // The features themselves are what the last layer sees.
    input_ = {Matrix<float>::Identity(filled_up(inputs), inputs), Vector<float>::Zero(filled_up(inputs))};
    padded = filled_up(inputs);
  }
  for (std::size_t l = 0; l < shape.hidden.size(); ++l) {
    const Index units = shape.hidden[l];
    Layer layer = packed(next, next + inputs * units, inputs, units, padded);
    next += (inputs + 1) * units;
    inputs = units;
    padded = filled_up(units);
    if (l == 0) {
      input_ = std::move(layer);
    } else {
      hidden_.push_back(std::move(layer));
    }
  }
  of_noise_ = input_.weight.rightCols(shape.noise_inputs);
  of_numbers_.resize(input_.weight.rows(), static_cast<Index>(numbers.size()));
  for (std::size_t k = 0; k < numbers.size(); ++k)
    of_numbers_.col(static_cast<Index>(k)) = input_.weight.col(numbers[k]);
  input_.weight.conservativeResize(Eigen::NoChange, shape.features + 1);
  input_.weight.rightCols(1).setZero();
  layer_.resize(hidden_.size() + 1);
  const float* const bias = next + inputs * (network_.cells() + network_.heads());
  for (std::size_t h = 0; h < shape.cells.size(); ++h) {
    const Index count = shape.cells[h];
    const Index first = network_.first(h);
    cells_.push_back(packed(next + inputs * first, bias + first, inputs, count, padded));
    table_.push_back(Matrix<float>::Constant(filled_up(count), count, kNothing));
    table_[h].topRows(count) = network_.table(h, parameters);
    table_[h].diagonal().setConstant(kNothing);
    gate_.emplace_back(network_.gate(h, parameters));
    forgets_.push_back(network_.forgets_row(h, parameters));
    looks_ = looks_ || !forgets_.back();
  }
  gates_ =
      packed(next + inputs * network_.cells(), bias + network_.cells(), inputs, network_.heads(), padded);
  for (std::size_t h = 0; h < shape.cells.size(); ++h) models_.push_back(start_models(h));
}

HeadsDrawer::Models HeadsDrawer::start_models(std::size_t head) const {
  Models out;
  out.before = network_.drawn_before(head);
  std::int64_t combinations = 1;
  for (const std::int32_t before : out.before) {
    const Index cells = network_.shape().cells[static_cast<std::size_t>(before)];
    out.numbered = out.numbered && combinations <= std::numeric_limits<std::int64_t>::max() / cells;
    if (!out.numbered) break;
    out.step.push_back(combinations);
    combinations *= cells;
  }
  const Index cells = filled_up(network_.shape().cells[head]);
  const auto most =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(kKeptChances / cells)));
  const auto slots = static_cast<std::size_t>(std::min(out.numbered ? combinations : 1, most));
  out.number.assign(slots, -1);
  out.possible.resize(slots + kWaiting);
  out.logarithm.resize(cells, static_cast<Index>(slots + kWaiting));
  out.chance.resize(cells, static_cast<Index>(slots + kWaiting));
  return out;
}

void HeadsDrawer::draw(const HeadsInput& in, const CellRows& own, const Matrix<float>& noise,
                       const Matrix<float>& uniform, CellRows& drawn) {
  if (looks_) {
    run_network(in, noise);
    run_gates(own);
  } else {
    keep_.setZero(own.rows(), own.cols());
  }
  drawn = own;
  stays_.resize(own.rows(), own.cols());
  for (std::size_t h = 0; h < cells_.size(); ++h) draw_head(h, own, uniform, drawn);
}

void HeadsDrawer::run_network(const HeadsInput& in, const Matrix<float>& noise) {
  const Index rows = noise.cols();
  layer_.front().resize(input_.weight.rows(), rows);
  sum_record_columns(rows, in.ones.rows(), input_.weight.rows(), in.ones.data(), input_.weight.data(),
                     input_.bias.data(), layer_.front().data());
  const Index units = input_.weight.rows();
  add_record_product(rows, of_numbers_.cols(), units, in.numbers.data(), of_numbers_.data(), false,
                     layer_.front().data());
  add_record_product(rows, of_noise_.cols(), units, noise.data(), of_noise_.data(), deep_,
                     layer_.front().data());
  for (std::size_t l = 0; l < hidden_.size(); ++l) {
    start_with(hidden_[l].bias, rows, layer_[l + 1]);
    add_sparse_product(rows, hidden_[l].weight.cols(), hidden_[l].weight.rows(), layer_[l].data(),
                       hidden_[l].weight.data(), true, layer_[l + 1].data());
  }
}

void HeadsDrawer::run_gates(const CellRows& own) {
  const Matrix<float>& last = layer_.back();
  start_with(gates_.bias, last.cols(), gate_output_);
  add_record_product(last.cols(), last.rows(), gates_.weight.rows(), last.data(), gates_.weight.data(), false,
                     gate_output_.data());
  keep_.resize(own.rows(), own.cols());
  for (Index i = 0; i < own.cols(); ++i) {
    for (Index h = 0; h < own.rows(); ++h) {
      const float gate = gate_output_(h, i) + gate_[static_cast<std::size_t>(h)][own(h, i)];
      keep_(h, i) = static_cast<float>(kGateScale) * gate;
    }
  }
  constexpr auto kMost = static_cast<float>(kMostGate);
  constexpr auto kNever = static_cast<float>(kNeverKept);
  constexpr auto kAlways = static_cast<float>(kAlwaysKept);
  const bool decided = keep_.size() > 0 && (keep_.minCoeff() <= kNever || keep_.maxCoeff() >= kAlways);
  if (decided) gate_output_ = keep_;
  keep_ = (1 + (-keep_.array().max(-kMost).min(kMost)).exp()).inverse();
  if (!decided) return;
  keep_ = (gate_output_.array() <= kNever).select(0, keep_);
  keep_ = (gate_output_.array() >= kAlways).select(1, keep_);
}

// What stays, what is drawn again by chance, and for which rows another cell is drawn.
void HeadsDrawer::draw_head(std::size_t head, const CellRows& own, const Matrix<float>& uniform,
                            CellRows& drawn) {
  const auto at = static_cast<Index>(head);
  Models& models = models_[head];
  for (Index i = 0; i < own.cols(); ++i) {
    const std::int32_t cell = own(at, i);
    const bool kept = uniform(2 * at, i) < keep_(at, i);
    stays_(at, i) = kept;
    if (kept && network_.fits(head, cell, drawn.col(i).data())) continue;
    if (models.more == kWaiting) redraw(head, own, drawn);
    const std::size_t slot = find_model(head, drawn.col(i).data());
    const auto column = static_cast<Index>(slot);
    const bool possible = models.logarithm(cell, column) > kNothing;
    stays_(at, i) = kept && possible;
    if (stays_(at, i)) continue;
    const bool others = models.possible[slot] > (possible ? 1 : 0);
    const float again = possible ? models.chance(cell, column) : 0;
    if (!others || uniform(2 * at + 1, i) < again) continue;
    row_.push_back(i);
    slot_.push_back(slot);
    left_.push_back((uniform(2 * at + 1, i) - again) / (1 - again));
  }
  redraw(head, own, drawn);
}

void HeadsDrawer::redraw(std::size_t head, const CellRows& own, CellRows& drawn) {
  const auto rows = static_cast<Index>(row_.size());
  logit_.resize(cells_[head].weight.rows(), rows);
  if (forgets_[head]) {
    for (Index k = 0; k < rows; ++k)
      logit_.col(k) = models_[head].chance.col(static_cast<Index>(slot_[static_cast<std::size_t>(k)]));
  } else {
    work_out_chances(head, own);
  }
  const auto at = static_cast<Index>(head);
  for (Index k = 0; k < rows; ++k) {
    const Index i = row_[static_cast<std::size_t>(k)];
    logit_(own(at, i), k) = 0;
    const float sum = sum_of(logit_.rows(), logit_.col(k).data());
    drawn(at, i) = find_cell(logit_.rows(), logit_.col(k).data(), sum * left_[static_cast<std::size_t>(k)]);
  }
  row_.clear();
  slot_.clear();
  left_.clear();
  models_[head].more = 0;
}

void HeadsDrawer::work_out_chances(std::size_t head, const CellRows& own) {
  const Matrix<float>& last = layer_.back();
  const Layer& layer = cells_[head];
  const Index rows = logit_.cols();
  hidden_of_.resize(last.rows(), rows);
  for (Index k = 0; k < rows; ++k) hidden_of_.col(k) = last.col(row_[static_cast<std::size_t>(k)]);
  start_with(layer.bias, rows, logit_);
  add_record_product(rows, last.rows(), layer.weight.rows(), hidden_of_.data(), layer.weight.data(), false,
                     logit_.data());
  for (Index k = 0; k < rows; ++k) {
    const auto entry = static_cast<std::size_t>(k);
    auto s = logit_.col(k);
    s += table_[head].col(own(static_cast<Index>(head), row_[entry])) +
         models_[head].logarithm.col(static_cast<Index>(slot_[entry]));
    exponentiate(s.size(), s.data());
  }
}

// Where R is, given what was drawn.
std::size_t HeadsDrawer::find_model(std::size_t head, const std::int32_t* drawn) {
  Models& models = models_[head];
  const std::size_t slots = models.number.size();
  std::size_t slot = slots;
  if (models.numbered) {
    std::int64_t number = 0;
    for (std::size_t k = 0; k < models.step.size(); ++k) number += models.step[k] * drawn[models.before[k]];
    const auto word = static_cast<std::uint64_t>(number);
    slot = word < slots ? word : (word * 0x9e3779b97f4a7c15ULL >> 32U) % slots;
    if (models.number[slot] == number) return slot;
    if (models.number[slot] >= 0) {
      slot = slots;
    } else {
      models.number[slot] = number;
    }
  }
  if (slot == slots) slot += models.more++;  // until the cells are drawn
  make_model(head, drawn, slot);
  return slot;
}

void HeadsDrawer::make_model(std::size_t head, const std::int32_t* drawn, std::size_t slot) {
  Models& models = models_[head];
  network_.model(head, drawn, model_);
  auto logarithm = models.logarithm.col(static_cast<Index>(slot));
  auto chance = models.chance.col(static_cast<Index>(slot));
  logarithm.setConstant(kNothing);
  logarithm.head(model_.size()) = model_;
  models.possible[slot] = static_cast<std::int32_t>((model_.array() > kNothing).count());
  chance = logarithm;
  exponentiate(chance.size(), chance.data());
  const float sum = sum_of(chance.size(), chance.data());
  if (sum > 0) chance /= sum;
}

}  // namespace ppan
