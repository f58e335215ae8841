"""Spark: releases of tables of any size, training on a uniform sample, audits on another.

    curve = ppan.spark.fit(people, "marital")
    model = curve.pick(leakage=0.05)
    released = ppan.spark.write(people, model, "released")

Executors need the wheel of ppan and pyarrow; nothing else of it. Each task releases its partition with secure noise of its own. A
task that is retried or run twice draws new noise, so what is written goes through Spark's own output commit: the first attempt that
commits wins, and a record is never in two outputs. A DataFrame is a plan, not a table: each action on what ``release`` returns
releases anew. Write it once, and read what was written.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ._audit import AuditReport
from ._errors import InputError, UsageError
from ._model import Model

# Rows that are released in one call: Spark hands them over by ten thousand, and each call has costs of its own.
_ROWS_AT_ONCE = 1 << 17
_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"

_models: dict[bytes, Model] = {}


def _session(given: Any) -> Any:
    from pyspark.sql import SparkSession

    session = given or SparkSession.getActiveSession()
    if session is None:
        raise UsageError("there is no active Spark session", "make one: SparkSession.builder.getOrCreate()")
    return session


def _model_of(data: bytes) -> Model:
    """Each process of an executor reads a model once."""
    if data not in _models:
        _models.clear()
        _models[data] = Model.from_bytes(data)
    return _models[data]


def _gathered(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches put together into tables of about ``_ROWS_AT_ONCE`` rows."""
    import pyarrow

    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS_AT_ONCE:
            yield pyarrow.Table.from_batches(held)
            held, rows = [], 0
    if rows:
        yield pyarrow.Table.from_batches(held)


def release(df: Any, model: Model, *, unknown: str | None = None) -> Any:
    """The released DataFrame: the model's columns with the types they had. Rows stay in their partitions. It is a plan:
    see :func:`write`."""
    from pyspark.sql.types import StructField, StructType

    names = [field.name for field in df.schema.fields]
    twice = sorted({name for name in names if names.count(name) > 1 and name in model.feature_names_in_})
    if twice:
        raise InputError(f"two columns are called \"{twice[0]}\"", "rename one of them")
    lacking = [name for name in model.feature_names_in_ if name not in names]
    if lacking:
        raise InputError(f"the DataFrame lacks columns that the model needs: {', '.join(lacking)}")
    schema = StructType([StructField(name, df.schema[name].dataType, True) for name in model.released_columns])
    data = model.to_bytes()

    def released(batches: Iterator[Any]) -> Iterator[Any]:
        own = _model_of(data)
        for table in _gathered(batches):
            yield from own.transform(table, unknown=unknown, threads=1).to_batches()

    return df.select(*[f"`{name}`" for name in model.feature_names_in_]).mapInArrow(released, schema)


def write(df: Any, model: Model, path: str, *, format: str = "parquet", mode: str = "error", unknown: str | None = None,
          **options: Any) -> Any:  # fmt: skip
    """Releases and writes once, and returns the DataFrame of what was written."""
    # The first version of Hadoop's commit moves the files of a task at once when it is done; the second one file by file, so that a
    # task that dies meanwhile would leave rows that its successor writes again.
    options = {"mapreduce.fileoutputcommitter.algorithm.version": "1", **options}
    with _large_batches(df.sparkSession):
        release(df, model, unknown=unknown).write.format(format).mode(mode).options(**options).save(path)
    return df.sparkSession.read.format(format).load(path)


