#include "ppan/audit/code_certificate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ppan/core/error.h"

namespace ppan {
namespace {

constexpr double kOneSided95 = 1.6448536269514722;
constexpr double kFailure = 0.05;
constexpr Index kGramRows = 1000;
// Orders 1 - s of the Renyi divergences that are tried; the failure probability is shared among them.
constexpr std::array<double, 7> kOrders{0.01, 0.02, 0.04, 0.08, 0.16, 0.3, 0.5};

// Soft counts as shares: p(x, t, c), and what they sum to.
struct Shares {
  Index n = 0;
  Index codes = 0;
  std::int32_t levels = 1;
  std::int32_t kept = 1;
  Matrix<double> joint;  // codes x (levels * kept): p(x, t, c)
  Matrix<double> code;   // codes x kept: p(t, c)
  Vector<double> x;      // p(x)
};

std::int32_t kept_of(const CodeDistribution& distribution, Index i) {
  return distribution.kept.empty() ? 0 : distribution.kept[static_cast<std::size_t>(i)];
}

Shares shares_of(const CodeDistribution& distribution, const Symbols& x, std::int32_t levels) {
  Shares s;
  s.n = distribution.probability.rows();
  s.codes = distribution.probability.cols();
  s.levels = levels;
  s.kept = distribution.kept.empty() ? 1 : distribution.kept_levels;
  if (s.n == 0 || s.n != static_cast<Index>(x.size()) ||
      (!distribution.kept.empty() && distribution.kept.size() != x.size()))
    throw Error(ErrorCode::kInternal, "a certificate needs one value of x for each record");
  s.joint.setZero(s.codes, static_cast<Index>(levels) * s.kept);
  s.x.setZero(levels);
  for (Index i = 0; i < s.n; ++i) {
    const std::int32_t own = x[static_cast<std::size_t>(i)];
    s.joint.col(static_cast<Index>(own) * s.kept + kept_of(distribution, i)) +=
        distribution.probability.row(i).cast<double>().transpose();
    s.x[own] += 1;
  }
  s.joint /= static_cast<double>(s.n);
  s.x /= static_cast<double>(s.n);
  s.code.setZero(s.codes, s.kept);
  for (std::int32_t l = 0; l < levels; ++l)
    s.code += s.joint.middleCols(static_cast<Index>(l) * s.kept, s.kept);
  return s;
}

double information(const Shares& s) {
  double sum = 0;
  for (std::int32_t l = 0; l < s.levels; ++l) {
    for (std::int32_t t = 0; t < s.kept; ++t) {
      for (Index c = 0; c < s.codes; ++c) {
        const double p = s.joint(c, static_cast<Index>(l) * s.kept + t);
        if (p > 0) sum += p * std::log(p / (s.x[l] * s.code(c, t)));
      }
    }
  }
  return std::max(0.0, sum);
}

// k(i,j)^2, averaged over different records of a subset.
double mean_square_kernel(const CodeDistribution& distribution, const Symbols& x, const Shares& s) {
  const Index count = std::min(kGramRows, s.n);
  std::vector<Index> row(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) row[static_cast<std::size_t>(i)] = i * s.n / count;
  Matrix<double> p(count, s.codes);
  for (Index i = 0; i < count; ++i)
    p.row(i) = distribution.probability.row(row[static_cast<std::size_t>(i)]).cast<double>();
  const auto inverse = [](const auto& values) -> Vector<double> {
    return values.unaryExpr([](double v) { return v > 0 ? 1 / v : 0; });
  };
  Matrix<double> kernel = Matrix<double>::Ones(count, count);
  const auto add = [&](const std::vector<Index>& members, const Vector<double>& weight, double sign) {
    Matrix<double> part(static_cast<Index>(members.size()), s.codes);
    for (std::size_t i = 0; i < members.size(); ++i) part.row(static_cast<Index>(i)) = p.row(members[i]);
    const Matrix<double> product = part * weight.asDiagonal() * part.transpose();
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = 0; j < members.size(); ++j)
        kernel(members[i], members[j]) += sign * product(static_cast<Index>(i), static_cast<Index>(j));
    }
  };
  for (std::int32_t t = 0; t < s.kept; ++t) {
    std::vector<Index> of_kept;
    for (Index i = 0; i < count; ++i) {
      if (kept_of(distribution, row[static_cast<std::size_t>(i)]) == t) of_kept.push_back(i);
    }
    add(of_kept, inverse(s.code.col(t)), -1);
    for (std::int32_t l = 0; l < s.levels; ++l) {
      std::vector<Index> of_both;
      for (const Index i : of_kept) {
        if (x[static_cast<std::size_t>(row[static_cast<std::size_t>(i)])] == l) of_both.push_back(i);
      }
      if (!of_both.empty()) add(of_both, inverse(s.joint.col(static_cast<Index>(l) * s.kept + t)), 1);
    }
  }
  double sum = 0;
  for (Index i = 0; i < count; ++i) {
    const std::int32_t own = x[static_cast<std::size_t>(row[static_cast<std::size_t>(i)])];
    for (Index j = 0; j < count; ++j) {
      if (i == j) continue;
      const bool same = x[static_cast<std::size_t>(row[static_cast<std::size_t>(j)])] == own;
      const double k = kernel(i, j) - (same ? 1 / s.x[own] : 0);
      sum += k * k;
    }
  }
  return count > 1 ? sum / (static_cast<double>(count) * static_cast<double>(count - 1)) : 0;
}

