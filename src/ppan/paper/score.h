#pragma once

// Scores a trained mechanism on its world: distortion and leakage, exact where the world is finite, by
// quadrature where a density is known, else on fresh records.

#include "ppan/paper/experiment.h"
#include "ppan/paper/settings.h"

namespace ppan {

/// P(z|w) of a finite mechanism, a row per symbol of w; by frequencies for one that can only be sampled.
Matrix<double> channel_of(Mechanism<float>& mechanism, std::int32_t levels, RandomSource& random);

/// Leakage (of order `alpha`), distortion and channel of P(z|w) on a finite world, exact.
void score_channel(const World& world, double alpha, Matrix<double> channel, ExperimentPoint& point);

/// Of a trained mechanism, by whatever its world and family allow.
void score_mechanism(const World& world, const ExperimentSettings& settings, double alpha,
                     Mechanism<float>& mechanism, const SeededRandom& random, ExperimentPoint& point);

/// Least leakage of order `alpha` at a measured distortion, nats; NaN where it is not known.
double optimum_at(const World& world, double alpha, double distortion);

/// Clouds of the components of the scatter experiment.
std::vector<ScatterCloud> scatter_clouds(const World& world, const Vector<double>& rho,
                                         Mechanism<float>& mechanism, const SeededRandom& random);

}  // namespace ppan