def write_files(source: Any, model: Model, path: str, *, mode: str = "error", unknown: str | None = None, rows: int = 2_000_000,
                session: Any = None) -> Any:  # fmt: skip
    """Releases Parquet files into Parquet files and returns the DataFrame of what was written: as :func:`write`, but tasks read and write
    the files themselves, by pyarrow, and no row goes through Java, which takes several times what the release does.

    ``source``: a path or a list of paths, of files or of directories; ``path``: a directory that is not there or, with
    ``mode="overwrite"``, is replaced at the end. Every executor must reach both (a shared directory, or ``hdfs://``, ``s3://``, ``gs://`` as
    pyarrow.fs has them). A task releases row groups of about ``rows`` rows into one file, under a name of this attempt. Spark takes the
    result of one attempt of each task, the first that is done; the files of these attempts are moved to their place when all are there,
    and those of others are removed: a record is in the output once.
    """
    import pyarrow.parquet

    session = _session(session)
    if mode not in ("error", "overwrite"):
        raise UsageError(f"mode: '{mode}' is not known", "it is error or overwrite")
    system, target = _file_system(path)
    if mode == "error" and system.get_file_info(target).type.name != "NotFound":
        raise UsageError(f"{path} exists already", 'name another directory, or mode="overwrite"')
    tasks = _row_groups([source] if isinstance(source, str) else list(source), model, rows)
    beside = f"{target.rstrip('/')}.ppan-{uuid.uuid4().hex}"
    work = _Files(model.to_bytes(), path, beside, unknown)
    system.create_dir(beside)
    try:
        context = session.sparkContext
        made = context.parallelize(list(enumerate(tasks)), len(tasks)).map(work).collect() if tasks else []
        if not made:
            empty = model.transform(_empty(source, model), unknown=unknown)
            pyarrow.parquet.write_table(empty, f"{beside}/taken-0.parquet", filesystem=system)
            made = [(0, "taken-0.parquet")]
        kept = {name for _, name in made}
        for info in system.get_file_info(_selector(beside)):
            if info.base_name not in kept:
                system.delete_file(info.path)
        for number, name in made:
            system.move(f"{beside}/{name}", f"{beside}/part-{number:05d}.parquet")
        _put(system, beside, target)
    except BaseException:
        system.delete_dir(beside)
        raise
    return session.read.parquet(path)


def _put(system: Any, beside: str, target: str) -> None:
    """The finished directory takes its place. Object stores cannot rename one: there its files follow each other, with the mark that all
    are there last."""
    if system.get_file_info(target).type.name != "NotFound":
        system.delete_dir(target)
    if system.type_name in ("local", "hdfs"):
        system.open_output_stream(f"{beside}/_SUCCESS").close()
        system.move(beside, target)
        return
    system.create_dir(target)
    for info in system.get_file_info(_selector(beside)):
        system.move(info.path, f"{target}/{info.base_name}")
    system.delete_dir(beside)
    system.open_output_stream(f"{target}/_SUCCESS").close()


class _Files:
    """Releases one task's row groups into a file of this attempt, and says which."""

    def __init__(self, model: bytes, path: str, beside: str, unknown: str | None) -> None:
        self.model, self.path, self.beside, self.unknown = model, path, beside, unknown

    def __call__(self, task: tuple[int, tuple[str, list[int]]]) -> tuple[int, str]:
        import pyarrow
        import pyarrow.parquet

        number, (file, groups) = task
        own = _model_of(self.model)
        reads, place = _file_system(file)
        writes, _ = _file_system(self.path)
        name = f"attempt-{uuid.uuid4().hex}.parquet"
        writer = None
        with reads.open_input_file(place) as opened, pyarrow.parquet.ParquetFile(opened) as rows:
            for batch in rows.iter_batches(_ROWS_AT_ONCE, row_groups=groups, columns=own.feature_names_in_, use_threads=False):
                released = own.transform(pyarrow.Table.from_batches([batch]), unknown=self.unknown, threads=1)
                writer = writer or pyarrow.parquet.ParquetWriter(f"{self.beside}/{name}", released.schema, filesystem=writes)
                writer.write_table(released)
        assert writer is not None  # row groups without rows are no task
        writer.close()
        return number, name


def _file_system(path: str) -> tuple[Any, str]:
    from pyarrow import fs

    found: tuple[Any, str] = fs.FileSystem.from_uri(path) if "://" in path else (fs.LocalFileSystem(), os.path.abspath(path))
    return found


def _selector(place: str) -> Any:
    from pyarrow import fs

    return fs.FileSelector(place, recursive=True)


def _parquet_files(path: str) -> list[str]:
    """As Spark has it: all of a directory but what is hidden, in the order of their names."""
    system, place = _file_system(path)
    info = system.get_file_info(place)
    if info.type.name == "NotFound":
        raise InputError(f"there is no {path}")
    if info.type.name == "File":
        return [path]
    below = [found for found in system.get_file_info(_selector(place)) if found.type.name == "File"]
    names = sorted(found.path[len(place) :].lstrip("/") for found in below)
    shown = [name for name in names if not any(part.startswith(("_", ".")) for part in name.split("/"))]
    if any("=" in part for name in shown for part in name.split("/")[:-1]):
        raise InputError(f"{path} has columns in the names of its directories", "read it by Spark: ppan.spark.write(spark.read.parquet(...), ...)")
    return [f"{path.rstrip('/')}/{name}" for name in shown]


