"""BLAS has one thread while several threads of pynested call it, and its own number afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pynested.backends.numpy import running


def blas_threads() -> int:
    return max((library.num_threads for library in running._blas().lib_controllers), default=0)


@pytest.fixture
def threads() -> Iterator[int]:
    """Return the number of threads that BLAS has outside."""
    if not blas_threads():
        pytest.skip("the BLAS of this NumPy is unknown")
    with running._blas().limit(limits=2):
        yield blas_threads()


def test_the_last_thread_that_leaves_restores_the_limit(threads: int) -> None:
    first, second = running.one_thread_each(), running.one_thread_each()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == 1
    second.__exit__(None, None, None)
    assert blas_threads() == threads


def test_an_error_restores_the_limit(threads: int) -> None:
    with pytest.raises(ZeroDivisionError), running.one_thread_each():
        _ = 1 // 0
    assert blas_threads() == threads


def test_only_jobs_on_several_threads_limit_blas(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "THREADS", 2)
    for nbytes, expected in ((running.THREAD_BYTES, 1), (0, threads)):
        seen: list[int] = []
        running.run(lambda counts: counts.append(blas_threads()), [(seen,), (seen,)], nbytes)
        assert seen == [expected, expected]
    assert blas_threads() == threads
