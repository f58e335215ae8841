#include "ppan/model/heads_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ppan/nn/dense.h"

namespace ppan {
namespace {

template <typename Scalar>
Scalar kept(Scalar gate) {
  if (gate <= static_cast<Scalar>(kNeverKept)) return 0;
  if (gate >= static_cast<Scalar>(kAlwaysKept)) return 1;
  return 1 / (1 + std::exp(-std::clamp(gate, Scalar(-kMostGate), Scalar(kMostGate))));
}

// Logits become probabilities. What is left out is exactly 0, and everything is where nothing is left:
// vectorised exponentials of minus infinity end at the least normal number.
template <typename Vector>
void exponentiate(Vector& v) {
  using Scalar = typename Vector::Scalar;
  constexpr auto kOut = Scalar(-80);
  constexpr auto kLeast = Scalar(1e-30);
  const Scalar most = v.maxCoeff();
  if (most == -std::numeric_limits<Scalar>::infinity()) {
    v.setZero();
    return;
  }
  v = (v.array() - most).max(kOut).exp();
  v = (v.array() < kLeast).select(Scalar(0), v);
  v /= v.sum();
}

}  // namespace

template <typename Scalar>
HeadsNetwork<Scalar>::HeadsNetwork(HeadsShape shape) : shape_(std::move(shape)) {
  for (const Index count : shape_.cells) {
    first_.push_back(cells_);
    cells_ += count;
  }
  network_ = Mlp<Scalar>({.inputs = shape_.features + shape_.noise_inputs,
                          .hidden = shape_.hidden,
                          .outputs = cells_ + heads()});
  if (!shape_.hidden.empty()) {
    trunk_ = Mlp<Scalar>({.inputs = shape_.features + shape_.noise_inputs,
                          .hidden = {shape_.hidden.begin(), shape_.hidden.end() - 1},
                          .outputs = shape_.hidden.back()});
  }
  Index next = network_.parameter_count();
  for (const Index count : shape_.cells) {
    table_.push_back(next);
    next += count * count;
  }
  for (const Index count : shape_.cells) {
    gate_.push_back(next);
    next += count;
  }
  pairs_of_.resize(shape_.cells.size());
  for (std::size_t p = 0; p < shape_.pairs.size(); ++p)
    pairs_of_[static_cast<std::size_t>(shape_.pairs[p].second)].push_back(p);
  links_of_.resize(shape_.cells.size());
  for (std::size_t l = 0; l < shape_.links.size(); ++l)
    links_of_[static_cast<std::size_t>(shape_.links[l].second)].push_back(l);
}

template <typename Scalar>
Index HeadsNetwork<Scalar>::parameter_count() const {
  Index count = network_.parameter_count() + cells_;
  for (const Index cells : shape_.cells) count += cells * cells;
  return count;
}

template <typename Scalar>
void HeadsNetwork<Scalar>::initialise(RandomSource& random, const std::vector<Matrix<Scalar>>& table,
                                      Scalar gate, Vector<Scalar>& parameters) const {
  parameters.resize(parameter_count());
  network_.initialise(random, parameters.data());
  const Index last = shape_.hidden.empty() ? network_.shape().inputs : shape_.hidden.back();
  const Index outputs = (last + 1) * network_.shape().outputs;
  parameters.segment(network_.parameter_count() - outputs, outputs).setZero();
  for (std::size_t h = 0; h < table.size(); ++h)
    Eigen::Map<Matrix<Scalar>>(parameters.data() + table_[h], shape_.cells[h], shape_.cells[h]) = table[h];
  parameters.tail(cells_).setConstant(gate);
}

template <typename Scalar>
void HeadsNetwork<Scalar>::set_head(std::size_t head, Scalar gate, Vector<Scalar>& parameters) const {
  const Index count = shape_.cells[head];
  parameters.segment(gate_[head], count).setConstant(gate);
  parameters.segment(table_[head], count * count).setZero();
}

// The network says nothing about the head any more.
template <typename Scalar>
void HeadsNetwork<Scalar>::set_and_close(std::size_t head, Scalar gate, Vector<Scalar>& parameters) const {
  set_head(head, gate / static_cast<Scalar>(kGateScale), parameters);
  const Index last = shape_.hidden.empty() ? network_.shape().inputs : shape_.hidden.back();
  const Index outputs = network_.shape().outputs;
  const Index begin = network_.parameter_count() - (last + 1) * outputs;
  Eigen::Map<Matrix<Scalar>> weight(parameters.data() + begin, last, outputs);
  auto bias = parameters.segment(begin + last * outputs, outputs);
  weight.middleCols(first_[head], shape_.cells[head]).setZero();
  weight.col(cells_ + static_cast<Index>(head)).setZero();
  bias.segment(first_[head], shape_.cells[head]).setZero();
  bias[cells_ + static_cast<Index>(head)] = 0;
}

template <typename Scalar>
void HeadsNetwork<Scalar>::forget_row(std::size_t head, Vector<Scalar>& parameters) const {
  set_and_close(head, static_cast<Scalar>(2 * kNeverKept), parameters);
}

template <typename Scalar>
void HeadsNetwork<Scalar>::keep_row(std::size_t head, Vector<Scalar>& parameters) const {
  set_and_close(head, static_cast<Scalar>(2 * kAlwaysKept), parameters);
}

template <typename Scalar>
bool HeadsNetwork<Scalar>::keeps_row(std::size_t head, const Vector<Scalar>& parameters) const {
  Vector<Scalar> kept_row = parameters;
  keep_row(head, kept_row);
  return kept_row == parameters;
}

template <typename Scalar>
bool HeadsNetwork<Scalar>::forgets_row(std::size_t head, const Vector<Scalar>& parameters) const {
  Vector<Scalar> forgotten = parameters;
  forget_row(head, forgotten);
  return forgotten == parameters;
}

template <typename Scalar>
void HeadsNetwork<Scalar>::prepare(const Vector<Scalar>& parameters, const Matrix<Scalar>& features,
                                   const CellRows& own, const Matrix<Scalar>& noise, CellRows& drawn) {
  const Index rows = features.rows();
  input_.resize(rows, features.cols() + noise.cols());
  input_.leftCols(features.cols()) = features;
  input_.rightCols(noise.cols()) = noise;
  output_ = network_.forward(parameters.data(), input_, workspace_).transpose();
  redrawn_.resize(cells_, rows);
  keep_.resize(heads(), rows);
  gates_.resize(heads(), rows);
  again_.resize(heads(), rows);
  stays_.resize(heads(), rows);
  drawn.resize(heads(), rows);
  for (Index i = 0; i < rows; ++i) {
    for (std::size_t h = 0; h < first_.size(); ++h) {
      const Scalar gate =
          output_(cells_ + static_cast<Index>(h), i) + parameters[gate_[h] + own(static_cast<Index>(h), i)];
      gates_(static_cast<Index>(h), i) = static_cast<Scalar>(kGateScale) * gate;
      keep_(static_cast<Index>(h), i) = kept(gates_(static_cast<Index>(h), i));
    }
  }
}

template <typename Scalar>
void HeadsNetwork<Scalar>::draw(const Vector<Scalar>& parameters, const Matrix<Scalar>& features,
                                const CellRows& own, const Matrix<Scalar>& noise,
                                const Matrix<Scalar>& uniform, CellRows& drawn) {
  prepare(parameters, features, own, noise, drawn);
  probability_.resize(cells_, features.rows());
  for (Index i = 0; i < features.rows(); ++i) {
    for (std::size_t h = 0; h < first_.size(); ++h) {
      const auto at = static_cast<Index>(h);
      const std::int32_t cell = own(at, i);
      auto s = redrawn_.col(i).segment(first_[h], shape_.cells[h]);
      s = output_.col(i).segment(first_[h], shape_.cells[h]);
      const auto [again, possible] = redraw(parameters, h, cell, drawn.col(i).data(), s);
      if (!possible) keep_(at, i) = 0;  // the own cell cannot stand beside what was drawn
      again_(at, i) = again;
      const Scalar keep = keep_(at, i);
      auto p = probability_.col(i).segment(first_[h], shape_.cells[h]);
      p = (1 - keep) * (1 - again) * s;
      p[cell] += keep + (1 - keep) * again;
      drawn(at, i) = choose(s, keep, again, cell, uniform.col(i).data() + 2 * h);
      stays_(at, i) = uniform(2 * at, i) < keep;
    }
  }
}

// Head by head, so that the last layer is worked out for the cells of the head alone, and for the rows alone
// that need them.
template <typename Scalar>
void HeadsNetwork<Scalar>::draw_only(const Vector<Scalar>& parameters, const Matrix<Scalar>& features,
                                     const CellRows& own, const Matrix<Scalar>& noise,
                                     const Matrix<Scalar>& uniform, CellRows& drawn) {
  input_.resize(features.rows(), features.cols() + noise.cols());
  input_.leftCols(features.cols()) = features;
  input_.rightCols(noise.cols()) = noise;
  const bool deep = !shape_.hidden.empty();
  if (deep)
    trunk_output_ =
        trunk_.forward(parameters.data(), input_, workspace_).cwiseMax(Scalar(0));  // a hidden layer's
  const Matrix<Scalar>& hidden = deep ? trunk_output_ : input_;
  outputs(parameters, hidden, cells_, heads(), gates_);
  drawn.resize(heads(), features.rows());
  stays_.resize(heads(), features.rows());
  for (std::size_t h = 0; h < first_.size(); ++h) draw_head(parameters, h, hidden, own, uniform, drawn);
}

template <typename Scalar>
void HeadsNetwork<Scalar>::outputs(const Vector<Scalar>& parameters, const Matrix<Scalar>& hidden,
                                   Index first, Index count, Matrix<Scalar>& out) const {
  const Index all = network_.shape().outputs;
  const Index layer = network_.parameter_count() - (hidden.cols() + 1) * all;  // weights, then biases
  out.resize(hidden.rows(), count);
  dense_forward(hidden.rows(), hidden.cols(), count, hidden.data(),
                parameters.data() + layer + first * hidden.cols(),
                parameters.data() + layer + hidden.cols() * all + first, false, out.data());
}

template <typename Scalar>
void HeadsNetwork<Scalar>::draw_head(const Vector<Scalar>& parameters, std::size_t head,
                                     const Matrix<Scalar>& hidden, const CellRows& own,
                                     const Matrix<Scalar>& uniform, CellRows& drawn) {
  const auto at = static_cast<Index>(head);
  const Scalar* const of_cell = parameters.data() + gate_[head];
  auto gate = gates_.col(at);
  for (Index i = 0; i < gate.size(); ++i)
    gate[i] = static_cast<Scalar>(kGateScale) * (gate[i] + of_cell[own(at, i)]);
  const auto g = gate.array();
  gate = (g <= Scalar(kNeverKept))
             .select(Scalar(0),
                     (g >= Scalar(kAlwaysKept))
                         .select(Scalar(1),
                                 (1 + (-g.max(Scalar(-kMostGate)).min(Scalar(kMostGate))).exp()).inverse()));
  picked_.clear();
  for (Index i = 0; i < gate.size(); ++i) {
    drawn(at, i) = own(at, i);
    stays_(at, i) = uniform(2 * at, i) < gate[i];
    if (stays_(at, i) && fits(head, own(at, i), drawn.col(i).data())) continue;
    picked_.push_back(i);
  }
  if (picked_.empty()) return;
  hidden_.resize(static_cast<Index>(picked_.size()), hidden.cols());
  for (Index c = 0; c < hidden.cols(); ++c) {
    for (std::size_t k = 0; k < picked_.size(); ++k)
      hidden_(static_cast<Index>(k), c) = hidden(picked_[k], c);
  }
  outputs(parameters, hidden_, first_[head], shape_.cells[head], logit_);
  for (std::size_t k = 0; k < picked_.size(); ++k) {
    const Index i = picked_[k];
    chances_ = logit_.row(static_cast<Index>(k));
    const auto [again, possible] = redraw(parameters, head, own(at, i), drawn.col(i).data(), chances_);
    if (!possible) stays_(at, i) = false;
    drawn(at, i) =
        choose(chances_, possible ? gate[i] : Scalar(0), again, own(at, i), uniform.col(i).data() + 2 * at);
  }
}

template <typename Scalar>
bool HeadsNetwork<Scalar>::fits(std::size_t head, std::int32_t cell, const std::int32_t* drawn) const {
  return std::all_of(pairs_of_[head].begin(), pairs_of_[head].end(), [&](std::size_t number) {
    const HeadPair& pair = shape_.pairs[number];
    return pair.together(drawn[pair.first], cell) > 0;
  });
}

template <typename Scalar>
void HeadsNetwork<Scalar>::model(std::size_t head, const std::int32_t* drawn, Vector<Scalar>& out) const {
  constexpr Scalar kNever = -std::numeric_limits<Scalar>::infinity();
  const Index count = shape_.cells[head];
  if (shape_.base.empty()) {
    out.setZero(count);
  } else {
    out = shape_.base[head].template cast<Scalar>();
  }
  for (const std::size_t number : links_of_[head]) {
    const HeadLink& link = shape_.links[number];
    out += link.logit.col(drawn[link.first]).template cast<Scalar>();
  }
  // A cell that cannot stand beside all that was drawn is left out, unless none is left.
  for (const std::size_t number : pairs_of_[head]) {
    const HeadPair& pair = shape_.pairs[number];
    const std::int32_t before = drawn[pair.first];
    bool any = false;
    for (Index c = 0; c < count && !any; ++c) any = out[c] > kNever && pair.together(before, c) > 0;
    if (!any) continue;
    for (Index c = 0; c < count; ++c) {
      if (pair.together(before, c) <= 0) out[c] = kNever;
    }
  }
}

template <typename Scalar>
Eigen::Map<const Matrix<Scalar>> HeadsNetwork<Scalar>::table(std::size_t head,
                                                             const Vector<Scalar>& parameters) const {
  return {parameters.data() + table_[head], shape_.cells[head], shape_.cells[head]};
}

template <typename Scalar>
Eigen::Map<const Vector<Scalar>> HeadsNetwork<Scalar>::gate(std::size_t head,
                                                            const Vector<Scalar>& parameters) const {
  return {parameters.data() + gate_[head], shape_.cells[head]};
}

template <typename Scalar>
std::vector<std::int32_t> HeadsNetwork<Scalar>::drawn_before(std::size_t head) const {
  std::set<std::int32_t> out;
  for (const std::size_t number : links_of_[head]) out.insert(shape_.links[number].first);
  for (const std::size_t number : pairs_of_[head]) out.insert(shape_.pairs[number].first);
  return {out.begin(), out.end()};
}

template <typename Scalar>
template <typename Cells>
std::pair<Scalar, bool> HeadsNetwork<Scalar>::redraw(const Vector<Scalar>& parameters, std::size_t head,
                                                     std::int32_t own, const std::int32_t* drawn, Cells& s) {
  constexpr Scalar kNever = -std::numeric_limits<Scalar>::infinity();
  model(head, drawn, model_);
  s += model_ + table(head, parameters).col(own);
  s[own] = kNever;
  const bool possible = model_[own] > kNever;
  exponentiate(s);
  if (!possible) return {Scalar(0), false};
  exponentiate(model_);
  return {s.sum() > 0 ? model_[own] : Scalar(1), true};  // there may be no other
}

template <typename Scalar>
template <typename Cells>
std::int32_t HeadsNetwork<Scalar>::choose(const Cells& s, Scalar keep, Scalar again, std::int32_t own,
                                          const Scalar* uniform) {
  if (uniform[0] < keep || uniform[1] < again) return own;
  Scalar left = (uniform[1] - again) / (1 - again);
  std::int32_t cell = own;
  for (Index c = 0; c < s.size(); ++c) {
    if (s[c] <= 0) continue;
    cell = static_cast<std::int32_t>(c);
    left -= s[c];
    if (left < 0) break;
  }
  return cell;
}

template <typename Scalar>
void HeadsNetwork<Scalar>::backward(const Vector<Scalar>& parameters, const CellRows& own,
                                    const Matrix<Scalar>& cost, Vector<Scalar>& gradient) {
  const Index rows = probability_.cols();
  gradient.setZero(parameter_count());
  d_logit_.resize(cells_ + heads(), rows);
  for (Index i = 0; i < rows; ++i) {
    for (std::size_t h = 0; h < first_.size(); ++h) {
      const Index count = shape_.cells[h];
      const Index cell = own(static_cast<Index>(h), i);
      const auto s = redrawn_.col(i).segment(first_[h], count);
      const auto of_cell = cost.col(i).segment(first_[h], count);
      const Scalar keep = keep_(static_cast<Index>(h), i);
      const Scalar mean = s.dot(of_cell);
      auto d = d_logit_.col(i).segment(first_[h], count);
      const Scalar other = 1 - again_(static_cast<Index>(h), i);
      d = (1 - keep) * other * s.array() * (of_cell.array() - mean);
      Eigen::Map<Vector<Scalar>>(gradient.data() + table_[h] + cell * count, count) += d;
      Scalar gate = static_cast<Scalar>(kGateScale) * keep * (1 - keep) * other * (of_cell[cell] - mean);
      // Beyond the end, only the way back counts.
      const Scalar logit = gates_(static_cast<Index>(h), i);
      if ((logit > Scalar(kMostGate) && gate < 0) || (logit < Scalar(-kMostGate) && gate > 0)) gate = 0;
      d_logit_(cells_ + static_cast<Index>(h), i) = gate;
      gradient[gate_[h] + cell] += gate;
    }
  }
  d_output_ = d_logit_.transpose();
  network_.backward(parameters.data(), input_, d_output_, workspace_, gradient.data(), nullptr);
}

template class HeadsNetwork<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class HeadsNetwork<double>;
#endif

}  // namespace ppan
