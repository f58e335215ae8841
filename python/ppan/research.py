"""For researchers: estimators of mutual information by themselves, the paper's experiments, own samplers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._audit import AuditReport, Estimate, audit
from ._curve import table_of
from ._errors import InputError, UsageError

Array = np.ndarray[Any, Any]


def _matrix(values: Any, name: str) -> Array:
    array = np.asarray(values, dtype=float)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"{name} must have a row for each record")
    return np.ascontiguousarray(array)


def _codes(values: Any, name: str) -> tuple[list[int], int]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must have one value for each record")
    levels, codes = np.unique(array, return_inverse=True)
    return [int(code) for code in codes], len(levels)


class MutualInformation:
    """I(X;Z) from samples.

    Parameters
    ----------
    method : {"ksg", "gaussian", "finite", "attack"}
        "ksg": nearest neighbours, for numbers of few dimensions; "gaussian": linear dependence alone, a lower bound for
        Gaussian X; "finite": counts, for codes of few values; "attack": the whole suite of attackers, a lower bound for X
        and Z of any kind.
    neighbours : int, of "ksg".
    quick : bool, of "attack".
    seed, threads

    After ``fit(x, z)``: ``estimate_`` (:class:`ppan.Estimate`), ``nats_`` and, for "attack", ``report_``.
    """

    def __init__(
        self, method: str = "ksg", *, neighbours: int = 4, quick: bool = True, seed: int = 1, threads: int = 0
    ) -> None:
        self.method = method
        self.neighbours = neighbours
        self.quick = quick
        self.seed = seed
        self.threads = threads

    def fit(self, x: Any, z: Any) -> MutualInformation:
        """Estimates from records: row i of ``x`` and of ``z`` belong together."""
        self.estimate_ = self.estimate(x, z)
        self.nats_ = self.estimate_.nats
        return self

    def estimate(self, x: Any, z: Any) -> Estimate:
        """The same, as a value."""
        if self.method == "ksg":
            return Estimate(**_core.ksg(_matrix(x, "x"), _matrix(z, "z"), self.neighbours, 10, self.seed, self.threads))
        if self.method == "gaussian":
            return Estimate(**_core.gaussian_information(_matrix(x, "x"), _matrix(z, "z")))
        if self.method == "finite":
            return Estimate(**_core.finite_information(*_codes(x, "x"), *_codes(z, "z"), self.seed))
        if self.method == "attack":
            self.report_ = attack(x, z, quick=self.quick, seed=self.seed, threads=self.threads)
            return self.report_.leakage
        raise UsageError(f"method: '{self.method}' is not known", "it is ksg, gaussian, finite or attack")


def _columns(values: Any, name: str) -> dict[str, Array]:
    array = np.asarray(values)
    if array.ndim == 1:
        return {name: array}
    return {f"{name}{i + 1}": array[:, i] for i in range(array.shape[1])}


def attack(x: Any, z: Any, **options: Any) -> AuditReport:
    """The suite of attackers on arrays: what does a release ``z`` (a row per record) tell about ``x``? Whole numbers of
    ``x`` are taken as codes. Options as in :func:`ppan.audit`."""
    secret = np.asarray(x)
    if secret.dtype.kind in "iub":
        secret = secret.astype(str)
    columns = _columns(secret, "x")
    return audit(original=columns, released=_columns(z, "z"), sensitive=list(columns), aligned=True, **options)


def experiments() -> dict[str, str]:
    """Names of the paper's synthetic experiments, with what each is about."""
    return dict(_core.experiments())


def experiment(
    name: str,
    *,
    preset: str = "best",
    points: int | None = None,
    epochs: int | None = None,
    budgets: Sequence[float] = (),
    seed: int = 1,
    threads: int = 0,
) -> Any:
    """Trains one of the paper's experiments and sets every point beside the optimum; a frame with a row per point."""
    rows = _core.experiment(name, preset, points, epochs, [float(b) for b in budgets], seed, threads)
    return table_of({key: [row[key] for row in rows] for key in rows[0]} if rows else {})


def sampled(
    sampler: Callable[[np.random.Generator, int], tuple[Any, Any]],
    *,
    records: int = 10_000,
    seed: int = 1,
    distortion: Callable[[Array, Array], Array] | None = None,
    **options: Any,
) -> Any:
    """A trade-off curve on records that a Python function draws.

    ``sampler(generator, n)`` returns (x, y): what is sensitive and what is useful, a row per record. ``distortion(y, z)``
    returns the distortion of each record; with it the frame has a column ``own_distortion``, measured on fresh records
    that each trained mechanism releases. Own distortions are measured, not trained for, and Python functions are slow:
    this is for small experiments. Further options are those of :class:`ppan.TradeOff`.
    """
    from ._estimators import TradeOff

    generator = np.random.default_rng(seed)
    columns, secret, useful = _drawn(sampler, generator, records)
    fitted = TradeOff(sensitive=list(secret), useful=list(useful), **options).fit(columns)
    rows = fitted.curve_._core.rows()
    points = [row for row in rows if row["series"] == "ppan/table"]
    names = ("point", "budget", "distortion", "leakage", "leakage_low", "leakage_high", "leakage_upper_end")
    table: dict[str, list[Any]] = {name: [row.get(name) for row in points] for name in names}
    if distortion is not None:
        fresh, _, _ = _drawn(sampler, generator, min(records, 10_000))
        before = np.column_stack([fresh[name] for name in useful])
        table["own_distortion"] = []
        for row in points:
            released = fitted.pick(point=int(row["point"]), accept_inconclusive=True).transform(fresh, unknown="nearest")
            after = np.column_stack([released[name] for name in useful])
            table["own_distortion"].append(float(np.mean(distortion(before, after))))
    return table_of(table)


def _drawn(sampler: Any, generator: np.random.Generator, records: int) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array]]:
    x, y = sampler(generator, records)
    secret, useful = _columns(x, "x"), _columns(y, "y")
    return {**secret, **useful}, secret, useful
