#!/usr/bin/env python3
"""What `TradeOff.fit` costs beside `ppan curve` on the same table, rows in memory against a Parquet file: the same job, the same numbers, one thread. They
take turns, in processes of their own; processor time, which includes starting Python and importing what it needs. `fit` alone is printed too.

  PYTHONPATH=build/python .venv/bin/python bench/clusters/fit_overhead.py [--rows N] [--epochs N] [--points N] [--repeats N]
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "clusters"))

FIT = """
import resource, sys, warnings
import pyarrow.parquet
import ppan
warnings.simplefilter("ignore")
def used():
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime
rows, job = pyarrow.parquet.read_table(sys.argv[1]), sys.argv[2]
points, epochs = int(sys.argv[3]), int(sys.argv[4])
estimator = ppan.TradeOff("ill", points=points, epochs=epochs, quick=True, threads=1, progress=False)
before = used()
estimator.fit(rows)
print(used() - before)
open(job, "w").write(estimator.job_.replace('"a frame in memory"', '"' + sys.argv[1] + '"'))
estimator.points_.to_csv(job + ".csv")
"""


def spent(command: list[str]) -> tuple[float, str]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed")
    return usage.ru_utime + usage.ru_stime, said


def leakages(path: Path, column: str) -> list[float]:
    with open(path, newline="") as file:
        return [float(row[column]) for row in csv.DictReader(file) if row.get("series", "ppan/table") == "ppan/table"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--points", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    import pyarrow.parquet
    from compiled_modules import keep_compiled_modules
    from release import table

    keep_compiled_modules()
    spent([sys.executable, "-c", "import pandas, pyarrow.parquet, ppan; ppan.TradeOff"])
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        pyarrow.parquet.write_table(table(given.rows), work / "rows.parquet")
        fit = [sys.executable, "-c", FIT, str(work / "rows.parquet"), str(work / "job.toml"), str(given.points), str(given.epochs)]
        seen: dict[str, list[float]] = {"whole": [], "fit": [], "curve": []}
        for turn in range(given.repeats):
            took, said = spent(fit)
            seen["whole"].append(took)
            seen["fit"].append(float(said))
            seen["curve"].append(spent([str(ROOT / "build" / "ppan"), "curve", str(work / "job.toml"), "--out", str(work / f"run{turn}"), "--quiet"])[0])
            print(*(f"{what} {times[-1]:.1f} s" for what, times in seen.items()), file=sys.stderr, flush=True)
        took = {what: statistics.median(times) for what, times in seen.items()}
        found = leakages(work / "job.toml.csv", "leakage")
        same = found == leakages(work / "run0" / "curve.csv", "leakage")[: len(found)]
        print(f"{given.rows} rows, {given.points} points, {given.epochs} epochs: ppan curve {took['curve']:.1f} s, a Python process that fits {took['whole']:.1f} s "
              f"({took['whole'] / took['curve'] - 1:+.1%}), fit alone {took['fit']:.1f} s ({took['fit'] / took['curve'] - 1:+.1%}; bar +3 %); "
              f"the same leakages: {'yes' if same else 'no'}")


if __name__ == "__main__":
    main()
