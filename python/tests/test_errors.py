"""What is wrong is said as the command line says it, all of it at once."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ppan
from conftest import SMALL, people


def fit(frame: object, **options: object) -> None:
    ppan.TradeOff(**{"sensitive": "marital", "progress": False, "points": 1, "epochs": 1, "quick": True, **options}).fit(frame)  # type: ignore[arg-type]


def test_every_problem_at_once(frame: pd.DataFrame) -> None:
    with pytest.raises(ppan.UsageError) as caught:
        fit(frame, points=0, settings={"train.batch": -1, "train.epoch": 3})
    assert len(caught.value.problems) == 3
    assert any("train.epochs" in problem for problem in caught.value.problems)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.head(0), "0 sample"),
        (lambda f: f[["age"]], "marital"),
        (lambda f: f.assign(marital="single"), "one value in every row"),
        (lambda f: f.assign(marital=None), "marital"),
        (lambda f: f.assign(marital=[1, "two", None] * (len(f) // 3)), "mixes types"),
        (lambda f: f.assign(income=[{"a": 1}] * len(f)), "income"),
        (lambda f: pd.concat([f, f[["age"]]], axis=1), "two columns"),
        (lambda f: f["age"], "frame is needed|frame"),
        (lambda f: 7, "a frame is needed"),
        (lambda f: f.assign(income=np.where(f["age"] == 30, np.inf, 1.0)), "finite"),
        (lambda f: f.assign(income=np.inf), "finite"),
        (lambda f: f.assign(income=np.where(f["age"] > 30, np.inf, -np.inf)), "finite"),
    ],
)
def test_bad_frames(frame: pd.DataFrame, change: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        fit(change(frame))  # type: ignore[operator]


def test_roles_that_contradict(frame: pd.DataFrame) -> None:
    with pytest.raises(ppan.UsageError, match="marital"):
        fit(frame, useful=["marital", "age"])
    with pytest.raises(ppan.UsageError, match="ages"):
        fit(frame, useful=["ages"])


def test_a_column_described_without_its_type(frame: pd.DataFrame) -> None:
    """The frame tells it; a range of what is no number says nothing."""
    described = {"age": {"range": [20, 60]}, "job": {"range": [0, 5], "weight": 2.0}}
    release = ppan.Release(
        "marital", budget=0.9, epochs=1, quick=True, threads=1, progress=False, accept_inconclusive=True, columns=described
    ).fit(frame)  # fmt: skip
    columns = {column["name"]: column for column in release.model_.to_dict()["model"]["encoding"]["columns"]}
    assert (columns["age"]["least"], columns["age"]["most"]) == (20, 60)
    assert columns["job"]["type"] == "category" and columns["job"]["weight"] == 2


def test_too_few_rows(frame: pd.DataFrame) -> None:
    with pytest.raises(ppan.InputError):
        fit(frame.head(30))


def test_numpy_with_nan() -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=(400, 3))
    values[::7, 1] = np.nan
    release = ppan.Release(budget=0.2, accept_inconclusive=True, epochs=1, quick=True, progress=False, threads=1)
    out = release.fit(values, (values[:, 0] > 0).astype(int)).transform(values)
    assert out.shape == values.shape and out.dtype == values.dtype


def test_a_family_without_restarts_takes_the_default() -> None:
    values = ppan.TradeOff("s", family="codebook")._job_values("s", None, None)
    assert "train.restarts" not in values
    assert ppan.TradeOff("s", restarts=2)._job_values("s", None, None)["train.restarts"] == 2


def test_labels_that_are_numbers() -> None:
    frame = people(300)[["marital", "age", "income"]].set_axis([10, 11, 12], axis=1)
    fitted = ppan.TradeOff(sensitive=10, side=[12], columns={11: "integer"}, **SMALL).fit(frame)
    assert fitted.pick(point=1, accept_inconclusive=True).released_columns == ["11"]
    with pytest.raises(ppan.UsageError, match="x13"):
        ppan.TradeOff(sensitive=13, **SMALL).fit(frame)


def test_words_are_pythons(model: ppan.Model, frame: pd.DataFrame, fitted: ppan.TradeOff, tmp_path: Path) -> None:
    with pytest.raises(ppan.InputError) as unknown:
        model.transform(frame.assign(job="king"))
    assert 'unknown="nearest"' in str(unknown.value) and "release.unknown" not in str(unknown.value)
    with pytest.raises(ppan.UsageError) as column:
        ppan.TradeOff(sensitive="maritl", **SMALL).fit(frame)
    assert "did you mean 'marital'" in str(column.value) and "[columns]" not in str(column.value)
    fitted.save(tmp_path / "run")
    with pytest.raises(ppan.UsageError, match="force=True"):
        fitted.save(tmp_path / "run")
