"""Which of several elementwise operators in a row make a chain: those that have to do with each other.

Two branches that meet later are one chain, whatever stands between them. Operators that never meet are several, in any
order; but where two of them lie between each other and both write lines of the tape, or both draw random numbers, the
order may be seen, and they stay together. What is made of dense arrays alone, for nested ones, comes before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..forms import Value
from ..nodes import Node, Recording


@dataclass
class _Group:
    """Some of the operators, by their places, and the values that they read and make."""

    places: list[int]
    values: set[Value]
    tracked: bool
    draws: bool

    def __or__(self, other: _Group) -> _Group:
        places = sorted((*self.places, *other.places))
        return _Group(places, self.values | other.values, self.tracked or other.tracked, self.draws or other.draws)

    def meets(self, other: _Group) -> bool:
        """Whether there is a value that both have to do with."""
        return not self.values.isdisjoint(other.values)

    def minds(self, other: _Group) -> bool:
        """Whether it could be seen that one of them runs as a whole before the other."""
        apart = self.places[-1] < other.places[0] or other.places[-1] < self.places[0]
        return not apart and ((self.tracked and other.tracked) or (self.draws and other.draws))


def grouped(nodes: Sequence[Node], recording: Recording) -> list[list[Node]]:
    """``nodes`` in groups, in an order in which they can run."""
    found: list[list[Node]] = []
    for group in _minding(_meeting(nodes, recording)):
        mine = [nodes[i] for i in group.places]
        before = _before(mine, recording)
        if before:
            found += grouped(before, recording)
        found.append([node for node in mine if node not in before])
    return found


def _meeting(nodes: Iterable[Node], recording: Recording) -> list[_Group]:
    groups: list[_Group] = []
    for i, node in enumerate(nodes):
        made = list(node.makes)
        tracked = any(recording.facts[value.number].tracked for value in made)
        group = _Group([i], {*node.reads, *made}, tracked, node.effect)
        for other in [one for one in groups if one.meets(group)]:
            groups.remove(other)
            group = other | group
        groups.append(group)
    return groups


def _minding(groups: list[_Group]) -> list[_Group]:
    """Those joined of which the order may be seen; the first that ends comes first."""
    for group in groups:
        other = next((one for one in groups if one is not group and group.minds(one)), None)
        if other is not None:
            return _minding([one for one in groups if one is not group and one is not other] + [group | other])
    return sorted(groups, key=lambda one: one.places[-1])


def _before(nodes: Sequence[Node], recording: Recording) -> list[Node]:
    """What is of dense arrays alone among nested ones, as far as nobody sees that it comes before them."""
    facts = recording.facts
    kinds = {facts[value.number].kind for node in nodes for value in node.makes}
    if kinds != {"nested", "dense"}:
        return []
    found: list[Node] = []
    left: set[Value] = set()
    for node in nodes:
        made = [facts[value.number] for value in node.makes]
        alone = all(one.kind == "dense" and not one.tracked for one in made) and not node.effect
        if alone and left.isdisjoint(node.reads):
            found.append(node)
        else:
            left.update(node.makes)
    return found
