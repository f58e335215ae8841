"""Estimators after the conventions of scikit-learn: TradeOff trains a curve, Release is a transformer."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core, _frames
from ._curve import Curve
from ._errors import InputError, Interrupted, PrivacyWarning, UsageError
from ._model import Model
from ._progress import Progress

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.exceptions import NotFittedError
except ImportError:  # scikit-learn is not needed: this much of its base classes is used
    import inspect

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """Raised when an estimator is used before fit()."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by name."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
            return {name: getattr(self, name) for name in names}

        def set_params(self, **params: Any) -> Any:
            for name, value in params.items():
                if name not in self.get_params():
                    raise UsageError(f"Invalid parameter '{name}' for estimator {type(self).__name__}")
                setattr(self, name, value)
            return self

    class TransformerMixin:  # type: ignore[no-redef]
        """fit_transform()."""

        def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
            return self.fit(X, y, **options).transform(X)  # type: ignore[attr-defined]


Columns = str | Sequence[str] | None

# Parameters that are settings of a job file.
_ROLES = ("sensitive", "useful", "observed", "keep", "task", "side", "surrogate", "group")
_SETTINGS = {
    "points": "privacy.points",
    "budgets": "privacy.budgets",
    "leakages": "privacy.leakages",
    "family": "mechanism.family",
    "epochs": "train.epochs",
    "restarts": "train.restarts",
    "seed": "train.seed",
    "threads": "train.threads",
    "unknown": "release.unknown",
    "quick": "audit.quick",
}
_Y = "y"  # what the column is called that fit(X, y) makes of y


def _named(name: Any, known: Collection[str]) -> str:
    """The name of a column: a number is the label of one where the frame has such labels, and a position in a matrix."""
    return f"x{name}" if isinstance(name, (int, np.integer)) and str(name) not in known else str(name)


def _listed(value: Any, known: Collection[str] = ()) -> list[str]:
    if value is None:
        return []
    if isinstance(value, (str, int, np.integer)):
        value = [value]
    return [_named(name, known) for name in value]


def _length(data: Any) -> int:
    try:
        return len(data)
    except TypeError:
        return int(np.shape(data)[0]) if np.shape(data) else 0


class _Base(BaseEstimator):  # type: ignore[misc]
    """What TradeOff and Release share: from parameters and a frame to a trained curve."""

    def _job_values(self, sensitive: Any, task: Any, budgets: Any, known: Collection[str] = ()) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for role in _ROLES:
            given = {"sensitive": sensitive, "task": task}.get(role, getattr(self, role))
            if given is None:
                continue
            if role == "group":
                values[f"roles.{role}"] = _named(given, known)
            elif role == "sensitive" and isinstance(given, str) and given == "everything observed":
                values[f"roles.{role}"] = given
            else:
                values[f"roles.{role}"] = _listed(given, known)
        for name, key in _SETTINGS.items():
            given = budgets if name == "budgets" and budgets is not None else getattr(self, name, None)
            # One training is no restart; families that have none refuse the key.
            if given is not None and not (name == "restarts" and given == 1):
                values[key] = list(given) if isinstance(given, (tuple, np.ndarray)) else given
        values.update(self.settings or {})
        return {key: value.item() if isinstance(value, np.generic) else value for key, value in values.items()}

    def _with_y(self, X: Any, y: Any) -> tuple[Any, Any, Any]:
        """The frame with y as a column, and what is sensitive and what is a task."""
        sensitive, task = self.sensitive, self.task
        if y is None:
            return X, "everything observed" if sensitive is None else sensitive, task
        values = np.asarray(y)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise InputError("y must have one value for each row")
        rows = _frames.rows_of(X)
        if rows is not None and rows != len(values):
            raise InputError(f"X has {rows} rows, y has {len(values)}: inconsistent numbers of samples")
        if values.dtype.kind == "f":
            if np.isinf(values).any() or np.isnan(values).any():
                raise InputError("y contains NaN or infinity")
            if np.array_equal(values, np.round(values)):
                values = values.astype(np.int64)
        frame = _frames.with_column(X, _Y, values)
        if sensitive is None:
            return frame, _Y, task
        return frame, sensitive, _listed(task, _frames.names_of(X)) + [_Y]

    def _train(self, X: Any, y: Any, budgets: Any = None) -> tuple[Curve, str]:
        if hasattr(X, "todense") and hasattr(X, "nnz"):
            raise TypeError("sparse data is not supported: give a dense array, for example X.toarray()")
        self._remember(X)
        rows = _frames.rows_of(X)
        if rows == 0:
            raise InputError(f"Found array with 0 sample(s) (shape=(0, {self.n_features_in_})) while a minimum of 1 is required.")
        if rows == 1:
            raise InputError("n_samples=1: nothing can be learned from one row")
        frame, sensitive, task = self._with_y(X, y)
        known = frozenset(_frames.names_of(frame))
        values = self._job_values(sensitive, task, budgets, known)
        if "roles.task" in values and y is not None and _Y in values["roles.task"]:
            values.setdefault("release.task", "drop")
        specs = {_named(name, known): spec for name, spec in (self.columns or {}).items()}
        progress = Progress(self.progress, len(values.get("privacy.budgets", ())) or int(values.get("privacy.points", 12)))
        try:
            if self.engine is None:
                core = _core.fit(_frames.stream_of(frame), _core.make_job(values, specs), progress)
            else:
                from . import engine as engines

                core = engines.fit(engines.engine_of(self.engine), frame, values, specs, progress)
        finally:
            progress.close()
        for text in core.warnings:
            warnings.warn(text, PrivacyWarning, stacklevel=3)
        if core.interrupted:
            warnings.warn("interrupted: only finished points were kept", Interrupted, stacklevel=3)
        return Curve(core, _frames.kind_of(X)), core.file("job.toml").decode()

    def _remember(self, X: Any) -> None:
        names = _frames.names_of(X)
        self.n_features_in_ = len(names)
        if self.n_features_in_ == 0:
            raise InputError(f"Found array with 0 feature(s) (shape=({_frames.rows_of(X)}, 0)) while a minimum of 1 is required.")
        if _frames.kind_of(X) != "numpy":
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = False
        return tags

    def _require(self, attribute: str) -> Any:
        if not hasattr(self, attribute):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return getattr(self, attribute)


