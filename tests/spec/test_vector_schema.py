"""The JSON Schema of the vectors: every file keeps to it, and it takes no less than the kit does.

The tests read a part of the cases. `python -m tests.spec.test_vector_schema` reads all, in some ten seconds.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pynested.spec.corpus import FORMAT, SPEC, load_vectors
from pynested.spec.encoding import WIDTHS
from pynested.spec.forms import CASE
from pynested.spec.generator.write import FOLDER
from pynested.spec.grammar import Malformed, check
from pynested.spec.programs import FOLDER as PROGRAMS
from tests.conformance.mutations import mutated

from .test_forms import DAMAGE, Json, changed

SCHEMA = json.loads(files("pynested.spec").joinpath("vectors.schema.json").read_text(encoding="utf-8"))
MESSAGES = json.loads(files("pynested.conformance").joinpath("schemas/messages.json").read_text(encoding="utf-8"))
CASES = Draft202012Validator({"$ref": "#/$defs/case", "$defs": SCHEMA["$defs"]})

# What a schema cannot say: it needs counting, numbers, or another part of the case.
BEYOND = (
    *("decode: shape", "nested: shape", "is no component of shape", "the components do not add up", "begins with 0"),
    "jagged holds one irregular dimension",
    *(
        "but gradients are given of",
        "entries for 3 arguments",
        "its argument is",
        "the result is",
        "gradient_kwargs: has",
    ),
    *(
        "a tolerance is 0 or more",
        "at most 32 dimensions",
        "Exceeds the limit",
        "cannot be shown",
        "one of bool, complex",
    ),
    *("got '1e999'", r"\n'"),  # in Python the end of a pattern is before a last line end too
)


def test_the_words_of_the_schema_are_those_of_the_kit() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    defined = SCHEMA["$defs"]
    assert SCHEMA["properties"]["format"]["const"] == FORMAT and SCHEMA["properties"]["spec"]["const"] == SPEC
    assert defined["dtype"]["enum"] == list(WIDTHS)
    assert list(defined["case"]["properties"]) == [name.removesuffix("?") for name in CASE.rule]


def test_an_argument_is_the_same_in_a_vector_and_in_a_message() -> None:
    for name in ("argument", "number", "entry", "operand", "shape", "bits", "dtype"):
        assert SCHEMA["$defs"][name] == MESSAGES["$defs"][name]


def faults(each: int) -> Iterator[str]:
    """What is wrong in the files, of one case in `each`."""
    whole = Draft202012Validator(SCHEMA)
    for path in sorted(path for path in FOLDER.glob("*/*.json") if path.parent.name != PROGRAMS):
        file = json.loads(path.read_text(encoding="utf-8"))
        file["cases"] = file["cases"][::each]
        yield from (f"{path.name}: {error.json_path}: {error.message}" for error in whole.iter_errors(file))


def test_the_vectors_stay_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*/*.json")) < 13_000_000


def test_the_vectors_keep_to_the_schema() -> None:
    assert list(faults(12)) == []


@pytest.mark.parametrize(("case", "path", "value", "says"), DAMAGE)
def test_damage_breaks_the_schema_or_needs_counting(case: Json, path: str, value: Any, says: str) -> None:
    damaged = changed(case, path, value)
    with pytest.raises(Malformed) as refused:
        check(damaged, CASE)
    assert not CASES.is_valid(damaged) or any(words in str(refused.value) for words in BEYOND)


def test_whatever_the_kit_takes_keeps_to_the_schema() -> None:
    dice, taken, refused = random.Random(5), 0, 0
    for cases in load_vectors().values():
        for case in cases[:: len(cases) // 2 + 1]:
            for _ in range(2):
                damaged = mutated(copy.deepcopy(case), dice)
                try:
                    check(damaged, CASE)
                except Malformed:
                    refused += 1
                    continue
                CASES.validate(damaged)
                taken += 1
    assert min(taken, refused) > 30


def main() -> int:
    """Hold every case against the schema, and say what breaks it."""
    found = list(faults(1))
    print("\n".join([*found, f"{len(found)} faults"]))
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
