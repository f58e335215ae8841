"""Spark with executors that are processes of their own (local-cluster), one of which is killed."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from test_engine import Killing, fit, needs_pieces, same

import ppan
from ppan import engine

pyspark = pytest.importorskip("pyspark")
pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    from pyspark.sql import SparkSession

    work = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    path = os.pathsep.join(entry for entry in [str(Path(__file__).parent), *sys.path] if entry)
    try:
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.executorEnv.PYTHONPATH", path)
            .config("spark.local.dir", str(work))
            .config("spark.sql.warehouse.dir", str(work / "warehouse"))
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
    except Exception as error:
        pytest.skip(f"Spark does not start here: {error}")
    yield session
    session.stop()


def test_release_is_written_once(spark: object, model: ppan.Model, frame: pd.DataFrame, tmp_path: Path) -> None:
    """A worker process is killed midway: Spark does its task again, and every row is there exactly once."""
    rows = frame.reset_index()
    table = spark.createDataFrame(rows).repartition(4)  # type: ignore[attr-defined]
    mark = str(tmp_path / "killed")

    def dying(batches: Iterator[object]) -> Iterator[object]:
        for number, batch in enumerate(batches):
            yield batch
            if number == 0 and not os.path.exists(mark):
                with open(mark, "x"):
                    pass
                os.kill(os.getpid(), signal.SIGKILL)

    safe = ppan.spark.release(table, model).mapInArrow(dying, ppan.spark.release(table, model).schema)
    safe.write.parquet(str(tmp_path / "out"))
    assert os.path.exists(mark)
    out = spark.read.parquet(str(tmp_path / "out")).toPandas()  # type: ignore[attr-defined]
    assert list(out.columns) == model.released_columns
    assert len(out) == len(frame)


def test_write_and_profile(spark: object, model: ppan.Model, frame: pd.DataFrame, tmp_path: Path) -> None:
    table = spark.createDataFrame(frame)  # type: ignore[attr-defined]
    written = ppan.spark.write(table, model, str(tmp_path / "released"))
    assert written.count() == len(frame)
    assert [f.dataType for f in written.schema.fields] == [table.schema[name].dataType for name in written.columns]
    profile = ppan.spark.profile(table).set_index("column")
    assert profile.loc["age", "least"] == frame["age"].min()
    assert profile.loc["income", "missing"] in (0, frame["income"].isna().sum())
    assert len(ppan.spark.sample(table, 100)) < 400
    with pytest.raises(ppan.InputError, match="age"):
        ppan.spark.release(table.drop("age"), model)


@needs_pieces
def test_curve_on_executors_one_of_which_is_killed(
    spark: object, fitted: ppan.TradeOff, frame: pd.DataFrame, tmp_path: Path
) -> None:
    assert same(fit(frame, Killing(engine.Spark(spark), tmp_path / "mark")), fitted)
    assert (tmp_path / "mark").exists()
