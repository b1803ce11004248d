"""Writes vector instructions, for layers most of whose inputs are zero.

Behind a ReLU two units of three say nothing. What is left is listed as pairs of index and value (`lists`), and a layer
is the sum of a few rows of its weights (`vectors`). LLVM does not keep such a sum in registers when it is written as
loops over arrays, so it is spelt out here, 16 numbers at a time; on processors with narrower registers LLVM splits that
up.

A list of `count` pairs is padded with zeros to a multiple of UNROLL. Rows lie one after another in a vector of float32,
from `start` on, `width` numbers each, and `width` is a multiple of LANES.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba.core import cgutils, config, types

LANES = 16
UNROLL = 4
FLOAT, LONG, INT = ir.FloatType(), ir.IntType(64), ir.IntType(32)
VECTOR, INDICES = ir.VectorType(FLOAT, LANES), ir.VectorType(INT, LANES)
NOTHING = ir.Constant(VECTOR, [0.0] * LANES)
NUMBERS = ir.Constant(INDICES, list(range(LANES)))
FAST = ("reassoc", "contract", "nsz")
ROWS, LIST = types.float32[::1], types.int32[::1]
"""What a list and its rows are to Numba."""

# A processor that Numba is told of by hand may lack anything.
_KNOWN = get_host_cpu_features() if config.CPU_NAME is None and config.CPU_FEATURES is None else {}
WIDE = _KNOWN.get("avx512f", False)
"""Whether a register holds LANES numbers, of which there are then 32; else they are taken to be 16 of half as many."""
SHUFFLES = not WIDE and _KNOWN.get("avx2", False)
"""Whether a register can be put in any order, and that is the way to leave some of it out."""


class Writer:
    """Writes the instructions of one intrinsic; arrays are given by the address of their data."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        self.arguments = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments, strict=True)
        ]

    def address(self, data: Any, index: Any, kind: Any = VECTOR) -> Any:
        """Where a number of an array is, as the address of a vector that begins there."""
        return self.builder.bitcast(self.builder.gep(data, [index]), kind.as_pointer())

    def load(self, data: Any, index: Any) -> Any:
        """The vector that begins there."""
        return self.builder.load(self.address(data, index), align=4)

    def store(self, vector: Any, data: Any, index: Any) -> None:
        """Put a vector there."""
        self.builder.store(vector, self.address(data, index, vector.type), align=4)

    def item(self, data: Any, index: Any) -> Any:
        """One number."""
        return self.builder.load(self.builder.gep(data, [index]))

    def spread(self, scalar: Any, kind: Any = VECTOR) -> Any:
        """A vector with the same number in all lanes."""
        empty = ir.Constant(kind, ir.Undefined)
        one = self.builder.insert_element(empty, scalar, INT(0))
        return self.builder.shuffle_vector(one, empty, ir.Constant(ir.VectorType(INT, kind.count), [0] * kind.count))

    def multiply_add(self, one: Any, other: Any, total: Any) -> Any:
        """one * other + total."""
        return self.builder.fadd(self.builder.fmul(one, other, flags=FAST), total, flags=FAST)

    def row(self, start: Any, width: Any, indices: Any, place: Any, column: Any) -> Any:
        """Where the row of a listed pair begins, `column` numbers on."""
        builder = self.builder
        index = builder.sext(self.item(indices, place), LONG)
        return builder.add(builder.add(start, builder.mul(index, width)), column)

    def loop(self, end: Any, step: int) -> Any:
        """Over 0, step, 2 step, … below `end`."""
        return cgutils.for_range_slice(self.builder, LONG(0), end, LONG(step), LONG)

    def columns(self, width: Any, vectors: int, body: Callable[[Any, int], None]) -> None:
        """`body(column, vectors)` for all columns, so many vectors of them at a time, the rest by halves of that."""
        begin = LONG(0)
        while vectors:
            end = self.builder.and_(width, LONG(-vectors * LANES))
            with cgutils.for_range_slice(self.builder, begin, end, LONG(vectors * LANES), LONG) as (column, _):
                body(column, vectors)
            begin, vectors = end, vectors // 2

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """An intrinsic of LLVM."""
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), arguments)
