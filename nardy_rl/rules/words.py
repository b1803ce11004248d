"""The mover's checkers as two 64-bit words, so that an afterstate is two numbers and a move two additions.

`low` holds the counts of points 0–15, `high` those of 16–25, 4 bits each; bits 40…63 of `high` are the enemy blots hit
in this turn, by the mover's numbers 1…24. (`low`, `high`) therefore names an afterstate of a given position exactly.
All words are int64: Numba turns a mix of int64 and uint64 into float64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel, lowest_bit
from nardy_rl.rules.compact import Rules

_HIT_SHIFT = 39  # a hit on the mover's point p sets bit p + 39


@inlined
def count_at(low: int, high: int, point: int) -> int:
    """How many of the mover's checkers stand on `point` (0…25)."""
    if point < 16:
        return (low >> (point * 4)) & 15
    return (high >> (point * 4 - 64)) & 15


@kernel
def pack(board: NDArray[np.int8]) -> tuple[int, int]:
    """The two words of the mover, row 0 of int8[2, 26]."""
    low = 0
    high = 0
    for point in range(16):
        low |= int(board[0, point]) << (point * 4)
    for point in range(16, 26):
        high |= int(board[0, point]) << (point * 4 - 64)
    return low, high


@kernel
def unpack(low: int, high: int, before: NDArray[np.int8], rules: Rules, after: NDArray[np.int8]) -> None:
    """Write the afterstate (`low`, `high`) of `before` into `after`, int8[2, 26], mover still row 0."""
    for point in range(26):
        after[0, point] = count_at(low, high, point)
        after[1, point] = before[1, point]
    hits = hit_points(high)
    while hits:
        point = lowest_bit(hits)
        hits &= hits - 1
        after[1, mirror(point, rules.contrary)] -= 1
        after[1, 25] += 1


@inlined
def copy_board(source: NDArray[np.int8], target: NDArray[np.int8]) -> None:
    """Copy one int8[2, 26] into another."""
    for row in range(2):
        for point in range(26):
            target[row, point] = source[row, point]


@inlined
def moved(low: int, high: int, source: int, target: int) -> tuple[int, int]:
    """The mover's words after one checker went from `source` to `target`."""
    if source < 16:
        low -= 1 << (source * 4)
    else:
        high -= 1 << (source * 4 - 64)
    if target < 16:
        low += 1 << (target * 4)
    else:
        high += 1 << (target * 4 - 64)
    return low, high


@inlined
def with_hit(high: int, point: int) -> int:
    """`high` after the blot on the mover's `point` was hit."""
    return high | (1 << (point + _HIT_SHIFT))


@inlined
def hit_points(high: int) -> int:
    """The points where a blot was hit in this turn, as a mask, bit p for the mover's point p."""
    return ((high >> (_HIT_SHIFT + 1)) & 0xFFFFFF) << 1


@inlined
def any_beyond(low: int, high: int, point: int) -> bool:
    """Whether the mover has a checker beyond `point` (-1…24), the bar included."""
    counts = high & ((1 << 40) - 1)
    if point < 15:
        return counts != 0 or (low >> (4 * point + 4)) != 0
    return (counts >> (4 * point - 60)) != 0


@kernel
def occupancy(low: int, high: int) -> int:
    """The mover's points 1…25 that hold a checker, as a mask."""
    occupied = 0
    for point in range(1, 26):
        occupied |= (count_at(low, high, point) != 0) << point
    return occupied


@inlined
def mirror(point: int, contrary: int) -> int:
    """The other player's number for the mover's point 1…24 (rules 1)."""
    if contrary:
        return 25 - point
    return point + 12 if point <= 12 else point - 12
