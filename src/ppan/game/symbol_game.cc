#include "ppan/game/symbol_game.h"

#include <algorithm>

namespace ppan {
namespace {

// As wide as the widest register there is; narrower ones are used several at a time.
template <typename Scalar>
constexpr Index kLanes = 64 / sizeof(Scalar);
template <typename Scalar>
using Lane = Eigen::Array<Scalar, kLanes<Scalar>, 1>;

template <typename Scalar>
Eigen::Map<Lane<Scalar>> lane(Scalar* from) {
  return Eigen::Map<Lane<Scalar>>(from);
}
template <typename Scalar>
Eigen::Map<const Lane<Scalar>> lane(const Scalar* from) {
  return Eigen::Map<const Lane<Scalar>>(from);
}

// to(into[i]) += from(by[i]) for every record i, a row each. Held by value: a store through a vector register
// may alias anything, and what is behind a reference would be read again after each.
template <typename Scalar>
class RowSum {
 public:
  RowSum(const PaddedRows<Scalar>& from, const Symbols& by, const Symbols& into, PaddedRows<Scalar>& to)
      : from_(from.data.data()), by_(by.data()), into_(into.data()), to_(to.data.data()), stride_(to.stride) {
    to.data.setZero();
  }
  // kStride: that of one register where rows are that short, which is usual; 0 where they are longer.
  template <Index kStride>
  void add(Index record) const {
    if constexpr (kStride > 0) {
      lane(to_ + into_[record] * kStride) += lane(from_ + by_[record] * kStride);
    } else {
      Scalar* to = to_ + into_[record] * stride_;
      const Scalar* from = from_ + by_[record] * stride_;
      for (Index b = 0; b < stride_; b += kLanes<Scalar>) lane(to + b) += lane(from + b);
    }
  }
  [[nodiscard]] bool one_register() const { return stride_ == kLanes<Scalar>; }