class TradeOff(_Base):
    """Trains a mechanism for each of several budgets, attacks each on rows that it never saw, and keeps all of them.

    Parameters
    ----------
    sensitive : str or list of str, default None
        Columns that must not be learned from the release. None: ``y`` of ``fit(X, y)``, or without it everything
        that the mechanism looks at.
    useful : list of str, default None
        Columns to release, changed as little as possible. None: all without another role that are neither identifiers nor
        the same everywhere.
    observed, keep, task, side, surrogate, group
        The other roles of a job file (docs/formats.md): what the mechanism looks at, what is copied, what a recipient
        predicts, what attackers know already, what stands for a sensitive column, which rows belong together.
    columns : dict, default None
        Types of columns, where those of the frame do not say it: ``{"zip": "category"}``, or with more settings
        ``{"income": {"type": "real", "grid": 100}}``.
    points : int, default 12
        Points of the curve; ``budgets`` or ``leakages`` name them instead.
    family, epochs, restarts, seed, threads, unknown, quick
        Settings of the job file of that name.
    settings : dict, default None
        Any other setting by its key: ``{"train.batch": 128}``; see :func:`ppan.settings`.
    engine : str or Engine, default None
        Where points are trained: None for threads of this process, or "local", "dask", "ray", "spark"; see :mod:`ppan.engine`.
    progress : bool, default None
        A bar by tqdm. None: where a person is likely to look.

    Attributes
    ----------
    curve_ : Curve
    points_ : frame with a row for each trained point
    job_ : str, the job file that ``ppan curve`` would have been given
    feature_names_in_, n_features_in_
    """

    def __init__(
        self,
        sensitive: Columns = None,
        *,
        useful: Columns = None,
        observed: Columns = None,
        keep: Columns = None,
        task: Columns = None,
        side: Columns = None,
        surrogate: Columns = None,
        group: str | None = None,
        columns: Mapping[str, Any] | None = None,
        points: int = 12,
        budgets: Sequence[float] | None = None,
        leakages: Sequence[float] | None = None,
        family: str = "auto",
        epochs: int | None = None,
        restarts: int = 1,
        seed: int = 1,
        threads: int | None = None,
        unknown: str = "fail",
        quick: bool = False,
        settings: Mapping[str, Any] | None = None,
        engine: Any = None,
        progress: bool | None = None,
    ) -> None:
        self.sensitive = sensitive
        self.useful = useful
        self.observed = observed
        self.keep = keep
        self.task = task
        self.side = side
        self.surrogate = surrogate
        self.group = group
        self.columns = columns
        self.points = points
        self.budgets = budgets
        self.leakages = leakages
        self.family = family
        self.epochs = epochs
        self.restarts = restarts
        self.seed = seed
        self.threads = threads
        self.unknown = unknown
        self.quick = quick
        self.settings = settings
        self.engine = engine
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> TradeOff:
        """Trains the curve on a frame of any kind. Ctrl-C stops at the next epoch and keeps what is finished."""
        self.curve_, self.job_ = self._train(X, y)
        return self

    @property
    def points_(self) -> Any:
        """See :attr:`Curve.points_`."""
        if "curve_" not in self.__dict__:
            raise AttributeError("points_ is there after fit()")
        return self.curve_.points_

    def pick(self, **choice: Any) -> Model:
        """See :meth:`Curve.pick`."""
        return self._curve().pick(**choice)

    def plot(self, ax: Any = None) -> Any:
        """See :meth:`Curve.plot`."""
        return self._curve().plot(ax)

    def save(self, directory: Any, *, force: bool = False) -> None:
        """See :meth:`Curve.save`."""
        self._curve().save(directory, force=force)

    def _curve(self) -> Curve:
        curve: Curve = self._require("curve_")
        return curve

    def _repr_html_(self) -> str:
        return self.curve_._repr_html_() if hasattr(self, "curve_") else f"<code>{self!r}</code>"


