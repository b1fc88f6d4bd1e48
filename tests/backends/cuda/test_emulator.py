"""The emulator: features of the language, faults that it reports, settings and compiled libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pynested.backends.cuda import emulator_compiler
from pynested.backends.cuda.emulated_launcher import Emulator, emulated_backend
from pynested.backends.dtypes import bfloat16
from pynested.backends.errors import ArgumentError, DeviceError

from ..conftest import SCHEDULES

PLANTED = Path(__file__).parent / "planted"

pytestmark = pytest.mark.usefixtures("compiled")


def planted(schedule: str = "forward", seed: int = 0, workers: int = 1) -> Any:
    return emulated_backend(Emulator(schedule, seed, workers, folder=PLANTED, instantiations_by_file={}))


@pytest.fixture(params=SCHEDULES.values(), ids=SCHEDULES)
def device(request: pytest.FixtureRequest) -> Any:
    return planted(*request.param)


def test_arguments_and_shared_memory(device: Any) -> None:
    x, out = np.arange(128.0), np.zeros(128)
    device.launch("features.cu", "reversed<double>", (1,), (128,), (x, out, np.int32(128)))
    assert (out == x[::-1]).all()
    numbers = np.int64(2**40), np.int32(-3), np.float64(0.25), np.float32(0.5)
    for place in (out, None):  # the kernel writes nothing to a null pointer
        device.launch("features.cu", "counted<double>", (1,), (128,), (place, *numbers))
    assert (out == 2**40 - 3 + 0.75).all()


def test_collectives(device: Any) -> None:
    out = np.zeros((7, 64), np.int32)
    device.launch("features.cu", "collectives<int>", (1,), (64,), (out,))
    t = np.arange(64)
    lane = t % 32
    assert (out[0].view(np.uint32) == sum(1 << k for k in range(0, 32, 3))).all()
    assert (out[1] == np.where(t >= 32, 3, 1)).all()
    assert (out[2] == np.where(lane == 0, t, t - 1)).all()
    assert (out[3] == np.where(t % 8 < 3, t + 5, t)).all()
    assert (out[4] == t // 16 * 16 + 3).all()
    assert (out[5] == 32 * 100 + 10 + 1).all()
    assert (out[6] == np.where(lane < 16, t ^ 4, (t ^ 4) * 2)).all()


@pytest.mark.parametrize("workers", [1, 3])
def test_coordinates_in_three_dimensions(workers: int) -> None:
    out = np.full(2 * 3 * 2 * 4 * 2 * 3, -1, np.int32)
    planted(workers=workers).launch("features.cu", "coordinates<int>", (2, 3, 2), (4, 2, 3), (out,))
    block, thread = np.divmod(np.arange(out.size), 24)
    assert (out == thread + 1000 * block).all()


HALVES = {"__half": np.dtype(np.float16), "__nv_bfloat16": bfloat16()}


@pytest.mark.parametrize("ctype", HALVES)
def test_every_half_and_every_float_around_one_is_converted_exactly(ctype: str) -> None:
    device, dtype = planted(), HALVES[ctype]
    halves = np.arange(65536, dtype=np.uint16).view(dtype)
    wide = np.empty(65536, np.float32)
    device.launch("features.cu", f"widened<{ctype}>", (256,), (256,), (halves, wide, np.int32(65536)))
    np.testing.assert_array_equal(wide, halves.astype(np.float32))
    with np.errstate(all="ignore"):
        between = ((wide[:-1].astype(np.float64) + wide[1:]) / 2).astype(np.float32)  # halfway cases
        drawn = np.random.default_rng(0).integers(0, 2**32, 100_000, np.uint32).view(np.float32)
        floats = np.concatenate([wide, between, np.nextafter(between, np.inf), np.nextafter(between, -np.inf), drawn])
        expected = floats.astype(dtype)
    narrow = np.empty(floats.size, dtype)
    blocks = -(-floats.size // 256)
    device.launch("features.cu", f"narrowed<{ctype}>", (blocks,), (256,), (floats, narrow, np.int32(floats.size)))
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(narrow), ~number)
    np.testing.assert_array_equal(narrow.view(np.uint16)[number], expected.view(np.uint16)[number])


NOTICED = {
    "divergent_barrier": "",
    "different_barriers": "different __syncthreads",
    "early_return": "",
    "shuffle_of_dead_lanes": "",  # noticed when a lane returns or when all wait, as the schedule has it
    "shuffle_from_outside": "it reads a lane outside",
    "caller_outside_its_mask": "the caller is not in it",
    "waits_for_ever": "",
}


def launch_fault(device: Any, fault: str, blocks: int = 1) -> np.ndarray:
    x, out = np.arange(128, dtype=np.float32), device.empty((128,), np.float32)
    device.launch("faults.cu", f"{fault}<float>", (blocks,), (128,), (x, out, np.int32(128)))
    return np.asarray(out)


@pytest.mark.parametrize("fault", NOTICED)
def test_a_fault_is_reported_with_its_place(device: Any, fault: str) -> None:
    with pytest.raises(DeviceError) as caught:
        launch_fault(device, fault)
    message = str(caught.value).replace(str(PLANTED) + "/", "")
    text = (PLANTED / "faults.cu").read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(text, 1) if f" {fault}(" in line)
    last = next(number for number, line in enumerate(text[first:], first + 1) if line == "}")
    assert message.startswith(f"{fault}<float>: ") and "[block (0, 0, 0), thread " in message, message
    assert any(f"faults.cu:{line}" in message for line in range(first, last + 1)), message
    assert NOTICED[fault] in message
    assert launch_fault(device, "blocks_race") is not None  # the device works on after a fault


@pytest.mark.parametrize("fault", ["missing_barrier", "missing_second_barrier"])
def test_a_missing_barrier_gives_other_results_on_other_schedules(fault: str) -> None:
    results = {launch_fault(planted(*order), fault).tobytes() for order in SCHEDULES.values()}
    assert len(results) > 1


def test_new_arrays_are_poisoned(device: Any) -> None:
    for dtype in ("float16", bfloat16(), "float32", "float64"):
        assert np.isnan(device.empty((3, 5), dtype)).all()
    assert (device.empty((7,), np.int32) == -1).all()
    assert np.flatnonzero(np.isnan(launch_fault(device, "hole"))).tolist() == [7]  # which the kernel does not write


def test_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Emulator("random", 7, 2).environment()["PYNESTED_EMULATOR"]
    monkeypatch.setenv("PYNESTED_EMULATOR", settings)
    made = Emulator.from_environment(seed=8)
    assert (made.schedule, made.seed, made.workers, made.sanitizer) == ("random", 8, 2, "")
    for wrong in ({"schedule": "sideways"}, {"sanitizer": "memory"}):
        with pytest.raises(ArgumentError, match="the emulation has no"):
            Emulator(**wrong)
    monkeypatch.setenv("PYNESTED_EMULATOR", "")
    assert Emulator.from_environment().schedule == "forward"
    for text in ("reverse", '["reverse"]', '{"order": "reverse"}', '{"seed": "7"}', '{"schedule": "sideways"}'):
        monkeypatch.setenv("PYNESTED_EMULATOR", text)
        with pytest.raises(ArgumentError, match="PYNESTED_EMULATOR is .*, not JSON with some of .*sanitizer"):
            Emulator.from_environment()


def test_libraries_are_kept_by_their_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scheduler = emulator_compiler._compiled_scheduler()
    monkeypatch.setattr(emulator_compiler, "_compiled_scheduler", lambda: scheduler)  # which takes long to compile
    monkeypatch.setenv("PYNESTED_CACHE", str(tmp_path / "kept"))
    source = tmp_path / "one.cu"
    source.write_text("template <class T>\n__global__ void one(T *out) { out[0] = 1; }\n", encoding="utf-8")
    first = emulator_compiler.compile_library("one.cu", ["one<int>"], folder=tmp_path)
    assert first == emulator_compiler.compile_library("one.cu", ["one<int>"], folder=tmp_path)
    assert [*(tmp_path / "kept").glob("one-*.so")] == [first]
    source.write_text(source.read_text(encoding="utf-8").replace("1;", "nothing;"), encoding="utf-8")
    with pytest.raises(DeviceError, match=r"one.cu does not compile cleanly:[\s\S]*nothing"):
        emulator_compiler.compile_library("one.cu", ["one<int>"], folder=tmp_path)
