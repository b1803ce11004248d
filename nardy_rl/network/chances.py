"""What the next roll can do (see `features`), from masks of points: 36 rolls in a few shifts each.

A mask has bit p for point p, 25 for the bar, and checkers move towards bit 0. A `Side` is in its own numbering; what a
side can reach and hit is in that of the side whose chances are asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import bit_count, highest_bit, inlined, kernel
from nardy_rl.network.features import (
    CHANCES,
    CHECKERS_SCALE,
    PIPS_SCALE,
    REACH_SCALE,
    ROLLS_SCALE,
    Sight,
)
from nardy_rl.network.stages import held_points

_POINTS = 0x1FFFFFE  # points 1…24
_BAR = 1 << 25


class Side(NamedTuple):
    """A side's points, in its own numbering."""

    there: int  # where it has checkers, the bar included
    held: int  # points that it closes to the other side
    bar: int  # checkers there


@inlined
def _squeezed(low: int, high: int) -> int:
    """What `held_points` gives as a mask of points 1…24."""
    return (_moved_together(low) | (_moved_together(high) << 16)) & _POINTS


@inlined
def _moved_together(spread: int) -> int:
    """One bit in four of 64 moved together."""
    pairs = (spread | (spread >> 3)) & 0x0303030303030303
    fours = (pairs | (pairs >> 6)) & 0x000F000F000F000F
    eights = (fours | (fours >> 12)) & 0x000000FF000000FF
    return (eights | (eights >> 24)) & 0xFFFF


@inlined
def side_of(low: int, high: int, sight: Sight) -> Side:
    """A side by its words."""
    bar = (high >> 36) & 15
    there = _squeezed(*held_points(low, high, 1))
    held = there if sight.least == 1 else _squeezed(*held_points(low, high, sight.least))
    return Side(there | _BAR if bar else there, held, bar)


@inlined
def _across(mask: int, contrary: int) -> int:
    """Points 1…24 of one side in the numbering of the other (rules 1)."""
    if not contrary:
        return ((mask & 0x1FFE) << 12) | ((mask >> 12) & 0x1FFE)
    turned = (mask & _POINTS) << 6  # 32 bits turned round, of which bit p + 6 becomes bit 25 - p
    turned = ((turned & 0x55555555) << 1) | ((turned >> 1) & 0x55555555)
    turned = ((turned & 0x33333333) << 2) | ((turned >> 2) & 0x33333333)
    turned = ((turned & 0x0F0F0F0F) << 4) | ((turned >> 4) & 0x0F0F0F0F)
    turned = ((turned & 0x00FF00FF) << 8) | ((turned >> 8) & 0x00FF00FF)
    return ((turned & 0xFFFF) << 16) | (turned >> 16)


@inlined
def _hits(side: Side, reachable: int, blots: int) -> tuple[int, int]:
    """Of 36 rolls: those that hit a blot, and the pips that they take from the farthest one."""
    if blots == 0:
        return 0, 0
    if side.bar:
        return _hits_from_bar(side, reachable, blots)
    number, pips = 0, 0
    for larger in range(1, 7):
        one = side.there >> larger
        onward = one & reachable
        for smaller in range(1, larger):
            other = side.there >> smaller
            found = (one | other | (onward >> smaller) | ((other & reachable) >> larger)) & blots
            number += 2 * (found != 0)
            pips += 2 * highest_bit(found | 1)
        second = onward >> larger
        third = (second & reachable) >> larger
        found = (one | second | third | ((third & reachable) >> larger)) & blots
        number += found != 0
        pips += highest_bit(found | 1)
    return number, pips


@kernel
def _hits_from_bar(side: Side, reachable: int, blots: int) -> tuple[int, int]:
    """The same for a side with checkers on the bar."""
    number, pips = 0, 0
    others = side.there & _POINTS
    for larger in range(1, 7):
        one = _BAR >> larger
        entered = one & reachable
        for smaller in range(1, larger):
            other = _BAR >> smaller
            found = one | other
            if side.bar == 1:
                if entered:
                    found |= (entered | others) >> smaller
                if other & reachable:
                    found |= (other | others) >> larger
            found &= blots
            number += 2 * (found != 0)
            pips += 2 * highest_bit(found | 1)
        found = one
        if entered:
            stand = entered | others
            for _ in range(4 - side.bar):
                stand >>= larger
                found |= stand
                stand &= reachable
        found &= blots
        number += found != 0
        pips += highest_bit(found | 1)
    return number, pips


@inlined
def _reach(rear: int, reachable: int) -> int:
    """How many pips the rearmost checker, on point `rear`, can go: the sum over 36 rolls."""
    pips = 0
    onward = reachable << 24 | 0x1FFFFFF  # bit p + 24 for point p: beyond point 1 all is open
    place = onward >> rear
    for larger in range(1, 7):
        first = (place >> (24 - larger)) & 1
        steps = first
        for step in range(2, 5):
            steps += (steps == step - 1) & (place >> (24 - step * larger)) & 1
        pips += steps * larger
        for smaller in range(1, larger):
            second = (place >> (24 - smaller)) & 1
            whole = (first | second) & (place >> (24 - larger - smaller)) & 1
            pips += 2 * (larger + smaller if whole else larger if first else smaller if second else 0)
    return pips


@inlined
def _fill(side: Side, other: Side, sight: Sight, chances: NDArray[np.float32], start: int) -> None:
    """The chances of a side against the other into `chances` from `start` on."""
    reachable = _POINTS & ~_across(other.held, sight.contrary)
    if sight.least > 1:
        blots = _across(other.there & ~other.held, sight.contrary)
        number, pips = _hits(side, reachable, blots)
        chances[start] = number * np.float32(ROLLS_SCALE)
        chances[start + 1] = pips * np.float32(PIPS_SCALE)
    starts = _BAR if side.bar else side.there
    chances[start + 2] = _reach(max(highest_bit(side.there), 0), reachable) * np.float32(REACH_SCALE)
    for die in range(1, 7):
        chances[start + 2 + die] = bit_count((starts >> die) & reachable) * np.float32(CHECKERS_SCALE)


@kernel
def fill_chances(
    low: int, high: int, other_low: int, other_high: int, sight: Sight, chances: NDArray[np.float32]
) -> None:
    """The chances of both sides by their words, those of the side that acts first: float32[≥ 2 CHANCES]."""
    side, other = side_of(low, high, sight), side_of(other_low, other_high, sight)
    _fill(side, other, sight, chances, 0)
    _fill(other, side, sight, chances, CHANCES)
