"""Models: the same kind of frame comes back, noise is new every time, and the file is the command line's."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ppan


def test_pandas(model: ppan.Model, frame: pd.DataFrame) -> None:
    safe = model.transform(frame)
    assert isinstance(safe, pd.DataFrame)
    assert list(safe.columns) == model.released_columns
    assert safe.index.equals(frame.index)
    assert dict(safe.dtypes) == {name: frame.dtypes[name] for name in safe.columns}
    assert set(safe["job"].dropna()) <= set(frame["job"]) | {"other"}
    assert not safe.equals(model.transform(frame))


def test_kinds(model: ppan.Model, frame: pd.DataFrame) -> None:
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    rows = polars.from_pandas(frame)
    safe = model.transform(rows)
    assert isinstance(safe, polars.DataFrame)
    assert safe.schema == rows.select(model.released_columns).schema
    assert isinstance(model.transform(rows.lazy()), polars.LazyFrame)
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    released = model.transform(table)
    assert isinstance(released, pyarrow.Table)
    assert released.schema.types == table.select(model.released_columns).schema.types
    columns = {name: frame[name].to_numpy() for name in frame}
    made = model.transform(columns)
    assert isinstance(made, dict)
    assert made["age"].dtype == np.int32 and made["owner"].dtype == bool
    assert made["since"].dtype == columns["since"].dtype


def test_duckdb(model: ppan.Model, frame: pd.DataFrame) -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().from_df(frame.reset_index(drop=True))
    assert model.transform(relation).num_rows == len(frame)


def test_any_arrow_producer(model: ppan.Model, frame: pd.DataFrame) -> None:
    pyarrow = pytest.importorskip("pyarrow")

    class Foreign:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pyarrow.Table.from_pandas(frame, preserve_index=False).__arrow_c_stream__(requested_schema)

    assert pyarrow.table(model.transform(Foreign())).num_rows == len(frame)


def test_columns_in_any_order_and_more_of_them(model: ppan.Model, frame: pd.DataFrame) -> None:
    other = frame[list(reversed(frame.columns))].assign(extra=object())
    assert list(model.transform(other).columns) == model.released_columns


def test_missing_values_stay_possible(model: ppan.Model, frame: pd.DataFrame) -> None:
    assert model.transform(frame)["income"].dtype == np.float64
    with pytest.raises(ppan.InputError, match="missing"):
        model.transform(frame.assign(age=frame["age"].astype(float).where(frame.index > 1003)))
    assert len(model.transform(frame.assign(age=frame["age"].astype(float).where(frame.index > 1003)), unknown="nearest")) == len(frame)


def test_file(model: ppan.Model, tmp_path: Path) -> None:
    path = tmp_path / "model.ppan"
    model.save(path)
    assert path.read_bytes() == model.to_bytes()
    assert path.stat().st_mode & 0o077 == 0
    assert ppan.load(path) == model
    for other in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert other == model and other is not model
    assert "marital" in model.describe() and model.to_dict()
    assert "<pre>" in model._repr_html_()


def test_command_line_releases_with_it(model: ppan.Model, frame: pd.DataFrame, command: str, tmp_path: Path) -> None:
    model.save(tmp_path / "model.ppan")
    # pandas writes True and False, ppan true and false.
    frame.assign(owner=frame["owner"].map({True: "true", False: "false"})).to_csv(tmp_path / "new.csv", index=False)
    subprocess.run([command, "release", tmp_path / "model.ppan", tmp_path / "new.csv", "-o", tmp_path / "out.csv"], check=True)
    out = pd.read_csv(tmp_path / "out.csv")
    assert list(out.columns) == model.released_columns and len(out) == len(frame)


def test_noise_differs_in_every_process(model: ppan.Model, frame: pd.DataFrame) -> None:
    """Parent and two children that are forked from it release the same rows; no two releases are the same."""
    model.transform(frame)  # the parent has words of noise ahead, which children must not use

    def child() -> tuple[int, int]:
        read, write = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                os.write(write, str(pd.util.hash_pandas_object(model.transform(frame, threads=1)).sum()).encode())
            finally:
                os._exit(0)
        os.close(write)
        return process, read

    children = [child(), child()]
    found = {str(pd.util.hash_pandas_object(model.transform(frame, threads=1)).sum())}
    for process, read in children:
        with os.fdopen(read) as pipe:
            found.add(pipe.read())
        os.waitpid(process, 0)
    assert len(found) == 3 and "" not in found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.drop(columns="age"), "age"),
        (lambda f: f.assign(age="old"), "age"),
        (lambda f: f.assign(job="astronaut"), "the cell is an unknown level"),
        (lambda f: pd.concat([f, f[["age"]]], axis=1), "two columns are called"),
        (lambda f: f.assign(income=np.inf), "income"),
        (lambda f: f.assign(age=[1, "two"] * (len(f) // 2)), "age"),
        (lambda f: f.assign(age=None), "missing"),
        (lambda f: f.assign(age=[[1]] * len(f)), "age"),
        (lambda f: f.assign(age=pd.Timestamp("2020-01-01")), "age"),
        (lambda f: f.assign(age=np.uint64(2**63 + 5)), "above 2\\^63"),
        (lambda f: f.assign(age=f["age"].astype(complex)), "age"),
        (lambda f: f["age"], "frame"),
        (lambda f: f.to_numpy()[:, 1], "2D"),
        (lambda f: np.full((5, 3), np.nan), "lacks columns"),
        (lambda f: None, "a frame is needed"),
    ],
)
def test_bad_frames(model: ppan.Model, frame: pd.DataFrame, change: object, said: str) -> None:
    with pytest.raises(ppan.InputError, match=said) as caught:
        model.transform(change(frame))  # type: ignore[operator]
    assert caught.value.problems
    assert isinstance(caught.value, ValueError)


def test_bad_files(model: ppan.Model, tmp_path: Path) -> None:
    (tmp_path / "broken.ppan").write_bytes(model.to_bytes()[:-1])
    with pytest.raises(ppan.InputError):
        ppan.load(tmp_path / "broken.ppan")
    with pytest.raises(OSError):
        ppan.load(tmp_path / "nothing.ppan")


def test_empty_frame(model: ppan.Model, frame: pd.DataFrame) -> None:
    assert len(model.transform(frame.head(0))) == 0
