"""Arrays by the back door: extension points that give odd results, attributes, pickles, and windows of vast extent."""

from __future__ import annotations

from dataclasses import dataclass

from pynested.fuzzing.chance import Chance

TAMPER = 5  # the first number of a key
BASES = ("jagged", "strided")
WAYS = {
    "elementwise": ("a[:1]", "a.sum()", "a.reshape((-1, 1))", "None", "a.numpy()", "3.0", "pn.cat([a, a])", "n",
                    "a * 2"),
    "map_components": ("c[:0]", "c.sum()", "None", "c.unsqueeze(0)", "c if len(c) > 1 else c.sum()", "3", "c > 0", "n",
                       "c * 2"),
    "NestedArray": ("n.data[:1], n.structure", "n.data, None", "n.data.unsqueeze(0), n.structure", "None, n.structure",
                    "n.data, m.structure", "n.data.numpy(), n.structure"),
    "data": ("n.data[:1]", "None", "n.data.unsqueeze(0)", "pn.array(1.0)", "n.data.numpy()", "m.data"),
    "structure": ("None", "m.structure"),
    "offsets": ("n.structure.offsets + 7", "n.structure.offsets[:0]", "-n.structure.offsets", "None", "[0, 99]"),
    "pickle": ("offsets + 7", "-offsets - 1", "offsets * 0", "offsets + 2**40"),
    "vast": ("x[0].shape", "len(x.unbind())", "repr(x)[:1]", "x.is_contiguous()", "x.shape", "x.numel()",
             "x[:, :1].unbind()", "x[:, 5:7].sum().item()", "pn.as_nested_array(x).shape"),
}  # fmt: skip


@dataclass(frozen=True)
class Tampering:
    """Something done to an array ``n`` that was good before; ``m`` is another one."""

    base: str
    way: str
    expression: str
    extent: int = 0


def tampering(seed: int, number: int) -> Tampering:
    """Plan ``number``."""
    chance = Chance(TAMPER, seed, number)
    way = chance.one(list(WAYS))
    return Tampering(chance.one(BASES), way, chance.one(WAYS[way]), 2 ** chance.between(45, 56))
