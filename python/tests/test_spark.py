"""Spark with executors that are processes of their own (local-cluster), which are killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_engine import Killing, _paths, files, fit, interrupted

import ppan
from ppan import engine

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    work = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    # Executors of local-cluster have their directory below SPARK_HOME otherwise.
    os.environ["SPARK_WORKER_DIR"] = str(work / "workers")
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(_paths()))
        .config("spark.local.dir", str(work))
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
        .config("spark.sql.shuffle.partitions", "2")
        # A slow machine answers when it comes to it.
        .config("spark.network.timeout", "900s")
        .config("spark.rpc.askTimeout", "900s")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def parent(pid: int) -> int:
    """0 if the process has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def ancestors(pid: int) -> list[int]:
    found = []
    while pid := parent(pid):
        found.append(pid)
    return found


def executors() -> list[int]:
    """Processes of the executors that this process has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:  # it has ended
                continue
            if b"CoarseGrainedExecutorBackend" in command and os.getpid() in ancestors(int(entry.name)):
                found.append(int(entry.name))
    return found


@pytest.fixture(scope="module")
def numbered(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.reset_index(drop=True).assign(number=np.arange(len(frame)))


@pytest.fixture(scope="module")
def keeps(numbered: pd.DataFrame) -> ppan.Model:
    """A model that copies a number of each row, by which rows can be told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = ppan.Release(
            sensitive="marital", keep=["number"], budget=0.2, epochs=1, quick=True, accept_inconclusive=True, threads=1,
            columns={"number": "identifier"}, progress=False,
        )  # fmt: skip
        return release.fit(numbered).model_


