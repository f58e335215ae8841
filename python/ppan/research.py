"""For researchers: estimators of mutual information by themselves, the paper's experiments, own samplers, distortions and adversaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._audit import AuditReport, Estimate, audit
from ._curve import table_of
from ._errors import InputError, UsageError
from .theory import Solution, _distortion

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


Loss = Callable[[int, Array], float]


def least_leakage(
    joint: Any,
    budget: float,
    *,
    loss: Loss,
    distortion: Any = None,
    observation: str = "useful-only",
    records: int = 10_000,
    iterations: int = 2000,
    gap: float = 1e-4,
    seed: int = 1,
) -> Solution:
    """The mechanism P(z|w) from which an adversary with a loss of your own gains least, for finite X and Y.

    The adversary sees z, states how likely each x is, and pays ``loss(x, q)``, x a code and q the stated probabilities; what leaks is by
    how much seeing z lowers the least expected loss. The loss must be smallest on average for who states the truth: the logarithmic one
    (``lambda x, q: -np.log(q[x])``, which gives I(X;Z)), squared errors, the cost of the best action under q. One that is not is refused.

    ``joint`` is P(x,y), a row per x, or a function ``sampler(generator, n)`` that draws codes (x, y), of which ``records`` are counted.
    ``distortion`` and ``observation`` as in :func:`ppan.theory.solve`. Mirror descent with a bound from below: the solution says how far
    it may be from the best (``gap``); it ends when that is ``gap`` or less, or after ``iterations``. The loss is called |X| |Z| times in
    each iteration, so this is slow: for alphabets of some ten symbols.
    """
    table = _counted(joint, records, seed) if callable(joint) else np.asarray(joint, dtype=float)
    wx, wy = _core.distribution_of_pair(table, observation)
    cost = wy @ _distortion(distortion, wy.shape[1])  # P(w) d(w, z)
    prior = wx.sum(axis=0)
    _require_proper(loss, prior, seed)
    if budget < cost.min(axis=1).sum() - 1e-12:
        raise InputError(f"no mechanism has a distortion of {budget} or less")
    before = float(sum(p * loss(x, prior) for x, p in enumerate(prior) if p > 0))
    game = _Game(wx, cost, prior, loss, before, float(budget))
    return game.solve(iterations, gap)


class _Game:
    """Mirror descent on P(z|w), each step of which keeps the budget."""

    def __init__(self, wx: Array, cost: Array, prior: Array, loss: Loss, before: float, budget: float) -> None:
        self.wx, self.cost, self.prior, self.loss, self.before, self.budget = wx, cost, prior, loss, before, budget
        self.weight = wx.sum(axis=1, keepdims=True)  # P(w)

    def solve(self, iterations: int, gap: float) -> Solution:
        mechanism = self._within(np.zeros_like(self.cost), 1.0)[0]
        found = (np.inf, mechanism, 0.0)
        bound, step, total, steps = 0.0, 1.0, np.zeros_like(mechanism), 0.0
        for number in range(1, iterations + 1):
            leakage, gain = self._look(mechanism)
            bound = max(bound, self._bound(gain))
            if leakage > found[0]:  # a loss with corners: shorter steps, and their mean
                step = 1 / np.sqrt(number)
            total, steps = total + step * mechanism, steps + step
            for tried, value in ((mechanism, leakage), (total / steps, None)):
                value = self._look(tried)[0] if value is None and number % 10 == 0 else value
                if value is not None and value < found[0]:
                    found = (value, tried, found[2])
            if found[0] - bound <= gap:
                break
            mechanism, multiplier = self._within(np.log(np.maximum(mechanism, 1e-300)) - step * gain / self.weight, step)
            found = (found[0], found[1], multiplier / step)
        leakage, mechanism, multiplier = found
        return Solution(mechanism, leakage, min(bound, leakage), float((mechanism * self.cost).sum()), multiplier)

    def _look(self, mechanism: Array) -> tuple[float, Array]:
        """What the adversary gains, and the gain of each (w, z) when he goes on believing what he does: no mechanism leaks less than
        its gain by these beliefs."""
        joint = mechanism.T @ self.wx  # P(z, x)
        mass = joint.sum(axis=1, keepdims=True)
        # A little of the prior keeps logarithms finite.
        belief = (joint + 1e-12 * self.prior) / (mass + 1e-12)
        paid = np.array([[self.loss(x, q) if self.prior[x] > 0 else 0.0 for x in range(len(self.prior))] for q in belief])
        return self.before - float((joint * paid).sum()), -self.wx @ paid.T

    def _bound(self, gain: Array) -> float:
        """Least gain of any mechanism within the budget, by the dual of this linear problem: its best multiplier by golden section."""

        def dual(multiplier: float) -> float:
            return float((gain + multiplier * self.cost).min(axis=1).sum() - multiplier * self.budget)

        low, high = 0.0, 1.0
        while dual(2 * high) > dual(high) and high < 1e9:
            high *= 2
        high *= 2
        for _ in range(80):
            third = (high - low) / 3
            low, high = (low + third, high) if dual(low + third) < dual(high - third) else (low, high - third)
        return self.before + max(dual(low), dual(0.0))

    def _within(self, logits: Array, step: float) -> tuple[Array, float]:
        """The nearest mechanism within the budget, and its multiplier."""

        def at(multiplier: float) -> Array:
            tilted = logits - multiplier * self.cost / self.weight
            chances = np.exp(tilted - tilted.max(axis=1, keepdims=True))
            made: Array = chances / chances.sum(axis=1, keepdims=True)
            return made

        def spent(multiplier: float) -> float:
            return float((at(multiplier) * self.cost).sum())

        if spent(0.0) <= self.budget:
            return at(0.0), 0.0
        low, high = 0.0, step
        while spent(high) > self.budget and high < 1e9:
            high *= 2
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if spent(middle) > self.budget else (low, middle)
        return at(high), high


def _require_proper(loss: Loss, prior: Array, seed: int) -> None:
    generator = np.random.default_rng(seed)
    for _ in range(50):
        truth, other = generator.dirichlet(np.ones(len(prior)), 2)
        honest, false = (float(sum(p * loss(x, q) for x, p in enumerate(truth))) for q in (truth, other))
        if not honest <= false + 1e-9 * max(1.0, abs(false)):
            raise UsageError("loss: stating something else than the truth costs less on average", "give a proper scoring rule")


def _counted(sampler: Any, records: int, seed: int) -> Array:
    x, y = (np.asarray(values) for values in sampler(np.random.default_rng(seed), records))
    if x.ndim != 1 or x.shape != y.shape or x.dtype.kind not in "iu" or y.dtype.kind not in "iu" or x.min() < 0 or y.min() < 0:
        raise InputError("the sampler must draw a code from 0 on for each record, of x and of y")
    table = np.zeros((int(x.max()) + 1, int(y.max()) + 1))
    np.add.at(table, (x, y), 1 / len(x))
    return table


def _drawn(sampler: Any, generator: np.random.Generator, records: int) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array]]:
    x, y = sampler(generator, records)
    secret, useful = _columns(x, "x"), _columns(y, "y")
    return {**secret, **useful}, secret, useful
