#!/usr/bin/env python3
"""Releases of the same rows by `ppan release` from CSV, by `model.transform` from Arrow, and by Spark from Parquet to Parquet (`write_files` and
`write`) with an executor killed midway, in processor time of everything that works for it; beside Spark's own copy of the rows, and one through
Python workers that change nothing.

  PYTHONPATH=build/python .venv/bin/python bench/clusters/release.py [--rows N] [--repeats N] [--point N] [--spark-rows N] [--ways WAY ...] [--kill-after SECONDS]
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from compiled_modules import keep_compiled_modules

import ppan

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "tests"))


def table(rows: int, seed: int = 0) -> pa.Table:
    """8 columns that are released, and what is hidden."""
    random = np.random.default_rng(seed)
    ill = random.random(rows) < 0.4
    jobs = np.array(["clerk", "nurse", "driver", "farmer", "pilot"])
    return pa.table({
        "ill": np.where(ill, "yes", "no"),
        "age": np.clip(random.normal(np.where(ill, 50, 42), 11), 18, 90).round().astype(np.int32),
        "pay": np.exp(random.normal(7.5, 0.4, rows)).round(2),
        "hours": random.integers(10, 60, rows),
        "job": jobs[random.integers(0, 5, rows)],
        "town": np.array(["north", "south", "east"])[random.integers(0, 3, rows)],
        "member": random.random(rows) < np.where(ill, 0.6, 0.4),
        "score": random.random(rows).round(3),
        "rent": random.integers(20, 200, rows) * 10.0,
    })  # fmt: skip


def processor(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def command_line(model: Path, rows: Path, out: Path) -> float:
    before = processor(resource.RUSAGE_CHILDREN)
    subprocess.run([ROOT / "build" / "ppan", "release", model, rows, "-o", out, "--quiet", "--threads", "1"], check=True, stderr=subprocess.DEVNULL)
    return processor(resource.RUSAGE_CHILDREN) - before


def in_process(model: ppan.Model, rows: pa.Table) -> float:
    before = processor()
    model.transform(rows, threads=1)
    return processor() - before


def single_process(model: ppan.Model, source: Path, target: Path) -> float:
    """Parquet to Parquet, batch by batch."""
    before = processor()
    with pyarrow.parquet.ParquetFile(source) as file:
        writer = None
        for batch in file.iter_batches(1 << 17, columns=model.feature_names_in_):
            released = model.transform(pa.Table.from_batches([batch]), threads=1)
            writer = writer or pyarrow.parquet.ParquetWriter(target, released.schema)
            writer.write_table(released)
    writer.close()
    return processor() - before


def spark_session(work: Path, executor_java: str) -> Any:
    from pyspark.sql import SparkSession
    from test_engine import _paths

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", SPARK_WORKER_DIR=str(work / "workers"))
    spark = (SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
             .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(_paths())).config("spark.local.dir", str(work))
             .config("spark.executor.extraJavaOptions", executor_java)
             .config("spark.executorEnv.PYTHONPYCACHEPREFIX", os.environ["PYTHONPYCACHEPREFIX"])
             .config("spark.network.timeout", "900s").config("spark.rpc.askTimeout", "900s").getOrCreate())  # fmt: skip
    spark.sparkContext.setLogLevel("OFF")
    spark.range(1000).mapInArrow(lambda batches: batches, "id long").count()  # executors and their Python are there
    return spark


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Processor seconds of everything below this process, and seconds. What starting Spark costs is not counted."""
    sampler = Sampler()
    begin = time.monotonic()
    work()
    seconds = time.monotonic() - begin
    return sampler.stop(), seconds


def spark_ways(spark: Any, model: ppan.Model, source: Path, work: Path) -> dict[str, Callable[[], Any]]:
    """Releases, and what a release through Java cannot do without: Spark reading and writing the same columns, and the same through a
    Python worker that hands every batch back."""

    def rows() -> Any:
        return spark.read.parquet(str(source)).select(*model.feature_names_in_)

    return {
        "write_files": lambda: ppan.spark.write_files(str(source), model, str(work / "write_files")),
        "write_files_undisturbed": lambda: ppan.spark.write_files(str(source), model, str(work / "write_files_undisturbed")),
        "write": lambda: ppan.spark.write(spark.read.parquet(str(source)), model, str(work / "write")),
        "copy": lambda: rows().write.parquet(str(work / "copy")),
        "unchanged": lambda: rows().mapInArrow(lambda batches: batches, rows().schema).write.parquet(str(work / "unchanged")),
    }