 private:
  const Scalar* from_;
  const std::int32_t* by_;
  const std::int32_t* into_;
  Scalar* to_;
  Index stride_;
};

// Sums side by side, all over rows of z: one waits for its row of the record before while another is added
// to.
template <typename Scalar, typename... Sums>
void add_rows(Index records, const RowSum<Scalar> first, const Sums... others) {
  if (first.one_register()) {
    for (Index i = 0; i < records; ++i) {
      first.template add<kLanes<Scalar>>(i);
      (others.template add<kLanes<Scalar>>(i), ...);
    }
    return;
  }
  for (Index i = 0; i < records; ++i) {
    first.template add<0>(i);
    (others.template add<0>(i), ...);
  }
}

// Column-major `table`, a column for each row of `to`.
template <typename Scalar>
void pad(const Scalar* table, Index width, PaddedRows<Scalar>& to) {
  for (Index r = 0; r < to.rows; ++r) std::copy_n(table + r * width, width, to.row(r));
}
template <typename Scalar>
void unpad(const PaddedRows<Scalar>& from, Index width, Scalar* table) {
  for (Index r = 0; r < from.rows; ++r) std::copy_n(from.row(r), width, table + r * width);
}

// to(c, r) = from(r, c) for the first `width` entries of each row.
template <typename Scalar>
void transpose(const PaddedRows<Scalar>& from, Index width, PaddedRows<Scalar>& to) {
  for (Index r = 0; r < from.rows; ++r) {
    const Scalar* source = from.row(r);
    Scalar* target = to.data.data() + r;
    for (Index c = 0; c < width; ++c) target[c * to.stride] = source[c];
  }
}

// Down every lane: values become e^value / sum of them, and where it is wanted `log_share` its logarithm.
template <typename Scalar>
void share_out(PaddedRows<Scalar>& value, PaddedRows<Scalar>* log_share) {
  for (Index b = 0; b < value.stride; b += kLanes<Scalar>) {
    Lane<Scalar> most = lane(value.row(0) + b);
    for (Index r = 1; r < value.rows; ++r) most = most.max(lane(value.row(r) + b));
    Lane<Scalar> sum = Lane<Scalar>::Zero();
    for (Index r = 0; r < value.rows; ++r) {
      auto each = lane(value.row(r) + b);
      const Lane<Scalar> above = each - most;
      if (log_share) lane(log_share->row(r) + b) = above;
      each = above.exp();
      sum += each;
    }
    const Lane<Scalar> inverse = sum.inverse();
    for (Index r = 0; r < value.rows; ++r) lane(value.row(r) + b) *= inverse;
    if (!log_share) continue;
    const Lane<Scalar> log_sum = sum.log();
    for (Index r = 0; r < value.rows; ++r) lane(log_share->row(r) + b) -= log_sum;
  }
}

template <typename Scalar>
double inner_product(const PaddedRows<Scalar>& a, const PaddedRows<Scalar>& b) {
  Lane<Scalar> sum = Lane<Scalar>::Zero();
  for (Index i = 0; i < a.data.size(); i += kLanes<Scalar>)
    sum += lane(a.data.data() + i) * lane(b.data.data() + i);
  return static_cast<double>(sum.sum());
}

}  // namespace

template <typename Scalar>
void PaddedRows<Scalar>::resize(Index row_count, Index width) {
  rows = row_count;
  stride = (width + kLanes<Scalar> - 1) / kLanes<Scalar> * kLanes<Scalar>;
  data.setZero(rows * stride);
}

template <typename Scalar>
SymbolGame<Scalar>::SymbolGame(Index observed, Index sensitive, const Matrix<Scalar>& distortion)
    : observed_(observed), sensitive_(sensitive), released_(distortion.cols()) {
  distortion_.resize(distortion.rows(), released_);
  for (Index y = 0; y < distortion.rows(); ++y) {
    for (Index z = 0; z < released_; ++z) distortion_.row(y)[z] = distortion(y, z);
  }
  for (auto* by_z : {&by_symbol_, &d_logit_}) by_z->resize(released_, observed_);
  for (auto* by_w : {&released_by_, &price_, &gain_}) by_w->resize(observed_, released_);
  for (auto* by_x : {&joint_, &belief_, &log_belief_, &utility_, &slope_})
    by_x->resize(sensitive_, released_);
}

template <typename Scalar>
void SymbolGame<Scalar>::draw(const Records<Scalar>& batch, const Vector<Scalar>& mechanism) {
  records_ = static_cast<double>(batch.rows());
  pad(mechanism.data(), observed_, by_symbol_);
  share_out<Scalar>(by_symbol_, nullptr);
  transpose(by_symbol_, observed_, released_by_);
  const Symbols& w = batch.observed.code;
  add_rows(batch.rows(), RowSum<Scalar>(released_by_, w, batch.sensitive.front().code, joint_),
           RowSum<Scalar>(distortion_, batch.useful.code, w, price_));
}

template <typename Scalar>
double SymbolGame<Scalar>::mean_distortion() const {
  return inner_product(price_, released_by_) / records_;
}

template <typename Scalar>
void SymbolGame<Scalar>::believe(const Vector<Scalar>& adversary, double power) {
  pad(adversary.data(), released_, belief_);
  share_out(belief_, &log_belief_);
  power_ = power;
  if (power == 0) return;
  const auto p = static_cast<Scalar>(power);
  for (Index i = 0; i < slope_.data.size(); i += kLanes<Scalar>) {
    auto slope = lane(slope_.data.data() + i);
    slope = (p * lane(log_belief_.data.data() + i)).exp();
    lane(utility_.data.data() + i) = (slope - Scalar(1)) / p;
  }
}

template <typename Scalar>
double SymbolGame<Scalar>::mean_utility(double power) const {
  if (power == 0) return inner_product(joint_, log_belief_) / records_;
  if (power == power_) return inner_product(joint_, utility_) / records_;
  const auto p = static_cast<Scalar>(power);
  Lane<Scalar> sum = Lane<Scalar>::Zero();
  for (Index i = 0; i < joint_.data.size(); i += kLanes<Scalar>) {
    const Lane<Scalar> raised = (p * lane(log_belief_.data.data() + i)).exp();
    sum += lane(joint_.data.data() + i) * (raised - Scalar(1)) / p;
  }
  return static_cast<double>(sum.sum()) / records_;
}

template <typename Scalar>
void SymbolGame<Scalar>::adversary_descent(Vector<Scalar>& gradient) {
  gradient.resize(released_ * sensitive_);
  const auto share = static_cast<Scalar>(-1 / records_);
  // d log Q(x|z) / d logit(z,l) = 1(l = x) - Q(l|z), weighted with J du/dlogQ
  for (Index b = 0; b < joint_.stride; b += kLanes<Scalar>) {
    Lane<Scalar> total = Lane<Scalar>::Zero();
    for (Index x = 0; x < sensitive_; ++x) {
      auto weight = lane(slope_.row(x) + b);
      if (power_ == 0) {
        total += lane(joint_.row(x) + b);
      } else {
        weight *= lane(joint_.row(x) + b);  // the slope itself is not needed any more
        total += weight;
      }
    }
    for (Index x = 0; x < sensitive_; ++x) {
      const Scalar* weight = (power_ == 0 ? joint_ : slope_).row(x) + b;
      auto belief = lane(belief_.row(x) + b);
      belief = share * (lane(weight) - belief * total);
    }
  }
  unpad(belief_, released_, gradient.data());
}

template <typename Scalar>
void SymbolGame<Scalar>::mechanism_gradient(const Records<Scalar>& batch, double felt, double slope,
                                            Vector<Scalar>& gradient) {
  gradient.resize(observed_ * released_);
  add_rows(batch.rows(), RowSum<Scalar>(power_ == 0 ? log_belief_ : utility_, batch.sensitive.front().code,
                                        batch.observed.code, gain_));
  const auto gain_share = static_cast<Scalar>(felt / records_);
  const auto price_share = static_cast<Scalar>(slope / records_);
  for (Index i = 0; i < gain_.data.size(); i += kLanes<Scalar>) {
    auto each = lane(gain_.data.data() + i);
    each = gain_share * each + price_share * lane(price_.data.data() + i);
  }
  transpose(gain_, released_, d_logit_);
  for (Index b = 0; b < d_logit_.stride; b += kLanes<Scalar>) {
    Lane<Scalar> mean = Lane<Scalar>::Zero();
    for (Index z = 0; z < released_; ++z) mean += lane(by_symbol_.row(z) + b) * lane(d_logit_.row(z) + b);
    for (Index z = 0; z < released_; ++z) {
      auto each = lane(d_logit_.row(z) + b);
      each = lane(by_symbol_.row(z) + b) * (each - mean);
    }
  }
  unpad(d_logit_, observed_, gradient.data());
}

template struct PaddedRows<float>;
template class SymbolGame<float>;
#ifdef PPAN_DOUBLE_TRAINING
template struct PaddedRows<double>;
template class SymbolGame<double>;
#endif

}  // namespace ppan
