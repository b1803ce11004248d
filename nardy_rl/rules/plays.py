"""Legal plays for callers in Python: the compiled generator behind checked arguments and readable results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.compact import Rules
from nardy_rl.rules.kernel import MAX_MOVES, Plays, new_plays
from nardy_rl.rules.position import OFF, POINTS, Position, check_position
from nardy_rl.rules.protocol import LATER, SECOND, STARTER, Standing, before_roll, list_plays, take_dice
from nardy_rl.rules.variant import Variant
from nardy_rl.rules.words import unpack

FIRST_TURNS = {None: LATER, "starter": STARTER, "second": SECOND}


class Move(NamedTuple):
    """One checker moved by one die: from `source` (25: the bar) to `target` (0: borne off); `hit`: a blot was hit."""

    source: int
    target: int
    hit: bool = False


@dataclass(frozen=True)
class Play:
    """A play of a roll or segment: its moves in playing order, the position after it (mover still row 0), and the dice
    that are not played: lost, or passed on where the variant passes dice on."""

    moves: tuple[Move, ...]
    after: Position
    unused: tuple[int, ...]


def check_dice(dice: tuple[int, int]) -> tuple[int, int]:
    """The two dice as plain ints. Raises ValueError unless they are two whole numbers from 1 to 6."""
    numbers = tuple(dice) if isinstance(dice, (tuple, list, np.ndarray)) else ()
    whole = [isinstance(die, (int, np.integer)) and not isinstance(die, bool) for die in numbers]
    if len(numbers) != 2 or not all(whole) or not all(1 <= die <= 6 for die in numbers):
        raise ValueError(f"dice are two whole numbers from 1 to 6, not {dice!r}")
    return int(numbers[0]), int(numbers[1])


def standing_before(first_turn: str | None, rules: Rules) -> Standing:
    """A game in which seat 0 is about to roll; first_turn as for `legal_plays`, ValueError if it is none of these.

    Only a "starter" has the other player's first turn still to come.
    """
    if not isinstance(first_turn, str | None) or first_turn not in FIRST_TURNS:
        raise ValueError(f'first_turn is None, "starter" or "second", not {first_turn!r}')
    standing = before_roll(FIRST_TURNS[first_turn], rules)
    return standing._replace(rolls_1=1 if first_turn == "second" else standing.rolls_0)


def legal_plays(
    variant: Variant, position: Position, dice: tuple[int, int], first_turn: str | None = None
) -> list[Play]:
    """All legal plays of a roll, one for each distinct afterstate; where nothing can be moved, one without moves.

    Where a double is a chain (mad gyulbar) these are the plays of its first value; `Game` plays it to its end.

    position: row 0 is the player on roll. first_turn: "starter" or "second" on a player's own first turn of the game
    (rules 3.3), else None. Raises ValueError for an impossible position, dice or a finished game.
    """
    first, second = check_dice(dice)
    before = standing_before(first_turn, variant.rules)
    check_position(variant, position)
    if variant.checkers in position.array[:, OFF]:
        raise ValueError("the game is finished: all checkers of one side are off")
    board, room = position.board(), new_plays()
    standing = take_dice(before, board, first, second, variant.rules, room)
    return segment_plays(variant, board, standing, room)


def segment_plays(variant: Variant, board: NDArray[np.int8], standing: Standing, room: Plays) -> list[Play]:
    """The plays of one segment of dice (see `protocol`); board: int8[2, 26], row 0 the player who acts."""
    size, depth, left_over = list_plays(standing, board, variant.rules, room)
    unused = _unused(standing, depth, left_over, variant)
    plays = []
    for index in range(size):
        after = np.empty((2, POINTS), np.int8)
        unpack(room.low[index], room.high[index], board, variant.rules, after)
        plays.append(Play(unpack_moves(int(room.moves[index])), Position(after), unused))
    return plays


def _unused(standing: Standing, depth: int, left_over: int, variant: Variant) -> tuple[int, ...]:
    """The dice of a segment that are not played, and those of the chain that ends with it, ascending."""
    if standing.second:
        both = min(standing.first, standing.second), max(standing.first, standing.second)
        return both if depth == 0 else (left_over,) if left_over else ()
    missing = standing.number - depth
    unused = (standing.first,) * missing
    if missing and standing.own and variant.chain_break != "skip":
        unused += tuple(value for value in range(1, 7) for _ in range((standing.later >> (4 * value)) & 15))
    return unused


def unpack_moves(moves: int) -> tuple[Move, ...]:
    """The moves of a play as the generator packs them: 16 bits each, the first lowest (see `kernel.Plays`)."""
    words = [(moves >> (16 * index)) & 0xFFFF for index in range(MAX_MOVES)]
    return tuple(Move(word & 31, (word >> 5) & 31, bool(word >> 10)) for word in words if word)
