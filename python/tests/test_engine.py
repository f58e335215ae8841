"""Curves trained elsewhere: the same bits wherever a piece was made, and although a worker was killed."""

from __future__ import annotations

import os
import signal
import warnings
from pathlib import Path

import pandas as pd
import pytest
from conftest import SMALL

import ppan
from ppan import _core, engine

needs_pieces = pytest.mark.skipif(not hasattr(_core, "prepare"), reason="the library cannot cut a curve into pieces")

OPTIONS = {"sensitive": "marital", "side": ["region"], **SMALL}


class InOrder(engine.Engine):
    """Every task twice, the last first, in this process."""

    def map(self, function: engine.Function, tasks: object) -> list[object]:
        for task in reversed(list(tasks)):  # type: ignore[call-overload]
            function(task)
        return [function(task) for task in tasks]  # type: ignore[attr-defined]


def fit(frame: pd.DataFrame, where: object) -> ppan.TradeOff:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ppan.TradeOff(**OPTIONS, engine=where).fit(frame)


def same(one: ppan.TradeOff, other: ppan.TradeOff) -> bool:
    def pick(curve: ppan.TradeOff, point: int) -> bytes:
        return curve.pick(point=point, accept_inconclusive=True).to_bytes()

    return all(pick(one, point) == pick(other, point) for point in (1, 2)) and list(one.points_["leakage"]) == list(
        other.points_["leakage"]
    )


@needs_pieces
def test_pieces_made_in_any_order(fitted: ppan.TradeOff, frame: pd.DataFrame) -> None:
    assert same(fit(frame, InOrder()), fitted)


@needs_pieces
def test_unknown_engine(frame: pd.DataFrame) -> None:
    with pytest.raises(ppan.UsageError, match="spork"):
        fit(frame, "spork")


class Dying:
    """Kills the process that does the first task the first time it is done."""

    def __init__(self, function: engine.Function, mark: Path) -> None:
        self.function = function
        self.mark = mark

    def __call__(self, task: object) -> object:
        try:
            with open(self.mark, "x"):
                pass
        except FileExistsError:
            return self.function(task)
        os.kill(os.getpid(), signal.SIGKILL)
        return None


class Killing(engine.Engine):
    """Another engine, one of whose workers is killed."""

    def __init__(self, inner: engine.Engine, mark: Path) -> None:
        self.inner = inner
        self.mark = mark

    def map(self, function: engine.Function, tasks: object) -> list[object]:
        return self.inner.map(Dying(function, self.mark), tasks)  # type: ignore[arg-type]


@needs_pieces
@pytest.mark.cluster
def test_processes_one_of_which_is_killed(fitted: ppan.TradeOff, frame: pd.DataFrame, tmp_path: Path) -> None:
    assert same(fit(frame, Killing(engine.Local(2), tmp_path / "mark")), fitted)
    assert (tmp_path / "mark").exists()


@needs_pieces
@pytest.mark.cluster
def test_dask_one_of_whose_workers_is_killed(fitted: ppan.TradeOff, frame: pd.DataFrame, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)) as cluster:
        with distributed.Client(cluster) as client:
            assert same(fit(frame, Killing(engine.Dask(client), tmp_path / "mark")), fitted)
    assert (tmp_path / "mark").exists()
