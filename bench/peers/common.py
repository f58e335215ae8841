"""What the PyTorch peers share: leakage estimates and a description of the machine; the optima are in optima.py."""

import json
import math
import os
import pathlib
import platform

import torch

from optima import rate_distortion_optimum, scalar_gaussian_optimum, symmetric_pair_optimum, vector_gaussian_optimum  # noqa: F401


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