// p q such that Bernoulli(share) from n records has kl(share || q) = limit: the end of its Chernoff interval.
double chernoff_end(double share, double limit, bool above) {
  const auto kl = [share](double q) {
    double sum = 0;
    if (share > 0) sum += share * std::log(share / q);
    if (share < 1) sum += (1 - share) * std::log((1 - share) / (1 - q));
    return sum;
  };
  double inside = share;
  double outside = above ? 1.0 : 0.0;
  for (int i = 0; i < 200; ++i) {
    const double middle = (inside + outside) / 2;
    (middle > 0 && middle < 1 && kl(middle) <= limit ? inside : outside) = middle;
  }
  return outside;
}

// t / n with P(n KL(shares of x || their expectation) >= t) <= failure, for `levels` levels: the chain rule
// and P(n kl >= t) <= 2 exp(-t) for a binomial give E exp(l n KL) <= (2^l / (1 - l))^(levels - 1).
double divergence_of_shares(std::int32_t levels, Index n, double failure) {
  const double d = std::max(1, levels - 1);
  const auto log_tail = [d](double t) {
    const double excess = t - d * std::log(2.0);
    if (excess <= d) return 0.0;
    const double l = 1 - d / excess;
    return -l * t + d * (l * std::log(2.0) - std::log1p(-l));
  };
  double low = 0;
  double high = 10 * d + 10 * std::log(1 / failure) + 10;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (log_tail(middle) <= std::log(failure) ? high : low) = middle;
  }
  return high / static_cast<double>(n);
}

// sup over r <= e^b of (r ln r - r + 1) / (((1 - s) r + s - r^(1 - s)) / s), which is taken at the end.
double kappa(double b, double s) {
  if (b < 1e-3) return (1 + b) / (1 - s);
  const double e = std::exp(-b);  // everything divided by e^b
  const double above = b - 1 + e;
  const double below = ((1 - s) + s * e - std::exp(-b * s)) / s;
  return above / below;
}

}  // namespace

double code_information(const CodeDistribution& distribution, const Symbols& x, std::int32_t levels) {
  return information(shares_of(distribution, x, levels));
}

