"""Sums over rows of weights in vector registers, for layers most of whose inputs are zero.

Behind a ReLU two units of three say nothing. What is left is listed as pairs of index and value, and a layer is the sum
of a few rows of its weights. LLVM does not keep such a sum in registers when it is written as loops over arrays, so it
is spelt out here, 16 numbers at a time; on processors with narrower registers LLVM splits that up.

A list of `count` pairs is padded with zeros to a multiple of 4. Rows lie one after another in a vector of float32, from
`start` on, `width` numbers each, and `width` is a multiple of LANES.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

LANES = 16
UNROLL = 4
_LINE = 64  # bytes, as many as a vector has
_FLOAT, _LONG = ir.FloatType(), ir.IntType(64)
_INT = ir.IntType(32)
_VECTOR, _INDICES, _MASK = (ir.VectorType(kind, LANES) for kind in (_FLOAT, _INT, ir.IntType(1)))
_NOTHING = ir.Constant(_VECTOR, [0.0] * LANES)
_FAST = ("reassoc", "contract", "nsz")


class _Writer:
    """Writes the instructions of one intrinsic; arrays are given by the address of their data."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        self.arguments = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments, strict=True)
        ]

    def address(self, data: Any, index: Any, kind: Any = _VECTOR) -> Any:
        return self.builder.bitcast(self.builder.gep(data, [index]), kind.as_pointer())

    def load(self, data: Any, index: Any) -> Any:
        return self.builder.load(self.address(data, index), align=4)

    def store(self, vector: Any, data: Any, index: Any) -> None:
        self.builder.store(vector, self.address(data, index, vector.type), align=4)

    def item(self, data: Any, index: Any) -> Any:
        return self.builder.load(self.builder.gep(data, [index]))

    def spread(self, scalar: Any, kind: Any = _VECTOR) -> Any:
        """A vector with the same number in all lanes."""
        empty = ir.Constant(kind, ir.Undefined)
        one = self.builder.insert_element(empty, scalar, _INT(0))
        return self.builder.shuffle_vector(one, empty, ir.Constant(_INDICES, [0] * LANES))

    def multiply_add(self, one: Any, other: Any, total: Any) -> Any:
        return self.builder.fadd(self.builder.fmul(one, other, flags=_FAST), total, flags=_FAST)

    def row(self, start: Any, width: Any, indices: Any, place: Any, column: Any) -> Any:
        """Where the row of a listed pair begins, `column` numbers on."""
        builder = self.builder
        index = builder.sext(self.item(indices, place), _LONG)
        return builder.add(builder.add(start, builder.mul(index, width)), column)

    def loop(self, end: Any, step: int) -> Any:
        """Over 0, step, 2 step, … below `end`."""
        return cgutils.for_range_slice(self.builder, _LONG(0), end, _LONG(step), _LONG)

    def columns(self, width: Any, vectors: int, body: Callable[[Any, int], None]) -> None:
        """`body(column, vectors)` for all columns, so many vectors of them at a time, the rest by halves of that."""
        begin = _LONG(0)
        while vectors:
            end = self.builder.and_(width, _LONG(-vectors * LANES))
            with cgutils.for_range_slice(self.builder, begin, end, _LONG(vectors * LANES), _LONG) as (column, _):
                body(column, vectors)
            begin, vectors = end, vectors // 2

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """An intrinsic of LLVM."""
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), arguments)


_ROWS = types.float32[::1]
_LIST = types.int32[::1]


@intrinsic
def list_positive(typing_context: Any, sums: Any, size: Any, indices: Any, values: Any) -> Any:
    """List the first `size` of `sums` that are positive; returns how many pairs there are, padding included.

    sums, values: float32[≥ size]; indices: int32[≥ size]; the lists have LANES more than that. size: a multiple of
    LANES.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        writer = _Writer(context, builder, signature, arguments)
        sums, *rest = writer.arguments

        def positive(index: Any) -> tuple[Any, Any]:
            vector = writer.load(sums, index)
            return vector, builder.fcmp_unordered(">", vector, _NOTHING)  # NaN must not get lost

        return _list(writer, positive, _LONG(0), *rest)

    return types.int64(_ROWS, types.int64, _LIST, _ROWS), generate


@intrinsic
def list_changes(typing_context: Any, after: Any, before: Any, count: Any, size: Any, indices: Any, values: Any) -> Any:
    """Add to a list of `count` pairs those of the first `size` of `after` that differ from `before`, and by how much.

    As `list_positive` in all else; the lists have `count` more than it asks for.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        writer = _Writer(context, builder, signature, arguments)
        after, before, *rest = writer.arguments

        def changed(index: Any) -> tuple[Any, Any]:
            change = builder.fsub(writer.load(after, index), writer.load(before, index))
            return change, builder.fcmp_unordered("!=", change, _NOTHING)

        return _list(writer, changed, *rest)

    return types.int64(_ROWS, _ROWS, types.int64, types.int64, _LIST, _ROWS), generate


def _list(
    writer: _Writer, found: Callable[[Any], tuple[Any, Any]], listed: Any, size: Any, indices: Any, values: Any
) -> Any:
    """Add to a list what `found(index)` gives: LANES numbers from there on, and which of them belong in it."""
    builder = writer.builder
    count = cgutils.alloca_once_value(builder, listed)
    lanes = ir.Constant(_INDICES, list(range(LANES)))
    with writer.loop(size, LANES) as (index, _):
        vector, mask = found(index)
        numbers = builder.add(writer.spread(builder.trunc(index, _INT), _INDICES), lanes)
        place = builder.load(count)
        for data, all_of_it, kind in ((values, vector, "f32"), (indices, numbers, "i32")):
            rest = ir.Constant(all_of_it.type, ir.Undefined)
            name = f"llvm.experimental.vector.compress.v{LANES}{kind}"
            writer.store(writer.call(name, all_of_it.type, all_of_it, mask, rest), data, place)
        bits = builder.bitcast(mask, ir.IntType(LANES))
        builder.store(builder.add(place, builder.zext(builder.ctpop(bits), _LONG)), count)
    end = builder.load(count)
    writer.store(_NOTHING, values, end)
    writer.store(ir.Constant(_INDICES, [0] * LANES), indices, end)
    return builder.and_(builder.add(end, _LONG(UNROLL - 1)), _LONG(-UNROLL))


