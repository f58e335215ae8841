"""Loads the extension module, and lets its BLAS choose kernels by what the processor can do.

OpenBLAS picks its kernels from a list of processor models; one that is newer than the list gets those for SSE3, which are several
times slower. It is told to choose again, but only where nobody else in the process uses this library: NumPy, which is loaded first,
brings one of its own in its wheels, but not in distributions that share one.
"""

from __future__ import annotations

import numpy as np


def _shared() -> bool:
    """Whether the BLAS of the system is in use already."""
    try:
        with open("/proc/self/maps") as maps:
            return any("/libopenblas.so" in line or "/libopenblasp-r" in line or "/openblas-" in line for line in maps)
    except OSError:
        return True


_taken = np.__version__ is None or _shared()

from . import _core  # noqa: E402

if not _taken:
    _core.choose_kernels()
