"""Curves trained elsewhere: the same bits wherever a piece was made, and although a worker was killed."""

from __future__ import annotations

import csv
import io
import os
import signal
import warnings
from collections.abc import Sequence
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


def test_pieces_made_in_any_order_and_twice(fitted: ppan.TradeOff, frame: pd.DataFrame) -> None:
    made = files(fit(frame, Twice()))
    assert made == files(fitted)
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
def test_processes_one_of_which_is_killed(fitted: ppan.TradeOff, frame: pd.DataFrame, tmp_path: Path) -> None:
    assert files(fit(frame, Killing(engine.Local(2), tmp_path / "mark"))) == files(fitted)
    assert (tmp_path / "mark").exists()
    assert engine.Local(2).map(Fails(tmp_path / "failed"), [1, 2, 3]) == [2, 4, 6]
    with pytest.raises(OSError, match="no luck at all"):
        engine.Local(1, retries=1).map(always_fails, [1])


@pytest.mark.cluster
def test_dask_one_of_whose_workers_is_killed(fitted: ppan.TradeOff, frame: pd.DataFrame, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path), host="127.0.0.1"
    ) as cluster, distributed.Client(cluster):
        assert files(fit(frame, Killing(engine.Dask(), tmp_path / "mark"))) == files(fitted)
        assert (tmp_path / "mark").exists()
        assert engine.Dask().map(Fails(tmp_path / "failed"), [1, 2, 3]) == [2, 4, 6]


@pytest.mark.cluster
def test_ray_one_of_whose_workers_is_killed(fitted: ppan.TradeOff, frame: pd.DataFrame, tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
        object_store_memory=100 << 20, runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(_paths())}},
    )  # fmt: skip
    try:
        assert files(fit(frame, Killing(engine.Ray(), tmp_path / "mark"))) == files(fitted)
        assert (tmp_path / "mark").exists()
    finally:
        ray.shutdown()


def _paths() -> list[str]:
    """Where workers find the package and the classes of this file."""
    import sys

    return [str(Path(__file__).parent), *[entry for entry in sys.path if entry]]
