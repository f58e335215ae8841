"""Models: the same kind of frame comes back, noise is new every time, and the file is the command line's."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ppan


def columns(frame: pd.DataFrame) -> dict[str, np.ndarray]:
    return {name: frame[name].to_numpy() for name in frame}


def arrow(frame: pd.DataFrame, **changed: object) -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    for name, values in changed.items():
        made = values if isinstance(values, (pyarrow.Array, pyarrow.ChunkedArray)) else pyarrow.array(values)
        table = table.set_column(table.schema.names.index(name), name, made)
    return table


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
    connection = duckdb.connect()
    relation = connection.from_df(frame.reset_index(drop=True))
    relation = relation.project("* replace (age::utinyint as age, income::decimal(12, 2) as income)")
    safe = model.transform(relation)
    assert isinstance(safe, duckdb.DuckDBPyRelation) and safe.columns == model.released_columns
    types = dict(zip(relation.columns, relation.types, strict=True))
    for name, kind in zip(safe.columns, safe.types, strict=True):
        assert kind == types[name] or str(types[name]).startswith("ENUM")
    assert safe.fetchall() == safe.fetchall() and len(safe.fetchall()) == len(frame)
    # On the same connection, and nothing is left there.
    assert connection.sql("select count(*) from safe where age > 17").fetchall() == [(len(frame),)]
    assert connection.execute("select count(*) from duckdb_views() where not internal").fetchall() == [(0,)]


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
        (lambda f: {**columns(f), "job": np.array(["\ud800", "clerk"] * (len(f) // 2))}, "not valid Unicode"),
        (lambda f: f.assign(job=pd.Series(["\ud800", "clerk"] * (len(f) // 2), dtype=object, index=f.index)), "not valid Unicode"),
        (lambda f: arrow(f, age=np.array([2**63 + 5] * len(f), np.uint64)), "above 2\\^63"),
        (lambda f: {**columns(f), "age": np.full(len(f), 2**63 + 5, np.uint64)}, "above 2\\^63"),
        (lambda f: {**columns(f), "since": np.full(len(f), np.datetime64(10**12, "D"))}, "beyond 64 bits"),
        (lambda f: arrow(f, since=np.full(len(f), 2**62).view("datetime64[s]")), "beyond 64 bits"),
        (lambda f: {**columns(f), "age": np.ma.masked_less(f["age"].to_numpy(), 40)}, "missing"),
        (lambda f: {**columns(f), "age": f["age"].to_numpy()[:5]}, "rows"),
        (lambda f: arrow(f, age=[[1]] * len(f)), "Arrow type"),
        (lambda f: arrow(f).append_column("age", arrow(f)["age"]), "two columns are called"),
        (lambda f: np.zeros(5, dtype=[("age", float)]), "2D"),
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


def test_odd_arrow_columns(model: ppan.Model, frame: pd.DataFrame) -> None:
    """Codes that are null, entries that are, levels nobody has, views, chunks of their own, no type at all, no missing values allowed."""
    pa = pytest.importorskip("pyarrow")
    n = len(frame)
    levels = pa.array(["student", None, "clerk", "unused"])
    codes = pa.array([None if row % 7 == 0 else row % 3 for row in range(n)], pa.int8())
    odd = arrow(frame, job=pa.DictionaryArray.from_arrays(codes, levels))
    with pytest.raises(ppan.InputError, match="row 1, .*missing"):
        model.transform(odd)
    assert model.transform(odd, unknown="nearest").schema.field("job").type == odd.schema.field("job").type
    whole = arrow(frame)
    apart = pa.table({
        name: pa.chunked_array([whole[name].slice(0, cut).combine_chunks(), whole[name].slice(cut).combine_chunks()])
        for cut, name in zip((10, 500, 33, 1, 899, 0, 7), whole.schema.names, strict=True)
    })  # fmt: skip
    assert model.transform(apart).num_rows == n
    assert model.transform(whole.slice(13, 101)).num_rows == 101
    assert model.transform(arrow(frame, job=frame["job"].astype(str).to_numpy())).num_rows == n
    assert model.transform(arrow(frame, job=pa.array(frame["job"].astype(str).tolist(), pa.string_view()))).num_rows == n
    nothing = model.transform(arrow(frame, income=pa.nulls(n)))
    assert nothing.num_rows == n
    strict = arrow(frame.fillna({"income": 1.0}))
    strict = strict.cast(pa.schema([field.with_nullable(False) for field in strict.schema]))
    released = model.transform(strict)
    assert all(field.nullable == (released[field.name].null_count > 0) for field in released.schema)
    for kind in (pa.timestamp("ns"), pa.timestamp("us", tz="Europe/Berlin"), pa.date32()):
        assert model.transform(arrow(frame, since=whole["since"].cast(kind))).schema.field("since").type == kind
    wide = pa.array(frame["age"].tolist(), pa.decimal128(38, 10))
    assert model.transform(arrow(frame, age=wide)).schema.field("age").type == wide.type
    assert model.transform(whole.slice(0, 0)).num_rows == 0
    assert model.transform(pa.Table.from_batches([], schema=whole.schema)).num_rows == 0


def test_threads_share_a_model(model: ppan.Model, frame: pd.DataFrame) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        released = list(pool.map(lambda _: model.transform(frame, threads=1), range(8)))
    assert len({str(pd.util.hash_pandas_object(safe).sum()) for safe in released}) == 8
