"""The clause of a difference is one that the call breaks: never an unspecified one, and placement where it is that."""

from __future__ import annotations

import pytest

from pynested.conformance.blame import Blame, blame, only_placed
from pynested.conformance.conditions import speaks_of
from pynested.conformance.contradictions import SECOND, TWICE
from pynested.conformance.corpus import Case, Corpus, Selection, load_corpus
from pynested.conformance.judge import Finding
from pynested.conformance.runner import plan

WAYS = ("value", "refused", "dtype", "shape", "accepted", "error-kind", "crashed", "corrupt")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus()


def case(corpus: Corpus, id_: str) -> Case:
    return next(one for one in corpus.cases if one.id == id_)


def test_no_case_blames_an_unspecified_clause_or_one_on_other_calls(corpus: Corpus) -> None:
    for one in corpus.cases:
        for part in ("error",) if one.is_error else ("forward", "gradient"):
            for verdict in WAYS:
                found = blame(one, "jagged", Finding(part, verdict), corpus)
                assert found.kind_class != "unspecified", (one.id, verdict)
                assert speaks_of(found, one, corpus.table[one.op]), (one.id, part, verdict, found.id)


def test_what_differs_only_where_not_packed_is_about_placement(corpus: Corpus) -> None:
    one = case(corpus, "sum/float32/ragged/1")
    assert blame(one, "jagged", Finding("forward", "value"), corpus, placed=True).id == "LAYOUTS-4"
    assert blame(one, "jagged", Finding("forward", "value"), corpus).id == "SUM-1"
    assert blame(one, "jagged", Finding("gradient", "value"), corpus).kind_class == "gradient"


@pytest.mark.parametrize(
    ("id_", "verdict", "clause"),
    [
        ("sum/float16/many/1", "refused", "SUM-1"),  # cites SUM-8: that float16 is added wider is not what is refused
        ("sin/int8/dtype/1", "refused", "SIN-1"),
        ("gelu/float32/special/1", "crashed", "GELU-1"),
        ("matmul/int64/wrap/1", "refused", "MATMUL-1"),
        ("narrow/float32/nested-none/1", "refused", "NARROW-2"),
        ("relu/float32/batch0/1", "crashed", "VALUES-6"),  # that each element becomes something is not what is broken
        ("softmin/float32/batch0/1", "crashed", "SOFTMIN-6"),
        ("narrow/bool/axes/8", "refused", "VALUES-6"),  # of a dense array that has no row, so there is no component
        ("dropout/float64/axes/11", "crashed", "VALUES-6"),  # cites what becomes of dropped elements
        ("narrow/float32/strided/1", "refused", "NARROW-1"),  # of a dense array: it is not about nothing
        ("getitem/float32/batch/1", "refused", "GETITEM-1"),  # x[1:] cites what missing entries stand for, too
        ("layer_norm/float32/int-shape/1", "refused", "LAYER_NORM-3"),
        ("softmax/float32/all-empty/1", "refused", "SOFTMAX-6"),  # of nothing it is the edge that says what comes
        ("all/bool/ragged/1", "kind", "LAYOUTS-5"),  # cites the dtype of the result, and its edge
        ("matmul/float32/axes/2", "dtype", "MATMUL-6"),
        ("add/float32/batch0/1", "shape", "VALUES-7"),
        ("to_padded_array/int32/axes/8", "shape", "TO_PADDED_ARRAY-2"),
        ("to_padded_array/int32/axes/5", "shape", "TO_PADDED_ARRAY-2"),  # its sizes are said, though nothing is there
        ("select/float32/ragged/1", "shape", "SELECT-1"),
        ("to_padded_array/float32/size/1", "shape", "TO_PADDED_ARRAY-2"),
        ("remainder/float32/number/1", "value", "REMAINDER-1"),
        ("mul/float32/dense-batch-1/1", "value", "MUL-1"),  # cites BROADCASTING-2, which other numbers may keep
        ("layer_norm/float32/small/1", "value", "LAYER_NORM-10"),  # the rarer one of two
        ("amax/error/all/1", "accepted", "AMAX-5"),
        ("softmin/error/batch-batch0/2", "crashed", "VALUES-6"),  # whichever dimension is wrong
        ("softmin/error/batch-batch0/2", "accepted", "SOFTMIN-4"),
        ("nested_array_from_jagged/error/decrease/1", "corrupt", "NESTED_ARRAY_FROM_JAGGED-5"),
    ],
)
def test_the_sentence_that_is_broken(corpus: Corpus, id_: str, verdict: str, clause: str) -> None:
    one = case(corpus, id_)
    assert blame(one, "jagged", Finding("error" if one.is_error else "forward", verdict, "1.0"), corpus).id == clause


