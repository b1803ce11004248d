"""Lists of the numbers of a vector that are not zero (see `writer`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from nardy_rl.network.writer import (
    INDICES,
    INT,
    LANES,
    LIST,
    LONG,
    NOTHING,
    NUMBERS,
    ROWS,
    SHUFFLES,
    UNROLL,
    Writer,
)

_HALF = LANES // 2
_MEMBERS = [[lane for lane in range(_HALF) if kept >> lane & 1] for kept in range(1 << _HALF)]
# For each set of the numbers of half a vector: which are in it, one after another, in a byte each.
_ORDERS = [sum(lane << (8 * place) for place, lane in enumerate(members)) for members in _MEMBERS]


@intrinsic
def list_positive(typing_context: Any, sums: Any, size: Any, indices: Any, values: Any) -> Any:
    """List the first `size` of `sums` that are positive; returns how many pairs there are, padding included.

    sums, values: float32[≥ size]; indices: int32[≥ size]; the lists have LANES more than that. size: a multiple of
    LANES.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        writer = Writer(context, builder, signature, arguments)
        sums, *rest = writer.arguments

        def positive(index: Any) -> tuple[Any, Any]:
            vector = writer.load(sums, index)
            return vector, builder.fcmp_unordered(">", vector, NOTHING)  # NaN must not get lost

        return _list(writer, positive, LONG(0), *rest)

    return types.int64(ROWS, types.int64, LIST, ROWS), generate


@intrinsic
def list_changes(typing_context: Any, after: Any, before: Any, count: Any, size: Any, indices: Any, values: Any) -> Any:
    """Add to a list of `count` pairs those of the first `size` of `after` that differ from `before`, and by how much.

    As `list_positive` in all else; the lists have `count` more than it asks for.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        writer = Writer(context, builder, signature, arguments)
        after, before, *rest = writer.arguments

        def changed(index: Any) -> tuple[Any, Any]:
            change = builder.fsub(writer.load(after, index), writer.load(before, index))
            return change, builder.fcmp_unordered("!=", change, NOTHING)

        return _list(writer, changed, *rest)

    return types.int64(ROWS, ROWS, types.int64, types.int64, LIST, ROWS), generate


def _list(
    writer: Writer, found: Callable[[Any], tuple[Any, Any]], listed: Any, size: Any, indices: Any, values: Any
) -> Any:
    """Add to a list what `found(index)` gives: LANES numbers from there on, and which of them belong in it."""
    builder = writer.builder
    count = cgutils.alloca_once_value(builder, listed)
    add = _add_halves if SHUFFLES else _add_whole
    with writer.loop(size, LANES) as (index, _):
        vector, mask = found(index)
        add(writer, vector, mask, builder.trunc(index, INT), indices, values, count)
    end = builder.load(count)
    writer.store(NOTHING, values, end)
    writer.store(ir.Constant(INDICES, [0] * LANES), indices, end)
    return builder.and_(builder.add(end, LONG(UNROLL - 1)), LONG(-UNROLL))


def _add_whole(writer: Writer, vector: Any, mask: Any, index: Any, indices: Any, values: Any, count: Any) -> None:
    """Add those of a vector that are in `mask` to the list, whose length is in `count`; index: of the first of them."""
    builder = writer.builder
    place = builder.load(count)
    numbers = builder.add(writer.spread(index, INDICES), NUMBERS)
    for data, all_of_it, kind in ((values, vector, "f32"), (indices, numbers, "i32")):
        rest = ir.Constant(all_of_it.type, ir.Undefined)
        name = f"llvm.experimental.vector.compress.v{LANES}{kind}"
        writer.store(writer.call(name, all_of_it.type, all_of_it, mask, rest), data, place)
    bits = builder.bitcast(mask, ir.IntType(LANES))
    builder.store(builder.add(place, builder.zext(builder.ctpop(bits), LONG)), count)


def _add_halves(writer: Writer, vector: Any, mask: Any, index: Any, indices: Any, values: Any, count: Any) -> None:
    """As `_add_whole`, by putting what is kept in front; LLVM would take the numbers one by one."""
    builder = writer.builder
    orders = cgutils.global_constant(builder, "orders", ir.Constant(ir.ArrayType(LONG, len(_ORDERS)), _ORDERS))
    for first in range(0, LANES, _HALF):
        lanes = ir.Constant(ir.VectorType(INT, _HALF), list(range(first, first + _HALF)))
        part, kept = (builder.shuffle_vector(whole, whole, lanes) for whole in (vector, mask))
        bits = builder.bitcast(kept, ir.IntType(_HALF))
        order = builder.load(builder.gep(orders, [LONG(0), builder.zext(bits, LONG)]))
        order = builder.zext(builder.bitcast(order, ir.VectorType(ir.IntType(8), _HALF)), lanes.type)
        numbers = builder.add(writer.spread(builder.add(index, INT(first)), lanes.type), order)
        place = builder.load(count)
        writer.store(writer.call("llvm.x86.avx2.permps", part.type, part, order), values, place)
        writer.store(numbers, indices, place)
        builder.store(builder.add(place, builder.zext(builder.ctpop(bits), LONG)), count)
