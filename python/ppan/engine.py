"""Where the points of a curve are trained: threads of this process, local processes, Dask, Ray or Spark.

An engine has one method, ``map``: a function of one argument, applied to each of some tasks, anywhere, any number of times. Both
are pickled. The pieces of a curve give the same bits wherever and however often they are made (on processors of one kind), so
a task that failed with its worker is simply done again elsewhere.
"""

from __future__ import annotations

import os
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from . import _core, _frames
from ._errors import Error, UsageError

Function = Callable[[Any], Any]


class Engine(ABC):
    """Applies a function to tasks, somewhere."""

    @abstractmethod
    def map(self, function: Function, tasks: Sequence[Any]) -> list[Any]:
        """``[function(task) for task in tasks]``, in this order. What failed is tried again, elsewhere where there is one."""


class Local(Engine):
    """Processes of this machine, by joblib (its ``loky``) where it is installed, by the standard library otherwise. What a
    killed process had under way is done again by another."""

    def __init__(self, processes: int | None = None, retries: int = 3) -> None:
        self.processes = processes
        self.retries = retries

    def map(self, function: Function, tasks: Sequence[Any]) -> list[Any]:
        done: dict[int, Any] = {}
        for attempt in range(self.retries + 1):
            left = [number for number in range(len(tasks)) if number not in done]
            if not left:
                break
            failure = self._try(function, tasks, left, done)
            if failure is not None and attempt == self.retries:
                raise failure
        return [done[number] for number in range(len(tasks))]

    def _try(self, function: Function, tasks: Sequence[Any], left: list[int], done: dict[int, Any]) -> Exception | None:
        """Does what it can of ``left``; why something is missing."""
        from concurrent.futures import as_completed

        failure: Exception | None = None
        executor = self._executor(min(len(left), self.processes or _cores()))
        try:
            waiting = {executor.submit(function, tasks[number]): number for number in left}
            for future in as_completed(waiting):
                try:
                    done[waiting[future]] = future.result()
                except Exception as error:  # of the task, or that its process ended
                    failure = error
        except RuntimeError as error:  # a process ended while tasks were handed out
            failure = error
        finally:
            executor.shutdown(wait=True)
        return failure

    def _executor(self, processes: int) -> Any:
        try:
            from joblib.externals.loky import ProcessPoolExecutor

            return ProcessPoolExecutor(max_workers=processes)
        except ImportError:
            import multiprocessing
            from concurrent.futures import ProcessPoolExecutor as Plain

            return Plain(max_workers=processes, mp_context=multiprocessing.get_context("spawn"))


class Dask(Engine):
    """Workers of a Dask cluster. ``client``: a ``distributed.Client``; None takes the one in use."""

    def __init__(self, client: Any = None, retries: int = 3) -> None:
        self.client = client
        self.retries = retries

    def map(self, function: Function, tasks: Sequence[Any]) -> list[Any]:
        client = self.client
        if client is None:
            from distributed import default_client

            try:
                client = default_client()
            except ValueError as error:
                raise UsageError("there is no Dask client in use", "make one: distributed.Client(...)") from error
        # The function travels with each task instead of lying on workers: one that dies takes nothing along.
        futures = [client.submit(_call, pickle.dumps(function), task, pure=False, retries=self.retries) for task in tasks]
        return list(client.gather(futures))


class Ray(Engine):
    """Workers of a Ray cluster: the one that ``ray.init()`` has connected to, or a local one."""

    def __init__(self, retries: int = 3) -> None:
        self.retries = retries

    def map(self, function: Function, tasks: Sequence[Any]) -> list[Any]:
        import ray

        if not ray.is_initialized():
            ray.init()
        remote = ray.remote(num_cpus=1, max_retries=self.retries, retry_exceptions=True)(_call)
        shared = ray.put(pickle.dumps(function))
        return list(ray.get([remote.remote(shared, task) for task in tasks]))


class Spark(Engine):
    """Executors of a Spark cluster. ``session``: None takes the active one. Spark itself tries again what an executor lost
    (``spark.task.maxFailures``)."""

    def __init__(self, session: Any = None) -> None:
        self.session = session

    def map(self, function: Function, tasks: Sequence[Any]) -> list[Any]:
        from .spark import _session

        if not tasks:
            return []
        context = _session(self.session).sparkContext
        shared = context.broadcast(pickle.dumps(function))
        try:
            return list(context.parallelize(list(tasks), len(tasks)).map(lambda task: _call(shared.value, task)).collect())
        finally:
            shared.destroy()


def _call(function: bytes, task: Any) -> Any:
    return pickle.loads(function)(task)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_BY_NAME: dict[str, type[Engine]] = {"local": Local, "dask": Dask, "ray": Ray, "spark": Spark}


def engine_of(given: Any) -> Engine:
    """The engine of a name, or an engine as it is."""
    if isinstance(given, str) and given in _BY_NAME:
        return _BY_NAME[given]()
    if isinstance(given, str) or not callable(getattr(given, "map", None)):
        raise UsageError(f"engine: {given!r} is not known", f"it is {', '.join(_BY_NAME)}, or an object with map(function, tasks)")
    found: Engine = given
    return found


# What a worker has made ready before, by the bytes it was made from: one that trains several points reads the frame once.
_ready: dict[int, tuple[bytes, Any]] = {}


class TrainPoint:
    """Trains one point of a curve, in whatever process it is called. What is wrong with the data or the settings comes back
    as a value, since trying again elsewhere would not help."""

    def __init__(self, frame: Any, values: dict[str, Any], specs: dict[str, Any], start: bytes) -> None:
        # Points are side by side already, each in a process of one thread.
        self.common = pickle.dumps((frame, {**values, "train.threads": 1}, specs))
        self.start = start

    def __call__(self, number: int) -> bytes | Error:
        try:
            return bytes(_core.train_point(self._begun(), number))
        except Error as error:
            return error

    def _begun(self) -> Any:
        held = _ready.get(0)
        if held is None or held[0] != self.start:
            frame, values, specs = pickle.loads(self.common)
            held = (self.start, _core.start_from_bytes(self.start, _frames.stream_of(frame), _core.make_job(values, specs)))
            _ready[0] = held
        return held[1]


def fit(engine: Engine, frame: Any, values: dict[str, Any], specs: dict[str, Any], listener: Any) -> Any:
    """A curve whose points are trained by an engine; what all share is made, and what is beside them measured, here."""
    frame = _frames.portable(frame)
    start = _core.prepare(_frames.stream_of(frame), _core.make_job(values, specs), listener)
    made = engine.map(TrainPoint(frame, values, specs, start.to_bytes()), list(range(1, start.points + 1)))
    for point in made:
        if isinstance(point, Error):
            raise point
    return _core.finish(start, made, listener)


__all__ = ["Dask", "Engine", "Local", "Ray", "Spark", "engine_of"]
