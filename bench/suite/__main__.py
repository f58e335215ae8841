#!/usr/bin/env python3
"""Benchmarks side by side: `script/bench` runs this.

usage: python3 bench/suite [PART ...] [--build DIR] [--out DIR] [--clock wall|processor] [--smoke]
                            [--peers yes|no|only] [--readme [--results FILE]]

Parts: curves mnist release audit growth start kernels tables, and against the packages of today jax torch attackers estimators methods auditors; none: all
but tables and those. Writes results.md and results.json to --out and prints the table.
Exit status 0 if every bar is met, 1 if one is missed, 2 if nothing can be compared. With --smoke everything runs once, as short as
possible, and no bar is looked at; 77 if the peers are asked for and their packages are not installed.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import curves  # noqa: E402
import growth  # noqa: E402
import kernels  # noqa: E402
import measure  # noqa: E402
import tables  # noqa: E402
import today  # noqa: E402
import usefulness  # noqa: E402
from measure import Refused  # noqa: E402

PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"
README = PEERS.parent.parent / "docs" / "benchmarks.md"
# Parts that have a peer, and all in the order of the table.
COMPARED = ["curves", "mnist", "release", "start"]
PARTS = {"curves": curves.figures, "mnist": kernels.mnist, "release": tables.release, "audit": tables.audit, "growth": growth.figures,
         "start": tables.start, "kernels": kernels.figures, "tables": usefulness.figures, **today.PARTS}
ASKED_FOR = ["tables", *today.PARTS]  # long: run only when named
BUSY = 0.25  # load per core above which the wall clock tells more about others than about what is measured
SKIPPED = 77  # what ctest takes for a skipped test


class Context:
    """What every part needs: where things are, how often to repeat, whether there are peers."""

    def __init__(self, arguments, scratch):
        self.build, self.scratch = arguments.build, pathlib.Path(scratch)
        self.smoke, self.peers = arguments.smoke, arguments.peers != "no"
        self.repeats = 1 if arguments.smoke else arguments.repeats
        self.python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
        self.peer_environment = {}
        self.executables = {}
        self.threads = {}  # of PyTorch, for each kind of work: the faster choice
        busy = os.getloadavg()[0] > BUSY * os.cpu_count()
        self.clock = arguments.clock or ("processor" if busy else "wall")

    def executable(self, name):
        if name not in self.executables:
            found = [path for path in self.build.rglob(name) if path.is_file() and os.access(path, os.X_OK)]
            if not found:
                raise Refused(f"there is no executable {name} under {self.build}\n  fix: script/build")
            # The build's own, not a copy that a test has installed somewhere below.
            self.executables[name] = min(found, key=lambda path: len(path.parts)).resolve()
        return self.executables[name]

    def run(self, command):
        return measure.run(command)

    def peer(self, script, *words):
        result = measure.run([self.python, "-B", PEERS / script, *words], self.peer_environment).json()
        measure.require_openblas("PyTorch", result["environment"]["blas"])
        return result

    def seconds(self, result, threads=1):
        """How long a process took. On a busy machine that is its processor time over the threads it kept busy, which is what the wall
        clock would have shown had the cores been free."""
        result = result if isinstance(result, dict) else vars(result)
        return result["cpu_seconds"] / threads if self.clock == "processor" else result["seconds"]

    def interleaved(self, jobs, most=None, exactly=None):
        return measure.interleaved(exactly or min(self.repeats, most or self.repeats), jobs)

    def faster_threads(self, work, job):
        """Threads with which PyTorch does this work fastest: one, or one per core. Tried once, then remembered."""
        if self.smoke:
            self.threads[work] = 1
        if work not in self.threads:
            self.threads[work] = min((1, os.cpu_count()), key=lambda threads: min(job(threads) for _ in range(2)))
            measure.say(f"PyTorch runs {work} fastest on {self.threads[work]} of {os.cpu_count()} cores")
        return self.threads[work]


def peers_installed(python):
    return subprocess.run([python, "-c", "import torch, pandas"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--out", type=pathlib.Path, help="default: BUILD/bench")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--clock", choices=["wall", "processor"], help="default: wall, or processor time if others keep the machine busy")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--readme", action="store_true", help="put the figures that have a bar into docs/benchmarks.md")
    parser.add_argument("--results", type=pathlib.Path, help="with --readme: take this results.json instead of measuring")
    parser.add_argument("--peers", choices=["yes", "no", "only"], default="yes")
    given = parser.parse_args()
    unknown = [part for part in given.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are: {' '.join(PARTS)}")
    if given.repeats < 1:
        parser.error("--repeats is at least 1")
    given.parts = given.parts or [part for part in PARTS if part not in ASKED_FOR and (given.peers != "only" or part in COMPARED)]
    given.out = given.out or given.build / "bench"
    return given


def run(given, context):
    description = {**measure.machine(), "clock": context.clock}
    description["openblas_kernels"] = curves.kernels(context)
    # A new processor gets the oldest kernels from an OpenBLAS that does not know it; ppan chooses better ones, and so do the peers here.
    context.peer_environment = {"OPENBLAS_CORETYPE": description["openblas_kernels"]}
    figures = []
    for part in given.parts:
        for figure in PARTS[part](context):
            figures.append(figure)
            if part in ASKED_FOR:  # hours may go by: a run that is stopped has said what it found
                measure.say(measure.line(figure))
    description["load_after"] = os.getloadavg()[0]
    description["pytorch_threads"] = context.threads
    shown = [f for f in figures if f.part != "Kernels, processor time" or f.what in kernels.SHOWN]
    table = measure.markdown(description, shown)
    measure.write(given.out / "results.json",
                  json.dumps({"machine": description, "figures": [f.as_json() for f in figures]}, indent=1) + "\n")
    measure.write(given.out / "results.md", table)
    print(table)
    if given.readme:
        fill_readme(description, figures)
    missed = [figure.what for figure in figures if figure.met() is False and not given.smoke]
    for what in missed:
        measure.say(f"missed: {what}")
    return 1 if missed else 0


def fill_readme(description, figures):
    measure.write(README, measure.into_page(README.read_text(), description, figures))


def main():
    given = arguments()
    if given.results:
        kept = json.loads(given.results.read_text())
        fields = [field.name for field in dataclasses.fields(measure.Figure)]
        fill_readme(kept["machine"], [measure.Figure(**{name: figure[name] for name in fields}) for figure in kept["figures"]])
        return 0
    with tempfile.TemporaryDirectory(prefix="ppan-bench-") as scratch:
        context = Context(given, scratch)
        if context.peers and not set(given.parts) <= set(today.PARTS) and not peers_installed(context.python):
            if given.smoke:
                measure.say("PyTorch or pandas is not installed: nothing to try (script/bootstrap bench installs them)")
                return SKIPPED
            raise Refused("PyTorch or pandas is not installed\n  fix: script/bootstrap bench, or --peers no")
        return run(given, context)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refusal:
        measure.say(f"bench: {refusal}")
        sys.exit(2)
