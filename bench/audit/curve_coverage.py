#!/usr/bin/env python3
"""How often what `ppan curve` says of its points holds.

Tables of known leakage are drawn anew for every seed, `ppan curve` is run on each, and then
- what is known of the table as it is must lie in the interval, widened by what the audit may have missed, of the
  curve's own reference "unchanged";
- every trained model releases many fresh rows of the same distribution, scikit-learn's attackers learn from
  two thirds of them, and what they find on the rest (the lower end of its 95 % interval) must not exceed what the curve
  allows for; nor may the curve call a limit of half of it kept.
    bench/audit/curve_coverage.py --ppan build/ppan [--seeds 20] [--fresh 30000] [--tables 0,3,..]
Needs numpy and scikit-learn."""

import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier


def one_column(levels, strength):
    def draw(rng, rows):
        x = rng.integers(levels, size=rows)
        said = np.where(rng.random(rows) < strength, x, rng.integers(levels, size=rows))
        return x, {"first": np.char.add("v", said.astype(str))}
    return draw


def interaction(levels, strength):
    def draw(rng, rows):
        x = rng.integers(levels, size=rows)
        a = rng.integers(levels, size=rows)
        said = np.where(rng.random(rows) < strength, x, rng.integers(levels, size=rows))
        return x, {"first": np.char.add("a", a.astype(str)), "second": np.char.add("b", ((said + a) % levels).astype(str))}
    return draw


def spread(levels, strength):
    shift = np.random.default_rng(77).uniform(-strength, strength, (levels, 6))

    def draw(rng, rows):
        x = rng.integers(levels, size=rows)
        value = rng.normal(size=(rows, 6)) + shift[x]
        return x, {f"value{c}": np.char.mod("%.3f", value[:, c]) for c in range(6)}
    draw.shift = shift
    return draw


def channel(m, s):
    own, other = s + (1 - s) / m, (1 - s) / m
    return own * math.log(m * own) + ((m - 1) * other * math.log(m * other) if other > 0 else 0)


def spread_truth(draw, levels):
    rng = np.random.default_rng(99)
    x = rng.integers(levels, size=100_000)
    z = rng.normal(size=(len(x), 6)) + draw.shift[x]
    score = -0.5 * ((z[:, None, :] - draw.shift[None]) ** 2).sum(axis=2)
    score -= score.max(axis=1, keepdims=True)
    return float(np.mean(score[np.arange(len(x)), x] - np.log(np.exp(score).sum(axis=1)) + math.log(levels)))


def tables():
    """Name, rows, levels, how to draw, true leakage of the table as it is."""
    out = []
    for rows, levels, strength in ((1000, 2, 0.5), (4000, 3, 0.3), (3000, 10, 0.4)):
        out.append((f"one column, {levels} levels, {rows} rows", rows, levels, one_column(levels, strength), channel(levels, strength)))
    for rows, levels, strength in ((2000, 2, 0.6), (5000, 4, 0.5)):
        out.append((f"interaction, {levels} levels, {rows} rows", rows, levels, interaction(levels, strength), channel(levels, strength)))
    for rows, levels, strength in ((800, 2, 0.6), (4000, 5, 0.6), (3800, 36, 1.0)):
        draw = spread(levels, strength)
        out.append((f"spread, {levels} levels, {rows} rows", rows, levels, draw, spread_truth(draw, levels)))
    return out


def write(path, draw, rng, rows):
    x, columns = draw(rng, rows)
    columns = dict(columns)
    columns["height"] = np.char.mod("%.2f", rng.normal(170, 10, rows))
    columns["town"] = np.char.add("town ", rng.integers(7, size=rows).astype(str))
    names = list(columns)
    with open(path, "w") as file:
        file.write(",".join([*names, "x"]) + "\n")
        for row in zip(*columns.values(), np.char.add("x", x.astype(str))):
            file.write(",".join(row) + "\n")
    return x, names


def features(path, names):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    out = []
    for name in names:
        cells = [row[name] for row in rows]
        try:
            out.append(np.array([float(cell or "nan") for cell in cells])[:, None])
        except ValueError:
            levels = sorted(set(cells))
            out.append(np.array([[cell == level for level in levels] for cell in cells], float))
    return np.hstack(out)


