"""A trained mechanism: releases frames, and is kept in one file."""

from __future__ import annotations

import html
import json
import os
from typing import Any

from . import _core, _frames
from ._audit import AuditReport


class Model:
    """A mechanism with everything that a release needs. Made by ``pick()`` or :func:`ppan.load`."""

    def __init__(self, core: _core.Model) -> None:
        self._core = core

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "model") -> Model:
        """Reads the bytes of a model file; anything else is refused."""
        return cls(_core.Model.from_bytes(data, name))

    def to_bytes(self) -> bytes:
        """The bytes of its file, the same as the command line writes."""
        return self._core.to_bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, all or nothing; its owner alone can read it."""
        self._core.save(os.fspath(path))

    @property
    def feature_names_in_(self) -> list[str]:
        """Columns that a frame must have to be released."""
        return list(self._core.needed)

    @property
    def released_columns(self) -> list[str]:
        """Columns of the release, in order."""
        return list(self._core.released)

    @property
    def sensitive(self) -> list[str]:
        """Columns that the mechanism was trained to hide."""
        return list(self._core.sensitive)

    def describe(self) -> str:
        """What it is, what it does to each column and how much leaks, in words."""
        return self._core.describe()

    def to_dict(self) -> dict[str, Any]:
        """The same as data."""
        described: dict[str, Any] = json.loads(self._core.json())
        return described

    def transform(self, X: Any, *, unknown: str | None = None, threads: int = 0) -> Any:
        """Releases a frame: the same kind of frame comes back, with the same index and types.

        Every call draws new noise from the operating system's secure source; there is no seed. ``unknown`` says what
        becomes of a row that cannot be released: "fail" (an exception names it) or "nearest" (the grouped level or the
        mean); by default what the model says. ``threads``: 0 for one per core.
        """
        stream = _core.release(self._core, _frames.stream_of(X, self._core.needed), unknown, threads, None)
        return _frames.frame_of(stream, X)

    def audit(
        self, X: Any, *, limit: float | None = None, quick: bool = False, threads: int = 0, seed: int = 1
    ) -> AuditReport:
        """What new attackers find in releases of ``X``, rows that the model was not trained on, about the columns that
        its job called sensitive. The model releases the rows as often as they want; none of that is handed out."""
        return AuditReport._of(_core.audit_model(self._core, _frames.stream_of(X), limit, quick, threads, seed))

    def __reduce__(self) -> Any:
        return Model.from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Model:
        return Model.from_bytes(self.to_bytes())

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self.__copy__()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"<ppan.Model hiding {', '.join(self.sensitive)}; releases {', '.join(self.released_columns)}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.describe())}</pre>"


def load(path: str | os.PathLike[str]) -> Model:
    """Reads a model of tables that ``Model.save()`` or ``ppan pick`` wrote; one of images: :meth:`ImageModel.load`."""
    return Model(_core.Model.load(os.fspath(path)))