def _row_groups(sources: list[str], model: Model, most: int) -> list[tuple[str, list[int]]]:
    """Files and row groups of them, of about so many rows each. What the files lack is told before anything is released."""
    import pyarrow
    import pyarrow.parquet

    if most < 1:
        raise UsageError(f"rows is {most}, must be at least 1")
    tasks = []
    for file in [file for source in sources for file in _parquet_files(source)]:
        system, place = _file_system(file)
        try:
            with system.open_input_file(place) as opened:
                read = pyarrow.parquet.read_metadata(opened)
        except pyarrow.ArrowInvalid as error:
            raise InputError(f"{file}: {error}") from error
        lacking = [name for name in model.feature_names_in_ if name not in read.schema.to_arrow_schema().names]
        if lacking:
            raise InputError(f"{file} lacks columns that the model needs: {', '.join(lacking)}")
        groups: list[int] = []
        held = 0
        for group in range(read.num_row_groups):
            here = read.row_group(group).num_rows
            if here == 0:
                continue
            groups.append(group)
            held += here
            if held >= most:
                tasks.append((file, groups))
                groups, held = [], 0
        if groups:
            tasks.append((file, groups))
    return tasks


def _empty(source: Any, model: Model) -> Any:
    """The columns of files without a row."""
    import pyarrow.parquet

    files = [file for one in ([source] if isinstance(source, str) else source) for file in _parquet_files(one)]
    if not files:
        raise InputError(f"{source} holds no files")
    system, place = _file_system(files[0])
    with system.open_input_file(place) as opened:
        return pyarrow.parquet.read_schema(opened).empty_table().select(model.feature_names_in_)


@contextmanager
def _large_batches(session: Any) -> Iterator[None]:
    """Spark hands rows to Python workers in batches of ten thousand, each with costs of its own on both sides. Who has set another
    number keeps it."""
    before = session.conf.get(_BATCH_ROWS, None)
    if before not in (None, "10000"):
        yield
        return
    session.conf.set(_BATCH_ROWS, str(_ROWS_AT_ONCE))
    try:
        yield
    finally:
        if before is None:
            session.conf.unset(_BATCH_ROWS)
        else:
            session.conf.set(_BATCH_ROWS, before)


def sample(df: Any, rows: int = 100_000, *, seed: int = 1, held_out: bool = False) -> Any:
    """A uniform sample of about this many rows as an Arrow table; the whole table if it has fewer. Of one seed the sample
    for training and the one that is ``held_out`` have no row in common, as long as both are at most half of the table and
    Spark reads its rows in the same order both times, as it does from files."""
    from pyspark.sql import functions as f

    if rows < 1:
        raise UsageError(f"rows is {rows}, must be at least 1")
    total = df.count()
    if total == 0:
        raise InputError("the DataFrame has no rows")
    share = min(1.0, rows / total)
    if share < 1 or held_out:
        draw = f.rand(seed)
        # What is held out of a small table is half of it.
        df = df.where(draw >= 1 - min(share, 0.5)) if held_out else df.where(draw < share)
    return df.toArrow()


def profile(df: Any, quantiles: tuple[float, ...] = (0.01, 0.25, 0.5, 0.75, 0.99)) -> Any:
    """What the columns of the whole table hold, by Spark's own aggregates: rows, missing, different values (approximately),
    least, greatest and quantiles of numbers. A pandas frame with a row per column."""
    import pandas
    from pyspark.sql import functions as f
    from pyspark.sql.types import NumericType

    asked = [f.count(f.lit(1)).alias("rows")]
    for number, field in enumerate(df.schema.fields):
        column = f.col(f"`{field.name}`")
        asked.append(f.sum(column.isNull().cast("long")).alias(f"missing:{number}"))
        asked.append(f.approx_count_distinct(column).alias(f"distinct:{number}"))
        if isinstance(field.dataType, NumericType):
            asked.append(f.min(column).cast("double").alias(f"least:{number}"))
            asked.append(f.max(column).cast("double").alias(f"most:{number}"))
            asked.append(f.percentile_approx(column, list(quantiles)).alias(f"quantiles:{number}"))
    found = df.agg(*asked).first().asDict()
    rows = []
    for number, field in enumerate(df.schema.fields):
        row: dict[str, Any] = {"column": field.name, "type": field.dataType.simpleString(), "rows": found["rows"]}
        for what in ("missing", "distinct", "least", "most"):
            row[what] = found.get(f"{what}:{number}")
        marks = found.get(f"quantiles:{number}") or []
        row.update({f"{quantile:g}": float(value) for quantile, value in zip(quantiles, marks, strict=False)})
        rows.append(row)
    return pandas.DataFrame(rows)


