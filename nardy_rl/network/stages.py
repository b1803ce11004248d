"""The held points and the stage of a game (see `features`), from the words in which the compiled core keeps a side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined
from nardy_rl.network.features import ENTRY, MIDDLE, Sight
from nardy_rl.rules.words import any_beyond, pack

_EACH_LOW, _EACH_HIGH = 0x1111111111111111, 0x111111111  # the lowest bit of the counts of points 0…15 and of 16…24


@inlined
def held_points(low: int, high: int, least: int) -> tuple[int, int]:
    """A side's words with 1 for each count of `least`, 1 or 2, or more, and 0 for all others."""
    held_low, held_high = (low >> 1) | (low >> 2) | (low >> 3), (high >> 1) | (high >> 2) | (high >> 3)
    if least == 1:
        held_low |= low
        held_high |= high
    return held_low & _EACH_LOW, held_high & _EACH_HIGH


@inlined
def held_set(held_low: int, held_high: int, quarter: int) -> int:
    """The set of held points of a quarter, 0…3, as `features` numbers it."""
    if quarter == 0:
        spread = held_low >> 4
    elif quarter == 1:
        spread = held_low >> 28
    elif quarter == 2:
        spread = ((held_low >> 52) & 0xFFF) | (held_high << 12)
    else:
        spread = held_high >> 12
    # One bit in four, of 24, moved together: first by pairs.
    spread &= 0x111111
    pairs = (spread | (spread >> 3)) & 0x030303
    return (pairs | (pairs >> 6) | (pairs >> 12)) & 63


@inlined
def rear(side: NDArray[np.int8]) -> int:
    """The point of a side's rearmost checker, the bar as 25; 0 if all are borne off. side: int8[26]."""
    point = 25
    while point and not side[point]:
        point -= 1
    return point


@inlined
def last_free(other_rear: int, sight: Sight) -> int:
    """A side has passed the other one, whose rearmost checker is on `other_rear`, if it has none beyond this point.

    -1: it has not, wherever its checkers are.
    """
    if sight.contrary:
        return 25 - other_rear
    return MIDDLE if other_rear <= MIDDLE else -1


@inlined
def stage_of(low: int, high: int, free: int, other_entering: bool, first: bool) -> int:
    """The stage of a side's words: free as `last_free` gives it; first: whether this side is the one to act."""
    if not any_beyond(low, high, free):
        return 0
    entering = any_beyond(low, high, ENTRY)
    return 1 + entering + 2 * other_entering if first else 1 + other_entering + 2 * entering


@inlined
def enters(side_rear: int) -> bool:
    """Whether a side has a checker in its first quarter or on the bar."""
    return side_rear > ENTRY


@inlined
def stage(board: NDArray[np.int8], sight: Sight) -> int:
    """The stage of a position int8[2, 26] whose row 0 acts."""
    low, high = pack(board)
    other = rear(board[1])
    return stage_of(low, high, last_free(other, sight), enters(other), True)
