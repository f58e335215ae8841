#!/usr/bin/env python3
"""What a curve costs on an engine beside threads of one process: the same 12 points on two threads, two local processes, two Dask or Ray
workers and two Spark executors, each in a process of its own. Where others use the machine the processor time says more than the seconds: what an engine adds to it is what it costs.
With --kill one worker of each engine (of Spark: an executor) is killed by SIGKILL when it has done a point in the middle of the curve and not yet handed it over.

  PYTHONPATH=build/python .venv/bin/python bench/clusters/engines.py [--rows N] [--epochs N] [--repeats N] [--kill] [--engine threads local dask ray spark]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

from compiled_modules import keep_compiled_modules

# Starts the engine, says so, and fits when asked to: what starting costs is not counted.
PROGRAM = """
import contextlib, hashlib, os, sys, tempfile, time, warnings
sys.path[:0] = sys.argv[1].split(os.pathsep)
from conftest import people
from killed_worker import Killing
import ppan
warnings.simplefilter("ignore")


def processor():
    # Of this process and of all below it that still run: workers of an engine are not waited for before the end.
    ticks, below = os.sysconf("SC_CLK_TCK"), {os.getpid()}
    found, parents = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(name)] = int(fields[1])
        found[int(name)] = sum(map(int, fields[11:15])) / ticks
    for pid in list(parents):
        up = pid
        while up in parents and up not in below:
            up = parents[up]
        if up in below:
            below.add(pid)
    return sum(found[pid] for pid in below if pid in found)


def digest(curve):
    kept = [name for name in curve.points_ if "seconds" not in name]
    words = [curve.points_[kept].to_csv().encode()]
    words += [curve.pick(point=int(number), accept_inconclusive=True).to_bytes() for number in curve.points_["point"]]
    return hashlib.sha256(b"".join(words)).hexdigest()


def main():
    name, rows, epochs, kill = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "kill"
    with contextlib.ExitStack() as stack:
        where = None
        if name == "local":
            where = ppan.engine.Local(2)
        elif name == "dask":
            import distributed
            cluster = stack.enter_context(distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                                                   local_directory=tempfile.mkdtemp(), host="127.0.0.1"))
            stack.enter_context(distributed.Client(cluster))
            where = ppan.engine.Dask()
        elif name == "ray":
            import ray
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False, object_store_memory=100 << 20)
            stack.callback(ray.shutdown)
            where = ppan.engine.Ray()
        elif name == "spark":
            from pyspark.sql import SparkSession
            work = tempfile.mkdtemp()
            os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", SPARK_WORKER_DIR=work)
            session = (SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false").config("spark.local.dir", work)
                       .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
                       .config("spark.network.timeout", "900s").config("spark.rpc.askTimeout", "900s").getOrCreate())
            session.sparkContext.setLogLevel("OFF")
            stack.callback(session.stop)
            session.sparkContext.parallelize(range(2), 2).map(abs).collect()  # executors and their Python are there
            where = ppan.engine.Spark()
        if kill and where is not None:
            where = Killing(where)
        frame = people(rows)
        ppan.TradeOff  # imports scikit-learn
        before, begin = processor(), time.monotonic()
        curve = ppan.TradeOff("marital", points=12, epochs=epochs, quick=True, threads=2, progress=False, engine=where).fit(frame)
        print(f"{processor() - before:.1f} {time.monotonic() - begin:.1f} {digest(curve)}")
        if kill and where is not None and not os.path.exists(where.mark):
            sys.exit("nobody was killed")


if __name__ == "__main__":
    main()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=1, help="engines take turns; medians are printed")
    parser.add_argument("--kill", action="store_true", help="a worker midway")
    parser.add_argument("--engine", nargs="+", default=["threads", "local", "dask", "spark"])
    given = parser.parse_args()
    keep_compiled_modules()
    here = Path(__file__).resolve().parent
    imported = os.pathsep.join([str(here.parents[1] / "python" / "tests"), str(here)])
    seen: dict[str, list[tuple[float, float, str]]] = {name: [] for name in given.engine}
    for _ in range(given.repeats):
        for name in given.engine:
            command = [sys.executable, "-c", PROGRAM, imported, name, str(given.rows), str(given.epochs), "kill" if given.kill else ""]
            spent, seconds, digest = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
            seen[name].append((float(spent), float(seconds), digest))
            print(f"{name},{spent},{seconds}", file=sys.stderr, flush=True)
    print("engine,processor seconds,seconds,processor against the first,same numbers")
    base = statistics.median(run[0] for run in seen[given.engine[0]])
    digests = {run[2] for runs in seen.values() for run in runs}
    for name, runs in seen.items():
        spent, seconds = (statistics.median(run[k] for run in runs) for k in (0, 1))
        print(f"{name},{spent:.1f},{seconds:.1f},{spent / base:.3f},{'yes' if len(digests) == 1 else 'no'}", flush=True)


if __name__ == "__main__":
    main()
