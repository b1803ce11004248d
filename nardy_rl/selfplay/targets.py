"""Forward-view TD(λ) returns (Sutton & Barto 2018, chapter 12) for games in which the side to act changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.network.inference import lost_game
from nardy_rl.rules.compact import Rules
from nardy_rl.search.lookahead import Room, look_ahead, rolling, see
from nardy_rl.search.rater import Rater


class Game(NamedTuple):
    """The decisions of one game, as `players.games.Record` has them."""

    positions: NDArray[np.int8]  # [decisions, 2, 26]
    pending: NDArray[np.int32]  # [decisions]
    seats: NDArray[np.int8]  # [decisions]
    values: NDArray[np.float32]  # [decisions, outputs]: ratings before each decision but the first
    exact: NDArray[np.bool_]  # [decisions]: which ratings are targets as they stand


class Returns(NamedTuple):
    """Room for one thread's returns, made by `new_returns`."""

    rating: NDArray[np.float32]  # [outputs]
    mixed: NDArray[np.float32]
    turned: NDArray[np.float32]
    mean: NDArray[np.float32]


def new_returns(outputs: int) -> Returns:
    """Fresh room for games of a variant with so many outputs."""
    return Returns(*(np.empty(outputs, np.float32) for _ in Returns._fields))


@kernel
def lambda_returns(
    game: Game, points: int, trace: float, all_rolls: bool, rater: Rater, rules: Rules, returns: Returns, room: Room
) -> None:
    """Turn the ratings of a game into its targets, in place.

    Unless its last rating is exact, the player of the last decision won `points`. trace: λ.

    target[t] is rating[t + 1] + λ (target[t + 1] - rating[t + 1]), seen from the side of decision t; exact ratings are
    their own targets. all_rolls: where decision t begins with a roll, the first rating[t + 1], which depends on that
    roll, gives way to the mean over all 21 rolls, each answered by the best play. That takes the luck of one roll out
    of the target, for 21 times the work.
    """
    decisions, outputs = game.values.shape
    levels, seats = rater.net.levels, game.seats
    rating, mixed = returns.rating, returns.mixed
    lost_game(points, levels, mixed)
    lost_game(points, levels, rating)
    rolls_0, rolls_1 = 0, 0
    for decision in range(decisions):
        rolls_0 += game.pending[decision] == 0 and seats[decision] == 0
        rolls_1 += game.pending[decision] == 0 and seats[decision] == 1
    following = 1 - seats[decisions - 1]
    for decision in range(decisions - 1, -1, -1):
        seat, target = seats[decision], game.values[decision]
        rolled = game.pending[decision] == 0
        rolls_0 -= rolled and seat == 0
        rolls_1 -= rolled and seat == 1
        if not game.exact[decision]:
            for out in range(outputs):
                returns.turned[out] = target[out]  # the rating before this decision, which is needed once more
            see(mixed, following, seat, levels.size, target)
            if all_rolls and rolled:
                standing = rolling(1 if seat else 0, rolls_0, rolls_1)
                look_ahead(rater, game.positions[decision], standing, 1, rules, room, returns.mean)
                see(rating, following, seat, levels.size, mixed)
                for out in range(outputs):
                    better = target[out] - mixed[out] + returns.mean[out]
                    target[out] = min(max(better, np.float32(0.0)), np.float32(1.0))
            for out in range(outputs):
                rating[out] = returns.turned[out]
                mixed[out] = rating[out] + np.float32(trace) * (target[out] - rating[out])
        else:
            for out in range(outputs):
                rating[out] = target[out]
                mixed[out] = target[out]
        following = seat
