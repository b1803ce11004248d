"""The stage of a game (see `features`), from the words in which the compiled core keeps a side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined
from nardy_rl.network.features import ENTRY, MIDDLE, Sight
from nardy_rl.rules.words import any_beyond, pack


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