def ranges(df: Any, *, min_rows: int = 5, columns: Sequence[str] | None = None) -> dict[str, tuple[float, float]]:
    """Least and greatest number of each numeric column that a model of the whole table may hold, by the rule of the encoding: at least
    ``min_rows`` rows lie at or beyond an end, and where they do not share its value it is a mean of as many rows further inside."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import DecimalType, NumericType

    found = {}
    for field in df.schema.fields:
        if not isinstance(field.dataType, NumericType) or isinstance(field.dataType, DecimalType):
            continue
        if columns is not None and field.name not in columns:
            continue
        number = f.col(f"`{field.name}`").cast("double").alias("number")
        numbers = df.select(number).where("number is not null and not isnan(number)")
        ends = []
        for order in (f.asc("number"), f.desc("number")):
            outermost = [row[0] for row in numbers.orderBy(order).limit(2 * min_rows - 1).collect()]
            if len(outermost) == 2 * min_rows - 1:
                end = outermost[min_rows - 1]
                ends.append(end if end == outermost[0] else sum(outermost[min_rows - 1 :]) / min_rows)
        if len(ends) == 2 and ends[0] < ends[1]:
            found[field.name] = (ends[0], ends[1])
    return found


def lacking_levels(df: Any, model: Model, *, min_rows: int = 5) -> dict[str, dict[str, int]]:
    """Levels of the whole table that no row of the sample had, with their numbers of rows, by column: those of at least ``min_rows``
    rows. A release of them needs ``unknown="nearest"``, which releases the grouped level instead."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType

    encoded = model.to_dict()["model"]["encoding"]["columns"]
    known = {column["name"]: list(column["levels"]) for column in encoded if "levels" in column}
    found: dict[str, dict[str, int]] = {}
    for field in df.schema.fields:
        if field.name not in known or not isinstance(field.dataType, StringType):
            continue
        level = f.col(f"`{field.name}`").alias("level")
        counted = df.select(level).where(level.isNotNull() & ~level.isin(known[field.name])).groupBy("level").count()
        rows = counted.where(f.col("count") >= min_rows).collect()
        if rows:
            found[field.name] = {row["level"]: row["count"] for row in rows}
    return found


def fit(df: Any, sensitive: Any, *, rows: int = 100_000, sample_seed: int = 1, engine: Any = "spark", whole_table: bool = True,
        **options: Any) -> Any:  # fmt: skip
    """A curve trained on a uniform sample of about ``rows`` rows, its points on the executors. Options as in
    :class:`ppan.TradeOff`, which is returned.

    With ``whole_table`` the ranges of numbers are those of the whole table (see :func:`ranges`), by Spark's own aggregates: a sample
    would cut off tails that it has too few rows of. Columns whose ``range`` the caller gives keep it.
    """
    from ._estimators import TradeOff, _listed

    described = dict(options.pop("columns", None) or {})
    if whole_table:
        least = int((options.get("settings") or {}).get("encode.min_rows", 5))
        hidden = set(_listed(sensitive))
        for name, ends in ranges(df, min_rows=least).items():
            given = described.get(name, {})
            given = {"type": given} if isinstance(given, str) else dict(given)
            if name not in hidden and given.get("type", "real") in ("real", "integer") and "range" not in given:
                described[name] = {**given, "range": list(ends)}
    return TradeOff(sensitive, engine=engine, columns=described or None, **options).fit(sample(df, rows, seed=sample_seed))


def audit(df: Any, model: Model, *, rows: int = 50_000, sample_seed: int = 1, **options: Any) -> AuditReport:
    """What attackers find in releases of a uniform sample that :func:`fit` with the same seed has not seen (see
    :func:`sample`)."""
    return model.audit(sample(df, rows, seed=sample_seed, held_out=True), **options)


__all__ = ["audit", "fit", "lacking_levels", "profile", "ranges", "release", "sample", "write", "write_files"]
