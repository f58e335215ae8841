"""A finished trade-off curve."""

from __future__ import annotations

import html
import itertools
import os
import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Self

from . import _core
from ._errors import UsageError
from ._model import Model

# Columns of points_, and what curve.csv calls them.
_COLUMNS = {
    "point": "point",
    "budget": "budget",
    "distortion": "distortion",
    "leakage": "leakage",
    "leakage_low": "leakage_low",
    "leakage_high": "leakage_high",
    "upper_end": "leakage_upper_end",
    "power": "leakage_power",
    "upper_bound": "leakage_upper",
    "task_loss": "task_loss",
    "inconclusive": "inconclusive",
}

_AnyModel = TypeVar("_AnyModel")


def table_of(columns: dict[str, list[Any]], kind: str | None = None) -> Any:
    """The columns as a frame of the library that is in use: polars where the frame came from it, otherwise pandas where
    it is installed, and a dict where neither is."""
    if kind == "polars" or ("polars" in sys.modules and "pandas" not in sys.modules):
        import polars

        return polars.DataFrame(columns, strict=False)
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns)


class CurveFiles(ABC, Generic[_AnyModel]):
    """A run directory of ``ppan curve`` in memory."""

    _learned = ""  # the series of trained points

    @abstractmethod
    def _model(self, core: Any) -> _AnyModel: ...

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Self:
        """Reads the run directory of ``ppan curve`` or of :meth:`save`."""
        core = _core.Curve.read(os.fspath(directory))
        if not any(row["series"] == cls._learned for row in core.rows()):
            raise UsageError(f"{os.fspath(directory)} is not the run of {cls.__name__}: it has no points of {cls._learned}")
        return cls(core)

    def __init__(self, core: _core.Curve, kind: str | None = None) -> None:
        self._core = core
        self._kind = kind

    @property
    def interrupted(self) -> bool:
        """Training was stopped before every point was finished."""
        return self._core.interrupted

    @property
    def warnings(self) -> list[str]:
        """What must be known before a point is relied on."""
        return list(self._core.warnings)

    @property
    def points_(self) -> Any:
        """A frame with a row for each trained point: distortion, leakage (nats) with its 95 % interval, the upper
        end of the finding (``upper_end``), the least leakage that it would have found (``power``), an upper bound that holds for
        every attacker, and what a recipient's task loses."""
        rows = [row for row in self._core.rows() if row["series"] == self._learned]
        columns: dict[str, list[Any]] = {name: [row.get(key) for row in rows] for name, key in _COLUMNS.items()}
        columns["inconclusive"] = [value == "yes" for value in columns["inconclusive"]]
        numbers = [name for name in _COLUMNS if name not in ("point", "inconclusive")]
        for name in numbers:
            columns[name] = [float("nan") if value is None else float(value) for value in columns[name]]
        return table_of(columns, self._kind)

    @property
    def rows_(self) -> Any:
        """Everything in ``curve.csv``: trained points, the completed curve and the references."""
        rows = self._core.rows()
        names = list(dict.fromkeys(name for row in rows for name in row))
        return table_of({name: [row.get(name) for row in rows] for name in names}, self._kind)

    def pick(
        self,
        *,
        leakage: float | None = None,
        budget: float | None = None,
        point: int | None = None,
        task_loss: float | None = None,
        measure: str = "upper_end",
        accept_inconclusive: bool = False,
        least_distortion: bool = False,
    ) -> _AnyModel:
        """The model of a point of the completed curve; a mixture of two where no trained point is there.

        Exactly one of ``leakage`` (what leaks at most this, nats), ``budget`` (the least leakage at a
        distortion of at most this), ``point`` (a trained point, by its number) and ``task_loss`` (the least leakage at
        which no task loses more). By leakage it is the least distortion, with a task among what serves it as well as the best
        within one standard error; ``least_distortion`` looks at no task. ``measure`` says by what leakage is judged: "upper_end",
        the upper end of the finding, or "found", the finding itself.
        """
        if measure not in ("upper_end", "found"):
            raise UsageError(f"measure: '{measure}' is not known", 'it is "upper_end" or "found"')
        return self._model(self._core.pick(leakage, budget, point, task_loss, measure == "found", accept_inconclusive, least_distortion))

    def svg(self) -> str:
        """The trade-off as a drawing."""
        return self._core.svg()

    def save(self, directory: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the run directory that ``ppan curve`` writes: curve.csv, models, report.html."""
        self._core.write(os.fspath(directory), force)

    def report(self) -> str:
        """The page on which a person can choose a point and defend the choice (HTML)."""
        return self._core.file("report.html").decode()

    def plot(self, ax: Any = None) -> Any:
        """Distortion against leakage, with intervals; needs matplotlib. Returns the axes."""
        import matplotlib.pyplot

        if ax is None:
            _, ax = matplotlib.pyplot.subplots()
        by_series: dict[str, list[dict[str, Any]]] = {}
        for row in self._core.rows():
            if row["distortion"] is not None and row["leakage"] is not None:
                by_series.setdefault(row["series"], []).append(row)
        # Told apart without colours too; the first colour is that of what is learned.
        styles = ({"fmt": marker, "color": f"C{1 + number % 9}"} for number, marker in enumerate(itertools.cycle("xs^v+D<>1")))
        for series, rows in by_series.items():
            rows.sort(key=lambda row: row["distortion"])
            x = [row["distortion"] for row in rows]
            y = [row["leakage"] for row in rows]
            owner, _, name = series.partition("/")
            if name == "hull":  # its points are those of the learned ones and the constant
                ax.plot(x, y, "--", color="0.2", linewidth=1, label="learned, convex hull", zorder=4)
                continue
            ends = [(row.get("leakage_low"), row.get("leakage_high")) for row in rows]
            low = [0.0 if end is None else max(0.0, value - end) for value, (end, _) in zip(y, ends, strict=True)]
            high = [0.0 if end is None else max(0.0, end - value) for value, (_, end) in zip(y, ends, strict=True)]
            learned = owner == "ppan"
            style: dict[str, Any] = {"fmt": "o-", "color": "C0", "zorder": 5} if learned else {
                **next(styles), "markersize": 5, "fillstyle": "none", "elinewidth": 0.6, "alpha": 0.7}  # fmt: skip
            ax.errorbar(x, y, yerr=[low, high], label="learned" if learned else name.replace("-", " "), capsize=2, **style)
        ax.set_xlabel("distortion")
        ax.set_ylabel("leakage, lower bound [nats]")
        ax.set_ylim(bottom=-0.02 * ax.get_ylim()[1])  # marks at 0 are seen whole
        handles, labels = ax.get_legend_handles_labels()
        order = sorted(range(len(labels)), key=lambda i: (not labels[i].startswith("learned"), labels[i] != "learned"))
        ax.legend([handles[i] for i in order], [labels[i] for i in order], fontsize="small")
        return ax

    def __reduce__(self) -> Any:
        return _restore, (type(self), self._core.state(), self._kind)

    def __repr__(self) -> str:
        points = [row for row in self._core.rows() if row["series"] == self._learned]
        return f"<ppan.{type(self).__name__} of {len(points)} points>"

    def _repr_html_(self) -> str:
        warned = "".join(f"<li>{html.escape(text)}</li>" for text in self.warnings)
        return self.svg() + (f"<ul>{warned}</ul>" if warned else "")


class Curve(CurveFiles[Model]):
    """Trained points, references beside them and the models of all points, as in the run directory of ``ppan curve``."""

    _learned = "ppan/table"

    def _model(self, core: Any) -> Model:
        return Model(core)


def _restore(kind_of_curve: type[CurveFiles[Any]], state: tuple[Any, ...], kind: str | None) -> CurveFiles[Any]:
    return kind_of_curve(_core.Curve.from_state(*state), kind)


def load_run(directory: str | os.PathLike[str]) -> Curve:
    """Reads the run directory of ``ppan curve`` or ``Curve.save()``; one about images: :meth:`ImageCurve.load`."""
    return Curve.load(directory)
