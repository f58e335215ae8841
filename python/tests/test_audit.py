"""Audits of anyone's release."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ppan


def test_a_leak_is_found_and_noise_is_not(frame: pd.DataFrame) -> None:
    open_ = ppan.audit(original=frame, released=frame[["age", "job", "owner"]], sensitive="marital", quick=True, threads=1)
    assert open_.leakage.nats > 0.1
    assert open_.leakage.low is not None and open_.leakage.low > 0
    assert open_.upper_end >= open_.leakage.nats
    assert not ppan.audit(
        original=frame, released=frame[["age", "job"]], sensitive="marital", limit=0.01, quick=True, threads=1
    ).within_limit
    assert "marital" in str(open_) and open_.to_dict()["attributes"]
    shuffled = frame[["age", "job"]].sample(frac=1, random_state=1)
    closed = ppan.audit(original=frame, released=shuffled, sensitive="marital", aligned=True, quick=True, threads=1)
    assert closed.leakage.low == 0 or closed.leakage.nats < 0.05


def test_rows_must_belong_together(frame: pd.DataFrame) -> None:
    with pytest.raises(ppan.InputError, match="does not look like row 1"):
        ppan.audit(original=frame, released=frame.sample(frac=1, random_state=1), sensitive="marital")
    with pytest.raises(ppan.InputError, match="rows"):
        ppan.audit(original=frame, released=frame.head(10), sensitive="marital")
    with pytest.raises(ppan.InputError, match="maritl"):
        ppan.audit(original=frame, released=frame, sensitive="maritl")


def test_of_a_model(model: ppan.Model, frame: pd.DataFrame) -> None:
    report = model.audit(frame, quick=True, threads=1)
    assert np.isfinite(report.leakage.nats)
    assert "pre" in report._repr_html_()
