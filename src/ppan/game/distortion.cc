#include "ppan/game/distortion.h"

#include <limits>

namespace ppan {
namespace {

template <typename Scalar>
class ErrorDistortion final : public Distortion<Scalar> {
 public:
  void evaluate(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, Matrix<Scalar>& value) override {
    value.resize(draws.records, draws.per_record);
    value.setOnes();
    for (Index i = 0; i < draws.records; ++i) {
      const Index y = useful.code[static_cast<std::size_t>(i)];
      if (draws.shared) {
        value(i, y) = Scalar(0);  // draw k is symbol k
      } else {
        for (Index k = 0; k < draws.per_record; ++k) value(i, k) -= draws.released(k * draws.records + i, y);
      }
    }
  }
  void backward(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, const Matrix<Scalar>& d_value,
                DrawsGradient<Scalar>& gradient) override {
    if (draws.shared) return;  // symbols do not move; the weights carry the gradient
    if (!gradient.has_released) gradient.released.setZero(draws.released.rows(), draws.released.cols());
    gradient.has_released = true;
    for (Index i = 0; i < draws.records; ++i) {
      const Index y = useful.code[static_cast<std::size_t>(i)];
      for (Index k = 0; k < draws.per_record; ++k)
        gradient.released(k * draws.records + i, y) -= d_value(i, k);
    }
  }
  [[nodiscard]] Matrix<Scalar> table(Index useful, Index released) const override {
    return Matrix<Scalar>::Ones(useful, released) - Matrix<Scalar>::Identity(useful, released);
  }
};

template <typename Scalar>
class MatrixDistortion final : public Distortion<Scalar> {
 public:
  explicit MatrixDistortion(const MatrixRef<double>& matrix) : matrix_(matrix.cast<Scalar>()) {}

  void evaluate(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, Matrix<Scalar>& value) override {
    value.resize(draws.records, draws.per_record);
    for (Index i = 0; i < draws.records; ++i) {
      const Index y = useful.code[static_cast<std::size_t>(i)];
      if (draws.shared) {
        value.row(i) = matrix_.row(y);  // draw k is symbol k
      } else {
        for (Index k = 0; k < draws.per_record; ++k)
          value(i, k) = draws.released.row(k * draws.records + i).dot(matrix_.row(y));
      }
    }
  }
  void backward(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, const Matrix<Scalar>& d_value,
                DrawsGradient<Scalar>& gradient) override {
    if (draws.shared) return;  // symbols do not move; the weights carry the gradient
    if (!gradient.has_released) gradient.released.setZero(draws.released.rows(), draws.released.cols());
    gradient.has_released = true;
    for (Index i = 0; i < draws.records; ++i) {
      const Index y = useful.code[static_cast<std::size_t>(i)];
      for (Index k = 0; k < draws.per_record; ++k)
        gradient.released.row(k * draws.records + i) += d_value(i, k) * matrix_.row(y);
    }
  }
  [[nodiscard]] Matrix<Scalar> table(Index /*useful*/, Index /*released*/) const override { return matrix_; }

 private:
  Matrix<Scalar> matrix_;
};

template <typename Scalar>
class SquaredDistortion final : public Distortion<Scalar> {
 public:
  void evaluate(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, Matrix<Scalar>& value) override {
    value.setZero(draws.records, draws.per_record);
    for (Index k = 0; k < draws.per_record; ++k) {
      for (Index c = 0; c < draws.released.cols(); ++c) {
        value.col(k).array() +=
            (draws.released.col(c).segment(k * draws.records, draws.records) - useful.value.col(c))
                .array()
                .square();
      }
    }
  }
  void backward(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, const Matrix<Scalar>& d_value,
                DrawsGradient<Scalar>& gradient) override {
    if (!gradient.has_released) gradient.released.setZero(draws.released.rows(), draws.released.cols());
    gradient.has_released = true;
    for (Index k = 0; k < draws.per_record; ++k) {
      for (Index c = 0; c < draws.released.cols(); ++c) {
        gradient.released.col(c).segment(k * draws.records, draws.records).array() +=
            Scalar(2) * d_value.col(k).array() *
            (draws.released.col(c).segment(k * draws.records, draws.records) - useful.value.col(c)).array();
      }
    }
  }
};

// On the logit l of z the cross-entropy of one pixel is log(1 + e^l) - y l, finite for every y in [0, 1] and
// every l, and its derivative is sigmoid(l) - y.
template <typename Scalar>
class PixelCrossEntropyDistortion final : public Distortion<Scalar> {
 public:
  void evaluate(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, Matrix<Scalar>& value) override {
    value.setZero(draws.records, draws.per_record);
    for (Index k = 0; k < draws.per_record; ++k) {
      for (Index c = 0; c < draws.logit.cols(); ++c) {
        const auto l = draws.logit.col(c).segment(k * draws.records, draws.records).array();
        value.col(k).array() +=
            l.max(Scalar(0)) + ((-l.abs()).exp()).log1p() - useful.value.col(c).array() * l;
      }
    }
    value /= static_cast<Scalar>(draws.logit.cols());
  }
  // The entropy of the image; a pixel at 0 or 1 has none.
  void unchanged(const Attribute<Scalar>& useful, Vector<Scalar>& value) const override {
    constexpr Scalar kLeast = std::numeric_limits<Scalar>::min();
    value.setZero(useful.rows());
    for (Index c = 0; c < useful.value.cols(); ++c) {
      const auto y = useful.value.col(c).array();
      value.array() -= y * y.max(kLeast).log() + (Scalar(1) - y) * (Scalar(1) - y).max(kLeast).log();
    }
    value /= static_cast<Scalar>(useful.value.cols());
  }
  void backward(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, const Matrix<Scalar>& d_value,
                DrawsGradient<Scalar>& gradient) override {
    gradient.has_logit = true;
    gradient.logit.resize(draws.logit.rows(), draws.logit.cols());
    const Scalar share = Scalar(1) / static_cast<Scalar>(draws.logit.cols());
    for (Index k = 0; k < draws.per_record; ++k) {
      for (Index c = 0; c < draws.logit.cols(); ++c) {
        gradient.logit.col(c).segment(k * draws.records, draws.records).array() =
            share * d_value.col(k).array() *
            (draws.released.col(c).segment(k * draws.records, draws.records) - useful.value.col(c)).array();
      }
    }
  }
};

template <typename Scalar>
class InformationDistortion final : public Distortion<Scalar> {
 public:
  InformationDistortion(const PosteriorOptions& options, Index released_width,
                        const Attribute<Scalar>& useful)
      : belief_(options, released_width, {useful}), useful_(1) {}