@pytest.mark.parametrize(
    ("id_", "part", "op", "clause"),
    [
        ("tape/float32/joined-twice/2", "forward", "cat", "CAT-2"),  # cited beside that on arrays given twice
        ("tape/float32/two-views/1", "gradient", "getitem", "GETITEM-1"),
        ("tape/float32/second/9", "gradient", "maximum", "MAXIMUM-1"),
        ("share/float32/unflatten/1", "forward", "unflatten", "UNFLATTEN-1"),
        ("tape/float32/two-views/1", "gradient", "", "TAPE-5"),  # a pass, say
        ("share/float32/unflatten/1", "forward", "", "SHARE-1"),
    ],
)
def test_a_program_that_ends_at_a_call_is_about_that_operator(
    corpus: Corpus, id_: str, part: str, op: str, clause: str
) -> None:
    finding = Finding(part, "refused", step=0, clauses=(), op=op)
    assert blame(case(corpus, id_), "jagged", finding, corpus).id == clause


@pytest.mark.parametrize(
    ("id_", "got", "clause"),
    [
        ("getitem/float32/axes/35", "ValueError: step must be greater than zero", "GETITEM-2"),  # x[[1, 0, -1], ::-1]
        ("getitem/float32/axes/35", "RuntimeError: slice(): not supported on ragged dim", "GETITEM-2"),
        ("getitem/float32/axes/35", "ValueError: slice(self: jt, start: any?, step: any?): expected ...", "GETITEM-1"),
        (
            "getitem/int32/axes/4",
            "IndexError: index -1 is out of bounds for dimension 1 of the 0th constituent",
            "GETITEM-2",
        ),
        ("getitem/float32/batch/6", "ValueError: step must be greater than zero", "GETITEM-1"),  # x[3:0:-2]
    ],
)
def test_an_index_is_about_the_entry_that_is_refused(corpus: Corpus, id_: str, got: str, clause: str) -> None:
    assert blame(case(corpus, id_), "jagged", Finding("forward", "refused", "", got), corpus).id == clause


def test_a_refusal_in_the_same_words_has_the_same_reason(corpus: Corpus) -> None:
    """That `scale` may be any number is not what is broken where attention is refused without a scale too."""
    ids = [f"scaled_dot_product_attention/float32/{name}/1" for name in ("heads", "scale")]
    plain, special = (case(corpus, id_) for id_ in ids)
    blamed = Blame(corpus)

    def clause(one: Case, got: str, part: str = "forward", placed: bool = False, verdict: str = "refused") -> str:
        return blamed.clause(one, "jagged", Finding(part, verdict, "", got), placed).id.rpartition("-")[2]

    assert clause(special, "RuntimeError: scale is not supported") == "2"
    assert clause(plain, "RuntimeError: no backend for 4 heads") == "1"
    assert clause(special, "RuntimeError: no backend for 2 heads") == "1"
    assert clause(special, "RuntimeError: scale is not supported") == "2"
    assert clause(special, "RuntimeError: no backend for 2 heads", verdict="crashed") == "2"
    assert clause(special, "RuntimeError: no backend for 2 heads", placed=True) == "4"  # that of LAYOUTS
    assert Blame(corpus).clause(special, "jagged", Finding("forward", "refused", "", "no backend"), False).id[-1] == "2"


def test_a_special_reason_is_none_of_calls_without_elements(corpus: Corpus) -> None:
    """Heads that are shared are one reason, that there is no row is another, also where both hear the same words."""
    blamed = Blame(corpus)
    for name, last in (("grouped", "5"), ("all-empty", "10")):
        one = case(corpus, f"scaled_dot_product_attention/float32/{name}/1")
        clause = blamed.clause(one, "strided", Finding("forward", "refused", "", "RuntimeError: no"), False)
        assert clause.id.rpartition("-")[2] == last