def test_an_executor_is_killed_midway(
    spark: Any, keeps: ppan.Model, frame: pd.DataFrame, numbered: pd.DataFrame, tmp_path: Path
) -> None:
    """The job finishes, and every row is released exactly once."""
    spark.createDataFrame(numbered).repartition(8).write.parquet(str(tmp_path / "in"))
    people = spark.read.parquet(str(tmp_path / "in")).repartition(8)
    marks = tmp_path / "marks"
    marks.mkdir()

    def halting(batches: Iterator[Any]) -> Iterator[Any]:
        """The third task to begin waits until its own executor is killed, so it cannot have ended before."""
        for batch in batches:
            (marks / str(time.monotonic_ns())).touch()
            if len(list(marks.iterdir())) >= 3:
                try:
                    (tmp_path / "victim").touch(exist_ok=False)
                    (tmp_path / "process").write_text(str(os.getpid()))
                    time.sleep(600)
                except FileExistsError:
                    pass
            yield batch

    killed: list[int] = []

    def kill() -> None:
        written = tmp_path / "process"
        while not (written.exists() and written.read_text()):
            time.sleep(0.02)
        lineage = ancestors(int(written.read_text()))
        victim = next(pid for pid in executors() if pid in lineage)
        killed.append(victim)
        os.kill(victim, signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    released = ppan.spark.write(people.mapInArrow(halting, people.schema), keeps, str(tmp_path / "out"))
    thread.join()
    assert killed
    assert len(list(marks.iterdir())) > 8  # the task that waited was begun twice
    assert released.count() == len(frame)
    assert released.columns == keeps.released_columns
    assert sorted(pd.read_parquet(tmp_path / "out")["number"]) == list(range(len(frame)))


def test_a_process_is_killed_midway(spark: Any, keeps: ppan.Model, numbered: pd.DataFrame, tmp_path: Path) -> None:
    """The process in which an executor runs Python: its task is done again, and its rows are there once."""
    people = spark.createDataFrame(numbered).repartition(4)
    plan = ppan.spark.release(people, keeps)
    mark = tmp_path / "killed"

    def dying(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    plan.mapInArrow(dying, plan.schema).write.parquet(str(tmp_path / "out"))
    assert mark.exists()
    assert sorted(pd.read_parquet(tmp_path / "out")["number"]) == list(range(len(numbered)))


class Halting(ppan.spark._Files):
    """The third task to begin waits, with its file half written, until its own executor is killed."""

    def __init__(self, inner: Any, directory: Path) -> None:
        self.__dict__.update(inner.__dict__)
        self.directory = directory

    def __call__(self, task: Any) -> Any:
        (self.directory / "marks" / str(time.monotonic_ns())).touch()
        if len(list((self.directory / "marks").iterdir())) >= 3:
            try:
                (self.directory / "victim").touch(exist_ok=False)
                Path(f"{self.beside}/attempt-half.parquet").write_bytes(b"PAR1 and then nothing")
                (self.directory / "process").write_text(str(os.getpid()))
                time.sleep(600)
            except FileExistsError:
                pass
        return super().__call__(task)


def test_files_are_released_by_tasks_one_of_whose_executors_is_killed(
    spark: Any, keeps: ppan.Model, numbered: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in range(4):
        (tmp_path / "in" / "_hidden").mkdir(parents=True, exist_ok=True)
        rows = numbered.iloc[part::4]
        rows.to_parquet(tmp_path / "in" / f"{part}.parquet", row_group_size=100)
    (tmp_path / "in" / "_hidden" / "x.parquet").write_text("nothing to do with it")
    (tmp_path / "marks").mkdir()
    inner = ppan.spark._Files
    monkeypatch.setattr(ppan.spark, "_Files", lambda *given: Halting(inner(*given), tmp_path))
    killed: list[int] = []

    def kill() -> None:
        written = tmp_path / "process"
        while not (written.exists() and written.read_text()):
            time.sleep(0.02)
        lineage = ancestors(int(written.read_text()))
        killed.append(next(pid for pid in executors() if pid in lineage))
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    released = ppan.spark.write_files(str(tmp_path / "in"), keeps, str(tmp_path / "out"), rows=100)
    thread.join()
    assert killed and len(list((tmp_path / "marks").iterdir())) > 12  # one of the 12 tasks was begun twice
    assert released.columns == keeps.released_columns
    assert sorted(pd.read_parquet(tmp_path / "out")["number"]) == list(range(len(numbered)))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["_SUCCESS", *[f"part-{k:05d}.parquet" for k in range(12)]]
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out", "marks", "victim", "process"}


def test_files_that_cannot_be_released(spark: Any, keeps: ppan.Model, numbered: pd.DataFrame, tmp_path: Path) -> None:
    table = str(tmp_path / "in.parquet")
    numbered.to_parquet(table)
    ppan.spark.write_files(table, keeps, str(tmp_path / "out"))
    with pytest.raises(ppan.UsageError, match="exists already"):
        ppan.spark.write_files(table, keeps, str(tmp_path / "out"))
    numbered.assign(job="king").to_parquet(tmp_path / "king.parquet")
    with pytest.raises(Exception, match="unknown level"):
        ppan.spark.write_files(str(tmp_path / "king.parquet"), keeps, str(tmp_path / "out"), mode="overwrite")
    assert len(pd.read_parquet(tmp_path / "out")) == len(numbered)  # what was there stays, and nothing is beside it
    assert {path.name for path in tmp_path.iterdir()} == {"in.parquet", "king.parquet", "out"}
    numbered.head(0).to_parquet(tmp_path / "none.parquet")
    assert ppan.spark.write_files(str(tmp_path / "none.parquet"), keeps, str(tmp_path / "out"), mode="overwrite").count() == 0
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "in.parquet").read_bytes()[:-9])
    numbered.drop(columns="age").to_parquet(tmp_path / "less.parquet")
    (tmp_path / "year=2024").mkdir()
    numbered.to_parquet(tmp_path / "year=2024" / "1.parquet")
    for given, said in [(tmp_path / "cut.parquet", "cut.parquet"), (tmp_path / "less.parquet", "age"), (tmp_path / "no", "there is no"),
                        (tmp_path, "names of its directories")]:  # fmt: skip
        with pytest.raises(ppan.InputError, match=said):
            ppan.spark.write_files(str(given), keeps, str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_profile_sample_audit(spark: Any, model: ppan.Model, frame: pd.DataFrame, tmp_path: Path) -> None:
    spark.createDataFrame(frame).write.parquet(str(tmp_path / "people"))
    people = spark.read.parquet(str(tmp_path / "people"))
    batch_rows = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(batch_rows)
    written = ppan.spark.write(people, model, str(tmp_path / "released"))
    assert spark.conf.get(batch_rows) == before
    assert [f.dataType for f in written.schema.fields] == [people.schema[name].dataType for name in written.columns]
    profile = ppan.spark.profile(people).set_index("column")
    assert profile.loc["age", "least"] == frame["age"].min()
    assert profile.loc["age", "rows"] == len(frame) and profile.loc["job", "missing"] == 0
    # Fails for one seed in some 10^9: 300 of 900 rows, standard deviation 14.
    train = ppan.spark.sample(people, 300)
    held_out = ppan.spark.sample(people, 300, held_out=True)
    assert 200 < train.num_rows < 400 and 200 < held_out.num_rows < 400
    assert not {tuple(r.values()) for r in train.to_pylist()} & {tuple(r.values()) for r in held_out.to_pylist()}
    assert ppan.spark.audit(people, model, rows=400, quick=True, threads=1).power > 0


def test_what_only_the_whole_table_has(spark: Any, frame: pd.DataFrame, tmp_path: Path) -> None:
    """Tails that the sample has too few rows of are in the range, and levels that it has no row of are told."""
    some = frame[["marital", "age", "region"]].reset_index(drop=True)
    # One row in a hundred is from elsewhere: 100 people, of whom a sample of 1 in 20 has about 5 at 89.
    rare = some.head(100).assign(age=np.where(np.arange(100) < 10, 120, 89), region="abroad")
    spark.createDataFrame(pd.concat([some] * 11 + [rare])).write.parquet(str(tmp_path / "people"))
    people = spark.read.parquet(str(tmp_path / "people"))
    assert ppan.spark.ranges(people)["age"] == (float(some["age"].min()), 120.0)
    # Nobody shares the greatest of these five: the end is the mean of the fifth and the four behind it.
    few = spark.createDataFrame(pd.DataFrame({"x": np.arange(100.0)}))
    assert ppan.spark.ranges(few, min_rows=5)["x"] == (6.0, 93.0)
    assert ppan.spark.ranges(few.where("x < 8"), min_rows=5) == {}
    small = {"points": 1, "epochs": 1, "quick": True, "threads": 1, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = ppan.spark.fit(people.where("region != 'abroad' or age = 120"), "marital", rows=600, **small)
        given = ppan.spark.fit(people, "marital", rows=600, columns={"age": {"range": [20, 50]}}, **small)
    ends = {}
    for name, curve in (("whole", whole), ("given", given)):
        columns = curve.pick(point=1, accept_inconclusive=True).to_dict()["model"]["encoding"]["columns"]
        ends[name] = next((column["least"], column["most"]) for column in columns if column["name"] == "age")
    assert ends == {"whole": (float(some["age"].min()), 120.0), "given": (20.0, 50.0)}
    model = ppan.Release(
        "marital", budget=0.2, epochs=1, quick=True, accept_inconclusive=True, threads=1, progress=False
    ).fit(some).model_  # fmt: skip
    assert ppan.spark.lacking_levels(people, model) == {"region": {"abroad": 100}}
    assert ppan.spark.lacking_levels(people.limit(900), model, min_rows=901) == {}


def test_bad_frames(spark: Any, model: ppan.Model, frame: pd.DataFrame, tmp_path: Path) -> None:
    people = spark.createDataFrame(frame)
    with pytest.raises(ppan.InputError, match="age"):
        ppan.spark.release(people.drop("age"), model)
    with pytest.raises(ppan.InputError, match="two columns"):
        ppan.spark.release(people.select("*", "age"), model)
    with pytest.raises(ppan.InputError, match="no rows"):
        ppan.spark.sample(people.limit(0), 10)
    with pytest.raises(ppan.UsageError, match="rows"):
        ppan.spark.sample(people, 0)
    assert ppan.spark.release(people.limit(0), model).count() == 0


def test_curve_on_executors_one_of_which_is_killed(
    spark: Any, fitted: ppan.TradeOff, frame: pd.DataFrame, tmp_path: Path
) -> None:
    assert files(fit(frame, Killing(engine.Spark(), tmp_path / "mark"))) == files(fitted)
    assert (tmp_path / "mark").exists()
    interrupted(engine.Spark(), tmp_path / "waiting")
