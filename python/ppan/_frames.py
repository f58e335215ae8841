"""Frames of any kind in, the same kind out. Nobody's library is imported that the caller does not use already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._errors import InputError, UsageError


def kind_of(data: Any) -> str:
    """What a frame is: "pandas", "polars", "pyarrow", "duckdb", "numpy", "dict" or "arrow" (anything else with
    ``__arrow_c_stream__``)."""
    module = type(data).__module__.split(".")[0].lstrip("_")
    if isinstance(data, np.ndarray):
        return "numpy"
    if isinstance(data, dict):
        return "dict"
    if module in ("pandas", "polars", "pyarrow", "duckdb") and not type(data).__name__.endswith(("Series", "Array", "Index")):
        return module
    if hasattr(data, "__arrow_c_stream__"):
        return "arrow"
    if isinstance(data, (list, tuple)) or (hasattr(data, "__array__") and np.asarray(data).ndim == 2):
        return "numpy"
    raise InputError(
        f"a frame is needed, not {type(data).__name__}",
        "give a frame of pandas, polars, pyarrow or DuckDB, a NumPy array, or a dict of columns",
    )


def names_of(data: Any) -> list[str]:
    """Names of the columns."""
    kind = kind_of(data)
    if kind == "numpy":
        return [f"x{i}" for i in range(_matrix(data).shape[1])]
    if kind == "dict":
        return [str(name) for name in data]
    if kind == "pyarrow":
        return [str(name) for name in data.schema.names]
    if kind == "polars" and type(data).__name__ == "LazyFrame":
        return list(data.collect_schema().names())
    if kind == "arrow":
        return list(_core.names_of(data.__arrow_c_stream__()))
    return [str(name) for name in data.columns]


def _array(values: Any) -> np.ndarray[Any, Any]:
    """As NumPy has it; what a mask hides is missing."""
    if not np.ma.is_masked(values):
        return np.asarray(values)
    kind = values.dtype.kind
    if kind == "M":
        return np.where(np.ma.getmaskarray(values), np.datetime64("NaT"), np.asarray(values))
    as_number = kind in "fiu"
    filled: np.ndarray[Any, Any] = np.asarray(values).astype(float if as_number else object)
    filled[np.ma.getmaskarray(values)] = np.nan if as_number else None
    return filled


def _matrix(data: Any) -> np.ndarray[Any, Any]:
    array = _array(data)
    if array.dtype == object or array.dtype.kind in "US":
        try:
            array = array.astype(float)
        except (TypeError, ValueError):
            pass
    if array.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead",
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
            "array.reshape(1, -1) if it contains a single sample.",
        )
    return array


def _add_array(frame: _core.Arrays, name: str, values: np.ndarray[Any, Any]) -> None:
    """Adds one column of NumPy values as what it is."""
    if values.ndim != 1:
        raise InputError(f"column \"{name}\" is not one-dimensional")
    kind = values.dtype.kind
    if kind == "c":
        raise InputError(f"Complex data not supported: column \"{name}\"", "give real and imaginary part as two columns")
    if kind == "f":
        frame.add_reals(name, np.ascontiguousarray(values, dtype=np.float64))
    elif kind in "iu":
        if kind == "u" and values.dtype.itemsize == 8 and len(values) and values.max() > np.iinfo(np.int64).max:
            raise InputError(f"column \"{name}\" holds a whole number above 2^63", "make it text, or a real number")
        frame.add_integers(name, np.ascontiguousarray(values, dtype=np.int64))
    elif kind == "b":
        frame.add_codes(name, np.ascontiguousarray(values, dtype=np.int32), ["false", "true"])
    elif kind == "M":
        times = values.astype("datetime64[us]")
        # Coarser units reach further: beyond 64 bits NumPy wraps around without a word.
        if np.datetime_data(values.dtype)[0] not in ("us", "ns", "ps", "fs", "as") and not np.array_equal(
            times.astype(values.dtype), values, equal_nan=True
        ):
            raise InputError(f"column \"{name}\" holds a time beyond 64 bits of microseconds", "correct the value, or drop the column")
        frame.add_times(name, np.ascontiguousarray(times.view(np.int64)))
    elif kind in "US":
        levels, codes = np.unique(values.astype(str), return_inverse=True)
        _require_unicode(name, levels)
        frame.add_codes(name, np.ascontiguousarray(codes, dtype=np.int32), [str(level) for level in levels])
    elif kind == "O":
        _add_objects(frame, name, values)
    else:
        raise InputError(f"column \"{name}\" has the type {values.dtype}, which cannot be used")


def _add_objects(frame: _core.Arrays, name: str, values: np.ndarray[Any, Any]) -> None:
    """A column of Python objects: all numbers, all booleans or all texts, but for what is missing."""
    missing = np.fromiter((v is None or v != v for v in values), dtype=bool, count=len(values))
    present = values[~missing]
    kinds = {_object_kind(value) for value in present}
    if len(kinds) > 1:
        first = {_object_kind(value): position for position, value in reversed(list(enumerate(values))) if not missing[position]}
        where = ", ".join(f"{kind} in row {row + 1}" for kind, row in sorted(first.items(), key=lambda item: item[1]))
        raise InputError(f"column \"{name}\" mixes types: {where}", "make it one type, for example with astype(str)")
    kind = kinds.pop() if kinds else "text"
    if kind == "number":
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = present.astype(float)
        frame.add_reals(name, numbers)
        return
    if kind not in ("text", "truth value"):
        raise InputError(
            f"column \"{name}\" holds objects of type {kind}: argument must be a string, a number or a truth value",
            "convert the column",
        )
    texts = ["true" if v is True else "false" if v is False else str(v) for v in present]
    levels = sorted(set(texts))
    _require_unicode(name, levels)
    position = {level: code for code, level in enumerate(levels)}
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[~missing] = [position[text] for text in texts]
    frame.add_codes(name, codes, levels)


def _require_unicode(name: str, texts: Iterable[str]) -> None:
    if any(not text.isascii() and text.encode("utf-8", "replace").decode() != text for text in texts):
        raise InputError(f"column \"{name}\" holds text that is not valid Unicode", "encode and decode it with errors=\"replace\"")


def _object_kind(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "truth value"
    if isinstance(value, (int, float, np.integer, np.floating)):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def _stream_of_arrays(columns: dict[str, Any]) -> Any:
    frame = _core.Arrays()
    for name, values in columns.items():
        _add_array(frame, str(name), _array(values))
    return frame


def _pandas_stream(data: Any, names: Sequence[str] | None) -> Any:
    """pandas goes through pyarrow where that is there, column by column through NumPy otherwise."""
    if not data.columns.is_unique:
        twice = sorted({str(name) for name in data.columns[data.columns.duplicated()]})
        raise InputError(f"two columns are called \"{twice[0]}\"", "rename one of them")
    chosen = data if names is None else data[_original_names(data, names)]
    try:
        import pyarrow
    except ImportError:
        columns = {}
        for name in chosen.columns:
            values = chosen[name]
            if str(values.dtype) == "category":
                values = values.astype(object)
            columns[str(name)] = values.to_numpy()
        return _stream_of_arrays(columns)
    arrays = []
    for name in chosen.columns:
        try:
            arrays.append(pyarrow.Array.from_pandas(chosen[name]))
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError, UnicodeEncodeError):
            objects = chosen[name].to_numpy(dtype=object)
            _add_objects(_core.Arrays(), str(name), objects)  # says what is wrong
            arrays.append(pyarrow.array([None if v is None or v != v else str(v) for v in objects]))
    table = pyarrow.Table.from_arrays(arrays, names=[str(name) for name in chosen.columns]) if arrays else pyarrow.table({})
    return table.__arrow_c_stream__()


def _original_names(data: Any, names: Sequence[str]) -> list[Any]:
    own = {str(name): name for name in data.columns}
    return [own[name] for name in names]


def stream_of(data: Any, names: Sequence[str] | None = None) -> Any:
    """The frame as a capsule of an Arrow stream; of the columns ``names`` alone where given and there."""
    kind = kind_of(data)
    if names is not None:
        there = names_of(data)
        names = [name for name in there if name in set(names)]
        if not names:
            names = there
    if kind == "numpy":
        matrix = _matrix(data)
        if matrix.dtype.kind == "c":
            raise InputError("Complex data not supported", "give real and imaginary parts as columns")
        return _stream_of_arrays({f"x{i}": matrix[:, i] for i in range(matrix.shape[1]) if names is None or f"x{i}" in names})
    if kind == "dict":
        return _stream_of_arrays({str(k): v for k, v in data.items() if names is None or str(k) in names})
    if kind == "pandas":
        return _pandas_stream(data, names)
    if kind == "polars":
        if type(data).__name__ == "LazyFrame":
            data = data.collect()
        return (data if names is None else data.select(list(names))).__arrow_c_stream__()
    if kind == "pyarrow":
        own = list(data.schema.names)
        twice = [name for name in own if own.count(name) > 1 and (names is None or name in names)]
        if twice:
            raise InputError(f"two columns are called \"{twice[0]}\"", "rename one of them")
        if type(data).__name__ == "RecordBatchReader" or names is None:
            return data.__arrow_c_stream__()
        return data.select(list(names)).__arrow_c_stream__()
    return data.__arrow_c_stream__()


def with_column(data: Any, name: str, values: np.ndarray[Any, Any]) -> Any:
    """The frame with one more column."""
    kind = kind_of(data)
    if name in names_of(data):
        raise InputError(f"the frame has a column \"{name}\" already", "rename it; y of fit(X, y) is called so")
    if kind == "numpy":
        matrix = _matrix(data)
        return {**{f"x{i}": matrix[:, i] for i in range(matrix.shape[1])}, name: values}
    if kind == "dict":
        return {**data, name: values}
    if kind == "pandas":
        return data.assign(**{name: values})
    if kind == "polars":
        import polars

        return data.with_columns(polars.Series(name, values))
    import pyarrow

    return pyarrow.table(data).append_column(name, pyarrow.array(values))


def rows_of(data: Any) -> int | None:
    """Number of rows, where the frame knows it."""
    kind = kind_of(data)
    if kind == "numpy":
        return int(_matrix(data).shape[0])
    if kind == "dict":
        return len(next(iter(data.values()))) if data else 0
    try:
        return len(data)
    except TypeError:
        return None


def frame_of(stream: Any, like: Any) -> Any:
    """The released stream as a frame of the kind of ``like``, with its index and its types."""
    kind = kind_of(like)
    if kind == "polars":
        import polars

        lazy = type(like).__name__ == "LazyFrame"
        released = polars.DataFrame(stream)
        schema = like.collect_schema() if lazy else like.schema
        released = released.with_columns([released[name].cast(schema[name]) for name in released.columns if released.schema[name] != schema[name]])
        return released.lazy() if lazy else released
    if kind == "pandas":
        return _to_pandas(stream, like)
    if kind == "arrow":
        return stream
    if kind == "duckdb":
        return _to_duckdb(stream, like)
    if kind == "pyarrow":
        import pyarrow

        table = pyarrow.table(stream)
        fields = [_released_field(like.schema.field(name), table.column(name)) for name in table.schema.names]
        table = table.cast(pyarrow.schema(fields))
        if type(like).__name__ == "RecordBatch":
            batches = table.combine_chunks().to_batches()
            return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], schema=table.schema)
        return table
    columns = _core.columns_of(stream.__arrow_c_stream__())
    if kind == "dict":
        return {name: _like_array(values, np.asarray(like[name])) for name, values in columns}
    matrix = _matrix(like)
    if matrix.dtype.kind in "fiu":
        return np.column_stack([np.asarray(values, dtype=matrix.dtype) for _, values in columns]) if columns else matrix[:, :0]
    return np.column_stack([np.asarray(values, dtype=object) for _, values in columns])


def _released_field(before: Any, released: Any) -> Any:
    """The field that a column had, but where it cannot hold what was released: of no type at all, or never missing."""
    import pyarrow

    kept = before.with_type(released.type) if pyarrow.types.is_null(before.type) else before
    return kept.with_nullable(kept.nullable or released.null_count > 0)


def _to_duckdb(stream: Any, like: Any) -> Any:
    """A relation of the same connection, whose SQL finds the released rows by the name of the variable here. Without pyarrow, which
    holds them, the stream, which DuckDB reads as well, but once."""
    try:
        import pyarrow
    except ImportError:
        return stream
    released = pyarrow.table(stream)
    names = list(released.schema.names)
    types = dict(zip(like.columns, (str(kind) for kind in like.types), strict=True))
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in names}
    # The grouped level of a model is none of an enumeration: such a column comes back as text.
    asked = [quoted[n] if types[n].startswith("ENUM") else f"cast({quoted[n]} as {types[n]}) as {quoted[n]}" for n in names]
    return like.query("ppan_given", f"select {', '.join(asked)} from released")


def _like_array(values: Any, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array = np.asarray(values)
    if like.dtype.kind == "b":
        return np.asarray([v in (True, "true") for v in array])
    if like.dtype.kind == "M":
        return array.astype("int64").astype("datetime64[us]").astype(like.dtype)
    return array.astype(like.dtype)


def _to_pandas(stream: Any, like: Any) -> Any:
    import pandas

    own = {str(name): name for name in like.columns}
    try:
        import pyarrow
    except ImportError:
        made = {}
        for name, values in _core.columns_of(stream.__arrow_c_stream__()):
            dtype = like[own[name]].dtype
            series = pandas.Series(np.asarray(values), index=like.index)
            if str(dtype) == "bool":
                series = series.map({"true": True, "false": False, True: True, False: False})
            elif dtype.kind == "M":
                series = pandas.to_datetime(series, unit="us")
            made[own[name]] = series.astype(dtype)
        return pandas.DataFrame(made, index=like.index)
    table = pyarrow.table(stream)
    made = {}
    for name in table.schema.names:
        dtype = like[own[name]].dtype
        made[own[name]] = _pandas_series(table.column(name), dtype, like.index)
    return pandas.DataFrame(made, index=like.index)


def _pandas_series(column: Any, dtype: Any, index: Any) -> Any:
    import pandas

    values = column.to_pandas(date_as_object=False)
    text = str(dtype)
    if text == "category" or dtype.name == "category":
        own = dtype.categories
        if own.inferred_type not in ("string", "empty"):
            as_text = {str(value): value for value in own}
            values = values.astype(object).map(lambda v: as_text.get(v, v) if isinstance(v, str) else v)
        extra = [v for v in pandas.unique(values.dropna()) if v not in own]
        if extra:  # the grouped level of the model is a level that the frame may not have
            return pandas.Series(pandas.Categorical(values, categories=list(own) + extra, ordered=dtype.ordered), index=index)
    values.index = index
    try:
        return values.astype(dtype)
    except (TypeError, ValueError):
        return values  # a missing value that the type cannot hold


def portable(data: Any) -> Any:
    """The frame as something that any process can unpickle: NumPy columns as they are, others as an Arrow table."""
    if kind_of(data) in ("numpy", "dict"):
        return data
    try:
        import pyarrow
    except ImportError as error:
        raise UsageError("pyarrow is needed to take this frame to another process", "pip install pyarrow") from error
    return pyarrow.table(_Held(stream_of(data)))


class _Held:
    """A capsule as an object that has one."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._capsule
