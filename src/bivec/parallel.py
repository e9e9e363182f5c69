"""Threads for kernels: rows are handed out in chunks, and who computes a row never matters.

Kernels release the interpreter lock, so plain Python threads run them side by side. Chunks are
handed out on demand: a slow core takes fewer of them.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from queue import SimpleQueue
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
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._helpers: list[threading.Thread] = []

    def __enter__(self) -> Workers:
        self._helpers = [
            threading.Thread(target=_serve, args=(self._jobs,), name=f"bivec-{k}")
            for k in range(1, self.n_jobs)
        ]
        for helper in self._helpers:
            helper.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for _ in self._helpers:
            self._jobs.put(None)
        for helper in self._helpers:
            helper.join()
        self._helpers = []

    def run(
        self, task: Callable[[int, int], object], n: int, chunk: int, guided: bool = False
    ) -> None:
        """Call ``task(start, stop)`` on each chunk of ``range(n)``; return when all are done.

        Guided, each thread has a share of its own, of which it takes half of what is left, in whole
        chunks: few calls, neighbouring rows on one thread, and nobody waits long for the last one.
        """
        if not self._helpers or n <= chunk:
            step = n if guided else chunk
            for start in range(0, n, max(step, 1)):
                task(start, min(start + step, n))
            return
        units = -(-n // chunk)
        threads = min(self.n_jobs, units)
        shares = _Shares(units, threads if guided else 1)
        failures: SimpleQueue[BaseException | None] = SimpleQueue()

        def work(own: int) -> None:
            for first, last in shares.chunks(own):
                task(first * chunk, min(last * chunk, n))

        def help_out(own: int) -> None:
            failure = None
            try:
                work(own)
            except BaseException as error:
                failure = error
            failures.put(failure)

        for own in range(1, threads):
            self._jobs.put(partial(help_out, own))
        try:
            work(0)
        except BaseException:  # Ctrl-C above all: the others finish their chunk and take no more
            shares.drop()
            raise
        finally:
            failed = [failures.get() for _ in range(1, threads)]
        for failure in failed:
            if failure is not None:
                raise failure


def _serve(jobs: SimpleQueue[Callable[[], object] | None]) -> None:
    """Do jobs until there is None."""
    while True:
        job = jobs.get()
        if job is None:
            return
        job()
        del job  # and with it the arrays that it has to do with, before waiting for the next


class _Shares:
    """A range in equal shares, one for each thread or one for all, and what is left of each.

    A thread takes from the front of its own share; with nothing left there it takes from the back
    of the largest (work stealing: Blumofe, Leiserson, doi:10.1145/324133.324234). A share for all
    goes one by one, in order.
    """

    def __init__(self, n: int, shares: int) -> None:
        self._left = [[n * t // shares, n * (t + 1) // shares] for t in range(shares)]
        self._lock = threading.Lock()

    def chunks(self, own: int) -> Iterator[tuple[int, int]]:
        """Yield what a thread is to do next."""
        while True:
            with self._lock:
                first, last = self._take(own)
            if first == last:
                return
            yield first, last

    def drop(self) -> None:
        """Leave nothing for anybody."""
        with self._lock:
            self._left = [[0, 0] for _ in self._left]

    def _take(self, own: int) -> tuple[int, int]:
        share = self._left[own % len(self._left)]
        if share[0] < share[1]:
            first = share[0]
            share[0] += self._size(share)
            return first, share[0]
        share = max(self._left, key=lambda share: share[1] - share[0])
        last = share[1]
        share[1] -= self._size(share)
        return share[1], last

    def _size(self, share: list[int]) -> int:
        left = share[1] - share[0]
        return max(min(left, 1), left // 2 if len(self._left) > 1 else 0)


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread, as the order of its sums may depend on their number."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield
