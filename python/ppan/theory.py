"""What no mechanism can beat: closed forms, and the convex problem solved with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._curve import table_of

Array = np.ndarray[Any, Any]


def curves() -> dict[str, str]:
    """Names of the closed forms, with what each is about."""
    return {name: summary for name, summary, _ in _core.theory_curves()}


def parameters(name: str) -> dict[str, tuple[str, str, str]]:
    """Parameters of a closed form: default, what is allowed, meaning."""
    for known, _, values in _core.theory_curves():
        if known == name:
            return dict(values)
    _core.theory_evaluate(name, {}, 1, None, None, [], False)  # says which names there are
    raise AssertionError


def curve(
    name: str,
    *,
    points: int = 21,
    start: float | None = None,
    stop: float | None = None,
    at: Sequence[float] = (),
    release: bool = False,
    **values: Any,
) -> Any:
    """The least leakage (nats) at each distortion, as a frame.

    ``curve("gaussian-scalar", rho=0.85)``; ``at`` names the distortions; ``release=True`` adds what attains each point.
    """
    texts = {key: _text(value) for key, value in values.items()}
    return table_of(_core.theory_evaluate(name, texts, points, start, stop, [float(x) for x in at], release))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (Sequence, np.ndarray)):
        return ",".join(repr(float(v)) for v in value)
    return repr(value.item() if isinstance(value, np.generic) else value)


@dataclass(frozen=True)
class Solution:
    """A mechanism and how far it can be from the best."""

    mechanism: Array  #: P(z|w), a row per w
    leakage: float  #: I(X;Z), nats
    lower_bound: float  #: no mechanism within the budget leaks less, nats
    distortion: float
    multiplier: float  #: nats saved per unit of distortion added

    @property
    def gap(self) -> float:
        """At most this far from the optimum, nats."""
        return self.leakage - self.lower_bound


def solve(
    joint: Any,
    budget: float,
    *,
    distortion: Any = None,
    observation: str = "useful-only",
    gap: float = 1e-7,
) -> Solution:
    """Least I(X;Z) over P(z|w) with E d(Y,Z) <= budget, for a finite P(x,y) (a row per x).

    ``distortion`` is a matrix d(y,z), a function ``d(y, z)`` of two codes, or None for 1(y != z). ``observation``:
    "useful-only" (W = Y), "full-data" (W = (X,Y)) or "rate-distortion" (W = X = Y).
    """
    table = np.asarray(joint, dtype=float)
    wx, wy = _core.distribution_of_pair(table, observation)
    cost = _distortion(distortion, wy.shape[1])
    return Solution(**_core.solve_convex(wx, wy, cost, float(budget), gap))


def _distortion(given: Any, levels: int) -> Array:
    if given is None:
        return 1.0 - np.eye(levels)
    if isinstance(given, Callable):  # type: ignore[arg-type]
        return np.array([[float(given(y, z)) for z in range(levels)] for y in range(levels)])
    return np.asarray(given, dtype=float)


@dataclass(frozen=True)
class GaussianSolution:
    """The release Z = gain Y + N(0, noise)."""

    leakage: float
    lower_bound: float
    gain: Array
    noise: Array


def gaussian(covariance: Any, sensitive: int, distortion: float) -> GaussianSolution:
    """Least I(X;Z) for E||Y - Z||² <= distortion; X the first ``sensitive`` components of the covariance, Y the others."""
    whole = np.asarray(covariance, dtype=float)
    n = int(sensitive)
    return GaussianSolution(
        **_core.gaussian_optimum(whole[:n, :n].copy(), whole[n:, n:].copy(), whole[:n, n:].copy(), float(distortion))
    )
