"""`FusedChain`: several elementwise operators as one call, with one node on the tape.

The operators are lazy arrays: the forward program computes the outputs from the inputs. The backward program applies
the vjp of each step, last step first, and computes again what it reads. On the CPU a program is a `BlockProgram`, on a
device a `CudaProgram`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from pynested.autograd import Array, functional
from pynested.autograd.arguments.operands import canonical_dtype
from pynested.autograd.array import raw
from pynested.autograd.primitives.movement import summed_to, to_dtype
from pynested.autograd.primitives.primitive import attach_outputs
from pynested.autograd.tape import BackwardPass, SourceCotangents, grad_mode, node_or_leaf
from pynested.autograd.tape import Node as TapeNode
from pynested.backends.dtypes import is_float
from pynested.backends.quiet import without_warnings
from pynested.lifting.broadcasting import broadcasts_from_axis
from pynested.nested.nested_array import NestedArray, wrap_unchecked

from .block_program import BlockProgram
from .cuda_program import CudaProgram, has_custom_kernels
from .fusible_ops import RECOMPUTED, LazyArray, LazyBackend, lower_steps, topological_order
from .inputs import Value
from .nodes import Fact, Node, Replay

Program = BlockProgram | CudaProgram
Saved = tuple[list[int], tuple[LazyArray, ...]]  # inputs that the backward program reads, arrays slow to compute


class BroadcastPlan(NamedTuple):
    """The broadcasting of one call: the shape of the results, their structure, and the operands of that shape."""

    shape: tuple[int, ...]
    structure: Any
    full: frozenset[int]


class BackwardRequest(NamedTuple):
    """The cotangents and the gradients of one backward pass, as positions among outputs and inputs."""

    arrived: tuple[int, ...]  # outputs that have a cotangent
    wanted: tuple[int, ...]  # inputs that want a gradient
    summed: frozenset[int]  # inputs whose parts of a gradient are summed; other inputs get their parts one by one


class FusedChain:
    """The operators of ``nodes`` as one function of ``inputs`` that returns ``outputs``.

    All results are nested arrays, or all are dense. A call whose operands do not share one memory layout runs the
    operators one by one, which take all layouts and raise the errors.
    """

    def __init__(
        self, nodes: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value], facts: Mapping[int, Fact]
    ) -> None:
        self.name = self.public = f"chain of {', '.join(node.name for node in nodes)}"
        self.nodes = nodes
        self.device = facts[outputs[0].number].device
        self.is_tracked = [facts[value.number].tracked for value in outputs]
        self.one_by_one = Replay(inputs, nodes, tuple(outputs))
        self.inputs = [LazyArray(canonical_dtype(self.name, facts[x.number].dtype, self.device)) for x in inputs]
        # The positions of the nested inputs.
        self.nested = frozenset(i for i, x in enumerate(inputs) if facts[x.number].kind == "nested")
        lazy: dict[Any, LazyArray] = dict(zip(inputs, self.inputs, strict=True))
        self.steps = list(lower_steps(nodes, facts, lazy, LazyBackend(self.device)))  # the operators as lazy arrays
        self.outputs = [lazy[value] for value in outputs]
        self.seeds = [LazyArray(x.dtype) for x in self.outputs]  # the cotangents of the outputs
        self._backward: dict[tuple[Any, ...], tuple[Program, list[int]]] = {}
        self._forward: dict[tuple[LazyArray, ...], Program] = {}
        self.has_full_steps, self.saved_by = cache(self._has_full_steps), cache(self._saved_by)

    def __call__(self, *operands: Any) -> Any:
        """Return one result, or a tuple of results."""
        arrays = [x._buffer if type(x) is NestedArray else x for x in operands]
        is_recorded = grad_mode.value and any(self.is_tracked)
        tracked = tuple([i for i, x in enumerate(arrays) if x.tracked]) if is_recorded else ()
        plan = self.plan_broadcast(operands)
        if plan is None or has_custom_kernels(self.device):
            return _one_or_all(self.one_by_one(*operands))
        saved, kept = self.saved_by(plan.full, tracked) if tracked else ([], ())
        wanted = tuple(dict.fromkeys((*self.outputs, *kept)))
        if wanted not in self._forward:
            self._forward[wanted] = self.program(self.name, self.inputs, wanted)
        datas = self._forward[wanted](plan.shape, [x._raw for x in arrays])
        made = {x: Array(data, self.device) for x, data in zip(wanted, datas, strict=True)}
        results = [made[x] for x in self.outputs]
        if tracked:
            self.record(results, arrays, plan, (saved, kept), [made[x].detach() for x in kept])
        return _one_or_all(results if plan.structure is None else [wrap_unchecked(x, plan.structure) for x in results])

    @without_warnings
    def program(self, title: str, inputs: Sequence[LazyArray], results: Sequence[LazyArray]) -> Program:
        """Return what computes results from inputs on the device of the chain."""
        if self.device == "cpu":
            return BlockProgram(inputs, results)
        return CudaProgram(title, inputs, results, self.device)

    def plan_broadcast(self, operands: Sequence[Any]) -> BroadcastPlan | None:
        """Return how operands broadcast; None if elements at equal positions in memory do not belong together.

        Nested operands must be packed in one structure. Dense operands broadcast behind the ragged dimension; if there
        are only dense ones, behind the first dimension of the largest shape.
        """
        datas = [raw(x._buffer if type(x) is NestedArray else x) for x in operands]
        if self.nested:
            first = min(self.nested)
            structure, shape, full = operands[first]._structure, datas[first].shape, self.nested
            if not structure.is_packed or not all(structure.same_placement(operands[i]._structure) for i in full):
                return None
            num_leading = structure.ragged_dim or 1
        else:
            structure, shape, num_leading = None, max([x.shape for x in datas], key=len), 1
            full = frozenset(i for i, x in enumerate(datas) if shape and x.shape == shape)
        for i, x in enumerate(datas):
            is_full = x.shape == shape and x.flags.c_contiguous
            if not (is_full if i in full else broadcasts_from_axis(x.shape, shape, num_leading)):
                return None
        return BroadcastPlan(shape, structure, full) if self.has_full_steps(full) else None

    def _has_full_steps(self, full: frozenset[int]) -> bool:
        """Return whether all steps have full size. A smaller step sums its gradient before it rounds; no block can."""
        full_arrays = {self.inputs[i] for i in full}
        for step in self.steps:
            if not full_arrays.isdisjoint(step.operands):
                full_arrays.add(step.result)
        return full_arrays.issuperset(step.result for step in self.steps)

    # ---- on the tape --------------------------------------------------------------------------------------------

    @without_warnings
    def _saved_by(self, full: frozenset[int], tracked: tuple[int, ...]) -> Saved:
        """Return what a node saves for the pass from all outputs to all tracked inputs."""
        request = BackwardRequest(tuple(range(len(self.outputs))), tracked, full)
        kept: tuple[LazyArray, ...] = ()
        if self.device == "cpu":  # on a device memory is slower than arithmetic
            candidates = {step.result for step in self.steps if step.result.function not in RECOMPUTED}
            candidates.update(self.outputs)
            gradients = [gradient for _, gradient in self._differentiate(request)]
            kept = tuple([x for x in topological_order(gradients, frozenset(candidates)) if x in candidates])
        reads = self.backward(request, kept)[0].reads
        return [i for i in reads if i < len(self.inputs)], kept

    @without_warnings
    def backward(self, request: BackwardRequest, kept: tuple[LazyArray, ...]) -> tuple[Program, list[int]]:
        """Return ``program(shape, (*inputs, *kept, *cotangents))``, and for each gradient the input that it is for."""
        if (request, kept) not in self._backward:
            gradients = self._differentiate(request)
            inputs = [*self.inputs, *kept, *self.seeds]
            program = self.program(f"vjp of {self.name}", inputs, [gradient for _, gradient in gradients])
            self._backward[request, kept] = program, [i for i, _ in gradients]
        return self._backward[request, kept]

    def _differentiate(self, request: BackwardRequest) -> list[tuple[int, LazyArray]]:
        """Return the gradients of inputs, in the order in which the operators would compute and add their parts."""
        number_of = {x: i for i, x in enumerate(self.inputs)}
        cotangents = {self.outputs[i]: self.seeds[i] for i in request.arrived}
        reached = {self.inputs[i] for i in request.wanted}  # arrays between the wanted inputs and the outputs
        for step in self.steps:
            if is_float(step.result.dtype) and not reached.isdisjoint(step.operands):
                reached.add(step.result)
        parts: list[tuple[int, LazyArray]] = []
        for step in reversed(self.steps):
            if step.result not in cotangents:
                continue
            for x, vjp in zip(step.operands, step.op.vjps, strict=True):
                if type(x) is not LazyArray or x not in reached or vjp is None:
                    continue
                part = vjp(cotangents[step.result], step.result, *step.operands)
                if x in number_of and number_of[x] not in request.summed:
                    parts.append((number_of[x], part))
                else:
                    part = part.astype(x.dtype)
                    cotangents[x] = cotangents[x] + part if x in cotangents else part
        return [(i, cotangents[x]) for x, i in number_of.items() if x in cotangents] + parts

    def record(self, results: Any, operands: Any, plan: BroadcastPlan, saved: Saved, kept: list[Array]) -> None:
        """Record the node that made ``results``."""
        sources = [node_or_leaf(x) for x in operands]
        operands = [x.as_saved() for x in operands]
        inputs = [x if i in saved[0] else None for i, x in enumerate(operands)]
        args = [*inputs, *kept, (plan, operands, saved[1])]  # all operands, to run the operators one by one
        node = TapeNode(self, sources, results[0].shape, results[0].dtype, args)
        if len(results) == 1:
            results[0].node, results[0].tracked = node, True
        else:
            attach_outputs(results, node, self.is_tracked)

    def apply_vjp(self, node: TapeNode, cotangent: Any, this_pass: BackwardPass) -> SourceCotangents:
        """Return the cotangents of the inputs from the cotangents of the outputs."""
        cotangents, sources = cotangent if node.num_listed_outputs else [cotangent], node.sources
        wanted = tuple([i for i, source in enumerate(sources) if source in this_pass.nodes_to_visit])
        *saved, (plan, operands, kept) = node.saved()
        if this_pass.is_recorded:  # operator by operator, so that the pass can be differentiated itself
            _, vjp = functional.vjp(self._of_some(plan, operands, wanted), *[operands[i] for i in wanted])
            gradients = vjp(tuple(cotangents))
            parts = gradients if len(wanted) > 1 else (gradients,)
            return [(sources[i], gradient) for i, gradient in zip(wanted, parts, strict=True)]
        arrived = tuple([i for i, x in enumerate(cotangents) if x is not None])
        # If other nodes or operands add to a gradient as well, it gets the parts one by one: the order of a sum shows.
        counts = Counter(map(id, sources))
        full = plan.full
        summed = frozenset(i for i in full if counts[id(sources[i])] == 1 and sources[i] not in this_pass.cotangents)
        program, inputs = self.backward(BackwardRequest(arrived, wanted, summed), kept)
        results = program(plan.shape, [raw(x) for x in (*saved, *cotangents)])
        pairs: SourceCotangents = []
        arrays = [*cotangents]  # a result may be one of them, or an earlier result
        for i, values in zip(inputs, results, strict=True):
            arrays.append(Array(values, self.device, sources=arrays))
            pairs.append((sources[i], to_dtype(summed_to(arrays[-1], sources[i].shape), sources[i].dtype)))
        return pairs

    def apply_jvp(self, node: TapeNode, tangents: Sequence[Any]) -> Any:
        """Return the tangents of the outputs, operator by operator."""
        *_, (plan, operands, _) = node.saved()
        moving = [i for i, tangent in enumerate(tangents) if tangent is not None]
        primals, moves = tuple([operands[i] for i in moving]), tuple([tangents[i] for i in moving])
        _, results = functional.jvp(self._of_some(plan, operands, moving), primals, moves)
        return results if node.num_listed_outputs else results[0]

    def _of_some(self, plan: BroadcastPlan, operands: list[Any], positions: Sequence[int]) -> Callable[..., Any]:
        """Return the operators as a function of the buffers of some operands; the others stay as they are."""

        def call(*changed: Any) -> tuple[Any, ...]:
            mixed = dict(enumerate(operands)) | dict(zip(positions, changed, strict=True))
            if plan.structure is None:
                return tuple(self.one_by_one(*mixed.values()))
            arrays = [wrap_unchecked(x, plan.structure) if i in plan.full else x for i, x in mixed.items()]
            return tuple([x._buffer for x in self.one_by_one(*arrays)])

        return call


def _one_or_all(results: Sequence[Any]) -> Any:
    return results[0] if len(results) == 1 else tuple(results)
