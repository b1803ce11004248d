"""Forward-view TD(λ) returns (Sutton & Barto 2018, chapter 12) for games in which the side changes every turn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.network.inference import change_sides, lost_game


@kernel
def lambda_returns(
    values: NDArray[np.float32],
    points: int,
    levels: NDArray[np.int64],
    trace: float,
    scratch: NDArray[np.float32],
) -> None:
    """Turn the ratings of one game into its targets, in place.

    values: float32[turns, outputs], row t the rating of the position before roll t, for the player on roll; row 0 is
    not read. The player on roll at the last turn won `points`. trace: λ. scratch: float32[2, outputs].

    target[t] is what the player on roll at t gets: the other player's (1 - λ) rating[t + 1] + λ target[t + 1], seen
    from this side.
    """
    turns, outputs = values.shape
    rating, mixed = scratch[0], scratch[1]
    lost_game(points, levels, mixed)
    for turn in range(turns - 1, -1, -1):
        for out in range(outputs):
            rating[out] = values[turn, out]
        change_sides(mixed, levels.size, values[turn])
        for out in range(outputs):
            mixed[out] = (1 - trace) * rating[out] + trace * values[turn, out]
