"""Closed forms, solver and estimators against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import ppan
from ppan import research, theory


def test_closed_form() -> None:
    doubled = theory.curve("gaussian-scalar", rho=0.85, variance_y=2, at=[1.0])
    assert doubled["leakage"][0] == pytest.approx(0.224121, abs=1e-6)
    curve = theory.curve("gaussian-scalar", rho=0.85, at=[0.0, 0.5, 1.0])
    assert list(curve["leakage"]) == pytest.approx([-0.5 * np.log(1 - 0.85**2), 0.224121, 0.0], abs=1e-6)
    assert "gaussian-scalar" in theory.curves()
    assert "rho" in theory.parameters("gaussian-scalar")
    with pytest.raises(ppan.UsageError, match="gaussian-scalar"):
        theory.curve("gausian-scalar")


def test_solver_meets_the_closed_form() -> None:
    m, p = 4, 0.3
    joint = np.full((m, m), p / (m * (m - 1)))
    np.fill_diagonal(joint, (1 - p) / m)
    optimum = theory.curve("symmetric-pair", m=m, p=p, at=[0.2])["leakage"][0]
    found = theory.solve(joint, 0.2)
    assert found.lower_bound <= optimum + 1e-9
    assert found.leakage == pytest.approx(optimum, abs=1e-6)
    assert np.allclose(found.mechanism.sum(axis=1), 1)
    assert theory.solve(joint, 0.2, distortion=lambda y, z: float(y != z)).leakage == pytest.approx(optimum, abs=1e-6)


def test_gaussian_optimum() -> None:
    covariance = np.array([[1.0, 0.85], [0.85, 1.0]])
    assert theory.gaussian(covariance, 1, 0.5).leakage == pytest.approx(0.224121, abs=1e-5)


def test_estimators() -> None:
    # Standard errors at 2,000 records are about 0.02; 0.1 fails less than once in a million.
    random = np.random.default_rng(1)
    x = random.normal(size=2000)
    z = 0.8 * x + 0.6 * random.normal(size=2000)
    truth = -0.5 * np.log(1 - 0.64)
    for method in ("ksg", "gaussian"):
        found = ppan.MutualInformation(method).fit(x, z)
        assert found.nats_ == pytest.approx(truth, abs=0.1)
        assert found.estimate_.low is not None and found.estimate_.low < found.nats_
    code = random.integers(0, 4, 2000)
    flipped = np.where(random.random(2000) < 0.9, code, random.integers(0, 4, 2000))
    joint = np.full((4, 4), 0.1 / 16) + np.eye(4) * 0.9 / 4
    truth = float(np.sum(joint * np.log(joint * 16)))
    assert ppan.MutualInformation("finite").fit(code, flipped).nats_ == pytest.approx(truth, abs=0.1)
    assert ppan.MutualInformation("attack", threads=1).fit(code, flipped.astype(str)).nats_ == pytest.approx(truth, abs=0.25)
    with pytest.raises(ppan.UsageError, match="method"):
        ppan.MutualInformation("guess").fit(x, z)


def test_experiment() -> None:
    points = research.experiment("scalar-gaussian", points=2, epochs=2, threads=1)
    assert {"distortion", "leakage", "optimum"} <= set(points.columns)
    assert "scalar-gaussian" in research.experiments()


def test_own_sampler_and_distortion() -> None:
    def sampler(random: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        x = random.integers(0, 2, n)
        return x.astype(str), np.round(x + random.normal(size=n), 2)

    table = research.sampled(
        sampler, records=500, distortion=lambda y, z: np.abs(y - z), points=1, epochs=1, quick=True, threads=1, progress=False
    )
    assert table["own_distortion"][0] >= 0


def symmetric(m: int, p: float) -> np.ndarray:
    joint = np.full((m, m), p / (m * (m - 1)))
    np.fill_diagonal(joint, (1 - p) / m)
    return joint


def logarithmic(x: int, q: np.ndarray) -> float:
    return -float(np.log(q[x]))


def test_own_adversary_loss_of_logarithms_is_mutual_information() -> None:
    joint = np.array([[0.3, 0.1, 0.05], [0.05, 0.2, 0.3]])
    for observation in ("useful-only", "full-data"):
        for distortion in (None, lambda y, z: abs(y - z)):
            known = theory.solve(joint, 0.15, observation=observation, distortion=distortion)
            found = research.least_leakage(joint, 0.15, loss=logarithmic, observation=observation, distortion=distortion)
            assert found.leakage == pytest.approx(known.leakage, abs=2e-4)
            assert found.lower_bound <= known.leakage + 1e-9 and found.gap <= 1e-4
            assert found.distortion <= 0.15 + 1e-9


def test_own_adversary_loss_with_corners_against_the_linear_program() -> None:
    """Whoever guesses the most likely x pays 1 for a wrong guess: the gain is a linear program."""
    optimize = pytest.importorskip("scipy.optimize")
    joint, budget = np.array([[0.3, 0.1, 0.05], [0.05, 0.2, 0.3]]), 0.15
    # Variables: P(z|y), a block per y, then m_z >= P(x,z); least sum of m.
    levels = joint.shape[1]
    bounds, rights = [], []
    for x in range(2):
        for z in range(levels):
            row = np.zeros(levels * levels + levels)
            row[z : levels * levels : levels] = joint[x]
            row[levels * levels + z] = -1
            bounds.append(row)
            rights.append(0.0)
    spent = np.concatenate([(joint.sum(0)[:, None] * (1 - np.eye(levels))).ravel(), np.zeros(levels)])
    sums = np.kron(np.eye(levels), np.ones(levels))
    linear = optimize.linprog(
        np.concatenate([np.zeros(levels * levels), np.ones(levels)]), A_ub=np.array([*bounds, spent]), b_ub=[*rights, budget],
        A_eq=np.hstack([sums, np.zeros((levels, levels))]), b_eq=np.ones(levels),
    )  # fmt: skip
    truth = linear.fun - joint.sum(1).max()
    found = research.least_leakage(joint, budget, loss=lambda x, q: float(np.argmax(q) != x), gap=2e-3)
    assert found.lower_bound - 1e-9 <= truth <= found.leakage + 1e-9
    assert found.leakage == pytest.approx(truth, abs=5e-3)


def test_own_adversary_on_drawn_codes_and_what_is_refused() -> None:
    def sampler(random: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        x = random.integers(0, 3, n)
        return x, np.where(random.random(n) < 0.3, (x + 1) % 3, x)

    squared = research.least_leakage(sampler, 0.2, loss=lambda x, q: float(np.sum((q - np.eye(3)[x]) ** 2)), records=2000)
    assert squared.gap <= 1e-4 and 0 < squared.leakage < 2 / 3
    assert research.least_leakage(sampler, 1.0, loss=logarithmic, records=2000).leakage == pytest.approx(0, abs=1e-4)
    with pytest.raises(ppan.UsageError, match="truth"):
        research.least_leakage(sampler, 0.2, loss=lambda x, q: -float(q[x]))
    with pytest.raises(ppan.InputError, match="code"):
        research.least_leakage(lambda random, n: (random.normal(size=n), random.normal(size=n)), 0.2, loss=logarithmic)
    with pytest.raises(ppan.InputError, match="no mechanism"):
        research.least_leakage(symmetric(3, 0.2), -0.1, loss=logarithmic)
