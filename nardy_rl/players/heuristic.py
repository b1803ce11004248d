"""A simple, fixed player for each family of variants: something that a trained bot has to leave behind.

Without hits (long nardy and its kin) it plays for room: hold many points, above all in a row, and get off the head.
With hits (short nardy) it plays for safety: lead the race, hit, make points, leave no blots.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.rules.compact import Rules


@kernel
def heuristic_score(board: NDArray[np.int8], rules: Rules) -> float:
    """How much the heuristic likes an afterstate: int8[2, 26], row 0 the mover. Higher is better."""
    return _safety_score(board) if rules.hit else _room_score(board)


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
def _safety_score(board: NDArray[np.int8]) -> float:
    """Lead in pips, one more for each point made, one less for each blot."""
    own, other = board[0], board[1]
    score = 0.0
    for point in range(1, 26):
        score += point * (float(other[point]) - own[point])
        if point < 25 and own[point]:
            score += 1.0 if own[point] >= 2 else -1.0
    return score
