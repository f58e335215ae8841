"""Curves trained elsewhere: the same bits wherever a piece was made, and although a worker was killed."""

from __future__ import annotations

import _thread
import csv
import io
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL

import ppan
from ppan import engine

OPTIONS: dict[str, Any] = {"sensitive": "marital", "side": ["region"], **SMALL}


class Twice(engine.Engine):
    """Every task twice, the last first, in this process."""

    def map(self, function: engine.Function, tasks: Sequence[Any]) -> list[Any]:
        for task in reversed(tasks):
            function(task)
        return [function(task) for task in tasks]


def fit(frame: Any, where: Any, **options: Any) -> ppan.TradeOff:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ppan.TradeOff(**{**OPTIONS, **options}, engine=where).fit(frame)


def files(curve: ppan.TradeOff) -> dict[str, Any]:
    """All files of a run but what says how long it took."""
    core = curve.curve_._core
    made: dict[str, Any] = {name: core.file(name) for name in core.names() if name not in ("summary.json", "report.html")}
    rows = list(csv.DictReader(io.StringIO(made["curve.csv"].decode())))
    made["curve.csv"] = [{name: cell for name, cell in row.items() if name != "seconds"} for row in rows]
    return made


@pytest.fixture(scope="module")
def few(frame: pd.DataFrame) -> pd.DataFrame:
    """Half of the rows train in a third of the time, and here curves are compared, not judged."""
    return frame.head(450)


@pytest.fixture(scope="module")
def alone(few: pd.DataFrame) -> ppan.TradeOff:
    """What every engine must give: the curve of this process."""
    return fit(few, None)


def test_pieces_made_in_any_order_and_twice(alone: ppan.TradeOff, few: pd.DataFrame) -> None:
    made = files(fit(few, Twice()))
    assert made == files(alone)
    assert {"curve.csv", "point-01.ppan", "point-02.ppan", "columns.json"} <= set(made)


