"""BLAS has one thread while ours call it, and then as many as it had."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pynested.backends.numpy import blas, running


@pytest.fixture
def threads() -> Iterator[list[int]]:
    """What BLAS is asked for, of a machine where it has four threads."""
    asked = [4]
    controls = (lambda: asked[-1]), asked.append
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blas, "_controls", lambda: controls)
        yield asked


def test_numpy_says_how_many_threads_it_takes() -> None:
    controls = blas._controls()
    if controls is None:
        pytest.skip("the BLAS of this NumPy is not OpenBLAS")
    get, set_to = controls
    before = get()
    with blas.one_thread_each():
        assert get() == 1
    assert get() == before
    set_to(before)


def test_the_last_one_who_leaves_gives_the_threads_back(threads: list[int]) -> None:
    first, second = blas.one_thread_each(), blas.one_thread_each()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads == [4, 1]
    second.__exit__(None, None, None)
    assert threads == [4, 1, 4]


def test_an_error_gives_the_threads_back(threads: list[int]) -> None:
    with pytest.raises(ZeroDivisionError), blas.one_thread_each():
        _ = 1 // 0
    assert threads == [4, 1, 4]


@pytest.mark.parametrize(("nbytes", "seen"), [(running.THREAD_BYTES, 1), (0, 4)])
def test_jobs_on_several_threads_are_all_that_asks(
    nbytes: int, seen: int, threads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "THREADS", 2)
    met: list[int] = []
    running.run(lambda job: met.append(threads[-1]), [(0,), (1,)], nbytes)
    assert met == [seen, seen]
    assert threads[-1] == 4


def test_where_blas_cannot_be_asked_nothing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_controls", lambda: None)
    with blas.one_thread_each():
        assert blas._users == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forked processes here")
def test_a_forked_child_has_no_users(threads: list[int]) -> None:
    with blas.one_thread_each():
        child = os.fork()
        if not child:
            os._exit(blas._users)
    assert os.waitpid(child, 0)[1] == 0
