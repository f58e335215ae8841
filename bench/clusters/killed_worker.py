"""An engine one of whose workers is killed: a module of its own, since workers import what they are sent."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ppan import engine

_EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


def _worker() -> int:
    """The executor that this process belongs to, or this process."""
    pid = os.getpid()
    while pid > 1:
        if _EXECUTOR in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
            return pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return os.getpid()


class Dying:
    """Does a task, and the first time that it is the one to die of, dies before the result is handed over."""

    def __init__(self, function: engine.Function, mark: str) -> None:
        self.function, self.mark = function, mark

    def __call__(self, numbered: tuple[bool, Any]) -> Any:
        deadly, task = numbered
        done = self.function(task)
        if deadly:
            try:
                Path(self.mark).touch(exist_ok=False)
            except FileExistsError:
                return done
            os.kill(_worker(), signal.SIGKILL)
            time.sleep(60)  # until it is dead
        return done


class Killing(engine.Engine):
    """Another engine; the worker that makes the point in the middle is killed."""

    def __init__(self, inner: engine.Engine) -> None:
        self.inner, self.mark = inner, os.path.join(tempfile.mkdtemp(), "dead")

    def map(self, function: engine.Function, tasks: Sequence[Any]) -> list[Any]:
        middle = len(tasks) // 2 if len(tasks) > 2 else -1
        return self.inner.map(Dying(function, self.mark), [(number == middle, task) for number, task in enumerate(tasks)])