  void evaluate(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, Matrix<Scalar>& value) override {
    useful_.front() = useful;
    value = -belief_.score(draws.released, draws.shared, draws.per_record, useful_);
  }
  void backward(const Draws<Scalar>& draws, const Attribute<Scalar>& /*useful*/,
                const Matrix<Scalar>& d_value, DrawsGradient<Scalar>& gradient) override {
    if (draws.shared) return;
    d_score_ = -d_value;
    belief_.backward(draws.released, draws.shared, draws.per_record, useful_, d_score_, nullptr,
                     &d_released_);
    gradient.add_released(d_released_);
  }
  Posterior<Scalar>* learner() override { return &belief_; }
  void learner_backward(const Draws<Scalar>& draws, const Attribute<Scalar>& /*useful*/,
                        const Matrix<Scalar>& d_value, Vector<Scalar>& parameter_gradient) override {
    d_score_ = -d_value;
    belief_.backward(draws.released, draws.shared, draws.per_record, useful_, d_score_, &parameter_gradient,
                     nullptr);
  }

 private:
  Posterior<Scalar> belief_;
  std::vector<Attribute<Scalar>> useful_;
  Matrix<Scalar> d_score_;
  Matrix<Scalar> d_released_;
};

}  // namespace

std::string_view to_string(DistortionKind kind) {
  switch (kind) {
    case DistortionKind::kError:
      return "probability of error";
    case DistortionKind::kSquared:
      return "squared error";
    case DistortionKind::kPixelCrossEntropy:
      return "pixel cross-entropy";
    case DistortionKind::kInformation:
      return "-log Q'(y|z)";
  }
  return "unknown";
}

template <typename Scalar>
std::unique_ptr<Distortion<Scalar>> make_distortion(DistortionKind kind, const PosteriorOptions& learner,
                                                    Index released_width, const Attribute<Scalar>& useful) {
  switch (kind) {
    case DistortionKind::kError:
      return std::make_unique<ErrorDistortion<Scalar>>();
    case DistortionKind::kSquared:
      return std::make_unique<SquaredDistortion<Scalar>>();
    case DistortionKind::kPixelCrossEntropy:
      return std::make_unique<PixelCrossEntropyDistortion<Scalar>>();
    case DistortionKind::kInformation:
      return std::make_unique<InformationDistortion<Scalar>>(learner, released_width, useful);
  }
  throw Error(ErrorCode::kInternal, "distortion kind without a maker");
}

template std::unique_ptr<Distortion<float>> make_distortion(DistortionKind, const PosteriorOptions&, Index,
                                                            const Attribute<float>&);
#ifdef PPAN_DOUBLE_TRAINING
template std::unique_ptr<Distortion<double>> make_distortion(DistortionKind, const PosteriorOptions&, Index,
                                                             const Attribute<double>&);
#endif

template <typename Scalar>
std::unique_ptr<Distortion<Scalar>> make_matrix_distortion(const MatrixRef<double>& matrix) {
  return std::make_unique<MatrixDistortion<Scalar>>(matrix);
}

template std::unique_ptr<Distortion<float>> make_matrix_distortion(const MatrixRef<double>&);
#ifdef PPAN_DOUBLE_TRAINING
template std::unique_ptr<Distortion<double>> make_matrix_distortion(const MatrixRef<double>&);
#endif

}  // namespace ppan
