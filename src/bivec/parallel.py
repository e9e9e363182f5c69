"""Threads for kernels: rows are handed out in chunks, and who computes a row never matters.

Kernels release the interpreter lock, so plain Python threads run them side by side. Chunks are
handed out on demand: a slow core takes fewer of them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from types import TracebackType

from bivec.errors import InputError


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve_jobs(n_jobs: int | None) -> int:
    """Return a number of threads: None or -1 is every core, -2 all but one, and so on.

    >>> resolve_jobs(3)
    3
    """
    if n_jobs is None:
        return available_cores()
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or n_jobs == 0:
        raise InputError(
            f"n_jobs={n_jobs!r} is no number of threads", "Give 1 or more, or -1 for every core."
        )
    return n_jobs if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)


class Workers:
    """A number of threads that live as long as the ``with`` block.

    The calling thread is one of them, so ``Workers(1)`` starts none.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = resolve_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        if self.n_jobs > 1:
            self._pool = ThreadPoolExecutor(self.n_jobs - 1, thread_name_prefix="bivec")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def run(
        self, task: Callable[[int, int], object], n: int, chunk: int, guided: bool = False
    ) -> None:
        """Call ``task(start, stop)`` on each chunk of ``range(n)``; return when all are done.

        Guided, the first chunks are larger, a share of what is left: fewer calls, and still nobody
        waits long for the last one (Polychronopoulos, Kuck, doi:10.1109/TC.1987.5009495).
        """
        if self._pool is None or n <= chunk:
            for start in range(0, n, chunk):
                task(start, min(start + chunk, n))
            return
        chunks = _chunks(n, chunk, 2 * self.n_jobs if guided else n)
        lock = threading.Lock()
        helpers = min(self.n_jobs, -(-n // chunk)) - 1
        futures = [self._pool.submit(_work, task, chunks, lock) for _ in range(helpers)]
        try:
            _work(task, chunks, lock)
        except BaseException:  # Ctrl-C above all: the others finish their chunk and take no more
            with lock:
                for _ in chunks:
                    pass
            raise
        finally:
            wait(futures)
        for future in futures:
            future.result()


def _chunks(n: int, least: int, parts: int) -> Iterator[tuple[int, int]]:
    """Cut a range into pieces, each that part of what is left, in multiples of the least."""
    start = 0
    while start < n:
        stop = min(n, start + max(1, (n - start) // (parts * least)) * least)
        yield start, stop
        start = stop


def _work(
    task: Callable[[int, int], object], chunks: Iterator[tuple[int, int]], lock: threading.Lock
) -> None:
    """Take chunks until none is left."""
    while True:
        with lock:
            chunk = next(chunks, None)
        if chunk is None:
            return
        task(*chunk)