def test_what_becomes_of_nothing_is_not_the_reason_of_other_refusals(corpus: Corpus) -> None:
    """CAT-7 is about empty components, CAT-2 about every dimension but the first."""
    refusal = Finding("forward", "refused", "", "RuntimeError: not on the ragged dimension")

    def clauses(*names: str) -> list[str]:
        blamed = Blame(corpus)
        return [blamed.clause(case(corpus, f"cat/float32/{one}/1"), "jagged", refusal, False).id for one in names]

    assert clauses("ragged", "all-empty") == ["CAT-2", "CAT-2"]
    assert clauses("all-empty", "ragged", "all-empty")[1:] == ["CAT-2", "CAT-2"]


@pytest.mark.parametrize(
    ("nothing", "elements", "edge", "clause"),
    [
        ("clamp/float16/axes/8", "clamp/float32/ragged/1", "VALUES-6", "CLAMP-1"),
        ("softmax/float32/all-empty/1", "softmax/float32/axes/1", "SOFTMAX-6", "SOFTMAX-1"),
    ],
)
def test_what_components_with_elements_hear_too_is_not_about_nothing(
    corpus: Corpus, nothing: str, elements: str, edge: str, clause: str
) -> None:
    blamed = Blame(corpus)

    def found(id_: str, text: str) -> str:
        return blamed.clause(case(corpus, id_), "jagged", Finding("forward", "refused", "", text), False).id

    same, other = "AttributeError: no attribute 'dim'", "RuntimeError: not of nothing"
    assert found(nothing, same) == edge  # nobody has heard it yet
    assert found(elements, same) == clause == found(nothing, same)
    assert found(nothing, other) == edge
    assert [one.has_no_element for one in (case(corpus, nothing), case(corpus, elements))] == [True, False]


def test_calls_of_nothing_come_after_those_of_elements(corpus: Corpus) -> None:
    order = [job.case for job in plan(corpus, Selection(ops=("clamp", "softmax")))]
    places = [(one.op, one.is_error, one.has_no_element) for one in order]
    assert places == sorted(places, key=lambda one: (one[0] != "clamp", *one[1:])) and len(set(places)) == 8


def test_what_a_drawn_call_cites_is_not_the_reason_of_others(corpus: Corpus) -> None:
    """It cites the first clause of its operator, whatever is special about the call: here it is along dimension 0."""
    blamed, refusal = Blame(corpus), Finding("forward", "refused", "", "RuntimeError: not along the batch")
    ids = [f"mean/float32/{name}" for name in ("axes/9", "batch/1", "axes/9")]
    found = [blamed.clause(case(corpus, one), "jagged", refusal, False).id for one in ids]
    assert found == ["MEAN-1", "MEAN-3", "MEAN-3"]


def test_the_same_words_are_no_reason_along_another_dimension(corpus: Corpus) -> None:
    """CAT-1 is about dimension 0, CAT-2 about all others, MEAN-2 about `dim=None`."""
    blamed, refusal = Blame(corpus), Finding("forward", "refused", "", "RuntimeError: not for this dimension")

    def clauses(op: str, *names: str) -> list[str]:
        return [blamed.clause(case(corpus, f"{op}/float32/{one}"), "jagged", refusal, False).id for one in names]

    assert clauses("cat", "batch/1", "axes/3", "ragged/1", "axes/1") == ["CAT-1", "CAT-2", "CAT-2", "CAT-1"]
    assert clauses("mean", "weights/1", "batch/1", "axes/9") == ["MEAN-2", "MEAN-3", "MEAN-1"]
    assert clauses("split", "batch/1", "batch-sizes/1") == ["SPLIT-2", "SPLIT-1"]


def test_an_index_keeps_its_own_reason(corpus: Corpus) -> None:
    blamed, refusal = Blame(corpus), Finding("forward", "refused", "", "ValueError: step must be greater than zero")
    ids = ("getitem/float32/batch/6", "getitem/float32/axes/35", "getitem/float32/batch/6")
    found = [blamed.clause(case(corpus, one), "jagged", refusal, False).id for one in ids]
    assert found == ["GETITEM-1", "GETITEM-2", "GETITEM-1"]


def test_a_number_off_by_a_rounding_is_about_precision(corpus: Corpus) -> None:
    def near(id_: str, part: str = "forward") -> str:
        return blame(case(corpus, id_), "jagged", Finding(part, "value", "1.0", near=True), corpus, placed=True).id

    assert near("softmax/float16/ragged/1") == "NUMERICS-4"
    assert near("sqrt/float32/ragged/1") == "NUMERICS-2"
    assert near("softmax/float32/ragged/1") == "NUMERICS-3"
    assert near("neg/float32/ragged/1") == "LAYOUTS-4"  # exact: nothing is rounded
    assert near("softmax/float16/ragged/1", "gradient") == "LAYOUTS-4"


