"""Images: a trade-off curve that hides their labels, and mechanisms that release them."""

from __future__ import annotations

import html
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._audit import AuditReport
from ._curve import CurveFiles
from ._errors import InputError, Interrupted, PrivacyWarning
from ._progress import Progress


def _pixels(images: Any) -> tuple[Any, np.dtype[Any]]:
    """Images as float32 in [0, 1], and the type they had."""
    array = np.asarray(images)
    if array.ndim != 3:
        raise InputError(
            f"images must be an array of shape (images, height, width); this one has shape {array.shape}"
        )
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array, dtype=np.float32) / np.float32(255), array.dtype
    if array.dtype == np.bool_ or array.dtype.kind == "f":
        return np.ascontiguousarray(array, dtype=np.float32), array.dtype
    raise InputError(f"images are {array.dtype}; they must be uint8, or floating-point numbers in [0, 1]")


def _codes(values: Any, images: int, name: str) -> tuple[list[int], list[str]]:
    """One of 0, 1, ... for each image, and what each stands for."""
    array = np.asarray(values)
    if array.ndim != 1 or len(array) != images:
        raise InputError(f"{name} must have one value for each of {images} images; it has shape {array.shape}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError(f"{name} contains NaN")
    levels, code = np.unique(array.astype(str) if array.dtype.kind == "O" else array, return_inverse=True)
    return code.astype(np.int32).tolist(), [str(level) for level in levels]


class ImageModel:
    """A mechanism that releases grey images of one size. Made by ``pick()`` or :func:`ppan.load`."""

    def __init__(self, core: _core.ImageModel) -> None:
        self._core = core

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "model") -> ImageModel:
        """Reads the bytes of a model file; anything else is refused."""
        return cls(_core.ImageModel.from_bytes(data, name))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ImageModel:
        """Reads a model that ``save()`` or ``ppan pick`` wrote."""
        return cls(_core.ImageModel.load(os.fspath(path)))

    def to_bytes(self) -> bytes:
        """The bytes of its file, the same as the command line writes."""
        return self._core.to_bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, all or nothing; its owner alone can read it."""
        self._core.save(os.fspath(path))

    @property
    def image_shape(self) -> tuple[int, int]:
        """Height and width of the images that it releases."""
        return self._core.height, self._core.width

    @property
    def classes_(self) -> list[str]:
        """What the hidden labels are called."""
        return list(self._core.class_names)

    def describe(self) -> str:
        """What it is and how much leaks, in words."""
        return self._core.describe()

    def to_dict(self) -> dict[str, Any]:
        """The same as data."""
        described: dict[str, Any] = json.loads(self._core.json())
        return described

    def transform(self, images: Any) -> Any:
        """Releases every image once: an array of the same shape, in the same type.

        Every call draws new noise from the operating system's secure source; there is no seed.
        """
        pixels, dtype = _pixels(images)
        out = _core.release_images(self._core, pixels)
        if dtype == np.uint8:
            return np.rint(out * 255).astype(np.uint8)
        return out if dtype == np.bool_ else out.astype(dtype, copy=False)

    def audit(
        self, images: Any, labels: Any, *, limit: float | None = None, quick: bool = False, seed: int = 1
    ) -> AuditReport:
        """What new attackers learn about the labels from releases of images that the model was not trained on. The
        model releases them as often as attackers want; none of that is handed out."""
        pixels, _ = _pixels(images)
        codes = _codes(labels, len(pixels), "labels")
        return AuditReport._of(_core.audit_images(self._core, pixels, codes, limit, quick, seed))

    def __reduce__(self) -> Any:
        return ImageModel.from_bytes, (self.to_bytes(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImageModel) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        height, width = self.image_shape
        return f"<ppan.ImageModel of {height} x {width} pixels hiding one of {len(self.classes_)} labels>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.describe())}</pre>"


class ImageCurve(CurveFiles[ImageModel]):
    """Trained points and the models of all points, as in the run directory of ``ppan curve`` for a job about images."""

    _learned = "ppan/images"

    def _model(self, core: Any) -> ImageModel:
        return ImageModel(core)


class ImageTradeOff:
    """Trains a mechanism for each of several budgets of distortion, attacks each on images that it never saw, and
    keeps all of them.

    Parameters
    ----------
    points : int, default 8
        Points of the curve; ``budgets`` names them instead (pixel cross-entropy, nats per pixel).
    epochs, seed, threads, quick
        Settings of the job file of that name (docs/formats.md).
    settings : dict, default None
        Any other setting by its key: ``{"mechanism.code_size": 16}``; see :func:`ppan.settings`.
    progress : bool, default None
        A bar by tqdm. None: where a person is likely to look.

    Attributes
    ----------
    curve_ : ImageCurve
    points_ : frame with a row for each trained point
    """

    def __init__(
        self,
        *,
        points: int | None = None,
        budgets: Sequence[float] | None = None,
        epochs: int | None = None,
        seed: int = 1,
        threads: int | None = None,
        quick: bool = False,
        settings: Mapping[str, Any] | None = None,
        progress: bool | None = None,
    ) -> None:
        self.points = points
        self.budgets = budgets
        self.epochs = epochs
        self.seed = seed
        self.threads = threads
        self.quick = quick
        self.settings = settings
        self.progress = progress

    def _job(self, task: bool) -> _core.Job:
        values: dict[str, Any] = {"data.images": "images", "data.labels": "labels", "train.seed": self.seed}
        if task:
            values["data.task_labels"] = "task"
        given = {"privacy.points": self.points, "privacy.budgets": self.budgets, "train.epochs": self.epochs,
                 "train.threads": self.threads, "audit.quick": self.quick or None}  # fmt: skip
        values.update({key: value for key, value in given.items() if value is not None})
        values.update(self.settings or {})
        return _core.make_job(values, {})

    def fit(self, images: Any, labels: Any, task: Any = None) -> ImageTradeOff:
        """Trains on ``images``, an array of shape (images, height, width) of uint8 or of numbers in [0, 1]. ``labels``
        are hidden. ``task``, a second label of each image, is what a recipient wants to predict."""
        pixels, _ = _pixels(images)
        codes = _codes(labels, len(pixels), "labels")
        tasks = None if task is None else _codes(task, len(pixels), "task")
        job = self._job(task is not None)
        progress = Progress(self.progress, _core.image_points(job))
        try:
            core = _core.fit_images(pixels, codes, tasks, job, progress)
        finally:
            progress.close()
        for text in core.warnings:
            warnings.warn(text, PrivacyWarning, stacklevel=2)
        if core.interrupted:
            warnings.warn("interrupted: only finished points were kept", Interrupted, stacklevel=2)
        self.curve_ = ImageCurve(core)
        return self

    @property
    def points_(self) -> Any:
        """A frame with a row for each trained point."""
        return self.curve_.points_

    def pick(self, **choice: Any) -> ImageModel:
        """The model of a point: see :meth:`ppan.Curve.pick`."""
        return self.curve_.pick(**choice)
