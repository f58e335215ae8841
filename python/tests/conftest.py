"""A table of invented people, and one small curve that most tests share."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ppan


def people(rows: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    marital = random.choice(["single", "married", "divorced"], rows, p=[0.4, 0.45, 0.15])
    single = marital == "single"
    age = np.clip(np.where(single, random.normal(30, 8, rows), random.normal(48, 11, rows)), 18, 90).round().astype("int32")
    job = np.where(random.random(rows) < 0.5, np.where(single, "student", "manager"), random.choice(["clerk", "nurse"], rows))
    income = np.round(np.exp(random.normal(10, 0.4, rows) + 0.3 * ~single), 2)
    income[random.random(rows) < 0.05] = np.nan
    since = np.datetime64("2015-01-01") + random.integers(0, 3000, rows).astype("timedelta64[D]")
    return pd.DataFrame(
        {
            "marital": marital,
            "age": age,
            "job": pd.Categorical(job),
            "income": income,
            "region": random.choice(["north", "south", "west"], rows),
            "owner": random.random(rows) < np.where(single, 0.3, 0.7),
            "since": since.astype("datetime64[s]"),
        },
        index=pd.RangeIndex(1000, 1000 + rows, name="person"),
    )


SMALL = {"points": 2, "epochs": 2, "quick": True, "threads": 1, "progress": False}


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    return people(900)


@pytest.fixture(scope="session")
def fitted(frame: pd.DataFrame) -> ppan.TradeOff:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ppan.TradeOff(sensitive="marital", side=["region"], **SMALL).fit(frame)


@pytest.fixture(scope="session")
def model(fitted: ppan.TradeOff) -> ppan.Model:
    return fitted.pick(point=2, accept_inconclusive=True)


@pytest.fixture(scope="session")
def command() -> str:
    """The command line, for tests of what both share."""
    found = os.environ.get("PPAN_BINARY")
    if not found or not Path(found).exists():
        pytest.skip("PPAN_BINARY names no command")
    return found
