"""Threads: every row once, in chunks that begin where they must."""

import threading

import pytest

from bivec.parallel import Workers


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 64, 1000])
@pytest.mark.parametrize("guided", [False, True])
def test_every_row_is_done_once(n_jobs: int, n: int, guided: bool):
    done, lock = [], threading.Lock()

    def task(start: int, stop: int) -> None:
        with lock:
            done.append((start, stop))

    with Workers(n_jobs) as workers:
        workers.run(task, n, 8, guided)
    rows = sorted(row for start, stop in done for row in range(start, stop))
    assert rows == list(range(n))
    # Kernels keep sums by chunk: each begins at a multiple, and unguided none is longer
    assert all(start % 8 == 0 for start, _ in done)
    assert all(stop > start for start, stop in done)
    assert guided or all(stop - start <= 8 for start, stop in done)


def test_guided_chunks_are_few():
    done = []
    with Workers(2) as workers:
        workers.run(lambda start, stop: done.append(stop - start), 4096, 16, guided=True)
    assert len(done) <= 40
    with Workers(1) as workers:
        done.clear()
        workers.run(lambda start, stop: done.append(stop - start), 4096, 16, guided=True)
    assert done == [4096]


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_an_error_ends_the_work(n_jobs: int):
    class BadError(Exception):
        pass

    def task(start: int, stop: int) -> None:
        raise BadError

    with Workers(n_jobs) as workers:
        with pytest.raises(BadError):
            workers.run(task, 100, 4)
        done = []
        workers.run(lambda start, stop: done.append(stop - start), 100, 4)
    assert sum(done) == 100


def test_a_slow_thread_gives_its_share_away():
    started, others = threading.Event(), threading.Event()
    mine, lock = [], threading.Lock()
    rows = []

    def task(start: int, stop: int) -> None:
        with lock:
            rows.append((threading.get_ident(), stop - start))
            first = not started.is_set()
            started.set()
            if first:
                mine.append(threading.get_ident())
            elif sum(n for who, n in rows if who != mine[0]) >= 90:
                others.set()
        if first:
            others.wait(10)  # holds one chunk until the others have done nearly all

    with Workers(2) as workers:
        workers.run(task, 100, 5)
    assert others.is_set()
    assert sum(n for _, n in rows) == 100