def found(z, x):
    """Leakage by the stronger of two attackers on the last third, as (mean, standard error)."""
    n = len(x) * 2 // 3
    best = (-1.0, 0.0)
    share = np.bincount(x[n:], minlength=x.max() + 1) / len(x[n:])
    for attacker in (HistGradientBoostingClassifier(max_iter=120, learning_rate=0.06, early_stopping=True),
                     RandomForestClassifier(150, min_samples_leaf=20, n_jobs=1)):
        attacker.fit(np.nan_to_num(z[:n], nan=-1e3), x[:n])
        p = attacker.predict_proba(np.nan_to_num(z[n:], nan=-1e3))
        column = {level: i for i, level in enumerate(attacker.classes_)}
        own = np.array([p[i, column[v]] if v in column else 0 for i, v in enumerate(x[n:])])
        gain = np.log(np.maximum(own, 1e-4)) - np.log(share[x[n:]])
        best = max(best, (gain.mean(), gain.std() / math.sqrt(len(gain))))
    return best


def run(ppan, directory, table, seed, fresh):
    """(unchanged held, [(point held, half called kept)])"""
    name, rows, _, draw, truth = table
    rng = np.random.default_rng(seed)
    people, job, out = (os.path.join(directory, f) for f in ("people.csv", "job.toml", "run"))
    _, names = write(people, draw, rng, rows)

    def call(*arguments):
        done = subprocess.run([ppan, *arguments], capture_output=True, text=True)
        if done.returncode not in (0, 6):
            sys.exit(f"{' '.join(arguments)}: {done.stderr}")

    call("init", people, "--sensitive", "x", "-o", job, "--force")
    call("curve", job, "--out", out, "--points", "3", "--seed", str(seed), "--quiet", "--force")
    with open(os.path.join(out, "curve.csv"), newline="") as file:
        curve = list(csv.DictReader(file))
    unchanged = next(row for row in curve if row["series"] == "reference/unchanged")
    held = float(unchanged["leakage_low"]) <= truth <= float(unchanged["leakage_upper_end"])
    x, _ = write(os.path.join(directory, "fresh.csv"), draw, rng, fresh)
    points = []
    for row in curve:
        if row["series"] != "ppan/table":
            continue
        released = os.path.join(directory, "released.csv")
        call("release", os.path.join(out, row["model"]), os.path.join(directory, "fresh.csv"), "-o", released, "--quiet")
        mean, error = found(features(released, names), x)
        low = max(0.0, mean - 1.96 * error)
        end = float(row["leakage_upper_end"])
        points.append((low <= end, low > 0 and end <= mean / 2 and row["inconclusive"] != "yes", mean, end))
    return held, points


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ppan", required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--fresh", type=int, default=30_000)
    parser.add_argument("--tables")
    given = parser.parse_args()
    wanted = [int(t) for t in given.tables.split(",")] if given.tables else range(len(tables()))
    print("| table | truth | unchanged held | points held | half of what is found passes | worst point: found, allowed for |")
    print("|---|---|---|---|---|---|", flush=True)
    total = [0, 0, 0, 0, 0]
    for t in wanted:
        table = tables()[t]
        held = points = inside = passed = 0
        worst = (-1e9, 0, 0)
        for seed in range(1, given.seeds + 1):
            with tempfile.TemporaryDirectory() as directory:
                unchanged, found_points = run(given.ppan, directory, table, seed, given.fresh)
            held += unchanged
            for ok, half, mean, end in found_points:
                points += 1
                inside += ok
                passed += half
                worst = max(worst, (mean - end, mean, end))
        print(f"| {table[0]} | {table[4]:.4f} | {held} of {given.seeds} | {inside} of {points} | {passed} | "
              f"{worst[1]:.3f}, {worst[2]:.3f} |", flush=True)
        for i, value in enumerate((held, given.seeds, inside, points, passed)):
            total[i] += value
    print(f"all: unchanged held in {100 * total[0] / total[1]:.1f} %, points in {100 * total[2] / total[3]:.1f} %, "
          f"half of what is found passed for {100 * total[4] / total[3]:.1f} %")


if __name__ == "__main__":
    main()
