#!/usr/bin/env python3
"""How many rows does a curve need? Trains on samples of a table whose least leakage is known, releases fresh rows by each mechanism, and
measures what they leak and cost, with so many rows that chance does not matter; draws it beside the optimum.

X and Y are equal with probability 1 - p and otherwise two different symbols of m (``symmetric-pair``); X is sensitive, Y useful, and the distortion is
the share of released symbols that are not Y. The package must be importable.

  PYTHONPATH=build/python .venv/bin/python bench/clusters/sample_size.py --rows 2000 10000 100000 1000000 --out docs/images/sample-size.svg
"""

from __future__ import annotations

import argparse
import csv
import resource
import sys
import warnings

import numpy as np

import ppan
from ppan import theory

M, P = 10, 0.4


def drawn(rows: int, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    x = random.integers(0, M, rows)
    other = (x + random.integers(1, M, rows)) % M
    y = np.where(random.random(rows) < P, other, x)
    names = np.array([f"s{symbol}" for symbol in range(M)])
    return {"x": names[x], "y": names[y]}


def information(a: np.ndarray, b: np.ndarray) -> float:
    """Of two columns, from counts, with Miller's and Madow's correction; nats."""
    joint = np.zeros((M, M))
    code = {f"s{symbol}": symbol for symbol in range(M)}
    np.add.at(joint, ([code[v] for v in a], [code[v] for v in b]), 1)
    rows = joint.sum()
    joint /= rows
    outer = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    seen = joint > 0
    cells = seen.sum() - (joint.sum(1) > 0).sum() - (joint.sum(0) > 0).sum() + 1
    return float((joint[seen] * np.log(joint[seen] / outer[seen])).sum() - cells / (2 * rows))


def measure(rows: int, family: str, budgets: list[float], seed: int, fresh: dict[str, np.ndarray]) -> list[dict[str, float | str]]:
    before = resource.getrusage(resource.RUSAGE_SELF)
    curve = ppan.TradeOff("x", useful=["y"], family=family, budgets=budgets, seed=seed, quick=True, progress=False)
    curve.fit(drawn(rows, 100 + seed))
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    made: list[dict[str, float | str]] = []
    table = curve.points_
    for number, found, low, high in zip(table["point"], table["leakage"], table["leakage_low"], table["leakage_high"], strict=True):
        released = curve.pick(point=int(number), accept_inconclusive=True).transform(fresh)["y"]
        distortion = float(np.mean(released != fresh["y"]))
        leakage = information(fresh["x"], released)
        optimum = float(theory.curve("symmetric-pair", m=M, p=P, at=[min(distortion, 0.5)])["leakage"][0])
        made.append({
            "family": family, "rows": rows, "seed": seed, "budget": budgets[int(number) - 1], "distortion": distortion, "leakage": leakage,
            "optimum": optimum, "excess": leakage - optimum, "found": found, "low": low, "high": high, "seconds": seconds,
        })  # fmt: skip
    return made


def draw(points: list[dict[str, float | str]], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "ppan"  # the same bytes from the same numbers
    from matplotlib import pyplot

    figure, (plane, gain) = pyplot.subplots(1, 2, figsize=(10, 4.6))
    sizes, families = sorted({int(p["rows"]) for p in points}), sorted({str(p["family"]) for p in points})
    colour = {rows: pyplot.get_cmap("viridis")(0.9 * i / max(1, len(sizes) - 1)) for i, rows in enumerate(sizes)}
    look = dict(zip(families, [("o", "-"), ("s", "--"), ("^", ":")], strict=False))
    grid = np.linspace(0.05, 0.35, 101)
    plane.plot(grid, theory.curve("symmetric-pair", m=M, p=P, at=list(grid))["leakage"], color="black", linewidth=1, label="optimum")
    for family in families:
        for rows in sizes:
            some = [p for p in points if p["family"] == family and p["rows"] == rows]
            plane.plot([p["distortion"] for p in some], [p["leakage"] for p in some], look[family][0], color=colour[rows], markersize=5,
                       label=f"{family}, {rows:,} rows")
        means = [np.mean([p["excess"] for p in points if p["family"] == family and p["rows"] == rows]) for rows in sizes]
        gain.plot(sizes, means, "".join(look[family]), color="tab:blue", label=f"{family}: excess over the optimum")
    half = [np.mean([(float(p["high"]) - float(p["low"])) / 2 for p in points if p["rows"] == rows]) for rows in sizes]
    gain.plot(sizes, half, "x-", color="tab:red", label="half of the audit's interval")
    plane.set(xlabel="share of released symbols that are not Y", ylabel="leakage of fresh rows, nats")
    gain.set(xscale="log", xlabel="rows of the sample", ylabel="nats, mean over the budgets")
    gain.axhline(0, color="black", linewidth=0.5)
    for axes in (plane, gain):
        axes.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--family", nargs="*", default=["finite", "noise-input"])
    parser.add_argument("--budget", type=float, nargs="+", default=[0.1, 0.2, 0.3])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--fresh", type=int, default=1_000_000)
    parser.add_argument("--read", nargs="*", default=[], help="what earlier runs have printed, to be drawn too")
    parser.add_argument("--out", help="a drawing")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    fresh = drawn(given.fresh, 7)
    points: list[dict[str, float | str]] = []
    writer = None
    for family in given.family:
        for rows in given.rows:
            for seed in range(1, given.seeds + 1):
                for point in measure(rows, family, given.budget, seed, fresh):
                    writer = writer or csv.DictWriter(sys.stdout, list(point))
                    if not points:
                        writer.writeheader()
                    points.append(point)
                    writer.writerow({key: f"{value:.5f}" if isinstance(value, float) else value for key, value in point.items()})
                    sys.stdout.flush()
    if given.out:
        for earlier in given.read:
            with open(earlier, newline="") as file:
                for row in csv.DictReader(file):
                    points.append({key: value if key == "family" else float(value) for key, value in row.items()})
        draw(points, given.out)


if __name__ == "__main__":
    main()