def test_nan_and_infinity_are_about_the_clause_that_names_them(corpus: Corpus) -> None:
    special = case(corpus, "sgn/float32/special/1")
    assert blame(special, "jagged", Finding("forward", "value", "any NaN  at component 0 [0]"), corpus).id == "SGN-2"
    least = case(corpus, "amax/float32/minus-inf/1")
    assert blame(least, "jagged", Finding("forward", "value", "-inf (ff800000)"), corpus).id == "AMAX-1"


@pytest.mark.parametrize(
    ("want", "got", "clause"),
    [
        ("0.0 (00000000)", "-0.0 (80000000)", "REMAINDER-3"),
        ("-0.0 (80000000)  at component 0 [1]", "0.0 (00000000)  (2 of 3 elements differ)", "REMAINDER-3"),
        ("0.0 (00000000)", "1.0 (3f800000)", "REMAINDER-1"),
        ("0.01 (3c23d70a)", "0.0 (00000000)", "REMAINDER-1"),
    ],
)
def test_a_zero_of_the_other_sign_is_about_the_clause_on_signs(
    corpus: Corpus, want: str, got: str, clause: str
) -> None:
    plain = case(corpus, "remainder/float32/regular-one/1")
    assert blame(plain, "jagged", Finding("forward", "value", want, got), corpus).id == clause


@pytest.mark.parametrize(
    ("packed", "placed", "verdict"),
    [
        ("ok", True, "value"),
        ("ok", True, "refused"),
        ("ok", True, "accepted"),
        ("value", True, "refused"),  # a result, if not the right one: what refuses it is the placement
        ("dtype", True, "refused"),
        ("corrupt", True, "refused"),
        ("value", False, "value"),
        ("value", False, "shape"),  # another wrong result: the operator is wrong wherever its operand lies
        ("shape", False, "corrupt"),
        ("refused", False, "refused"),
        ("refused", False, "value"),
        ("missing", False, "refused"),
        ("crashed", False, "refused"),
        ("accepted", False, "corrupt"),
    ],
)
def test_what_placement_alone_makes(packed: str, placed: bool, verdict: str) -> None:
    found = {"packed": [Finding("forward", packed)], "holes-nan": [Finding("forward", verdict)]}
    finding = found["holes-nan"][0]
    assert only_placed(found, finding, ["bare", "holes-nan"]) is placed
    assert only_placed({"holes-nan": found["holes-nan"]}, finding, ["holes-nan"]) is False


@pytest.mark.parametrize(
    ("placements", "placed"),
    [(["bare"], False), (["apart", "packed+bare"], False), (["packed+view"], True), (["bare", "reversed"], True)],
)
def test_how_packed_components_are_described_is_no_placement(placements: list[str], placed: bool) -> None:
    """Nothing lies otherwise where the longest length is not told: the clause on placement says nothing of it."""
    finding = Finding("forward", "value")
    found = {"packed": [Finding("forward", "ok")], **{one: [finding] for one in placements}}
    assert only_placed(found, finding, placements) is placed


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize(("verdict", "got"), [("refused", f"RuntimeError: no{SECOND}"), ("corrupt", TWICE)])
def test_what_comes_once_and_not_twice_is_about_passes(corpus: Corpus, verdict: str, got: str, placed: bool) -> None:
    """The second pass is asked for in some placements only, and of leaves of another kind in each."""
    one = case(corpus, "squeeze/float32/several/4")
    assert blame(one, "strided", Finding("gradient", verdict, "", got), corpus, placed).id == "TAPE-1"
    assert blame(one, "strided", Finding("gradient", "refused", "", "RuntimeError: no"), corpus).id == "SQUEEZE-6"


@pytest.mark.parametrize("want", ["nan (7fc00000)", "inf (7f800000)", "-inf (ff800000)"])
def test_a_value_that_is_not_finite_is_about_an_edge(corpus: Corpus, want: str) -> None:
    special = case(corpus, "add/float32/special/1")
    assert blame(special, "jagged", Finding("forward", "value", want), corpus).kind_class == "edge"
    assert blame(special, "jagged", Finding("forward", "value", "1.0"), corpus).kind_class == "value"
