"""Where the points of a curve are trained: threads of this process, local processes, Dask, Ray or Spark.

An engine has one method, ``map``: a function of one argument, applied to each of some tasks, anywhere, any number of times. Both
are pickled. The pieces of a curve give the same bits wherever and however often they are made (on processors of one kind), so
a task that failed with its worker is simply done again elsewhere.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from . import _core, _frames
from ._errors import Error, UsageError

Task = Any
Function = Callable[[Any], Any]


class Engine(ABC):
    """Applies a function to tasks, somewhere."""

    @abstractmethod
    def map(self, function: Function, tasks: Sequence[Task]) -> list[Any]:
        """``[function(task) for task in tasks]``, in this order."""


class Local(Engine):
    """Processes of this machine, by joblib (its ``loky``) where it is installed. What a killed process had under way is
    done again by another."""

    def __init__(self, processes: int | None = None, retries: int = 3) -> None:
        self.processes = processes
        self.retries = retries

    def map(self, function: Function, tasks: Sequence[Task]) -> list[Any]:
        from concurrent.futures import as_completed
        from concurrent.futures.process import BrokenProcessPool

        left = dict(enumerate(tasks))
        done: dict[int, Any] = {}
        for attempt in range(self.retries + 1):
            executor = self._executor(min(len(left), self.processes or _cores()))
            try:
                waiting = {executor.submit(function, task): number for number, task in left.items()}
                for future in as_completed(waiting):
                    try:
                        done[waiting[future]] = future.result()
                        del left[waiting[future]]
                    except Error:
                        raise
                    except (BrokenProcessPool, OSError) as error:
                        if attempt == self.retries:
                            raise Error(f"a worker process ended {self.retries + 1} times: {error}") from error
            except BrokenProcessPool as error:  # while tasks were handed out
                if attempt == self.retries:
                    raise Error(f"a worker process ended {self.retries + 1} times: {error}") from error
            finally:
                executor.shutdown(wait=True)
            if not left:
                break
        return [done[number] for number in range(len(tasks))]

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

    def map(self, function: Function, tasks: Sequence[Task]) -> list[Any]:
        from distributed import default_client

        client = self.client or default_client()
        # The bytes go to the cluster once; a worker that dies takes nothing with it that cannot be made again.
        futures = [client.submit(function, task, pure=False, retries=self.retries) for task in tasks]
        return list(client.gather(futures))


class Ray(Engine):
    """Workers of a Ray cluster."""

    def __init__(self, retries: int = 3) -> None:
        self.retries = retries

    def map(self, function: Function, tasks: Sequence[Task]) -> list[Any]:
        import ray

        if not ray.is_initialized():
            ray.init()
        remote = ray.remote(num_cpus=1, max_retries=self.retries)(function)
        return list(ray.get([remote.remote(task) for task in tasks]))


class Spark(Engine):
    """Executors of a Spark cluster. ``session``: None takes the active one. Spark itself retries what an executor lost."""

    def __init__(self, session: Any = None) -> None:
        self.session = session

    def map(self, function: Function, tasks: Sequence[Task]) -> list[Any]:
        from .spark import _session

        context = _session(self.session).sparkContext
        pickled = [pickle.dumps((number, function, task)) for number, task in enumerate(tasks)]
        found = context.parallelize(pickled, len(pickled)).map(_apply).collect()
        by_number = dict(pickle.loads(each) for each in found)
        return [by_number[number] for number in range(len(tasks))]


def _apply(pickled: bytes) -> bytes:
    number, function, task = pickle.loads(pickled)
    return pickle.dumps((number, function(task)))


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_BY_NAME: dict[str, type[Engine]] = {"local": Local, "dask": Dask, "ray": Ray, "spark": Spark}


def engine_of(given: Any) -> Engine:
    """The engine of a name, or an engine as it is."""
    if isinstance(given, str) and given in _BY_NAME:
        return _BY_NAME[given]()
    if isinstance(given, str) or not hasattr(given, "map"):
        raise UsageError(f"engine: {given!r} is not known", f"it is {', '.join(_BY_NAME)}, or an object with map(function, tasks)")
    found: Engine = given
    return found


# What a worker has made ready before, by the bytes it was made from: a worker that trains several points reads the frame once.
_ready: dict[bytes, Any] = {}


def train_point(task: tuple[bytes, bytes, int]) -> bytes:
    """One point, in a worker."""
    common, start, number = task
    if common not in _ready:
        _ready.clear()
        columns, values, specs = pickle.loads(common)
        job = _core.make_job({**values, "train.threads": 1}, specs)
        _ready[common] = _core.start_from_bytes(start, _frames.stream_of(columns), job)
    return bytes(_core.train_point(_ready[common], number))


def fit(engine: Engine, frame: Any, values: dict[str, Any], specs: dict[str, Any], listener: Any) -> Any:
    """A curve whose points are trained by an engine."""
    if not hasattr(_core, "prepare"):
        raise UsageError("this build of ppan cannot train points elsewhere", "leave engine out")
    columns = _frames.portable(frame)
    start = _core.prepare(_frames.stream_of(columns), _core.make_job(values, specs), listener)
    common = pickle.dumps((columns, values, specs))
    begun = start.to_bytes()
    tasks = [(common, begun, number) for number in range(1, start.points + 1)]
    return _core.finish(start, engine.map(train_point, tasks), listener)
