"""A simple, fixed player for each family of variants: something that a trained bot has to leave behind.

Without hits (long nardy and its kin) it plays for room: hold many points, above all in a row, and get off the head.
With hits (short nardy) it plays for safety: win the race, make points, leave no blot where it can be hit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.rules.variant import Rules
from nardy_rl.rules.words import mirror


@kernel
def heuristic_score(board: NDArray[np.int8], rules: Rules) -> float:
    """How much the heuristic likes an afterstate: int8[2, 26], row 0 the mover. Higher is better."""
    return _safety_score(board, rules) if rules.hit else _room_score(board)


@kernel
def _room_score(board: NDArray[np.int8]) -> float:
    """Points held, two more for each neighbour also held, less 1/2 for each checker on the head; 4 for each one off."""
    own = board[0]
    score = 4.0 * own[0] - 0.5 * own[24]
    for point in range(1, 25):
        if own[point]:
            score += 1.0
            if point > 1 and own[point - 1]:
                score += 2.0
    return score


@kernel
def _safety_score(board: NDArray[np.int8], rules: Rules) -> float:
    """Lead in pips, 3 for each point made (6 in the home), less the pips at risk on blots; 4 for each one off."""
    own, other = board[0], board[1]
    score = 4.0 * own[0]
    for point in range(1, 26):
        score += point * (np.float64(other[point]) - own[point])
        if point < 25 and own[point] >= 2:
            score += 6.0 if point <= 6 else 3.0
        elif point < 25 and own[point] == 1:
            score -= _hit_chance(other, mirror(point, rules.contrary)) * (25 - point)
    return score


@kernel
def _hit_chance(other: NDArray[np.int8], target: int) -> float:
    """The chance in 36 that a blot on the other player's `target` is hit: by one die or by the sum of two."""
    shots = 0
    for larger in range(1, 7):
        for smaller in range(1, larger + 1):
            hit = 0
            for distance in (larger, smaller, larger + smaller):
                if target + distance <= 25:
                    hit |= other[target + distance] > 0
            shots += hit * (1 if larger == smaller else 2)
    return shots / 36.0
