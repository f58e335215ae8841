#!/usr/bin/env python3
"""What the automatic grid of numbers costs: distortion at equal leakage, with it and with the finest grid that the numbers are written on.

    bench/audit/grid_cost.py TABLE.csv --sensitive marital --ppan build/ppan [--rows N] [--points N] [--seeds N]

For each seed two curves of the same rows, settings and seed, but for `encode.grid_cost` (0: digits as they are written). Between the points of a curve
distortion is read off along straight lines; the levels compared are those that both curves reach. Rounding counts as distortion in both.
"""

import argparse
import csv
import pathlib
import random
import subprocess
import sys
import tempfile


def curve(ppan, job, out, seed, points, cost):
    done = subprocess.run([ppan, "curve", job, "--out", out, "--points", str(points), "--seed", str(seed), "--quiet", "--force", "--threads", "1", "--set",
                           "audit.quick=true", "--set", f"encode.grid_cost={cost}"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    with open(out / "curve.csv", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["series"] == "ppan/table"]
    return sorted((float(r["leakage"]), float(r["distortion"])) for r in rows)


def at(points, leakage):
    for (l0, d0), (l1, d1) in zip(points, points[1:]):
        if l0 <= leakage <= l1:
            return d0 if l1 == l0 else d0 + (d1 - d0) * (leakage - l0) / (l1 - l0)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--sensitive", required=True)
    parser.add_argument("--ppan", required=True)
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--points", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    ratios = []
    print("| seed | leakage | distortion, automatic grid | digits as written | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        lines = pathlib.Path(given.table).read_text().splitlines()
        rows = lines[1:]
        random.Random(1).shuffle(rows)
        (scratch / "table.csv").write_text("\n".join([lines[0], *rows[:given.rows]]) + "\n")
        subprocess.run([given.ppan, "init", scratch / "table.csv", "--sensitive", given.sensitive, "-o", scratch / "job.toml", "--force"], check=True,
                       capture_output=True)
        for seed in range(1, given.seeds + 1):
            grid = curve(given.ppan, scratch / "job.toml", scratch / "grid", seed, given.points, 0.0005)
            fine = curve(given.ppan, scratch / "job.toml", scratch / "fine", seed, given.points, 0)
            low, high = max(grid[0][0], fine[0][0]), min(grid[-1][0], fine[-1][0])
            for k in range(5):
                leakage = low + (high - low) * (k + 0.5) / 5
                a, b = at(grid, leakage), at(fine, leakage)
                if not a or not b:
                    continue
                ratios.append(a / b)
                print(f"| {seed} | {leakage:.4f} | {a:.5f} | {b:.5f} | {a / b:.3f} |", flush=True)
    if ratios:
        mean = sum(ratios) / len(ratios)
        error = (sum((r - mean) ** 2 for r in ratios) / max(1, len(ratios) - 1) / len(ratios)) ** 0.5
        print(f"mean ratio {mean:.4f} (standard error {error:.4f}); bar 1.02")


if __name__ == "__main__":
    main()
