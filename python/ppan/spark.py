"""Spark: releases of tables of any size, training on a uniform sample, audits on another.

    model = ppan.load("model.ppan")
    ppan.spark.write(spark.read.parquet("people"), model, "released")

Executors need the wheel of ppan; nothing else of it. Each task releases its partition with secure noise of its own. A task that is
retried or run twice draws new noise, so what is written goes through Spark's own output commit: the first attempt that commits
wins, and a record is never in two outputs. A DataFrame is a plan, not a table: each action on what ``release`` returns releases
anew. Write it once, and read what was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._audit import AuditReport
from ._errors import InputError, UsageError
from ._model import Model

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


def release(df: Any, model: Model, *, unknown: str | None = None) -> Any:
    """The released DataFrame: the model's columns with the types they had. Rows stay in their partitions."""
    from pyspark.sql.types import StructType

    names = {field.name for field in df.schema.fields}
    lacking = [name for name in model.feature_names_in_ if name not in names]
    if lacking:
        raise InputError(f"the DataFrame lacks columns that the model needs: {', '.join(lacking)}")
    schema = StructType([df.schema[name] for name in model.released_columns])
    for field in schema.fields:
        field.nullable = True
    data = model.to_bytes()

    def released(batches: Iterator[Any]) -> Iterator[Any]:
        own = _model_of(data)
        for batch in batches:
            if batch.num_rows:
                yield own.transform(batch, unknown=unknown, threads=1)

    return df.select(*model.feature_names_in_).mapInArrow(released, schema)


def write(df: Any, model: Model, path: str, *, format: str = "parquet", mode: str = "error", **options: Any) -> Any:
    """Releases and writes once, and returns the DataFrame of what was written."""
    unknown = options.pop("unknown", None)
    release(df, model, unknown=unknown).write.format(format).mode(mode).options(**options).save(path)
    return df.sparkSession.read.format(format).load(path)


def sample(df: Any, rows: int = 100_000, seed: int = 1) -> Any:
    """A uniform sample of about this many rows as a pandas frame; the whole table if it has fewer."""
    total = df.count()
    if total > rows:
        df = df.sample(withReplacement=False, fraction=min(1.0, rows / total), seed=seed)
    return df.toPandas()


def profile(df: Any, quantiles: tuple[float, ...] = (0.01, 0.25, 0.5, 0.75, 0.99)) -> Any:
    """What the columns of the whole table hold, by Spark's own aggregates: rows, missing, different values (approximately),
    least, greatest and quantiles of numbers. A pandas frame with a row per column."""
    import pandas
    from pyspark.sql import functions as f
    from pyspark.sql.types import NumericType

    numbers = {field.name for field in df.schema.fields if isinstance(field.dataType, NumericType)}
    asked = [f.count(f.lit(1)).alias("rows")]
    for name in df.columns:
        column = f.col(f"`{name}`")
        asked.append(f.sum(column.isNull().cast("long")).alias(f"missing:{name}"))
        asked.append(f.approx_count_distinct(column).alias(f"distinct:{name}"))
        if name in numbers:
            asked.append(f.min(column).cast("double").alias(f"least:{name}"))
            asked.append(f.max(column).cast("double").alias(f"most:{name}"))
            asked.append(f.percentile_approx(column, list(quantiles)).alias(f"quantiles:{name}"))
    found = df.agg(*asked).first().asDict()
    rows = []
    for name in df.columns:
        row: dict[str, Any] = {"column": name, "type": df.schema[name].dataType.simpleString(), "rows": found["rows"]}
        for what in ("missing", "distinct", "least", "most"):
            row[what] = found.get(f"{what}:{name}")
        marks = found.get(f"quantiles:{name}") or []
        row.update({f"{quantile:g}": float(value) for quantile, value in zip(quantiles, marks, strict=False)})
        rows.append(row)
    return pandas.DataFrame(rows)


def fit(df: Any, sensitive: Any, *, rows: int = 100_000, sample_seed: int = 1, engine: Any = "spark", **options: Any) -> Any:
    """A curve trained on a uniform sample of ``rows`` rows, its points on the executors. Options as in
    :class:`ppan.TradeOff`, which is returned."""
    from ._estimators import TradeOff

    return TradeOff(sensitive, engine=engine, **options).fit(sample(df, rows, sample_seed))


def audit(df: Any, model: Model, *, rows: int = 50_000, seed: int = 2, **options: Any) -> AuditReport:
    """What attackers find in releases of a uniform sample that was drawn by another seed than the one for training. Rows
    of a small table that trained the model may be in it; of a large one few are."""
    return model.audit(sample(df, rows, seed), **options)


__all__ = ["audit", "fit", "profile", "release", "sample", "write"]
