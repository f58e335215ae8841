"""Learned release mechanisms with measured leakage.

    curve = ppan.TradeOff(sensitive="marital").fit(df)     # pandas, polars, Arrow, DuckDB, NumPy
    model = curve.pick(leakage=0.05)
    safe = model.transform(new_df)
    report = ppan.audit(original=df, released=safe, sensitive="marital")
    model.save("model.ppan")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _kernels  # first: it loads what the others use
from . import _core
from ._audit import AuditReport, Estimate, audit
from ._curve import Curve, load_run
from ._errors import (
    DivergedError,
    Error,
    FileError,
    InputError,
    Interrupted,
    LimitError,
    PrivacyWarning,
    UsageError,
)
from ._images import ImageCurve, ImageModel, ImageTradeOff
from ._model import Model, load

if TYPE_CHECKING:
    from ._estimators import Release, TradeOff
    from .research import MutualInformation

__version__: str = _core.version()
del _kernels

__all__ = [
    "AuditReport", "Curve", "DivergedError", "Error", "Estimate", "FileError", "ImageCurve", "ImageModel", "ImageTradeOff", "InputError", "Interrupted", "LimitError",
    "Model", "MutualInformation", "PrivacyWarning", "Release", "TradeOff", "UsageError", "audit", "load", "load_run", "settings",
]  # fmt: skip


def settings() -> Any:
    """Every setting of a job: key, what may be written, which of these are allowed, the default, what it does."""
    from ._curve import table_of

    rows = _core.settings()
    names = ("key", "type", "range", "default", "meaning")
    return table_of({name: [row[i] for row in rows] for i, name in enumerate(names)})


def __getattr__(name: str) -> Any:
    # The estimators import scikit-learn, which takes a while; whoever only releases does not need them.
    if name in ("Release", "TradeOff"):
        from . import _estimators

        return getattr(_estimators, name)
    if name == "MutualInformation":
        from .research import MutualInformation

        return MutualInformation
    if name in ("engine", "research", "spark", "theory"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
