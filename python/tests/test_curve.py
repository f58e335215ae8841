"""Curves: what fit() keeps, and that it is what the command line writes."""

from __future__ import annotations

import copy
import pickle
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import SMALL, people

import ppan


def test_points_are_a_frame(fitted: ppan.TradeOff) -> None:
    points = fitted.points_
    assert isinstance(points, pd.DataFrame)
    for column in ("distortion", "leakage", "leakage_low", "leakage_high", "upper_end", "power", "upper_bound", "task_loss"):
        assert column in points
    assert list(points["point"]) == [1, 2]
    assert points["distortion"].is_monotonic_increasing
    assert (points["upper_end"] >= points["leakage"]).all()
    assert np.isfinite(points["leakage"]).all()


def test_roles_are_guessed(fitted: ppan.TradeOff) -> None:
    assert set(fitted.pick(point=1, accept_inconclusive=True).released_columns) == {"age", "job", "income", "owner", "since"}
    assert list(fitted.feature_names_in_)[:2] == ["marital", "age"]
    assert fitted.n_features_in_ == 7
    assert "sensitive" in fitted.job_


def test_same_frame_same_bits(fitted: ppan.TradeOff, frame: pd.DataFrame) -> None:
    polars = pytest.importorskip("polars")
    again = ppan.TradeOff(sensitive="marital", side=["region"], **SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again.fit(polars.from_pandas(frame))
    assert again.points_.to_dict(as_series=False)["leakage"] == list(fitted.points_["leakage"])


def test_pick(fitted: ppan.TradeOff) -> None:
    most = float(fitted.points_["upper_end"].max())
    assert fitted.pick(leakage=most + 1, accept_inconclusive=True).sensitive == ["marital"]
    with pytest.raises(ppan.UsageError, match="exactly one"):
        fitted.pick(leakage=0.1, budget=0.1)
    with pytest.raises(ppan.UsageError, match="there is no point 9"):
        fitted.pick(point=9, accept_inconclusive=True)
    with pytest.raises(ValueError, match="measure"):
        fitted.pick(leakage=0.1, measure="guessed")


def test_pickle_and_copy(fitted: ppan.TradeOff) -> None:
    for curve in (pickle.loads(pickle.dumps(fitted.curve_)), copy.deepcopy(fitted.curve_)):
        assert list(curve.points_["leakage"]) == list(fitted.points_["leakage"])
        assert curve.pick(point=1, accept_inconclusive=True) == fitted.pick(point=1, accept_inconclusive=True)


def test_run_directory_is_the_command_lines(fitted: ppan.TradeOff, command: str, tmp_path: Path) -> None:
    fitted.save(tmp_path / "run")
    picked = tmp_path / "picked.ppan"
    subprocess.run([command, "pick", tmp_path / "run", "--point", "2", "--accept-inconclusive", "-o", picked], check=True)
    assert picked.read_bytes() == fitted.pick(point=2, accept_inconclusive=True).to_bytes()
    assert ppan.load_run(tmp_path / "run").pick(point=2, accept_inconclusive=True) == ppan.load(picked)
    with pytest.raises(ppan.Error, match="not empty|exists"):
        fitted.save(tmp_path / "run")


def test_display(fitted: ppan.TradeOff) -> None:
    assert "<svg" in fitted._repr_html_()
    assert "<html" in fitted.curve_.report()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = fitted.plot()
    assert axes.get_xlabel() == "distortion"
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "learned" in named and "unchanged" in named and not any("/" in name for name in named)


def test_progress(frame: pd.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ppan.TradeOff(sensitive="marital", **{**SMALL, "points": 1, "epochs": 1, "progress": True}).fit(frame.head(500))
    assert "100%" in capsys.readouterr().err


INTERRUPTED = """
import os, signal, sys, threading, warnings
sys.path.insert(0, {tests!r})
import ppan
from ppan import _progress
from conftest import people
warnings.simplefilter("ignore")
seen = []
class Listener(_progress.Progress):
    def __call__(self, kind, point, step, steps):
        seen.append(kind)
        if kind == {moment!r}:
            os.kill(os.getpid(), signal.SIGINT)
_progress.Progress = Listener
import ppan._estimators
ppan._estimators.Progress = Listener
try:
    fitted = ppan.TradeOff(sensitive="marital", points=60, epochs={epochs}, quick=True, threads=1, progress=False).fit(people(400))
    print("kept", len(fitted.points_), fitted.curve_.interrupted)
except KeyboardInterrupt:
    print("nothing")
"""


@pytest.mark.parametrize(("moment", "epochs", "answer"), [("finished", 4, "kept"), ("epoch", 1_000_000, "nothing")])
def test_ctrl_c(moment: str, epochs: int, answer: str) -> None:
    """Stops at the next epoch; finished points are kept, and without one KeyboardInterrupt is raised. However late Ctrl-C is heard,
    much is left to do then: the second point to the last, or most of a million epochs."""
    script = INTERRUPTED.format(tests=str(Path(__file__).parent), moment=moment, epochs=epochs)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(answer), done.stderr
    if answer == "kept":
        assert int(done.stdout.split()[1]) < 60
        assert "True" in done.stdout


def test_interpreter_is_not_blocked(frame: pd.DataFrame) -> None:
    """Another thread of Python goes on while a curve is trained: the training is stopped by one, which it can only be by a thread
    that runs meanwhile."""
    import threading

    from ppan import _core, _frames

    begun = threading.Event()

    def listener(kind: str, point: int, step: int, steps: int) -> None:
        begun.set()

    def stop() -> None:
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=stop)
    thread.start()
    job = _core.make_job({"roles.sensitive": ["marital"], "privacy.points": 1, "train.epochs": 1_000_000, "train.threads": 1}, {})
    with pytest.raises(KeyboardInterrupt):
        _core.fit(_frames.stream_of(frame), job, listener)
    thread.join()


def test_warnings_are_warnings() -> None:
    with pytest.warns(ppan.PrivacyWarning):
        warnings.warn("inconclusive", ppan.PrivacyWarning, stacklevel=1)
    assert issubclass(ppan.Interrupted, UserWarning)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert len(people(3)) == 3


def test_its_job_file_can_be_run(fitted: ppan.TradeOff, frame: pd.DataFrame, command: str, tmp_path: Path) -> None:
    """By the command line, once it names a file."""
    frame.assign(owner=frame["owner"].map({True: "true", False: "false"})).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "job.toml").write_text(fitted.job_.replace('"a frame in memory"', '"people.csv"'))
    subprocess.run([command, "curve", tmp_path / "job.toml", "--out", tmp_path / "run", "--quiet"], check=True)
    assert list(ppan.load_run(tmp_path / "run").points_["budget"]) == list(fitted.points_["budget"])
