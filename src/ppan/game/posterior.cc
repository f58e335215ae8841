#include "ppan/game/posterior.h"

#include <cmath>
#include <numbers>

#include "ppan/game/input.h"
#include "ppan/game/look_up.h"
#include "ppan/game/softmax.h"

namespace ppan {
namespace {

// Logarithms of variances outside this range are taken as its ends: e^-30 is far below anything a float
// release can express, and beyond it the score would overflow.
constexpr double kMaxLogVariance = 30;

// Share of the new mini-batch in the running averages: a memory of about 20 steps, quick enough to follow a
// mechanism that shrinks its output.
constexpr double kAverageRate = 0.05;
// Standard deviations below this count as this.
constexpr double kLeastDeviation = 1e-6;
// Standardised values are cut off here. While a mechanism collapses to a constant the averages lag behind it,
// and without the cut a single step could overflow the optimiser's second moments and freeze the adversary.
constexpr double kMostDeviations = 10;

template <typename Scalar>
using Column = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>;

// Symbols are one-hot, so a single layer without bias gives symbol k row k of its weights: there is nothing
// to multiply, and the gradient of the weights is that of the outputs.
bool is_table(const MlpShape& shape) {
  return shape.hidden.empty() && !shape.bias && !shape.skip;
}

}  // namespace

Problems PosteriorOptions::check() const {
  ProblemList list;
  for (const Index units : hidden) list.require_at_least("hidden", static_cast<double>(units), 1);
  return list.take();
}

template <typename Scalar>
Posterior<Scalar>::Posterior(const PosteriorOptions& options, Index seen_width,
                             const std::vector<Attribute<Scalar>>& attributes)
    : seen_width_(seen_width), standardise_(options.standardise) {
  require_none(options.check(), "a posterior with these options cannot be built:");
  if (attributes.empty()) throw Error(ErrorCode::kUsage, "a posterior needs at least one attribute");
  Index width = seen_width;
  Index count = 0;
  for (const Attribute<Scalar>& attribute : attributes) {
    Link link;
    link.levels = attribute.levels;
    link.dimensions = attribute.finite() ? 0 : attribute.value.cols();
    link.full = options.full_covariance && link.dimensions > 1;
    const Index couplings = link.full ? link.dimensions * (link.dimensions - 1) / 2 : 0;
    link.network =
        Mlp<Scalar>({.inputs = width,
                     .hidden = options.hidden,
                     .outputs = attribute.finite() ? attribute.levels : 2 * link.dimensions + couplings,
                     .activation = options.activation,
                     .bias = options.bias,
                     .skip = options.skip});
    link.offset = count;
    count += link.network.parameter_count();
    width += attribute.width();
    links_.push_back(std::move(link));
  }
  weights_ = count;
  parameters_.setZero(count + (standardise_ ? 2 * seen_width : 0));
  if (standardise_) parameters_.tail(seen_width).setOnes();  // means, then variances
}

template <typename Scalar>
void Posterior<Scalar>::initialise(RandomSource& random) {
  for (const Link& link : links_) link.network.initialise(random, parameters_.data() + link.offset);
}

template <typename Scalar>
void Posterior<Scalar>::observe(const Matrix<Scalar>& seen) {
  if (!standardise_) return;
  const auto rate = observed_ ? static_cast<Scalar>(kAverageRate) : Scalar(1);
  observed_ = true;
  for (Index c = 0; c < seen_width_; ++c) {
    Scalar& mean = parameters_[weights_ + c];
    Scalar& variance = parameters_[weights_ + seen_width_ + c];
    const Scalar batch_mean = seen.col(c).mean();
    const Scalar batch_variance = (seen.col(c).array() - batch_mean).square().mean();
    mean += rate * (batch_mean - mean);
    variance += rate * (batch_variance - variance);
  }
}

template <typename Scalar>
const Matrix<Scalar>& Posterior<Scalar>::standardised(const Matrix<Scalar>& seen) {
  if (!standardise_) return seen;
  standard_.resize(seen.rows(), seen.cols());
  for (Index c = 0; c < seen_width_; ++c) {
    const Scalar deviation =
        std::max(std::sqrt(parameters_[weights_ + seen_width_ + c]), static_cast<Scalar>(kLeastDeviation));
    standard_.col(c).array() = ((seen.col(c).array() - parameters_[weights_ + c]) / deviation)
                                   .max(static_cast<Scalar>(-kMostDeviations))
                                   .min(static_cast<Scalar>(kMostDeviations));
  }
  return standard_;
}

template <typename Scalar>
const Matrix<Scalar>& Posterior<Scalar>::input_of(std::size_t link, const Matrix<Scalar>& seen) const {
  return link == 0 ? seen : links_[link].input;
}

// [seen | x_1 | ... | x_{a-1}], with a shared alphabet written out for every record.
template <typename Scalar>
void Posterior<Scalar>::write_link_input(std::size_t a, const Matrix<Scalar>& seen, bool shared,
                                         Index per_record, const std::vector<Attribute<Scalar>>& attributes) {
  Matrix<Scalar>& input = links_[a].input;
  const Index records = attributes[a].rows();
  input.resize(records * per_record, links_[a].network.shape().inputs);
  if (shared) {
    for (Index k = 0; k < per_record; ++k) {
      for (Index c = 0; c < seen.cols(); ++c)
        input.col(c).segment(k * records, records).setConstant(seen(k, c));
    }
  } else {
    input.leftCols(seen.cols()) = seen;
  }
  Index column = seen.cols();
  for (std::size_t b = 0; b < a; ++b) {
    write_input(attributes[b], per_record, column, input);
    column += attributes[b].width();
  }
}

template <typename Scalar>
const Matrix<Scalar>& Posterior<Scalar>::score(const Matrix<Scalar>& raw, bool shared, Index per_record,
                                               const std::vector<Attribute<Scalar>>& attributes) {
  const Matrix<Scalar>& seen = standardised(raw);
  score_.setZero(attributes.front().rows(), per_record);
  for (std::size_t a = 0; a < links_.size(); ++a) {
    Link& link = links_[a];
    link.by_symbol = shared && a == 0;
    if (a > 0) write_link_input(a, seen, shared, per_record, attributes);
    const MlpShape& shape = link.network.shape();
    if (link.by_symbol && !standardise_ && is_table(shape)) {
      link.workspace.layer.resize(1);
      link.workspace.layer.front() =
          Eigen::Map<const Matrix<Scalar>>(parameters_.data() + link.offset, shape.inputs, shape.outputs);
    } else {
      link.network.forward(parameters_.data() + link.offset, input_of(a, seen), link.workspace);
    }
    if (link.levels > 0) log_softmax_rows(link.workspace.layer.back(), link.log_prob);
    add_score(link, attributes[a], per_record);
  }
  return score_;
}

template <typename Scalar>
const Scalar* Posterior<Scalar>::component(Link& link, const Attribute<Scalar>& x, Index k, Index d) {
  if (!link.full || d == 0) return x.value.col(d).data();
  const Matrix<Scalar>& output = link.workspace.layer.back();
  const Index records = x.rows();
  link.rest = x.value.col(d);
  for (Index j = 0; j < d; ++j) {
    const auto before = x.value.col(j).array();
    if (link.by_symbol) {
      link.rest.array() -= output(k, link.coupling(d, j)) * before;
    } else {
      link.rest.array() -= output.col(link.coupling(d, j)).segment(k * records, records).array() * before;
    }
  }
  return link.rest.data();
}

template <typename Scalar>
void Posterior<Scalar>::add_score(Link& link, const Attribute<Scalar>& x, Index per_record) {
  const Index records = x.rows();
  if (link.levels > 0) {
    const Index rows = link.log_prob.rows();
    const std::int32_t* code = x.code.data();
    for (Index k = 0; k < per_record; ++k) {
      Scalar* score = score_.data() + k * records;
      if (link.by_symbol) {  // the first link, to whose score nothing has been added yet
        look_up(link.log_prob.data() + k, static_cast<std::int32_t>(rows), code, records, score);
        continue;
      }
      const Scalar* from = link.log_prob.data() + k * records;
      for (Index i = 0; i < records; ++i) score[i] += from[code[i] * rows + i];
    }
    return;
  }
  const Matrix<Scalar>& output = link.workspace.layer.back();
  const auto most = static_cast<Scalar>(kMaxLogVariance);
  const auto log_two_pi = static_cast<Scalar>(std::log(2 * std::numbers::pi));
  for (Index d = 0; d < link.dimensions; ++d) {
    for (Index k = 0; k < per_record; ++k) {
      const Column<Scalar> value(component(link, x, k, d), records);
      auto score = score_.col(k).array();
      if (link.by_symbol) {
        const Scalar mean = output(k, d);
        const Scalar log_variance = std::clamp(output(k, link.dimensions + d), -most, most);
        score -=
            Scalar(0.5) * (log_two_pi + log_variance + (value - mean).square() * std::exp(-log_variance));
      } else {
        const auto mean = output.col(d).segment(k * records, records).array();
        const auto log_variance =
            output.col(link.dimensions + d).segment(k * records, records).array().max(-most).min(most);
        score -= Scalar(0.5) * (log_two_pi + log_variance + (value - mean).square() * (-log_variance).exp());
      }
    }
  }
}

template <typename Scalar>
void Posterior<Scalar>::fill_output_gradient(Link& link, const Attribute<Scalar>& x, Index per_record,
                                             const Matrix<Scalar>& d_score) {
  const Index records = x.rows();
  Matrix<Scalar>& d_output = link.d_output;
  const Matrix<Scalar>& output = link.workspace.layer.back();
  d_output.resize(output.rows(), output.cols());
  if (link.levels > 0) {
    // d log softmax_x / d logit_l = 1(l = x) - softmax_l, weighted with d_score.
    if (link.by_symbol) {
      d_output.array() = link.log_prob.array().exp();
      for (Index k = 0; k < per_record; ++k) d_output.row(k) *= -d_score.col(k).sum();
      add_up(d_score, x.code.data(), d_output.rows(), 1, d_output.data());
      return;
    }
    const Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>> flat(d_score.data(), d_score.size());
    for (Index l = 0; l < link.levels; ++l) {
      d_output.col(l).array() = -flat * link.log_prob.col(l).array().exp();
    }
    for (Index k = 0; k < per_record; ++k) {
      for (Index i = 0; i < records; ++i) {
        d_output(k * records + i, x.code[static_cast<std::size_t>(i)]) += d_score(i, k);
      }
    }
    return;
  }
  fill_real_gradient(link, x, per_record, d_score);
}

template <typename Scalar>
void Posterior<Scalar>::fill_real_gradient(Link& link, const Attribute<Scalar>& x, Index per_record,
                                           const Matrix<Scalar>& d_score) {
  const Index records = x.rows();
  Matrix<Scalar>& d_output = link.d_output;
  const Matrix<Scalar>& output = link.workspace.layer.back();
  const auto most = static_cast<Scalar>(kMaxLogVariance);
  for (Index d = 0; d < link.dimensions; ++d) {
    const Index coupled = link.full ? d : 0;
    for (Index k = 0; k < per_record; ++k) {
      const Column<Scalar> value(component(link, x, k, d), records);
      const auto weight = d_score.col(k).array();
      if (link.by_symbol) {
        const Scalar mean = output(k, d);
        const Scalar raw = output(k, link.dimensions + d);
        const Scalar precision = std::exp(-std::clamp(raw, -most, most));
        d_output(k, d) = (weight * (value - mean)).sum() * precision;
        d_output(k, link.dimensions + d) =
            std::abs(raw) >= most
                ? Scalar(0)
                : Scalar(0.5) * (weight * ((value - mean).square() * precision - Scalar(1))).sum();
        for (Index j = 0; j < coupled; ++j) {
          d_output(k, link.coupling(d, j)) =
              (weight * (value - mean) * x.value.col(j).array()).sum() * precision;
        }
      } else {
        const auto mean = output.col(d).segment(k * records, records).array();
        const auto raw = output.col(link.dimensions + d).segment(k * records, records).array();
        auto d_mean = d_output.col(d).segment(k * records, records).array();
        auto d_log_variance = d_output.col(link.dimensions + d).segment(k * records, records).array();
        d_mean = (value - mean) * (-raw.max(-most).min(most)).exp();  // (x - mean) / variance
        d_log_variance = (raw.abs() >= most)
                             .select(Scalar(0), Scalar(0.5) * weight * ((value - mean) * d_mean - Scalar(1)));
        d_mean *= weight;
        for (Index j = 0; j < coupled; ++j) {
          d_output.col(link.coupling(d, j)).segment(k * records, records).array() =
              d_mean * x.value.col(j).array();
        }
      }
    }
  }
}

template <typename Scalar>
void Posterior<Scalar>::backward(const Matrix<Scalar>& raw, bool /*shared*/, Index per_record,
                                 const std::vector<Attribute<Scalar>>& attributes,
                                 const Matrix<Scalar>& d_score, Vector<Scalar>* parameter_gradient,
                                 Matrix<Scalar>* d_seen) {
  const Matrix<Scalar>& seen = standardise_ ? standard_ : raw;
  if (parameter_gradient) {
    parameter_gradient->resize(parameters_.size());
    parameter_gradient->tail(parameters_.size() - weights_).setZero();
  }
  for (std::size_t a = 0; a < links_.size(); ++a) {
    Link& link = links_[a];
    fill_output_gradient(link, attributes[a], per_record, d_score);
    if (link.by_symbol && !standardise_ && is_table(link.network.shape())) {
      if (parameter_gradient)
        parameter_gradient->segment(link.offset, link.d_output.size()) = link.d_output.reshaped();
      continue;  // symbols do not move
    }
    Matrix<Scalar>* d_input = nullptr;
    if (d_seen) d_input = a == 0 ? d_seen : &link.d_input;
    link.network.backward(parameters_.data() + link.offset, input_of(a, seen), link.d_output, link.workspace,
                          parameter_gradient ? parameter_gradient->data() + link.offset : nullptr, d_input);
    if (d_seen && a > 0) *d_seen += link.d_input.leftCols(seen_width_);
  }
  if (!d_seen || !standardise_) return;
  for (Index c = 0; c < seen_width_; ++c) {  // the averages are taken as constants
    const Scalar deviation =
        std::max(std::sqrt(parameters_[weights_ + seen_width_ + c]), static_cast<Scalar>(kLeastDeviation));
    d_seen->col(c).array() = (standard_.col(c).array().abs() < static_cast<Scalar>(kMostDeviations))
                                 .select(d_seen->col(c).array() / deviation, Scalar(0));
  }
}

template class Posterior<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class Posterior<double>;
#endif

}  // namespace ppan
