#pragma once

// X and Y on {0, ..., m-1}, equally likely, equal except with probability p:
//     P(x,y) = (1-p)/m if x = y, else p/(m(m-1)).
// Usefulness is lost by error: d(y,z) = 1(y != z), so a distortion is a probability of error.
//
// Source: Y. Wang, Y. O. Basciftci, P. Ishwar, "Privacy-utility tradeoffs under constrained data release
// mechanisms", 2017. Both optima follow from symmetry: I(X;Z) is convex in P(z|w) and relabelling all of X,
// Y, Z alike changes nothing, so some optimal mechanism is itself symmetric, X and Z are then again a
// symmetric pair, and the leakage is r_m(Pr[X != Z]). What remains is how far Pr[X != Z] can be moved towards
// 1 - 1/m.

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"

namespace ppan::theory {

struct SymmetricPair {
  int m = 10;      ///< Size of both alphabets. At least 2.
  double p = 0.4;  ///< Pr[X != Y], in [0, 1].

  [[nodiscard]] Problems check() const;
};

/// r_m(p) = log m - p log(m-1) - h2(p): the information between the two sides of a symmetric pair, in nats.
///     r_m(0) = log m,  r_m(1 - 1/m) = 0,  r_m(1) = log(m/(m-1)).
/// Convex in p, least at 1 - 1/m.  r_10(0.4) = 0.750684.
double symmetric_information(int m, double p);

/// Arimoto's information of order alpha >= 1 between the two sides, nats (theory/leakage_measures.h); r_m(p)
/// at alpha = 1, and for every order 0 at p = 1 - 1/m and convex around it:
///     alpha/(alpha-1) log( m^(1-1/alpha) ((1-p)^alpha + (m-1) (p/(m-1))^alpha)^(1/alpha) ).
double symmetric_information(int m, double p, double alpha);

/// P(x,y), m x m.
Matrix<double> joint(const SymmetricPair& pair);

/// I(X;Y) = r_m(p).
double mutual_information(const SymmetricPair& pair);

/// Least I(X;Z) over P(z|y) with Pr[Y != Z] <= distortion, in nats:
///     r_m(p + D (1 - p m/(m-1)))  if D < 1 - 1/m,  else 0.
double least_leakage_useful_only(const SymmetricPair& pair, double distortion, double alpha = 1);

/// Least I(X;Z) over P(z|x,y) with Pr[Y != Z] <= distortion, in nats:
///     r_m(p + D)  if D <= 1 - 1/m - p;   r_m(p - D)  if D <= p - (1 - 1/m);   else 0.
/// Another order alpha asks for the same release: the argument above needs only that the measure is convex in
/// P(z|w) up to a monotone function, and that of a symmetric pair grows with the distance from 1 - 1/m.
double least_leakage_full_data(const SymmetricPair& pair, double distortion, double alpha = 1);

}  // namespace ppan::theory
