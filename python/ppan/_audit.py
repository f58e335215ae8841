"""How much does a release give away?"""

from __future__ import annotations

import html
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _core, _frames
from ._errors import PrivacyWarning


@dataclass(frozen=True)
class Estimate:
    """A number about privacy, with its direction, its interval and its method."""

    nats: float
    low: float | None = None
    high: float | None = None
    bound: str = "estimate"
    method: str = ""
    samples: int = 0

    @property
    def bits(self) -> float:
        """The same in bits."""
        return self.nats / 0.6931471805599453

    def __float__(self) -> float:
        return self.nats


class AuditReport:
    """What attackers found."""

    def __init__(self, text: str, data: dict[str, Any], numbers: dict[str, Any]) -> None:
        self._text = text
        self._data = data
        self._numbers = numbers

    @classmethod
    def _of(cls, core: _core.AuditReport) -> AuditReport:
        return cls(
            core.text(),
            json.loads(core.json()),
            {
                "leakage": core.leakage(),
                "upper_bound": core.upper_bound(),
                "upper_end": core.upper_end,
                "entropy": core.entropy,
                "power": core.power,
                "inconclusive": core.inconclusive,
                "within_limit": core.within_limit,
            },
        )

    @property
    def leakage(self) -> Estimate:
        """What was found about all sensitive columns together, or about the only one."""
        return Estimate(**self._numbers["leakage"])

    @property
    def upper_bound(self) -> Estimate | None:
        """The tightest upper bound that is known, at most the entropy of what is sensitive."""
        found = self._numbers["upper_bound"]
        return None if found is None else Estimate(**found)

    @property
    def upper_end(self) -> float:
        """Upper end of the finding, nats: limits and choices are judged by it."""
        return float(self._numbers["upper_end"])

    @property
    def power(self) -> float | None:
        """The least leakage that this audit would have found with probability 0.9, nats."""
        found = self._numbers["power"]
        return None if found is None else float(found)

    @property
    def entropy(self) -> float:
        """All there is to find, nats."""
        return float(self._numbers["entropy"])

    @property
    def inconclusive(self) -> bool:
        """Attacks were still getting stronger with more rows."""
        return bool(self._numbers["inconclusive"])

    @property
    def within_limit(self) -> bool:
        """False when a limit was set and the upper end of a finding exceeds it."""
        return bool(self._numbers["within_limit"])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``ppan audit --json`` writes it."""
        return self._data

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        found = self.leakage
        return f"<ppan.AuditReport: {found.bound} {found.nats:.4f} nats by {found.method}; upper end {self.upper_end:.4f}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"


def _names(value: str | Sequence[str] | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(name) for name in value]


def audit(
    *,
    original: Any,
    released: Any,
    sensitive: str | Sequence[str],
    side: str | Sequence[str] | None = None,
    groups: str | Sequence[str] | None = None,
    together: str | None = None,
    limit: float | None = None,
    quick: bool = False,
    aligned: bool = False,
    scan: bool = False,
    threads: int = 0,
    seed: int = 1,
) -> AuditReport:
    """Attacks anyone's release, row by row beside its original, with attackers that start from nothing.

    Parameters
    ----------
    original, released : frames of any kind
        The same records in the same order. ``aligned=True`` says so where the rows cannot be recognised any more.
    sensitive : str or list of str
        Columns of the original that must not be learned from the release.
    side : columns of the original that attackers know already.
    groups : columns of the original whose values are groups of people to report on.
    together : column whose equal values (one person, many rows) stay on one side of every split.
    limit : most leakage allowed, nats; see ``AuditReport.within_limit``.
    quick : fewer attackers and passes; finds most of what the whole suite finds.
    scan : look also at what the release tells about the other columns.
    """
    core = _core.audit(
        _frames.stream_of(original), _frames.stream_of(released), _names(sensitive), _names(side), _names(groups),
        together, limit, quick, aligned, scan, threads, seed,
    )
    report = AuditReport._of(core)
    if report.inconclusive:
        warnings.warn("the audit is inconclusive: more rows would find more", PrivacyWarning, stacklevel=2)
    return report
