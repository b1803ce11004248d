"""What rates positions: a value network, and the bear-off tables where both sides are home."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.network.fast_net import FastNet, Scratch
from nardy_rl.network.inference import change_sides, lost_game, rate_plays
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.kernel import Plays
from nardy_rl.rules.protocol import Standing, pending_steps
from nardy_rl.rules.words import pack
from nardy_rl.search.bearoff import Endings, ending_index, rate_pair, roll_end


class Rater(NamedTuple):
    """Whose opinion is asked."""

    net: FastNet
    endings: Endings  # what is in these tables is not the network's to rate; without rows: everything is


@kernel
def rate_all(
    rater: Rater, board: NDArray[np.int8], standing: Standing, coming: Standing, plays: Plays, size: int, depth: int,
    only_best: bool, rules: Rules, scratch: Scratch,
) -> int:  # fmt: skip
    """Rate all plays of a segment and return the index of the best, the first among equals.

    board: int8[2, 26], row 0 the mover; plays, size and depth as `list_plays` gave them for `standing`, after which
    comes `coming`. only_best: as for `rate_plays`, as which this fills `scratch`.
    """
    goes_on = coming.seat == standing.seat
    pending = pending_steps(coming)
    best = rate_plays(rater.net, board, plays, size, depth, goes_on, pending, only_best, rules, scratch)
    other, _ = pack(board[1:])
    opponent = ending_index(rater.endings, other, rules)
    if opponent < 0:
        return best
    for index in range(size):
        mover = ending_index(rater.endings, plays.low[index], rules)
        if mover > 0:
            _rate_ending(rater, mover, opponent, index, coming, goes_on, scratch)
    best = 0
    for index in range(1, size):
        if scratch.equities[index] > scratch.equities[best]:
            best = index
    return best


@inlined
def _rate_ending(
    rater: Rater, mover: int, opponent: int, index: int, coming: Standing, goes_on: bool, scratch: Scratch
) -> None:
    """Put what the tables know of a play in place of the network's rating. mover, opponent: where they are after it."""
    ended = roll_end(rater.endings, mover, coming)
    if ended < 0:  # not in the tables
        return
    rated, levels, swapped = scratch.probabilities[index], rater.net.levels, scratch.swapped
    if ended == 0:  # the rest of a chain bears off all that is left: the mover, who goes on, wins
        none_off = opponent >= rater.endings.turns.shape[0] - rater.endings.none_off.shape[0]
        points = rater.endings.points[1 if none_off else 0]
        lost_game(points, levels, swapped)
        change_sides(swapped, levels.size, rated)
        scratch.equities[index] = points
        return
    if goes_on and (coming.number == 0 or coming.extra):
        scratch.equities[index] = rate_pair(rater.endings, ended, opponent, rated)
        return
    scratch.equities[index] = -rate_pair(rater.endings, opponent, ended, rated)
    if goes_on:
        change_sides(rated, levels.size, swapped)
        for out in range(rated.size):
            rated[out] = swapped[out]
