"""The luck of the dice in a game, in points: what is taken off its result, the noise goes and the mean stays.

A roll's luck is how much better the best play of it is than that of the average roll, in the eyes of a judge, who may
be anybody: whatever he thinks, luck is 0 on average over the roll, so that results less luck are unbiased (White,
"Variance reduction", 1999, for rollouts; Zinkevich and others, "Optimal unbiased estimators", AAAI 2006).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import game_roll
from nardy_rl.search.lookahead import ROLLS, Room, numbered_roll, roll_equities, rolling
from nardy_rl.search.rater import Rater


@kernel
def game_luck(
    judge: Rater, positions: NDArray[np.int8], pending: NDArray[np.int32], seats: NDArray[np.int8], dice_key: int,
    rules: Rules, room: Room, equities: NDArray[np.float32],
) -> float:  # fmt: skip
    """How lucky seat 0, who began, was in a game, in points: the sum over all rolls.

    positions, pending and seats: the game's decisions as in `players.games.Record`, thrown with the stream `dice_key`.
    equities: float32[ROLLS], room.
    """
    luck = 0.0
    rolls_0, rolls_1 = 0, 0
    for decision in range(len(seats)):
        if pending[decision]:
            continue
        seat, rolled = 1 if seats[decision] else 0, rolls_0 + rolls_1
        lottery = rolled == 0 and rules.lottery_opening != 0
        first, second = game_roll(dice_key, rolled, rules.lottery_opening)
        roll_equities(judge, positions[decision], rolling(seat, rolls_0, rolls_1), rules, room, equities)
        of_roll = _luck(equities, max(first, second), min(first, second), lottery)
        luck += -of_roll if seat else of_roll
        rolls_0, rolls_1 = rolls_0 + (1 - seat), rolls_1 + seat
    return luck


@inlined
def _luck(equities: NDArray[np.float32], larger: int, smaller: int, lottery: bool) -> float:
    """The equity of one roll above the mean; in a lottery doubles do not occur."""
    mean, actual = 0.0, 0.0
    for number in range(ROLLS):
        one, other = numbered_roll(number)
        share = (0.0 if lottery else 1 / 36) if one == other else (1 / 15 if lottery else 2 / 36)
        mean += share * equities[number]
        if one == larger and other == smaller:
            actual = equities[number]
    return actual - mean
