"""What the network sees of a position: 359 numbers a player, and the stage of the game.

The point of view is that of the player on roll: his numbers come first, then the other player's, each in its owner's
own numbering. For a player with n checkers on a point:

=================  ==============================================  =======================================
index in a side    meaning                                         value
=================  ==============================================  =======================================
4(p-1)             point p, 1…24, holds a checker                  1 if n ≥ 1, else 0
4(p-1) + 1         … holds two                                     1 if n ≥ 2, else 0
4(p-1) + 2         … holds three                                   1 if n ≥ 3, else 0
4(p-1) + 3         … holds more                                    (n - 3) / 2 if n > 3, else 0
96                 checkers on the bar                             n / 2
97                 checkers borne off                              n / 15
98 + 63q + s - 1   points 6q+1…6q+6 he holds are the set s         1 if so, else 0
350                rolls of 36 with which he would hit             / 36
351                the farthest blot that they hit, by his number  sum over 36 rolls / 360
352                pips that his rearmost checker can go           sum over 36 rolls / 294
352 + d            points from which a checker can go by d, 1…6    / 5
=================  ==============================================  =======================================

The first 98 are the inputs of Tesauro's TD-Gammon (1992). The next 252 tell which points of each quarter q, 0…3, are
closed to the other side, all at once: bit i of s, 1…63, is point 6q+1+i, held by `Sight.least` checkers or more.

The last nine tell what he could do if he rolled now, whoever does: his chances. A checker goes to points that the other
side does not close. While he is on the bar only that checker moves, with the first die that brings it in. A double is
four moves, in which he enters first. Of checkers that block each other, of the duty to play both dice and of what is
left over nothing is known: it is a quick glance, and the same in every implementation. A blot on his point p loses p
pips where the sides move in contrary directions. Without hits in the rules the first two are 0. `chances` has them in
compiled code, `glance` in torch.

In variants where dice can be pending (`Variant.has_pending`) seven more follow, all 0 before a roll: for each value
1…6 a quarter of the steps of it that the player who acts has still to play, then 1 if they are of his own roll.

Every other input depends on the count of one point, on one quarter, or is one of the chances. The first layer is
therefore a sum of rows, which is what lets the compiled twin follow a play by adding two rows a move, one for each
quarter, and one for each chance that has changed.

The layers after the first have weights of their own for each of five stages: 0 when the sides have passed each other,
else 1, plus 1 if the player on roll has a checker in the quarter where he enters (points 19…24) or on the bar, plus 2
if the other player has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.variant import Variant

UNITS = 4
QUARTERS, SETS = 4, 64
BAR_INPUT, OFF_INPUT, SET_INPUT = 24 * UNITS, 24 * UNITS + 1, 24 * UNITS + 2
CHANCE_INPUT = SET_INPUT + QUARTERS * (SETS - 1)
CHANCES = 9
SIDE_INPUTS = CHANCE_INPUT + CHANCES
INPUTS = 2 * SIDE_INPUTS
PENDING_INPUTS = 7
PENDING_SCALE = 1 / 4
STAGES = 5
ENTRY = 18  # beyond this point lie the quarter where a player enters, and the bar
MIDDLE = 12  # where the sides move in one direction, they have passed each other once neither is beyond this point
COUNTS = 16
BAR_SCALE, OFF_SCALE, REST_SCALE = 1 / 2, 1 / 15, 1 / 2
ROLLS_SCALE, PIPS_SCALE, REACH_SCALE, CHECKERS_SCALE = 1 / 36, 1 / 360, 1 / 294, 1 / 5


class Sight(NamedTuple):
    """What of the rules decides how a network sees a position."""

    least: int  # so many checkers close a point to the other side
    contrary: int  # whether the sides move in contrary directions


def sight_of(variant: Variant) -> Sight:
    """How networks see positions of `variant`."""
    return Sight(variant.block_threshold, variant.rules.contrary)


def count_table(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """What each count on each point adds to the first layer: float32[2, 26, 16, H] from its weights float32[H, inputs].

    Axes: 0 the player on roll, 1 the other; point (0 off, 25 bar); number of checkers there; hidden unit.
    """
    n = np.arange(COUNTS, dtype=np.float32)
    unit_values = np.stack([n >= 1, n >= 2, n >= 3, np.maximum(n - 3, 0) * REST_SCALE]).astype(np.float32)
    table = np.zeros((2, 26, COUNTS, weights.shape[0]), np.float32)
    for side in range(2):
        own = weights[:, side * SIDE_INPUTS : (side + 1) * SIDE_INPUTS]
        points = own[:, :BAR_INPUT].reshape(-1, 24, UNITS)
        table[side, 1:25] = np.einsum("hpu,uc->pch", points, unit_values)
        table[side, 25] = np.outer(n * BAR_SCALE, own[:, BAR_INPUT])
        table[side, 0] = np.outer(n * OFF_SCALE, own[:, OFF_INPUT])
    return table


def extra_rows(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """What all else of a position adds to the first layer, from its weights float32[H, inputs]: rows of H, one after
    another.

    First 2 CHANCES rows, for each 1 that a chance of the next roll is, those of the player on roll first. Then SETS
    rows for each side and each quarter, for what it may hold there.
    """
    sides = [weights[:, side * SIDE_INPUTS : (side + 1) * SIDE_INPUTS].T for side in range(2)]
    sets = np.zeros((2, QUARTERS, SETS, len(weights)), np.float32)
    for side, own in enumerate(sides):
        sets[side, :, 1:] = own[SET_INPUT:CHANCE_INPUT].reshape(QUARTERS, SETS - 1, -1)
    return np.concatenate([*(own[CHANCE_INPUT:] for own in sides), sets.reshape(-1, len(weights))]).ravel()
