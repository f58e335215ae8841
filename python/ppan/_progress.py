"""Progress of a training, by tqdm where it is installed."""

from __future__ import annotations

import sys
from typing import Any


class Progress:
    """Listens to a training and shows how far it is. ``mode`` True shows a bar, False nothing; None shows one when
    somebody is likely to look: a terminal or a notebook."""

    def __init__(self, mode: bool | None, points: int) -> None:
        self._bar: Any = None
        self._points = points
        self._share: dict[int, float] = {}
        if mode is None:
            mode = sys.stderr.isatty() or "ipykernel" in sys.modules
        if not mode:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=float(points), unit="point", bar_format="{desc}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}")

    def __call__(self, kind: str, point: int, step: int, steps: int) -> None:
        if self._bar is None:
            return
        if kind == "epoch":
            self._share[point] = min(1.0, step / max(1, steps))
        elif kind == "finished":
            self._share[point] = 1.0
        else:
            self._bar.set_description(kind)
        done = sum(share for number, share in self._share.items() if number > 0)
        self._bar.n = min(float(self._points), round(done, 3))
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
