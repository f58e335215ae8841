#!/usr/bin/env python3
"""The matrix products of one MNIST iteration by every BLAS there is: OpenBLAS (Debian), MKL and oneDNN (package index or Debian), one thread.

    .venv-bench/bin/python best_sgemm.py --repeats 5

Loaded as plain libraries, called by ctypes, interleaved. Prints {"library": [processor milliseconds of each repeat]}, and names those missing.
"""

import argparse
import ctypes
import ctypes.util
import glob
import json
import os
import sys
import time

import numpy as np

BATCH, PIXELS, NOISE, UNITS, DIGITS = 100, 784, 20, 1000, 10
COLUMN_MAJOR, PLAIN, TRANSPOSED = 102, 111, 112


def candidates():
    """{name: library}; MKL one-threaded."""
    os.environ.setdefault("MKL_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    paths = {"OpenBLAS": ["/usr/lib/*/openblas-pthread/libopenblas.so.0", "/usr/lib/*/libopenblas.so.0"],
             "MKL": [f"{sys.prefix}/lib/libmkl_rt.so.*", "/usr/lib/*/libmkl_rt.so"],
             "oneDNN": ["/usr/lib/*/libdnnl.so.*"]}
    found = {}
    for name, patterns in paths.items():
        for path in (path for pattern in patterns for path in sorted(glob.glob(pattern))):
            try:
                found[name] = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
                break
            except OSError:
                continue
    return found, [name for name in paths if name not in found]


def caller(name, library):
    """sgemm(transpose a, transpose b, a, b, c) on column-major matrices (rows, columns, data)."""
    one, zero = ctypes.c_float(1), ctypes.c_float(0)

    def pointer(matrix):
        return matrix[2].ctypes.data_as(ctypes.c_void_p)

    def shape(ta, a, c):
        return c[0], c[1], a[0] if ta else a[1]

    if name == "oneDNN":  # row-major: C' = B' A'
        long = ctypes.c_int64

        def call(ta, tb, a, b, c):
            m, n, k = shape(ta, a, c)
            status = library.dnnl_sgemm(ctypes.c_char(b"T" if tb else b"N"), ctypes.c_char(b"T" if ta else b"N"), long(n), long(m), long(k), one,
                                        pointer(b), long(b[0]), pointer(a), long(a[0]), zero, pointer(c), long(c[0]))
            if status:
                raise RuntimeError(f"dnnl_sgemm: {status}")
    else:
        def call(ta, tb, a, b, c):
            m, n, k = shape(ta, a, c)
            library.cblas_sgemm(COLUMN_MAJOR, TRANSPOSED if ta else PLAIN, TRANSPOSED if tb else PLAIN, m, n, k, one, pointer(a), a[0],
                                pointer(b), b[0], zero, pointer(c), c[0])
    return call


class Layers:
    """Every layer has matrices of its own, as in bench/kernels/mnist_step_bench.cc, in whose order the products are."""

    def __init__(self, *widths):
        random = np.random.default_rng(1)

        def matrix(rows, columns):
            return rows, columns, np.ascontiguousarray(random.standard_normal(rows * columns, dtype=np.float32))

        self.a, self.d = [matrix(BATCH, w) for w in widths], [matrix(BATCH, w) for w in widths]
        self.w = [matrix(i, o) for i, o in zip(widths, widths[1:])]
        self.g = [matrix(i, o) for i, o in zip(widths, widths[1:])]

    def forward(self, sgemm):
        for k, w in enumerate(self.w):
            sgemm(False, False, self.a[k], w, self.d[k + 1])

    def input(self, sgemm, last):
        for k in reversed(range(last, len(self.w))):
            sgemm(False, True, self.d[k + 1], self.w[k], self.d[k])

    def weights(self, sgemm):
        for k in reversed(range(len(self.w))):
            sgemm(True, False, self.a[k], self.d[k + 1], self.g[k])


def check(sgemm):
    """Each library gives the product it should, on every transposition used."""
    random = np.random.default_rng(2)
    for ta, tb in ((False, False), (False, True), (True, False)):
        a, b = random.standard_normal((7, 5)).astype(np.float32), random.standard_normal((5, 3)).astype(np.float32)
        stored_a, stored_b = a.T if ta else a, b.T if tb else b
        c = (7, 3, np.zeros(21, np.float32))
        sgemm(ta, tb, (*stored_a.shape, np.asfortranarray(stored_a).ravel("F").copy()), (*stored_b.shape, np.asfortranarray(stored_b).ravel("F").copy()), c)
        if not np.allclose(c[2].reshape(7, 3, order="F"), a @ b, atol=1e-5):
            raise RuntimeError("a library multiplies wrongly")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=5)
    given = parser.parse_args()
    found, missing = candidates()
    calls = {name: caller(name, library) for name, library in found.items()}
    mechanism, adversary = Layers(PIXELS + NOISE, UNITS, UNITS, PIXELS), Layers(PIXELS, UNITS, UNITS, DIGITS)

    def iterate(sgemm):
        mechanism.forward(sgemm)
        adversary.forward(sgemm)
        adversary.weights(sgemm)
        adversary.input(sgemm, 1)
        adversary.forward(sgemm)
        adversary.input(sgemm, 0)
        mechanism.weights(sgemm)
        mechanism.input(sgemm, 1)

    times = {name: [] for name in calls}
    for sgemm in calls.values():
        check(sgemm)
        iterate(sgemm)
    for _ in range(given.repeats):
        for name, sgemm in calls.items():
            start = time.process_time()
            for _ in range(given.iterations):
                iterate(sgemm)
            times[name].append(1e3 * (time.process_time() - start) / given.iterations)
    print(json.dumps({"cpu_milliseconds": times, "missing": missing}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
