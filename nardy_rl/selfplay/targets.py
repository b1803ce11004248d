"""Forward-view TD(λ) returns (Sutton & Barto 2018, chapter 12) for games in which the side to act changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.network.inference import change_sides, lost_game


@kernel
def lambda_returns(
    values: NDArray[np.float32],
    seats: NDArray[np.int8],
    exact: NDArray[np.bool_],
    points: int,
    levels: NDArray[np.int64],
    trace: float,
    scratch: NDArray[np.float32],
) -> None:
    """Turn the ratings of one game into its targets, in place.

    values: float32[decisions, outputs], row t the rating before decision t, for the player who makes it; row 0 is not
    read. seats: int8[decisions], who that is. exact: bool[decisions], which ratings are targets as they stand. Unless
    the last one is such, the player of the last decision won `points`. trace: λ. scratch: float32[2, outputs].

    target[t] is (1 - λ) rating[t + 1] + λ target[t + 1], seen from the side of decision t.
    """
    decisions, outputs = values.shape
    rating, mixed = scratch[0], scratch[1]
    lost_game(points, levels, mixed)
    loser = 1 - seats[decisions - 1]
    for decision in range(decisions - 1, -1, -1):
        if exact[decision]:
            for out in range(outputs):
                mixed[out] = values[decision, out]
            continue
        following = loser if decision == decisions - 1 else seats[decision + 1]
        for out in range(outputs):
            rating[out] = values[decision, out]
        if seats[decision] == following:
            for out in range(outputs):
                values[decision, out] = mixed[out]
        else:
            change_sides(mixed, levels.size, values[decision])
        for out in range(outputs):
            mixed[out] = (1 - trace) * rating[out] + trace * values[decision, out]