class Release(TransformerMixin, _Base):  # type: ignore[misc]
    """One mechanism as a transformer: trains a curve and takes the point that keeps a leakage or a budget.

    Parameters
    ----------
    sensitive : str or list of str, default None
        As in :class:`TradeOff`. In a pipeline name it: then ``y`` is what a recipient predicts, a task.
    leakage : float, default None
        Most leakage, nats, by the upper end of the audit; of all mechanisms that keep it the one of least distortion.
    budget : float, default None
        Most distortion, instead of ``leakage``; one mechanism is trained for it. Default, when neither is given: 0.1.
    measure : "upper_end" or "found"
        By what leakage is judged; see :meth:`Curve.pick`.
    accept_inconclusive : bool, default False
        Take mechanisms too whose audit would have found more with more rows.

    The other parameters are those of :class:`TradeOff`.

    Attributes
    ----------
    model_ : Model
    curve_ : Curve
    feature_names_in_, n_features_in_
    """

    def __init__(
        self,
        sensitive: Columns = None,
        *,
        leakage: float | None = None,
        budget: float | None = None,
        measure: str = "upper_end",
        accept_inconclusive: bool = False,
        useful: Columns = None,
        observed: Columns = None,
        keep: Columns = None,
        task: Columns = None,
        side: Columns = None,
        surrogate: Columns = None,
        group: str | None = None,
        columns: Mapping[str, Any] | None = None,
        points: int = 12,
        family: str = "auto",
        epochs: int | None = None,
        restarts: int = 1,
        seed: int = 1,
        threads: int | None = None,
        unknown: str = "fail",
        quick: bool = False,
        settings: Mapping[str, Any] | None = None,
        engine: Any = None,
        progress: bool | None = None,
    ) -> None:
        self.sensitive = sensitive
        self.leakage = leakage
        self.budget = budget
        self.measure = measure
        self.accept_inconclusive = accept_inconclusive
        self.useful = useful
        self.observed = observed
        self.keep = keep
        self.task = task
        self.side = side
        self.surrogate = surrogate
        self.group = group
        self.columns = columns
        self.points = points
        self.family = family
        self.epochs = epochs
        self.restarts = restarts
        self.seed = seed
        self.threads = threads
        self.unknown = unknown
        self.quick = quick
        self.settings = settings
        self.engine = engine
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Release:
        """Trains on a frame of any kind."""
        if self.leakage is not None and self.budget is not None:
            raise UsageError("leakage and budget are both given", "give one of them")
        budget = 0.1 if self.leakage is None and self.budget is None else self.budget
        self.curve_, self.job_ = self._train(X, y, None if budget is None else [budget])
        choice: dict[str, Any] = {"leakage": self.leakage} if budget is None else {"budget": budget}
        self.model_ = self.curve_.pick(measure=self.measure, accept_inconclusive=self.accept_inconclusive, **choice)
        return self

    def transform(self, X: Any) -> Any:
        """Releases a frame; new noise in every call."""
        self._require("model_")
        if hasattr(X, "todense") and hasattr(X, "nnz"):
            raise TypeError("sparse data is not supported: give a dense array, for example X.toarray()")
        names = _frames.names_of(X)
        if _frames.kind_of(X) == "numpy" and len(names) != self.n_features_in_:
            raise InputError(
                f"X has {len(names)} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
            )
        return self.model_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:
        """Names of the released columns."""
        return np.asarray(self._require("model_").released_columns, dtype=object)
