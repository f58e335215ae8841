"""Closed-form optima of the synthetic experiments at a distortion, nats; without a framework, so that every peer is held against the same."""

import math


def symmetric_pair_optimum(m, p, full, distortion):
    """Least I(X;Z) at a probability of error, for the symmetric pair on m symbols with Pr[X != Y] = p <= 1 - 1/m."""

    def rate(q):
        entropy = -sum(a * math.log(a) for a in (q, 1 - q) if a > 0)
        return math.log(m) - q * math.log(m - 1) - entropy

    if full:
        return rate(p + distortion) if distortion <= 1 - 1 / m - p else 0.0
    return rate(p + distortion * (1 - p * m / (m - 1))) if distortion < 1 - 1 / m else 0.0


def scalar_gaussian_optimum(rho, full, distortion):
    """Unit variances, squared error."""
    if full:
        if distortion >= rho**2:
            return 0.0
        r = math.sqrt(rho**2 * (1 - distortion)) - math.sqrt((1 - rho**2) * distortion)
        return -0.5 * math.log(1 - r**2)
    return -0.5 * math.log(1 - rho**2 + rho**2 * distortion) if distortion < 1 else 0.0


def bisect(total, target, low, high):
    """The level at which the increasing function `total` reaches `target`."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if total(middle) < target else (low, middle)
    return 0.5 * (low + high)


def vector_gaussian_optimum(rho, distortion):
    """Identity variances, cross-covariance diag(rho), W = Y."""
    if distortion >= len(rho):
        return 0.0

    def shares(t):
        return [max(0.0, min(1.0, t - (r**-2 - 1))) for r in rho]

    t = bisect(lambda t: sum(shares(t)), distortion, 0.0, max(r**-2 for r in rho))
    return sum(max(0.0, -0.5 * math.log(1 - r * r + r * r * d)) for r, d in zip(rho, shares(t)))


def rate_distortion_optimum(variances, distortion):
    """Reverse water-filling."""
    if distortion >= sum(variances):
        return 0.0
    level = bisect(lambda t: sum(min(t, v) for v in variances), distortion, 0.0, max(variances))
    return sum(0.5 * math.log(v / min(level, v)) for v in variances)
