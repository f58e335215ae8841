#pragma once

// Measures of leakage other than mutual information, exact for a finite joint distribution P(x,z), a row per
// x. Logarithms are natural; measures that are logarithms are in nats.
//
// Sources: G. Smith, "On the foundations of quantitative information flow", FoSSaCS 2009 (Bayes
// vulnerability, min-entropy leakage); M. S. Alvim et al., "Measuring information leakage using generalized
// gain functions", CSF 2012 (g-leakage); K. Chatzikokolakis et al., "The Bayes security measure", CSF 2023;
// R. Sibson 1969, S. Arimoto 1977 (information of order alpha); I. Issa, A. B. Wagner, S. Kamath, "An
// operational approach to information leakage", IEEE Trans. Inf. Theory 66, 2020 (maximal leakage); J. Liao
// et al., "Tunable measures for information leakage", IEEE Trans. Inf. Theory 65, 2019 (alpha-leakage).

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"

namespace ppan::theory {

/// What is wrong with a joint pmf: empty, negative or not finite, a sum that is not 1 (to 1e-9).
Problems check_joint(const MatrixRef<double>& joint);
/// What is wrong with a gain matrix for `levels` secrets: another number of columns, an entry that is not
/// finite or negative, no guess with a positive gain.
Problems check_gain(const MatrixRef<double>& gain, Index levels);

/// max_x P(x): the best probability of guessing X without the release.
double prior_vulnerability(const MatrixRef<double>& joint);
/// sum_z max_x P(x,z): the best probability of guessing X from Z. One minus the Bayes risk.
double bayes_vulnerability(const MatrixRef<double>& joint);
/// log(posterior / prior vulnerability), nats: multiplicative leakage. From 0 to log |X|.
double min_entropy_leakage(const MatrixRef<double>& joint);
/// posterior - prior vulnerability: additive leakage. From 0 to 1 - max_x P(x).
double additive_leakage(const MatrixRef<double>& joint);
/// (1 - posterior) / (1 - prior vulnerability): 1 when the release does not help, 0 when it reveals
/// everything. 1 when X is certain beforehand.
double bayes_security(const MatrixRef<double>& joint);

/// Renyi entropy of order alpha in nats: log(sum p^alpha) / (1 - alpha); Shannon's at 1, -log max p at
/// infinity. alpha > 0.
double renyi_entropy(const VectorRef<double>& pmf, double alpha);
/// (sum_x P(x)^alpha)^(1/alpha): the greatest E Q(X)^((alpha-1)/alpha) over distributions Q, alpha > 1.
double prior_alpha_vulnerability(const VectorRef<double>& prior, double alpha);
/// sum_z (sum_x P(x,z)^alpha)^(1/alpha): the greatest E Q(X|Z)^((alpha-1)/alpha), alpha > 1, reached by the
/// posterior raised to alpha and normalised.
double alpha_vulnerability(const MatrixRef<double>& joint, double alpha);

/// Arimoto's information of order alpha, H_alpha(X) - H_alpha(X|Z), nats: the alpha-leakage, what an
/// adversary gains who minimises the alpha-loss. I(X;Z) at alpha = 1, the min-entropy leakage at infinity.
/// alpha > 0.
double arimoto_information(const MatrixRef<double>& joint, double alpha);
/// Sibson's information of order alpha, nats:
///     alpha/(alpha-1) log sum_z (sum_x P(x) P(z|x)^alpha)^(1/alpha).
/// I(X;Z) at alpha = 1, the maximal leakage at infinity; never falls as alpha grows. alpha > 0.
double sibson_information(const MatrixRef<double>& joint, double alpha);
/// log sum_z max_x P(z|x) over x that occur, nats: the most that any function of X can be leaked.
double maximal_leakage(const MatrixRef<double>& joint);

/// The gain of guessing g when the secret is x, a row per guess and a column per x, at least 0.
///     V(P) = max_g sum_x P(x) gain(g,x);  posterior: sum_z max_g sum_x P(x,z) gain(g,x).
/// The identity matrix gives Bayes vulnerability.
double prior_gain(const MatrixRef<double>& joint, const MatrixRef<double>& gain);
double posterior_gain(const MatrixRef<double>& joint, const MatrixRef<double>& gain);
/// log(posterior / prior), nats.
double gain_leakage(const MatrixRef<double>& joint, const MatrixRef<double>& gain);

}  // namespace ppan::theory
