#!/usr/bin/env python3
"""Estimators of mutual information on tasks with known answers: those of the package bmi (P. Czyz and others, "Beyond normal", 2023).

    .venv-bench/bin/python estimators.py --estimate build/bench/kernels/bench_estimate_file --samples 10000

Ours (KSG and Gaussian) and, on the same samples, bmi's own KSG ensemble of one k and its canonical correlations, and KSG of npeet_plus. One thread each; nats; processor
seconds. Packages or tasks that are missing are listed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np  # noqa: E402

TASKS = ["1v1-normal-0.75", "normal_cdf-1v1-normal-0.75", "asinh-student-1v1-1-1.0", "1v1-additive-0.75", "multinormal-dense-2-2-0.5",
         "multinormal-sparse-3-3-2-2.0", "multinormal-sparse-5-5-2-2.0", "student-identity-2-2-3"]


def tasks(missing):
    try:
        import bmi.benchmark
        offered = bmi.benchmark.BENCHMARK_TASKS
    except Exception as error:  # packages of other years fail in many ways
        missing["bmi"] = str(error)[:200]
        return {}
    chosen = {name: offered[name] for name in TASKS if name in offered}
    if not chosen:
        chosen = dict(list(offered.items())[:6])
    return chosen


def correlated(samples, rho, dimensions, seed=1):
    """Where bmi is missing: Gaussian pairs alone."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((samples, dimensions))
    return x, rho * x + np.sqrt(1 - rho**2) * random.standard_normal((samples, dimensions)), -0.5 * dimensions * np.log(1 - rho**2)


def peers(missing, samples, most):
    out = {}
    try:
        import bmi.estimators as e
        if samples <= most:
            out["bmi KSG"] = lambda x, y: e.KSGEnsembleFirstEstimator(neighborhoods=(4,)).estimate(x, y)
        else:
            missing["bmi KSG"] = f"holds all distances: not run beyond {most} samples"
        out["bmi CCA"] = lambda x, y: e.CCAMutualInformationEstimator().estimate(x, y)
    except Exception as error:
        missing["bmi estimators"] = str(error)[:200]
    try:
        from npeet_plus import mi
        out["npeet_plus KSG"] = lambda x, y: mi(x, y, k=4) * np.log(2)  # it answers in bits
    except Exception as error:
        missing["npeet_plus"] = str(error)[:200]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--estimate", required=True, help="the executable bench_estimate_file")
    parser.add_argument("--samples", type=int, default=10000)
    parser.add_argument("--tasks", type=int, default=len(TASKS))
    parser.add_argument("--most", type=int, default=20000, help="samples beyond which bmi's KSG is left out (it holds all distances)")
    given = parser.parse_args()
    missing, rows = {}, []
    worlds = [(name, *map(np.asarray, task.sample(given.samples, seed=1)), float(task.mutual_information)) for name, task in
              list(tasks(missing).items())[:given.tasks]]
    worlds += [(f"gaussian {d}v{d}, rho 0.8", *correlated(given.samples, 0.8, d)) for d in ((1, 5) if not worlds else ())]
    others = peers(missing, given.samples, given.most)
    for name, x, y, truth in worlds:
        x, y = (np.asarray(v, np.float64).reshape(len(v), -1) for v in (x, y))
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "sample"
            np.ascontiguousarray(np.column_stack([x, y])).tofile(path)
            ours = json.loads(subprocess.run([given.estimate, path, str(x.shape[1]), str(y.shape[1])], check=True, capture_output=True, text=True).stdout)
        found = {f"ppan {k}": {"error": v["nats"] - truth, "cpu_seconds": v["cpu_seconds"]} for k, v in ours.items()}
        for peer, estimate in others.items():
            start = time.process_time()
            try:
                found[peer] = {"error": float(estimate(x, y)) - truth, "cpu_seconds": time.process_time() - start}
            except Exception as error:
                missing[f"{peer} on {name}"] = str(error)[:200]
        rows.append({"task": name, "dimensions": [x.shape[1], y.shape[1]], "truth": truth, "found": found})
        print(name, truth, {k: (round(v["error"], 4), round(v["cpu_seconds"], 3)) for k, v in found.items()}, file=sys.stderr, flush=True)
    print(json.dumps({"samples": given.samples, "tasks": rows, "missing": missing}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
