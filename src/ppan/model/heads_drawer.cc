#include "ppan/model/heads_drawer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "ppan/nn/record_layers.h"

namespace ppan {
namespace {

constexpr Index kKeptChances = 1 << 16;  // of a head
constexpr std::size_t kWaiting = 64;     // rows with a model that is not kept
constexpr Index kBlockRows = 64;         // their layers fit into the first-level cache
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
    table_[h].topRows(count) = network_.table(h, parameters).colwise() + cells_[h].bias.head(count);
    table_[h].diagonal().setConstant(kNothing);  // the own cell is left out
    forgets_.push_back(network_.forgets_row(h, parameters));
    looks_ = looks_ || !forgets_.back();
  }
  gates_ =
      packed(next + inputs * network_.cells(), bias + network_.cells(), inputs, network_.heads(), padded);
  gate_ = parameters.tail(network_.cells());
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
  out.sums.resize(cells, static_cast<Index>(slots + kWaiting));
  return out;
}

void HeadsDrawer::draw(const HeadsInput& in, const CellRows& own, const Matrix<float>& noise,
                       const Matrix<float>& uniform, CellRows& drawn) {
  drawn = own;
  stays_.resize(own.rows(), own.cols());
  keep_.setZero(filled_up(own.rows() * kBlockRows));
  for (Index first = 0; first < own.cols(); first += kBlockRows) {
    const Block block{first, std::min(kBlockRows, own.cols() - first)};
    if (looks_) {
      run_network(in, noise, block);
      run_gates(own, block);
    }
    for (std::size_t h = 0; h < cells_.size(); ++h) draw_head(h, own, uniform, block, drawn);
  }
}

void HeadsDrawer::run_network(const HeadsInput& in, const Matrix<float>& noise, Block block) {
  const Index rows = block.rows;
  const auto from = [&](const auto& matrix) { return matrix.data() + block.first * matrix.rows(); };
  layer_.front().resize(input_.weight.rows(), rows);
  const FirstLayer first{.outputs = input_.weight.rows(),
                         .ones = in.ones.rows(),
                         .numbers = of_numbers_.cols(),
                         .noise = of_noise_.cols(),
                         .bias = input_.bias.data(),
                         .of_features = input_.weight.data(),
                         .of_numbers = of_numbers_.data(),
                         .of_noise = of_noise_.data()};
  first_record_layer(first, rows, {from(in.ones), from(in.numbers), from(noise)}, deep_,
                     layer_.front().data());
  for (std::size_t l = 0; l < hidden_.size(); ++l) {
    layer_[l + 1].resize(hidden_[l].weight.rows(), rows);
    layer_[l + 1].colwise() = hidden_[l].bias;
    add_sparse_product(rows, hidden_[l].weight.cols(), hidden_[l].weight.rows(), layer_[l].data(),
                       hidden_[l].weight.data(), true, layer_[l + 1].data());
  }
}

void HeadsDrawer::run_gates(const CellRows& own, Block block) {
  const Matrix<float>& last = layer_.back();
  gate_output_.resize(gates_.bias.size(), block.rows);
  gate_output_.colwise() = gates_.bias;
  add_record_product(block.rows, last.rows(), gates_.weight.rows(), last.data(), gates_.weight.data(), false,
                     gate_output_.data());
  for (Index i = 0; i < block.rows; ++i) {
    for (Index h = 0; h < own.rows(); ++h) {
      const float of_cell = gate_[network_.first(static_cast<std::size_t>(h)) + own(h, block.first + i)];
      keep_[i * own.rows() + h] = static_cast<float>(kGateScale) * (gate_output_(h, i) + of_cell);
    }
  }
  open_gates({.most = static_cast<float>(kMostGate),
              .never = static_cast<float>(kNeverKept),
              .always = static_cast<float>(kAlwaysKept)},
             filled_up(own.rows() * block.rows), keep_.data());
}

// What stays, what is drawn again by chance, and for which rows another cell is drawn.
void HeadsDrawer::draw_head(std::size_t head, const CellRows& own, const Matrix<float>& uniform, Block block,
                            CellRows& drawn) {
  const auto at = static_cast<Index>(head);
  Models& models = models_[head];
  for (Index i = 0; i < block.rows; ++i) {
    const Index row = block.first + i;
    const std::int32_t cell = own(at, row);
    const bool kept = uniform(2 * at, row) < keep_[i * own.rows() + at];
    stays_(at, row) = kept;
    if (kept && network_.fits(head, cell, drawn.col(row).data())) continue;
    if (models.more == kWaiting) redraw(head, block, drawn);
    const std::size_t slot = find_model(head, drawn.col(row).data());
    const auto column = static_cast<Index>(slot);
    const bool possible = models.logarithm(cell, column) > kNothing;
    stays_(at, row) = kept && possible;
    if (stays_(at, row)) continue;
    const bool others = models.possible[slot] > (possible ? 1 : 0);
    const float again = possible ? models.chance(cell, column) : 0;
    const float left = uniform(2 * at + 1, row) - again;
    if (!others || left < 0) continue;
    waiting_.push_back({.record = static_cast<std::int32_t>(i),
                        .own = cell,
                        .slot = static_cast<std::int32_t>(slot),
                        .left = forgets_[head] ? left : left / (1 - again)});
  }
  redraw(head, block, drawn);
}

void HeadsDrawer::redraw(std::size_t head, Block block, CellRows& drawn) {
  const auto rows = static_cast<Index>(waiting_.size());
  const Layer& layer = cells_[head];
  chosen_.resize(waiting_.size());
  if (forgets_[head]) {
    draw_known_cells(layer.weight.rows(), models_[head].sums.data(), rows, waiting_.data(), chosen_.data());
  } else {
    draw_record_cells({.inputs = layer.weight.cols(),
                       .cells = layer.weight.rows(),
                       .weight = layer.weight.data(),
                       .table = table_[head].data(),
                       .model = models_[head].logarithm.data()},
                      rows, waiting_.data(), layer_.back().data(), chosen_.data());
  }
  for (std::size_t k = 0; k < waiting_.size(); ++k)
    drawn(static_cast<Index>(head), block.first + waiting_[k].record) = chosen_[k];
  waiting_.clear();
  models_[head].more = 0;
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
  float up_to = 0;
  for (Index c = 0; c < chance.size(); ++c) models.sums(c, static_cast<Index>(slot)) = up_to += chance[c];
}

}  // namespace ppan
