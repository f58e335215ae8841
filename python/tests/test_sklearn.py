"""scikit-learn's own checks, and the ways in which people combine estimators."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import ppan

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

QUICK = {"epochs": 1, "quick": True, "threads": 1, "progress": False}

FEW = "fits on fewer rows than an audit needs: a mechanism that nobody could attack is not handed out"
RANDOM = "two releases of the same rows differ: there is no seed, because whoever knew it could undo the release"

# Of the estimators as they are: checks that fit on 20 to 30 rows, of which an audit cannot set 20 aside. They are
# made on many rows below.
ON_FEW_ROWS = dict.fromkeys(
    [
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_overwrite_params",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1feature",
        "check_fit2d_predict1d",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_n_features_in_after_fitting",
        "check_readonly_memmap_input",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_transformer_preserve_dtypes",
    ],
    FEW,
)
# Whatever the number of rows.
CONTRADICTING = {"check_estimators_pickle": RANDOM, "check_fit_idempotent": RANDOM}


def _many(rows: object) -> object:
    if rows is None:
        return None
    if isinstance(rows, (pd.DataFrame, pd.Series)):
        return pd.concat([rows] * 6, ignore_index=True) if 1 < len(rows) < 120 else rows
    array = np.asarray(rows)
    if array.ndim == 0 or not 1 < array.shape[0] < 120:
        return rows
    return np.concatenate([array] * 6) if array.ndim in (1, 2) and array.dtype.kind != "c" else rows


class ManyRows:
    """Fits on the same rows several times over, so that checks on few rows say something about the rest."""

    def fit(self, X: object, y: object = None) -> object:
        if hasattr(X, "nnz"):
            return super().fit(X, y)  # type: ignore[misc]
        return super().fit(_many(X), _many(y))  # type: ignore[misc]


class ReleaseOfMany(ManyRows, ppan.Release):
    pass


class TradeOffOfMany(ManyRows, ppan.TradeOff):
    pass


def expected(estimator: object) -> dict[str, str]:
    return CONTRADICTING if isinstance(estimator, ManyRows) else {**ON_FEW_ROWS, **CONTRADICTING}


@parametrize_with_checks(
    [
        ppan.Release(budget=0.2, accept_inconclusive=True, points=1, **QUICK),
        ppan.TradeOff(points=1, **QUICK),
        ReleaseOfMany(budget=0.2, accept_inconclusive=True, points=1, **QUICK),
        TradeOffOfMany(points=1, **QUICK),
    ],
    expected_failed_checks=expected,
)
def test_checks(estimator: object, check: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ppan.PrivacyWarning)
        check(estimator)  # type: ignore[operator]


@pytest.fixture(scope="module")
def released(frame: pd.DataFrame) -> ppan.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ppan.Release("marital", budget=0.2, accept_inconclusive=True, **QUICK).fit(frame)


def test_parameters() -> None:
    release = ppan.Release("marital", leakage=0.1, epochs=3)
    assert clone(release).get_params() == release.get_params()
    assert release.set_params(leakage=0.2).leakage == 0.2
    with pytest.raises(ValueError, match="leakages_"):
        release.set_params(leakages_=1)
    assert "leakage=0.2" in repr(release)


def test_attributes(released: ppan.Release, frame: pd.DataFrame) -> None:
    assert list(released.feature_names_in_) == list(frame.columns)
    assert released.n_features_in_ == frame.shape[1]
    assert list(released.get_feature_names_out()) == released.model_.released_columns
    again = pickle.loads(pickle.dumps(released))
    assert again.model_ == released.model_
    assert len(again.transform(frame)) == len(frame)


def test_not_fitted(frame: pd.DataFrame) -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ppan.Release("marital").transform(frame)


def test_set_output(released: ppan.Release, frame: pd.DataFrame) -> None:
    numbers = frame[["age", "income"]].fillna(0).to_numpy()
    secret = (frame["marital"] == "single").to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = ppan.Release(budget=0.3, accept_inconclusive=True, **QUICK).fit(numbers, secret)
    assert isinstance(release.transform(numbers), np.ndarray)
    out = release.set_output(transform="pandas").transform(numbers)
    assert isinstance(out, pd.DataFrame) and list(out.columns) == ["x0", "x1"]


def test_pipeline_and_grid_search(frame: pd.DataFrame) -> None:
    """Named columns are sensitive; y is what a recipient predicts."""
    table = frame[["marital", "age", "income"]].assign(income=frame["income"].fillna(0))
    chain = make_pipeline(
        ppan.Release("marital", accept_inconclusive=True, measure="found", **QUICK), StandardScaler(), LogisticRegression()
    )
    search = GridSearchCV(chain, {"release__budget": [0.1, 0.5]}, cv=2, error_score="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(table, frame["owner"])
    assert 0 <= search.best_score_ <= 1
    assert search.best_estimator_.named_steps["release"].model_.released_columns == ["age", "income"]