def test_other_frames_and_estimators(frame: pd.DataFrame) -> None:
    random = np.random.default_rng(3)
    hidden = random.integers(0, 2, 600)
    columns = {"a": random.normal(hidden), "b": random.normal(size=600), "h": hidden.astype(str)}
    one = ppan.Release(sensitive="h", budget=0.3, epochs=1, quick=True, accept_inconclusive=True, engine=Twice(), threads=1)
    other = ppan.Release(sensitive="h", budget=0.3, epochs=1, quick=True, accept_inconclusive=True, threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert one.fit(columns).model_ == other.fit(columns).model_


@pytest.mark.parametrize("given", ["spork", 7, object()])
def test_unknown_engine(frame: pd.DataFrame, given: object) -> None:
    with pytest.raises(ppan.UsageError, match="engine"):
        fit(frame, given)


def test_what_is_wrong_is_said_as_without_an_engine(frame: pd.DataFrame) -> None:
    with pytest.raises(ppan.UsageError, match="maritl"):
        fit(frame, Twice(), sensitive="maritl")


class StopsAfter(engine.Engine):
    """Ctrl-C comes when so many tasks are done."""

    def __init__(self, tasks: int) -> None:
        self.tasks = tasks

    def each(self, function: engine.Function, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for number in reversed(range(len(tasks) - self.tasks, len(tasks))):
            yield number, function(tasks[number])
        raise KeyboardInterrupt


def test_ctrl_c_keeps_finished_points(alone: ppan.TradeOff, few: pd.DataFrame) -> None:
    with pytest.warns(ppan.Interrupted):
        curve = ppan.TradeOff(**OPTIONS, engine=StopsAfter(1)).fit(few)
    assert list(curve.points_["point"]) == [2] and curve.curve_.interrupted
    assert curve.curve_._core.file("point-02.ppan") == alone.curve_._core.file("point-02.ppan")
    assert len(curve.pick(point=2, accept_inconclusive=True).transform(few)) == len(few)
    with pytest.raises(KeyboardInterrupt):
        fit(few, StopsAfter(0))


class OnlyMap:
    """An engine of somebody else."""

    def map(self, function: engine.Function, tasks: Sequence[Any]) -> list[Any]:
        return [function(task) for task in tasks]


def test_any_object_with_map(alone: ppan.TradeOff, few: pd.DataFrame) -> None:
    assert files(fit(few, OnlyMap())) == files(alone)


class Waits:
    """The first task is done at once; the others, once begun, wait for the end of the test."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __call__(self, task: int) -> int:
        if task > 0:
            (self.directory / "begun").touch()
            while not (self.directory / "end").exists():
                time.sleep(0.05)
        return task


def test_a_signal_that_wakes_nobody_is_noticed() -> None:
    """Ctrl-C that comes just before the main thread begins to wait ends no wait, as here."""
    never: Future[int] = Future()
    late = threading.Timer(20, never.set_result, [0])  # so that the test fails instead of waiting for ever
    late.start()
    threading.Timer(0.1, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        next(engine._finished([never]))
    assert not never.done()
    late.cancel()


def interrupted(where: engine.Engine, directory: Path) -> None:
    """The result that is there comes, then Ctrl-C ends the wait for the other, which would never come."""
    directory.mkdir()
    results = where.each(Waits(directory), [0, 1])
    assert next(results) == (0, 0)

    def interrupt() -> None:
        while not (directory / "begun").exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        next(results)
    thread.join()
    results.close()  # type: ignore[attr-defined]
    (directory / "end").touch()  # where a task cannot be ended, its worker does


class Fails:
    """Fails the first time it is called."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self, task: int) -> int:
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return 2 * task
        raise OSError("out of luck")


def always_fails(task: int) -> int:
    raise OSError("no luck at all")


class Dying:
    """Kills the process that does the first task the first time it is done."""

    def __init__(self, function: engine.Function, mark: Path) -> None:
        self.function = function
        self.mark = mark

    def __call__(self, task: Any) -> Any:
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return self.function(task)
        os.kill(os.getpid(), signal.SIGKILL)
        return None


class Killing(engine.Engine):
    """Another engine, one of whose workers is killed."""

    def __init__(self, inner: engine.Engine, mark: Path) -> None:
        self.inner = inner
        self.mark = mark

    def map(self, function: engine.Function, tasks: Sequence[Any]) -> list[Any]:
        return self.inner.map(Dying(function, self.mark), tasks)


@pytest.mark.cluster
def test_processes_one_of_which_is_killed(alone: ppan.TradeOff, few: pd.DataFrame, tmp_path: Path) -> None:
    assert files(fit(few, Killing(engine.Local(2), tmp_path / "mark"))) == files(alone)
    assert (tmp_path / "mark").exists()
    assert engine.Local(2).map(Fails(tmp_path / "failed"), [1, 2, 3]) == [2, 4, 6]
    with pytest.raises(OSError, match="no luck at all"):
        engine.Local(1, retries=1).map(always_fails, [1])
    interrupted(engine.Local(2), tmp_path / "waiting")


@pytest.mark.cluster
def test_dask_one_of_whose_workers_is_killed(alone: ppan.TradeOff, few: pd.DataFrame, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    import dask

    # A slow machine starts a worker when it comes to it.
    patient = dask.config.set({"distributed.comm.timeouts.connect": "600s", "distributed.comm.timeouts.tcp": "600s"})
    with patient, distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path), host="127.0.0.1"
    ) as cluster, distributed.Client(cluster):
        assert files(fit(few, Killing(engine.Dask(), tmp_path / "mark"))) == files(alone)
        assert (tmp_path / "mark").exists()
        assert engine.Dask().map(Fails(tmp_path / "failed"), [1, 2, 3]) == [2, 4, 6]
        interrupted(engine.Dask(), tmp_path / "waiting")


@pytest.mark.cluster
def test_ray_one_of_whose_workers_is_killed(alone: ppan.TradeOff, few: pd.DataFrame, tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    os.environ["RAY_raylet_start_wait_time_s"] = "600"  # a slow machine starts it when it comes to it
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
        object_store_memory=100 << 20, runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(_paths())}},
    )  # fmt: skip
    try:
        assert files(fit(few, Killing(engine.Ray(), tmp_path / "mark"))) == files(alone)
        assert (tmp_path / "mark").exists()
        interrupted(engine.Ray(), tmp_path / "waiting")
    finally:
        ray.shutdown()


def _paths() -> list[str]:
    """Where workers find the package and the classes of this file."""
    import sys

    return [str(Path(__file__).parent), *[entry for entry in sys.path if entry]]
