"""The chances of the next roll (see `network.features`), roll by roll in arrays of bool: the measure of all readers."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from nardy_rl.network.features import Sight

_NUMBERS = np.arange(26)
_BOARD = (_NUMBERS >= 1) & (_NUMBERS <= 24)


def plain_chances(positions: NDArray[np.int8], sight: Sight) -> NDArray[np.float64]:
    """Of both sides: int8[N, 2, 26] to float64[N, 2, 9]."""
    return np.stack([_of_side(positions[:, side], positions[:, 1 - side], sight) for side in range(2)], axis=1)


def _of_side(mine: NDArray[np.int8], theirs: NDArray[np.int8], sight: Sight) -> NDArray[np.float64]:
    """float64[N, 9] of a side int8[N, 26] against the other's."""
    seen = np.zeros_like(theirs)
    points = np.arange(1, 25)
    seen[:, 25 - points if sight.contrary else (points + 11) % 24 + 1] = theirs[:, 1:25]
    open_points = (seen < sight.least) & _BOARD
    blots = (seen == 1) & _BOARD & (sight.least > 1)
    bar = mine[:, 25:]
    others = (mine > 0) & _BOARD
    starts = np.where(bar > 0, (bar > 0) & (_NUMBERS == 25), others)
    rear = np.where(mine[:, 1:] > 0, _NUMBERS[1:], 0).max(axis=1)
    told = np.zeros((len(mine), 9))
    for first, second in product(range(1, 7), repeat=2):
        dice = [first] * 4 if first == second else [first, second]
        ends = [_ends(starts, others, bar, open_points, order) for order in (dice, dice[::-1])]
        hits = (ends[0] | ends[1]) & blots
        told[:, 0] += hits.any(axis=1) / 36
        told[:, 1] += (hits * _NUMBERS).max(axis=1) / 360
        told[:, 2] += np.maximum(_pips(rear, open_points, dice), _pips(rear, open_points, dice[::-1])) / 294
    for die in range(1, 7):
        told[:, 2 + die] = (_on(starts, die) & open_points).sum(axis=1) / 5
    return told


def _on(points: NDArray[np.bool_], die: int) -> NDArray[np.bool_]:
    """These points, `die` pips on."""
    return np.pad(points[:, die:], ((0, 0), (0, die)))


def _ends(
    starts: NDArray[np.bool_], others: NDArray[np.bool_], bar: NDArray[np.int8], open_points: NDArray[np.bool_],
    dice: list[int],
) -> NDArray[np.bool_]:  # fmt: skip
    """All points where a checker can come to stand or pass when the dice are played in this order."""
    ends = _on(starts, dice[0]) | (_on(starts, dice[1]) & (bar > 1))
    entered = _on(starts, dice[0]) & open_points
    stand = entered | (others & (bar > 0) & entered.any(axis=1, keepdims=True))
    for played, die in enumerate(dice[1:], 1):
        moved = _on(stand, die) & (bar <= played)
        ends |= moved
        stand = np.where(bar <= played, moved & open_points, stand)
    return ends


def _pips(rear: NDArray[np.int64], open_points: NDArray[np.bool_], dice: list[int]) -> NDArray[np.int64]:
    """How many pips the rearmost checker goes with the dice in this order, until one does not fit."""
    gone, rows = np.zeros_like(rear), np.arange(len(rear))
    goes = np.ones(len(rear), np.bool_)
    for die in dice:
        target = rear - gone - die
        goes &= (target <= 0) | open_points[rows, np.maximum(target, 0)]
        gone += die * goes
    return gone