def with_spark(write: Callable[[], Any], kill_after: float) -> tuple[float, float]:
    """Processor seconds and seconds; one executor is killed meanwhile."""
    from test_spark import executors

    killer = threading.Timer(kill_after, lambda: os.kill(executors()[0], signal.SIGKILL))
    if kill_after > 0:
        killer.start()
    try:
        return timed(write)
    finally:
        killer.cancel()


class Sampler(threading.Thread):
    """Processor seconds of all processes below this one, looked at now and then, so that those of one that is killed count too."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most: dict[tuple[int, str], float] = {}
        self.over = threading.Event()
        self.look()
        self.before = sum(self.most.values())
        self.start()

    def look(self) -> None:
        ticks, found, parents = os.sysconf("SC_CLK_TCK"), {}, {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(name)] = int(fields[1])
            found[int(name)] = (fields[19], (int(fields[11]) + int(fields[12])) / ticks)
        for pid in parents:
            up = pid
            while up in parents and up != os.getpid():
                up = parents[up]
            if up == os.getpid() and pid != up:
                self.most[pid, found[pid][0]] = found[pid][1]

    def run(self) -> None:
        while not self.over.wait(0.2):
            self.look()

    def stop(self) -> float:
        self.over.set()
        self.join()
        self.look()
        return sum(self.most.values()) - self.before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--point", type=int, default=2, help="of a curve of 3")
    parser.add_argument("--spark-rows", type=int, default=0, help="0: without Spark")
    parser.add_argument("--ways", nargs="+", default=["write_files", "write_files_undisturbed", "write", "copy", "unchanged"],
                        help="of Spark, in this order")
    parser.add_argument("--executor-java", default="", help="options of the executors' Java, such as -XX:TieredStopAtLevel=1")
    parser.add_argument("--kill-after", type=float, default=10, help="0: never")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        # The last point of a curve may be rows that are independent of the people, which is no mechanism to measure: the middle one.
        curve = ppan.TradeOff("ill", points=3, epochs=1, quick=True, threads=1, progress=False).fit(table(5000, seed=1))
        model = curve.pick(point=given.point, accept_inconclusive=True)
        model.save(work / "model.ppan")
        if given.rows:
            rows = table(given.rows)
            pyarrow.csv.write_csv(rows, work / "rows.csv")
            seen: dict[str, list[float]] = {"ppan release": [], "transform": []}
            for _ in range(given.repeats):
                seen["ppan release"].append(command_line(work / "model.ppan", work / "rows.csv", work / "out.csv"))
                seen["transform"].append(in_process(model, rows))
            took = {what: statistics.median(times) for what, times in seen.items()}
            print(f"{given.rows} rows: transform from Arrow {took['transform']:.2f} s, ppan release from CSV {took['ppan release']:.2f} s of processor time: "
                  f"{took['ppan release'] / took['transform']:.2f} x (bar 1.5)", flush=True)
        if given.spark_rows:
            spark_part(given, model, work)


def spark_part(given: Any, model: ppan.Model, work: Path) -> None:
    (work / "in").mkdir()
    parts = max(1, given.spark_rows // 1_000_000)
    for part in range(parts):
        pyarrow.parquet.write_table(table(given.spark_rows // parts, seed=part + 2), work / "in" / f"{part}.parquet")
    alone = sum(single_process(model, work / "in" / f"{part}.parquet", work / "alone.parquet") for part in range(parts))
    print(f"{given.spark_rows} rows Parquet to Parquet, one process: {alone:.1f} s of processor time", flush=True)
    keep_compiled_modules()
    spark = spark_session(work, given.executor_java)
    ways = spark_ways(spark, model, work / "in", work)
    for way in given.ways:
        release = way.startswith("write")
        kill_after = given.kill_after if release and not way.endswith("undisturbed") else 0
        used, seconds = with_spark(ways[way], kill_after)
        rows = sum(pyarrow.parquet.ParquetFile(file).metadata.num_rows for file in (work / way).glob("*.parquet"))
        killed = ", an executor killed," if kill_after > 0 else ""
        print(f"Spark, {way}{killed}: {used:.1f} s of processor time ({seconds:.1f} s by the clock): {alone / used:.0%} per core"
              f"{' (bar 50 %)' if release else ''}; {rows} rows written", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
