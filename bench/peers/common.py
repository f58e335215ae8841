"""What the peer benchmarks share: the closed-form optima, the leakage estimates, and a description of the machine."""

import json
import math
import os
import pathlib
import platform

import torch


def blas_in_use():
    """File names of the BLAS libraries mapped into this process: a framework on reference BLAS is no fair peer."""
    maps = pathlib.Path("/proc/self/maps")
    if not maps.exists():
        return []
    mapped = {os.path.realpath(line.split()[-1]) for line in maps.read_text().splitlines() if "blas" in line.lower()}
    return sorted("/".join(pathlib.PurePath(path).parts[-2:]) for path in mapped if ".so" in path)


def environment(threads):
    cpu = platform.processor()
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0] if names else cpu
    return {"torch": torch.__version__, "python": platform.python_version(), "blas": blas_in_use(), "cpu": cpu,
            "cores": os.cpu_count(), "threads": threads}


def numbers(text):
    """An argument of several numbers separated by commas."""
    return [float(word) for word in text.split(",")]


def print_json(result):
    """One JSON object; numbers that are not finite become null, so that any reader accepts it."""

    def clean(value):
        if isinstance(value, dict):
            return {k: clean(v) for k, v in value.items()}
        if isinstance(value, list):
            return [clean(v) for v in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    print(json.dumps(clean(result), indent=1))


# --- leakage, nats --------------------------------------------------------------------------------------------------


def finite_information(joint):
    """I(X;Z) of a joint pmf [x, z]."""
    product = joint.sum(1, keepdim=True) * joint.sum(0, keepdim=True)
    mass = joint > 0
    return (joint[mass] * (joint[mass] / product[mass]).log()).sum().item()


def gaussian_information(x, z):
    """1/2 log(det S_X / det S_X|Z), as the paper estimates it; it sees linear dependence only."""
    x, z = x.double() - x.double().mean(0), z.double() - z.double().mean(0)
    n = len(x)
    sx, sz, sxz = x.T @ x / n, z.T @ z / n, x.T @ z / n
    given = sx - sxz @ torch.linalg.pinv(sz, hermitian=True) @ sxz.T
    return 0.5 * (torch.logdet(sx) - torch.logdet(given)).item()


# --- optima at a distortion, nats -----------------------------------------------------------------------------------


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
