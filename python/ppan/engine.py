"""Where the points of a curve are trained: threads of this process, local processes, Dask, Ray or Spark.

An engine has one method, ``map``: a function of one argument, applied to each of some tasks, anywhere, any number of times. Both
are pickled. One that also has ``each``, which gives results as they are finished, keeps them when it is interrupted. The pieces of a curve give the same bits wherever and however often they are made (on processors of one kind), so
a task that failed with its worker is simply done again elsewhere.
"""

from __future__ import annotations

import os
import pickle
import uuid
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing
from typing import Any

from . import _core, _frames
from ._errors import Error, UsageError

Function = Callable[[Any], Any]


class Engine:
    """Applies a function to tasks, somewhere. One of its two methods is to be written."""

    def map(self, function: Function, tasks: Sequence[Any]) -> list[Any]:
        """``[function(task) for task in tasks]``, in this order. What failed is tried again, elsewhere where there is one."""
        done = dict(self.each(function, tasks))
        return [done[number] for number in range(len(tasks))]

    def each(self, function: Function, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Numbers of tasks, from 0, with their results, as they are finished. What still runs when the caller stops asking,
        or Ctrl-C comes, is ended. An engine that has only :meth:`map` gives all results at the end."""
        yield from enumerate(self.map(function, tasks))


class Local(Engine):
    """Processes of this machine, by joblib (its ``loky``) where it is installed, by the standard library otherwise. What a
    killed process had under way is done again by another."""

    def __init__(self, processes: int | None = None, retries: int = 3) -> None:
        self.processes = processes
        self.retries = retries

    def each(self, function: Function, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        left = list(range(len(tasks)))
        for attempt in range(self.retries + 1):
            if not left:
                return
            done: list[int] = []
            failures: list[Exception] = []
            for number, result in self._try(function, tasks, left, failures):
                done.append(number)
                yield number, result
            left = [number for number in left if number not in done]
            if failures and attempt == self.retries:
                raise failures[-1]

    def _try(self, function: Function, tasks: Sequence[Any], left: list[int], failures: list[Exception]) -> Iterator[tuple[int, Any]]:
        """Does what it can of ``left``; why something is missing goes into ``failures``."""
        executor, end = self._executor(min(len(left), self.processes or _cores()))
        ended = False
        try:
            waiting = {executor.submit(function, tasks[number]): number for number in left}
            for future in _finished(waiting):
                try:
                    result = future.result()
                except Exception as error:  # of the task, or that its process ended
                    failures.append(error)
                else:
                    yield waiting[future], result
            ended = True
        except RuntimeError as error:  # a process ended while tasks were handed out
            failures.append(error)
            ended = True
        finally:
            if ended:
                executor.shutdown(wait=True)
            else:
                end()

    def _executor(self, processes: int) -> tuple[Any, Callable[[], None]]:
        """With what ends it at once, whatever its processes do."""
        try:
            from joblib.externals.loky import ProcessPoolExecutor

            pool = ProcessPoolExecutor(max_workers=processes)
            return pool, lambda: pool.shutdown(wait=True, kill_workers=True)
        except ImportError:
            import multiprocessing
            from concurrent.futures import ProcessPoolExecutor as Plain

            plain = Plain(max_workers=processes, mp_context=multiprocessing.get_context("spawn"))

            def end() -> None:
                running = list((plain._processes or {}).values())
                plain.shutdown(wait=False, cancel_futures=True)
                for process in running:
                    process.kill()

            return plain, end


class Dask(Engine):
    """Workers of a Dask cluster. ``client``: a ``distributed.Client``; None takes the one in use."""

    def __init__(self, client: Any = None, retries: int = 3) -> None:
        self.client = client
        self.retries = retries

    def each(self, function: Function, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        import distributed

        client = self.client
        if client is None:
            try:
                client = distributed.default_client()
            except ValueError as error:
                raise UsageError("there is no Dask client in use", "make one: distributed.Client(...)") from error
        # The function travels with each task instead of lying on workers: one that dies takes nothing along.
        data = pickle.dumps(function)
        numbers = {client.submit(_call, data, task, pure=False, retries=self.retries): i for i, task in enumerate(tasks)}
        try:
            for future, result in distributed.as_completed(list(numbers), with_results=True):
                number = numbers.pop(future)
                future.release()  # a worker that dies later need not leave it to another: it is here
                yield number, result
        finally:
            client.cancel([future for future in numbers if not future.done()])


class Ray(Engine):
    """Workers of a Ray cluster: the one that ``ray.init()`` has connected to, or a local one."""

    def __init__(self, retries: int = 3) -> None:
        self.retries = retries

    def each(self, function: Function, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        import ray

        if not ray.is_initialized():
            ray.init()
        remote = ray.remote(num_cpus=1, max_retries=self.retries, retry_exceptions=True)(_call)
        shared = ray.put(pickle.dumps(function))
        waiting = {remote.remote(shared, task): number for number, task in enumerate(tasks)}
        try:
            while waiting:
                for done in ray.wait(list(waiting), num_returns=1)[0]:
                    yield waiting.pop(done), ray.get(done)
        finally:
            for left in waiting:
                ray.cancel(left, force=True)


class Spark(Engine):
    """Executors of a Spark cluster. ``session``: None takes the active one. Spark itself tries again what an executor lost
    (``spark.task.maxFailures``)."""

    def __init__(self, session: Any = None) -> None:
        self.session = session

    def each(self, function: Function, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        from pyspark import inheritable_thread_target

        from .spark import _session

        if not tasks:
            return
        session = _session(self.session)
        context = session.sparkContext
        shared = context.broadcast(pickle.dumps(function))
        group = f"ppan {uuid.uuid4()}"

        def alone(task: Any) -> Any:
            context.setJobGroup(group, "points of a curve", interruptOnCancel=True)
            return context.parallelize([task], 1).map(lambda one: _call(shared.value, one)).collect()[0]

        # A job for each task, so that results come as they are finished; Spark runs as many as it has executors for.
        pool = ThreadPoolExecutor(max_workers=min(len(tasks), 64))
        try:
            waiting = {pool.submit(inheritable_thread_target(session)(alone), task): i for i, task in enumerate(tasks)}
            for future in _finished(waiting):
                yield waiting[future], future.result()
        finally:
            context.cancelJobGroup(group)
            pool.shutdown(wait=True, cancel_futures=True)
            shared.destroy()


def _finished(futures: Collection[Any]) -> Iterator[Any]:
    """Futures as they are finished. A signal that comes just before a thread begins to wait is noticed when the wait ends,
    so no wait is long: Ctrl-C could be lost otherwise."""
    left = set(futures)
    while left:
        done, left = wait(left, timeout=0.5, return_when=FIRST_COMPLETED)
        yield from done


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


def _results(engine: Any, function: Function, tasks: Sequence[Any]) -> Generator[tuple[int, Any], None, None]:
    """Of an engine with ``map`` alone, all at the end."""
    if callable(getattr(engine, "each", None)):
        yield from engine.each(function, tasks)
    else:
        yield from enumerate(engine.map(function, tasks))


def fit(engine: Engine, frame: Any, values: dict[str, Any], specs: dict[str, Any], listener: Any) -> Any:
    """A curve whose points are trained by an engine; what all share is made, and what is beside them measured, here. Ctrl-C keeps
    the points that are finished."""
    frame = _frames.portable(frame)
    start = _core.prepare(_frames.stream_of(frame), _core.make_job(values, specs), listener)
    made: dict[int, bytes] = {}
    interrupted = False
    task = TrainPoint(frame, values, specs, start.to_bytes())
    try:
        with closing(_results(engine, task, list(range(1, start.points + 1)))) as results:
            for number, point in results:
                if isinstance(point, Error):
                    raise point
                made[number] = point
                if listener is not None:
                    listener("finished", number + 1, 0, 0)
    except KeyboardInterrupt:
        if not made:
            raise
        interrupted = True
    return _core.finish(start, [made[number] for number in sorted(made)], listener, interrupted)


__all__ = ["Dask", "Engine", "Local", "Ray", "Spark", "engine_of"]
