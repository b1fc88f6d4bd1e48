"""The runner is held by implementations that are wrong in one way each: every one is reported, as what it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pynested.conformance.corpus import load_corpus
from pynested.conformance.judge import DIFFERS, in_words, judge
from pynested.conformance.records import Record, Run
from pynested.conformance.replies import VALUE, Reply
from pynested.conformance.report import Report
from pynested.spec.compare import Difference
from pynested.spec.components import Components

Runs = Callable[..., Run]

WRONG = {
    "DropsRow": ("forward", "value"),
    "IgnoresCotangent": ("gradient", "value"),
    "NoGradient": ("gradient", "value"),
    "RefusesGradient": ("gradient", "refused"),
    "WrongDType": ("forward", "dtype"),
    "UnknownDType": ("forward", "dtype"),
    "WrongShape": ("forward", "shape"),
    "WrongErrorKind": ("error", "error-kind"),
    "AcceptsBad": ("error", "accepted"),
    "Refuses": ("forward", "refused"),
    "RefusesAsNotImplemented": ("error", "ok"),
}


def differing(run: Run) -> list[Record]:
    return [finding for one in run.results for finding in one["findings"] if finding["verdict"] in DIFFERS]


@pytest.mark.parametrize(
    ("error", "allowed", "off", "within"),
    [(0.5, 0.25, "0.5", "0.25"), (0.00012408, 0.00012213, "0.000124", "0.000122"), (1.0000001, 1.0, "1.0000001", "1")],
)
def test_what_is_off_by_little_more_than_is_allowed_is_told_with_enough_digits(
    error: float, allowed: float, off: str, within: str
) -> None:
    want, got = in_words(Difference("value", "2.0", "1.0", error=error, allowed=allowed))
    assert (want, got) == (f"1.0  within {within}", f"2.0  off by {off}")


def test_a_wrong_gradient_of_a_mapping_goes_by_its_name() -> None:
    case = next(one for one in load_corpus().cases if one.id == "transformer_encoder_layer/float64/plain/1")
    expected = case.gradient[1]["mapping"]
    right = {name: read_words(one["dense"]["hi"], one["dense"]["shape"]) for name, one in expected.items()}
    rows = case.gradient[0]["nested"]
    x = Components([read_words(*pair) for pair in zip(rows["hi"], rows["shapes"], strict=True)], dtype=np.float64)
    out = case.expect["nested"]
    value = Components([read_words(*pair) for pair in zip(out["hi"], out["shapes"], strict=True)], dtype=np.float64)
    wrong, lost = {**right, "norm2.bias": right["norm2.bias"] + 1}, {**right}
    del lost["norm1.weight"]
    listed = judge(case, "strided", Reply(VALUE, value=value, gradient=Reply(VALUE, value={0: x, 1: [x]})))
    assert (listed[1].verdict, listed[1].got) == ("kind", "a list of 1")
    swapped = judge(case, "strided", Reply(VALUE, value=value, gradient=Reply(VALUE, value={0: right, 1: right})))
    assert (swapped[1].verdict, swapped[1].got) == ("kind", "a mapping of 12")
    for parameters, name in ((right, ""), (wrong, "norm2.bias"), (lost, "norm1.weight"), (None, "self_attn.in_proj")):
        gradient = Reply(VALUE, value={0: x, 1: parameters})
        forward, backward = judge(case, "strided", Reply(VALUE, value=value, gradient=gradient))
        assert forward.verdict == "ok" and backward.verdict == ("value" if name else "ok")
        assert f"the gradient of {name}" in backward.want if name else not backward.want
        assert (backward.got == "no gradient, which counts as zero") == (name not in ("", "norm2.bias"))


def read_words(words: str, shape: list[int]) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(words), ">f8").astype(np.float64).reshape(shape)


def test_a_right_implementation_agrees_everywhere(run: Runs) -> None:
    good = run("Right")
    assert good.exit_code == 0 and not differing(good)
    assert {verdict for one in good.results for verdict in one["parts"].values()} == {"ok"}
    assert good.footer["counts"] == {"error": {"ok": 2}, "forward": {"ok": 4}, "gradient": {"ok": 2}}
    asked = [one["placements"] for one in good.results]
    assert {one[0] for one in asked} == {"packed"} and min(map(len, asked)) == 2
    assert {"holes-nan", "holes-max", "transposed", "reversed", "view"} <= {one for some in asked for one in some}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_implementation_is_reported_as_what_it_is(run: Runs, name: str) -> None:
    part, verdict = WRONG[name]
    found = run(name)
    assert verdict in {one["parts"].get(part) for one in found.results}
    assert found.exit_code == (1 if verdict in DIFFERS else 0)
    reported = {(finding["part"], finding["verdict"]) for finding in differing(found)}
    assert reported == ({(part, verdict)} if verdict in DIFFERS else set())


def test_reading_the_gaps_differs_only_where_there_are_gaps(run: Runs) -> None:
    findings = differing(run("LeaksNeighbour"))
    where = {tuple(one["placements"]) for one in findings}
    assert where == {("holes-nan", "holes-max"), ("holes-nan", "holes-max", "reversed")}
    assert "only where gaps lie between the components" in Report(run("LeaksNeighbour")).text()


def test_the_right_numbers_in_the_wrong_kind(run: Runs) -> None:
    found = run("WrongKind")
    kinds = [(one["layout"], one["parts"]["forward"]) for one in found.results if "forward" in one["parts"]]
    assert sorted(set(kinds)) == [("jagged", "ok"), ("strided", "kind")]
    assert "right numbers" in differing(found)[0]["got"]


def test_what_is_not_implemented_is_no_difference_and_no_merit(run: Runs) -> None:
    found = run("NotImplemented")
    assert found.exit_code == 4
    assert found.footer["counts"] == {"error": {"missing": 2}, "forward": {"missing": 4}, "gradient": {"unreached": 2}}
    text = " ".join(Report(found).text().split())
    assert "not implemented, jagged: sum" in text
    assert "Nothing is known about NotImplemented: no check could be made, which is no agreement." in text
    assert "It was held to 0 of 8 checks (0 %)." in text


def test_what_was_asked_in_one_placement_is_a_check_and_is_claimed_for_no_other(run: Runs) -> None:
    found = run("PackedOnly")
    assert found.exit_code == 0 and not differing(found)
    assert {verdict for one in found.results for verdict in one["parts"].values()} == {"ok"}
    text = " ".join(Report(found).text().split())
    assert "Placements: packed 6. Dtypes" in text
    assert "agrees with the specification in all 8 checks. 8 were not answered in every placement." in text


def test_a_fault_of_the_adapter_is_not_put_on_the_target(run: Runs) -> None:
    found = run("BrokenAdapter")
    assert found.exit_code == 3 and not differing(found)
    assert "a bug in the adapter" in Report(found).text()


def test_a_difference_says_what_was_called_expected_and_given(run: Runs) -> None:
    first = differing(run("DropsRow"))[0]
    assert first["clause"] == "SUM-1" and "one run of `self`" in first["text"]
    assert first["call"] == "sum(x, dim=1); x: nested float32, (2, 2) (0, 2) (1, 2)"
    assert first["want"].startswith("4.0 (40800000)  at component 0 [0]")
    assert first["got"].startswith("1.0 (3f800000)")
    assert "out = sum(x, 1)" in first["snippet"]


def test_a_gradient_is_named_as_the_call_names_what_it_is_of(run: Runs) -> None:
    first = next(one for one in differing(run("IgnoresCotangent")) if one["part"] == "gradient")
    assert first["want"].endswith(", the gradient of x") and first["call"].startswith("sum(x")
    cases = [one for one in load_corpus().cases if len(one.gradient) == 2 and one.gradient[0] is None]
    second = next(one for one in cases if "nested" in one.expect and "bits" in str(one.args[0]))
    zeros = [np.zeros(shape, second.expect["nested"]["dtype"]) for shape in second.expect["nested"]["shapes"]]
    gradient = judge(second, "jagged", Reply(VALUE, value=Components(zeros), gradient=Reply(VALUE, value={})))[1]
    assert gradient.verdict == "value" and gradient.want.endswith(", the gradient of y")
