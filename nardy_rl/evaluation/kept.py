"""Games of a match as they are kept: what was written down while they were played, as `formats.played` has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.evaluation.statistics import KIND, POINTS_A
from nardy_rl.formats.played import Decision, Part, PlayedGame
from nardy_rl.rules.plays import unpack_moves
from nardy_rl.rules.variant import Variant

_OWN = 1  # of `pending`: the dice are of the player's own roll


class Columns(NamedTuple):
    """A game's decisions, as in `players.games.Record`."""

    pending: Sequence[int] | NDArray[np.int32]
    seats: Sequence[int] | NDArray[np.int8]
    dice: Sequence[tuple[int, int, int]] | NDArray[np.int8]
    moves: Sequence[int] | NDArray[np.int64]


def kept_game(variant: Variant, columns: Columns, second: int, row: NDArray[np.int32]) -> PlayedGame:
    """A finished game from its decisions and its row of `statistics.Games`. second: 0 if A began, 1 if B did."""
    decisions = []
    for steps, seat, segment, packed in zip(*columns, strict=True):
        part = Part.ROLL if not steps else Part.GOES_ON if steps & _OWN else Part.FINISHES
        decisions.append(Decision(int(seat) ^ second, part, _dice(part, *map(int, segment)), unpack_moves(int(packed))))
    points = int(row[POINTS_A])
    return PlayedGame(tuple(decisions), int(points < 0), abs(points), variant.class_names[row[KIND]])


def _dice(part: Part, first: int, second: int, number: int) -> tuple[int, ...]:
    """The dice of a segment, larger first; of a double just rolled the two that were thrown."""
    if second:
        return max(first, second), min(first, second)
    return (first,) * (2 if part is Part.ROLL else number)
