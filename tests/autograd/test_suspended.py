"""Modes as decorators of what is suspended: the body has the mode at every step, its caller never."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

import pynested as pn
from pynested.autograd import anomaly, enable_grad, is_grad_enabled, no_grad

X = pn.array([1.0, 2.0], requires_grad=True)
DECORATORS = pytest.mark.parametrize("decorate", [no_grad, no_grad()], ids=["bare", "called"])


def recorded() -> bool:
    found: bool = (X * 2).requires_grad
    assert found == is_grad_enabled()
    return found


def counting(log: list[Any]) -> Any:
    """A generator that uses all that a generator can do, and says each time whether it records."""
    log.append(recorded())
    try:
        given = yield "first"
        log.append((recorded(), given))
        try:
            yield "second"
        except KeyError as error:
            log.append((recorded(), error.args))
        with enable_grad():
            log.append(recorded())
            yield "third"  # in a mode of its own, which has to be there again
            log.append(recorded())
        log.append(recorded())
        return "end"
    finally:
        log.append(("finally", recorded()))


@DECORATORS
def test_a_generator(decorate: Any) -> None:
    log: list[Any] = []
    body = decorate(counting)(log)
    assert next(body) == "first"
    assert recorded()
    assert body.send(7) == "second"
    assert recorded()
    assert body.throw(KeyError("k")) == "third"
    assert recorded()
    with pytest.raises(StopIteration) as end:
        next(body)
    assert end.value.value == "end"
    assert recorded()
    assert log == [False, (False, 7), (False, ("k",)), True, True, False, ("finally", False)]


def test_a_generator_whose_caller_changes_its_own_mode() -> None:
    @enable_grad
    def body() -> Iterator[bool]:
        while True:
            yield recorded()

    steps = body()
    with no_grad():
        assert next(steps)
        assert not recorded()
        with enable_grad():
            assert next(steps)
            assert recorded()
        assert next(steps)
        assert not recorded()
    assert next(steps)
    assert recorded()


@pytest.mark.parametrize("end", ["close", "collected", "an error"])
def test_the_end_of_a_generator(end: str) -> None:
    log: list[Any] = []
    body = no_grad(counting)(log)
    next(body)
    if end == "close":
        body.close()
    elif end == "collected":
        del body
        gc.collect()
    else:
        with pytest.raises(ZeroDivisionError):
            body.throw(ZeroDivisionError())
    assert log == [False, ("finally", False)]
    assert recorded()


def test_generators_inside_one_another_and_interleaved() -> None:
    @no_grad
    def inner() -> Iterator[bool]:
        yield recorded()
        yield recorded()

    @enable_grad
    def outer() -> Iterator[Any]:
        first, second = inner(), inner()
        yield recorded(), next(first), recorded(), next(second)
        yield from first
        yield recorded()

    with no_grad():
        assert list(outer()) == [(True, False, True, False), False, True]
        assert not recorded()
    assert recorded()


def test_one_generator_in_two_threads() -> None:
    @no_grad
    def body() -> Iterator[bool]:
        yield recorded()
        with enable_grad():
            yield recorded()
            yield recorded()

    steps = body()
    found = [next(steps)]

    def other() -> None:
        found.extend([next(steps), recorded()])

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    found += [recorded(), next(steps)]
    assert found == [False, True, True, True, True]


def test_an_error_that_was_thrown_in_leaves_no_cycle() -> None:
    @no_grad
    def body() -> Iterator[None]:
        yield

    class Mark(Exception):
        pass

    gc.collect()
    gc.disable()
    try:
        steps, error = body(), Mark()
        seen = weakref.ref(error)
        next(steps)
        with suppress(Mark):
            steps.throw(error)
        del error, steps
        assert seen() is None
    finally:
        gc.enable()


async def steps_of(log: list[Any], name: str, turns: int) -> str:
    for _ in range(turns):
        log.append((name, recorded()))
        await asyncio.sleep(0)
    with enable_grad():
        await asyncio.sleep(0)
        log.append((name, recorded()))
    return name


@DECORATORS
def test_a_coroutine_among_others(decorate: Any) -> None:
    log: list[Any] = []

    async def main() -> list[str]:
        decorated = decorate(steps_of)
        return await asyncio.gather(steps_of(log, "plain", 3), decorated(log, "decorated", 3))

    assert asyncio.run(main()) == ["plain", "decorated"]
    assert log.count(("plain", True)) == 4
    assert log.count(("decorated", False)) == 3
    assert log.count(("decorated", True)) == 1
    assert len(log) == 8
    assert recorded()


def test_a_coroutine_that_is_cancelled() -> None:
    log: list[Any] = []

    @no_grad
    async def waits() -> None:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            log.append(recorded())
            raise

    async def main() -> None:
        task = asyncio.create_task(waits())
        await asyncio.sleep(0)
        log.append(recorded())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        log.append(recorded())

    asyncio.run(main())
    assert log == [True, False, True]


def test_an_asynchronous_generator() -> None:
    log: list[Any] = []

    @no_grad
    async def body() -> AsyncIterator[Any]:
        try:
            given = yield recorded()
            log.append((given, recorded()))
            await asyncio.sleep(0)
            try:
                yield recorded()
            except KeyError:
                log.append(("thrown", recorded()))
            with enable_grad():
                yield recorded()
                log.append(("inside", recorded()))
            yield recorded()
        finally:
            await asyncio.sleep(0)
            log.append(("finally", recorded()))

    async def main() -> list[Any]:
        steps: Any = body()
        found = [await anext(steps), recorded(), await steps.asend(5), recorded(), await steps.athrow(KeyError())]
        found += [recorded(), await anext(steps), recorded()]
        await steps.aclose()
        log.append([one async for one in body()])
        return found

    assert asyncio.run(main()) == [False, True, False, True, True, True, False, True]
    last = [(None, False), ("inside", True), ("finally", False), [False, False, True, False]]
    assert log == [(5, False), ("thrown", False), ("inside", True), ("finally", False), *last]


def test_what_is_decorated_stays_what_it_is() -> None:
    kinds: list[tuple[Callable[[Any], bool], Any]] = [
        (inspect.isgeneratorfunction, counting),
        (inspect.iscoroutinefunction, steps_of),
        (inspect.isasyncgenfunction, asynchronous),
    ]
    for is_kind, function in kinds:
        for decorate in (no_grad, enable_grad, anomaly, no_grad()):
            decorated = anomaly(decorate(function))
            assert is_kind(decorated)
            assert (decorated.__name__, decorated.__doc__) == (function.__name__, function.__doc__)


async def asynchronous() -> AsyncIterator[int]:
    """Nothing."""
    yield 1


def test_anomaly_as_a_decorator_of_a_generator() -> None:
    @anomaly
    def body() -> Iterator[Any]:
        yield (X * 2).line.trace
        yield (X * 2).line.trace

    steps = body()
    assert next(steps) is not None
    assert (X * 2).line.trace is None
    assert next(steps) is not None


def stepped() -> Iterator[bool]:
    yield recorded()


async def awaited() -> bool:
    return recorded()


async def both() -> AsyncIterator[bool]:
    yield recorded()


BODIES = {stepped: list, awaited: asyncio.run, both: lambda items: asyncio.run(anext(items)), recorded: bool}


@DECORATORS
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_whatever_is_called_to_run_it(decorate: Any, body: Any) -> None:
    called = type("Called", (), {"__call__": staticmethod(body)})
    inherited, held = type("Inherited", (called,), {}), type("Held", (), {"__call__": called()})
    for function in (body, called(), inherited(), held(), called().__call__, partial(body), partial(partial(held()))):
        assert (BODIES[body](decorate(function)()) in (False, [False]), recorded()) == (True, True)