@intrinsic
def add_rows(
    typing_context: Any, rows: Any, start: Any, width: Any, indices: Any, values: Any, count: Any, before: Any,
    after: Any,
) -> Any:  # fmt: skip
    """after = before + the listed rows, each times its value. before, after: float32[≥ width]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        writer = _Writer(context, builder, signature, arguments)
        writer.columns(writer.arguments[2], 4, functools.partial(_sum_columns, writer))
        return context.get_dummy_value()

    return types.void(_ROWS, types.int64, types.int64, _LIST, _ROWS, types.int64, _ROWS, _ROWS), generate


def _sum_columns(writer: _Writer, column: Any, vectors: int) -> None:
    """`add_rows` for LANES * `vectors` columns from `column` on, in so many sums that no addition waits for another."""
    builder = writer.builder
    rows, start, width, indices, values, count, before, after = writer.arguments
    sums = max(2, UNROLL // vectors)
    totals = [[cgutils.alloca_once(builder, _VECTOR) for _ in range(vectors)] for _ in range(sums)]
    for total in itertools.chain(*totals):
        builder.store(_NOTHING, total)
    with writer.loop(count, UNROLL) as (first, _):
        for offset in range(UNROLL):
            place = builder.add(first, _LONG(offset))
            value = writer.spread(writer.item(values, place))
            row = writer.row(start, width, indices, place, column)
            for vector, total in enumerate(totals[offset % sums]):
                weights = writer.load(rows, builder.add(row, _LONG(vector * LANES)))
                builder.store(writer.multiply_add(weights, value, builder.load(total)), total)
    for vector in range(vectors):
        place = builder.add(column, _LONG(vector * LANES))
        whole = writer.load(before, place)
        for total in totals:
            whole = builder.fadd(whole, builder.load(total[vector]), flags=_FAST)
        writer.store(whole, after, place)


@intrinsic
def add_to_rows(
    typing_context: Any, rows: Any, start: Any, width: Any, indices: Any, values: Any, count: Any, vector: Any
) -> Any:
    """Add `vector`, float32[≥ width], times the value of each pair, to its row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        writer = _Writer(context, builder, signature, arguments)
        rows, start, width, indices, values, count, vector = writer.arguments

        def add(column: Any, vectors: int) -> None:
            offsets = [_LONG(number * LANES) for number in range(vectors)]
            added = [writer.load(vector, builder.add(column, offset)) for offset in offsets]
            with writer.loop(count, 1) as (place, _):
                row = writer.row(start, width, indices, place, column)
                value = writer.spread(writer.item(values, place))
                for offset, one in zip(offsets, added, strict=True):
                    target = builder.add(row, offset)
                    writer.store(writer.multiply_add(one, value, writer.load(rows, target)), rows, target)

        writer.columns(width, 8, add)
        return context.get_dummy_value()

    return types.void(_ROWS, types.int64, types.int64, _LIST, _ROWS, types.int64, _ROWS), generate


@intrinsic
def dot_rows(
    typing_context: Any, rows: Any, start: Any, width: Any, indices: Any, count: Any, vector: Any, products: Any
) -> Any:
    """The scalar product of each listed row with `vector`, float32[≥ width], into `products`, float32[≥ count]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        writer = _Writer(context, builder, signature, arguments)
        rows, start, width, indices, count, vector, products = writer.arguments
        total = cgutils.alloca_once(builder, _VECTOR)
        with writer.loop(count, 1) as (place, _):
            builder.store(_NOTHING, total)
            with writer.loop(width, LANES) as (column, _):
                weights = writer.load(rows, writer.row(start, width, indices, place, column))
                builder.store(writer.multiply_add(weights, writer.load(vector, column), builder.load(total)), total)
            name = f"llvm.vector.reduce.fadd.v{LANES}f32"
            kind = ir.FunctionType(_FLOAT, [_FLOAT, _VECTOR])
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            product = builder.call(function, [_FLOAT(0.0), builder.load(total)], fastmath=_FAST)
            builder.store(product, builder.gep(products, [place]))
        return context.get_dummy_value()

    return types.void(_ROWS, types.int64, types.int64, _LIST, types.int64, _ROWS, _ROWS), generate


def lined_up(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that begins with a line of the processor's cache, so that no vector of a row lies in two of them."""
    room = np.empty(array.nbytes + _LINE, np.uint8)
    start = -room.ctypes.data % _LINE
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def padded(width: int) -> int:
    """The next multiple of LANES."""
    return -(-width // LANES) * LANES


def padded_layer(weights: NDArray[np.float32], bias: NDArray[np.float32], first: bool = False) -> NDArray[np.float32]:
    """A layer float32[…, out, in] and its bias float32[…, out] in one vector: padded rows [in, out], then the bias.

    The inputs of a `first` layer are no units, and not padded. One layer for each stage: one after another.
    """
    *stages, outputs, inputs = weights.shape
    layer = np.zeros((*stages, (inputs if first else padded(inputs)) + 1, padded(outputs)), np.float32)
    layer[..., :inputs, :outputs] = np.swapaxes(weights, -1, -2)
    layer[..., -1, :outputs] = bias
    return layer.ravel()
