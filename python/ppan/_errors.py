"""What goes wrong, as exceptions: what is wrong, how to fix it, and every problem in a list."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Base of everything that ppan raises.

    Attributes
    ----------
    problems : list of str
        One sentence for each thing that is wrong; all are found before the first is reported.
    fix : str
        How to fix it; may be empty.
    status : int
        The exit status that the command line would end with.
    """

    status = 1

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what + (f"\n  {fix}" if fix else ""))
        self.what = what
        self.fix = fix
        lines = what.splitlines() or [""]
        self.problems = [line.strip() for line in lines[1:] if line.strip()] or [lines[0]]

    def __reduce__(self) -> Any:
        return type(self), (self.what, self.fix)


class UsageError(Error, ValueError):
    """Wrong arguments: roles that contradict each other, settings out of range, a point that is not there."""

    status = 2


class InputError(Error, ValueError):
    """Data that cannot be used: columns that are not there, cells that do not fit, too few rows."""

    status = 3


class FileError(Error, OSError):
    """A file could not be read or written."""

    status = 4


class DivergedError(Error, RuntimeError):
    """No point of the curve could be trained."""

    status = 5


class LimitError(Error):
    """An audit found more than its limit allows."""

    status = 6


class Interrupted(UserWarning):
    """The training was stopped; what was finished was kept."""


class PrivacyWarning(UserWarning):
    """Something about a curve, model or audit that must be known before it is relied on."""


_BY_STATUS: dict[int, type[Error]] = {
    kind.status: kind for kind in (Error, UsageError, InputError, FileError, DivergedError, LimitError)
}


# What the library says of job files, as it is said in Python.
_WORDS = (
    ("; its type belongs under [columns]", ""),
    ("give another --out, or --force to write into it", "give another directory, or force=True"),
    ("add the cell to read.missing if it stands for no value", "make it NaN or None if it stands for no value"),
    (" under [columns]", " in columns="),
    ('choose release.unknown = "reject" or "nearest"', 'give unknown="nearest", which replaces what is unknown'),
)


def make(status: int, what: str, fix: str) -> Error:
    """The exception for an error of the library; called by the extension module."""
    for words, here in _WORDS:
        what, fix = what.replace(words, here), fix.replace(words, here)
    return _BY_STATUS.get(status, Error)(what, fix)
