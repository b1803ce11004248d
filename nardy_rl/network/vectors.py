"""Sums over listed rows of weights in vector registers (see `writer`), and how weights are laid out for them."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from nardy_rl.network.writer import FAST, FLOAT, LANES, LIST, LONG, NOTHING, ROWS, UNROLL, VECTOR, WIDE, Writer

_LINE = 64  # bytes, as many as a wide register has


@intrinsic
def add_rows(
    typing_context: Any, rows: Any, start: Any, width: Any, indices: Any, values: Any, count: Any, before: Any,
    after: Any,
) -> Any:  # fmt: skip
    """after = before + the listed rows, each times its value. before, after: float32[≥ width]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        writer = Writer(context, builder, signature, arguments)
        writer.columns(writer.arguments[2], 4, functools.partial(_sum_columns, writer))
        return context.get_dummy_value()

    return types.void(ROWS, types.int64, types.int64, LIST, ROWS, types.int64, ROWS, ROWS), generate


def _sum_columns(writer: Writer, column: Any, vectors: int) -> None:
    """`add_rows` for LANES * `vectors` columns from `column` on, in so many sums that no addition waits for another.

    As far as there are registers for them.
    """
    builder = writer.builder
    rows, start, width, indices, values, count, before, after = writer.arguments
    sums = max(2 if WIDE else 1, UNROLL // vectors)
    totals = [[cgutils.alloca_once(builder, VECTOR) for _ in range(vectors)] for _ in range(sums)]
    for total in itertools.chain(*totals):
        builder.store(NOTHING, total)
    with writer.loop(count, UNROLL) as (first, _):
        for offset in range(UNROLL):
            place = builder.add(first, LONG(offset))
            value = writer.spread(writer.item(values, place))
            row = writer.row(start, width, indices, place, column)
            for vector, total in enumerate(totals[offset % sums]):
                weights = writer.load(rows, builder.add(row, LONG(vector * LANES)))
                builder.store(writer.multiply_add(weights, value, builder.load(total)), total)
    for vector in range(vectors):
        place = builder.add(column, LONG(vector * LANES))
        whole = writer.load(before, place)
        for total in totals:
            whole = builder.fadd(whole, builder.load(total[vector]), flags=FAST)
        writer.store(whole, after, place)


@intrinsic
def add_to_rows(
    typing_context: Any, rows: Any, start: Any, width: Any, indices: Any, values: Any, count: Any, vector: Any
) -> Any:
    """Add `vector`, float32[≥ width], times the value of each pair, to its row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        writer = Writer(context, builder, signature, arguments)
        rows, start, width, indices, values, count, vector = writer.arguments

        def add(column: Any, vectors: int) -> None:
            offsets = [LONG(number * LANES) for number in range(vectors)]
            added = [writer.load(vector, builder.add(column, offset)) for offset in offsets]
            with writer.loop(count, 1) as (place, _):
                row = writer.row(start, width, indices, place, column)
                value = writer.spread(writer.item(values, place))
                for offset, one in zip(offsets, added, strict=True):
                    target = builder.add(row, offset)
                    writer.store(writer.multiply_add(one, value, writer.load(rows, target)), rows, target)

        writer.columns(width, 8, add)
        return context.get_dummy_value()

    return types.void(ROWS, types.int64, types.int64, LIST, ROWS, types.int64, ROWS), generate


@intrinsic
def dot_rows(
    typing_context: Any, rows: Any, start: Any, width: Any, indices: Any, count: Any, vector: Any, products: Any
) -> Any:
    """The scalar product of each listed row with `vector`, float32[≥ width], into `products`, float32[≥ count]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        writer = Writer(context, builder, signature, arguments)
        rows, start, width, indices, count, vector, products = writer.arguments
        total = cgutils.alloca_once(builder, VECTOR)
        with writer.loop(count, 1) as (place, _):
            builder.store(NOTHING, total)
            with writer.loop(width, LANES) as (column, _):
                weights = writer.load(rows, writer.row(start, width, indices, place, column))
                builder.store(writer.multiply_add(weights, writer.load(vector, column), builder.load(total)), total)
            name = f"llvm.vector.reduce.fadd.v{LANES}f32"
            kind = ir.FunctionType(FLOAT, [FLOAT, VECTOR])
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            product = builder.call(function, [FLOAT(0.0), builder.load(total)], fastmath=FAST)
            builder.store(product, builder.gep(products, [place]))
        return context.get_dummy_value()

    return types.void(ROWS, types.int64, types.int64, LIST, types.int64, ROWS, ROWS), generate


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


def turned_layer(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """The weights float32[stages, out, in] of a layer in one vector, padded, as they lie: a row for each output."""
    _, outputs, inputs = weights.shape
    return np.pad(weights, ((0, 0), (0, padded(outputs) - outputs), (0, padded(inputs) - inputs))).ravel()
