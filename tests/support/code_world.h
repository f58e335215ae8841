#pragma once

// Worlds of records w with codes, in which I(X;C) is known, and samples of them for certificates
// (audit/code_certificate.h).

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ppan/audit/code_certificate.h"
#include "ppan/core/matrix.h"
#include "ppan/core/random.h"

namespace ppan::testing {

// W is one of finitely many, P(x|w) and P(c|w) are known, so I(X;C) is.
struct CodeWorld {
  Vector<double> w;
  Matrix<double> x;  // W x X
  Matrix<float> c;   // W x C
  double truth = 0;
};

inline double code_world_information(const Matrix<double>& joint) {
  const Vector<double> rows = joint.rowwise().sum();
  const Vector<double> cols = joint.colwise().sum().transpose();
  double sum = 0;
  for (Index i = 0; i < joint.rows(); ++i) {
    for (Index j = 0; j < joint.cols(); ++j) {
      if (joint(i, j) > 0) sum += joint(i, j) * std::log(joint(i, j) / (rows[i] * cols[j]));
    }
  }
  return sum;
}

inline CodeWorld make_code_world(Index values, Index codes, Index levels, double strength, double softness,
                                 SeededRandom& random) {
  CodeWorld out;
  Matrix<double> normal(values, codes + levels + 1);
  fill_normal(random, normal);
  const auto softmax = [](Matrix<double> logit) {
    logit.colwise() -= logit.rowwise().maxCoeff();
    logit = logit.array().exp();
    logit.array().colwise() /= logit.rowwise().sum().array().eval();
    return logit;
  };
  out.w = normal.col(0).array().abs() + 0.1;
  out.w /= out.w.sum();
  out.x = softmax(strength * normal.middleCols(1, levels));
  const Matrix<double> distribution = softmax(softness * normal.rightCols(codes));
  out.c = distribution.cast<float>();
  out.truth = code_world_information(out.x.transpose() * out.w.asDiagonal() * distribution);
  return out;
}

struct CodeSample {
  CodeDistribution distribution;
  Symbols x;
};

inline CodeSample draw_codes(const CodeWorld& world, Index rows, SeededRandom& random) {
  CodeSample out;
  out.distribution.probability.resize(rows, world.c.cols());
  const std::vector<double> of_w(world.w.data(), world.w.data() + world.w.size());
  for (Index i = 0; i < rows; ++i) {
    const Index w = draw_index(random, of_w);
    const Vector<double> share = world.x.row(w).transpose();
    out.distribution.probability.row(i) = world.c.row(w);
    out.x.push_back(static_cast<std::int32_t>(
        draw_index(random, std::span(share.data(), static_cast<std::size_t>(share.size())))));
  }
  return out;
}

}  // namespace ppan::testing
