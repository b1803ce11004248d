"""What the next roll can do (see `features`), from masks of points: 36 rolls in a few shifts each."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import bit_count, highest_bit, inlined, kernel, lowest_bit
from nardy_rl.network.features import CHANCES, CHECKERS_SCALE, PIPS_SCALE, REACH_SCALE, ROLLS_SCALE
from nardy_rl.network.masks import BAR, POINTS, Facing, Side

_PAIRS = [*itertools.combinations(range(1, 7), 2), (63, 63)]  # a sixteenth, which moves all out of sight
_SMALLER, _LARGER = np.array(_PAIRS, np.int64).T.copy()
_NEAR = 12  # so far the rearmost checker's way is looked up


def _near_table() -> NDArray[np.int16]:
    """How many pips a checker can go within the next _NEAR points, the sum over 36 rolls: int16[2 ** _NEAR].

    The highest bit of an index is the point one pip ahead, 1 if it is open, and so on.
    """
    index = np.arange(1 << _NEAR)
    open_at = [index >= 0, *((index >> (_NEAR - pips)) & 1 == 1 for pips in range(1, _NEAR + 1))]
    total = np.zeros(len(index), np.int16)
    for larger in range(1, 7):
        going = np.ones(len(index), bool)
        for place in range(larger, min(4 * larger, _NEAR) + 1, larger):
            going &= open_at[place]
            total += larger * going
        for smaller in range(1, larger):
            whole = (open_at[larger] | open_at[smaller]) & open_at[larger + smaller]
            one = np.where(open_at[larger], larger, smaller * open_at[smaller])
            total += 2 * np.where(whole, larger + smaller, one).astype(np.int16)
    return total


_NEAR_PIPS = _near_table()


def _way(pips: range) -> int:
    """These distances ahead of the rearmost checker, as `_reach` has them."""
    return sum(1 << (24 - distance) for distance in pips)


# The steps of doubles beyond _NEAR, each with all before it.
_FOURTH_4, _THIRD_5, _FOURTH_5 = _way(range(4, 17, 4)), _way(range(5, 16, 5)), _way(range(5, 21, 5))
_THIRD_6, _FOURTH_6 = _way(range(6, 19, 6)), _way(range(6, 25, 6))


@inlined
def _reach(rear: int, reachable: int) -> int:
    """How many pips the rearmost checker, on point `rear`, can go: the sum over 36 rolls."""
    onward = reachable << 24 | 0x1FFFFFF  # bit p + 24 for point p: beyond point 1 all is open
    way = onward >> rear  # bit 24 - d for d pips ahead
    pips = int(_NEAR_PIPS[(way >> (24 - _NEAR)) & ((1 << _NEAR) - 1)])
    pips += 4 * (way & _FOURTH_4 == _FOURTH_4)
    pips += 5 * ((way & _THIRD_5 == _THIRD_5) + (way & _FOURTH_5 == _FOURTH_5))
    return pips + 6 * ((way & _THIRD_6 == _THIRD_6) + (way & _FOURTH_6 == _FOURTH_6))


@inlined
def _hits(side: Side, ahead: Facing) -> tuple[int, int]:
    """Of 36 rolls: those that hit a blot, and the pips that they take from the farthest one."""
    if ahead.blots == 0 or side.there >> (lowest_bit(ahead.blots) + 1) == 0:
        return 0, 0
    if side.bar:
        return _hits_from_bar(side, ahead)
    number, pips = 0, 0
    for pair in range(len(_LARGER)):
        smaller, larger = _SMALLER[pair], _LARGER[pair]
        one, other = side.there >> larger, side.there >> smaller
        ends = one | other | ((one & ahead.reachable) >> smaller) | ((other & ahead.reachable) >> larger)
        found = ends & ahead.blots
        number += found != 0
        pips += highest_bit(found | 1)
    number, pips = 2 * number, 2 * pips
    for die in range(1, 7):
        one = side.there >> die
        two = (one & ahead.reachable) >> die
        three = (two & ahead.reachable) >> die
        found = (one | two | three | ((three & ahead.reachable) >> die)) & ahead.blots
        number += found != 0
        pips += highest_bit(found | 1)
    return number, pips


@kernel
def _hits_from_bar(side: Side, ahead: Facing) -> tuple[int, int]:
    """The same for a side with checkers on the bar."""
    number, pips = 0, 0
    others = side.there & POINTS
    for larger in range(1, 7):
        one = BAR >> larger
        entered = one & ahead.reachable
        for smaller in range(1, larger):
            other = BAR >> smaller
            found = one | other
            if side.bar == 1:
                if entered:
                    found |= (entered | others) >> smaller
                if other & ahead.reachable:
                    found |= (other | others) >> larger
            found &= ahead.blots
            number += 2 * (found != 0)
            pips += 2 * highest_bit(found | 1)
        found = one
        if entered:
            stand = entered | others
            for _ in range(4 - side.bar):
                stand >>= larger
                found |= stand
                stand &= ahead.reachable
        found &= ahead.blots
        number += found != 0
        pips += highest_bit(found | 1)
    return number, pips


@inlined
def fill_chances(side: Side, ahead: Facing, place: int, chances: NDArray[np.float32]) -> None:
    """The chances of a side with what it faces: float32[≥ 2 CHANCES], first those of the side in place 0, who acts."""
    start = place * CHANCES
    number, pips = _hits(side, ahead)
    chances[start] = number * np.float32(ROLLS_SCALE)
    chances[start + 1] = pips * np.float32(PIPS_SCALE)
    chances[start + 2] = _reach(max(highest_bit(side.there), 0), ahead.reachable) * np.float32(REACH_SCALE)
    starts = BAR if side.bar else side.there
    for die in range(1, 7):
        chances[start + 2 + die] = bit_count((starts >> die) & ahead.reachable) * np.float32(CHECKERS_SCALE)