CodeInformation corrected_code_information(const CodeDistribution& distribution, const Symbols& x,
                                           std::int32_t levels, bool with_variances) {
  const Shares s = shares_of(distribution, x, levels);
  CodeInformation out;
  out.plug_in = information(s);
  const auto n = static_cast<double>(s.n);
  Vector<double> influence = Vector<double>::Zero(s.n);
  double own = 0;
  for (Index i = 0; i < s.n; ++i) own += 1 - 1 / s.x[x[static_cast<std::size_t>(i)]];
  Matrix<double> kernel(s.levels, s.kept);
  Matrix<double> ratio(s.levels, s.kept);
  for (Index c = 0; c < s.codes; ++c) {
    for (std::int32_t l = 0; l < s.levels; ++l) {
      for (std::int32_t t = 0; t < s.kept; ++t) {
        const double joint = s.joint(c, static_cast<Index>(l) * s.kept + t);
        kernel(l, t) = joint > 0 ? 1 / joint - 1 / s.code(c, t) : 0;
        ratio(l, t) = joint > 0 ? std::log(joint / (s.x[l] * s.code(c, t))) : 0;
      }
    }
    for (Index i = 0; i < s.n; ++i) {
      const auto p = static_cast<double>(distribution.probability(i, c));
      const std::int32_t l = x[static_cast<std::size_t>(i)];
      const std::int32_t t = kept_of(distribution, i);
      own += p * p * kernel(l, t);
      influence[i] += p * ratio(l, t);
    }
  }
  out.bias = std::max(0.0, own / (2 * n * n));
  if (!with_variances) return out;
  const double linear = (influence.array() - influence.mean()).square().mean() / n;
  out.linear = linear;
  out.quadratic = mean_square_kernel(distribution, x, s) / (2 * n * n);
  return out;
}

Estimate asymptotic_code_certificate(const CodeDistribution& distribution, const Symbols& x,
                                     std::int32_t levels) {
  const CodeInformation found = corrected_code_information(distribution, x, levels);
  const double centre = std::max(0.0, found.plug_in - found.bias);
  const double most = std::log(static_cast<double>(std::max(2, levels)));
  // (u - centre)^2 = z^2 (slope u + quadratic)
  const double z = kOneSided95;
  const double slope = found.plug_in > 0 ? found.linear / found.plug_in : 0;
  const double limit =
      std::min(most, centre + z * z * slope / 2 +
                         z * std::sqrt(slope * centre + found.quadratic + z * z * slope * slope / 4));
  const double below = centre - z * std::sqrt(found.linear + found.quadratic);
  return {.nats = limit,
          .interval95 = Interval{std::clamp(below, 0.0, limit), limit},
          .bound = Bound::kUpper,
          .method = "information in the codeword, for every attacker: 95 % confidence, asymptotic",
          .samples = distribution.probability.rows()};
}

Estimate distribution_free_code_certificate(const CodeDistribution& distribution, const Symbols& x,
                                            std::int32_t levels) {
  const Shares s = shares_of(distribution, x, levels);
  const auto n = static_cast<double>(s.n);
  // Half of the failure probability for the divergences, a quarter each for the shares of x.
  const double base = information(s) + divergence_of_shares(levels, s.n, kFailure / 4);
  const double tail = std::log(2.0 * static_cast<double>(kOrders.size()) / kFailure) / n;
  const double share_limit = std::log(4.0 * 2 * static_cast<double>(levels) / kFailure) / n;
  double least = 1;
  double unseen = 0;
  for (std::int32_t l = 0; l < levels; ++l) {
    if (s.x[l] > 0) {
      least = std::min(least, chernoff_end(s.x[l], share_limit, false));
    } else {
      // A level that never came up tells at most p ln 1/p, which rises up to p = 1/e.
      const double p = std::min(chernoff_end(0, share_limit, true), std::exp(-1.0));
      unseen += -p * std::log(p);
    }
  }
  double limit = std::log(static_cast<double>(std::max(2, levels)));
  if (least > 0) {
    const double b = -std::log(least);
    for (const double order : kOrders)
      limit = std::min(limit, kappa(b, order) * (base + tail / order) + unseen);
  }
  return {.nats = limit,
          .interval95 = Interval{0, limit},
          .bound = Bound::kUpper,
          .method = "information in the codeword, for every attacker: 95 % confidence for every distribution",
          .samples = s.n};
}

}  // namespace ppan
