"""One game between two seats, decision by decision: who acts, with which dice, what is legal, and what follows.

    game = Game.begin(variant("gulbar"), key=7)
    while not game.finished:
        index = …  # a choice among game.plays, by game.seat, who has game.dice to play
        game.play(index)

A decision is one segment of dice: a roll, dice that the other player could not play and passed on, or one value of a
chain of doubles. So the same seat may act several times in a row (rules 6, 7); in long and short nardy it never does.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.dice import below, opening_roll, roll
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.notation import read_play
from nardy_rl.rules.outcome import outcome
from nardy_rl.rules.plays import Play, check_dice, segment_plays, standing_before
from nardy_rl.rules.position import HEAD, OFF, Position, check_position
from nardy_rl.rules.protocol import Standing, after_play, begin, pending_steps, take_dice
from nardy_rl.rules.variant import Variant

_RANGES = {  # what the numbers of a saved `Standing` can be
    "seat": (0, 1),
    "starter": (0, 1),
    "rolls_0": (0, 2**31),
    "rolls_1": (0, 2**31),
    "first": (0, 6),
    "second": (0, 6),
    "number": (0, 4),
    "later": (0, 2**28 - 1),
    "passing": (0, 2**28 - 1),
    "head_left": (-1, 15),
}


class Sequel(NamedTuple):
    """What follows a play. Dice are listed ascending; each die of the segment that is not played is in one list."""

    seat: int  # who acts next; if the play ends the game, who has won
    rolls: bool  # he rolls; else he has dice to play already
    passed_on: tuple[int, ...]  # the dice that he has to play because the other could not
    kept: tuple[int, ...]  # dice that wait until the chain of doubles has ended (`chain_break: skip`)
    lost: tuple[int, ...]  # dice that nobody will play
    finished: bool  # the play ends the game; all dice left are void


@dataclass
class Game:
    """A game in progress. Made by `begin`, `from_position` or `from_state`; moved on by `play`.

    All chance comes from stream `key` of `nardy_rl.rules.dice`; `counter` is the number of its next draw, so that one
    game after another can live on one stream.
    """

    variant: Variant
    key: int
    counter: int
    position: Position
    """Row 0 is the player who acts; of a finished game, the winner."""
    standing: Standing
    """How the turn stands (see `nardy_rl.rules.protocol`); with nothing left to play only when the game is finished."""
    _plays: list[Play] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def begin(cls, variant: Variant, key: int, counter: int = 0) -> Self:
        """A new game: the lottery decides who begins (rules 2.1, 3.2, 4.2)."""
        mine, other = opening_roll(key, counter)
        game = cls(variant, key, counter + 1, Position.start(variant), begin(0 if mine > other else 1))
        game._roll((mine, other) if variant.opening == "use_lottery" else None)
        return game

    @classmethod
    def from_position(
        cls,
        variant: Variant,
        position: Position,
        key: int,
        counter: int = 0,
        *,
        dice: tuple[int, int] | None = None,
        first_turn: str | None = None,
    ) -> Self:
        """A game entered at `position` with seat 0 on roll (row 0), on `dice` or a random roll.

        first_turn: "starter" or "second" if this is seat 0's first own turn. After a "starter" the other player's
        first turn is still to come. Raises ValueError for an impossible position or dice, or a finished game.
        """
        check_position(variant, position)
        if variant.checkers in position.array[:, OFF]:
            raise ValueError("the game is finished: all checkers of one side are off")
        game = cls(variant, key, counter, position, standing_before(first_turn, variant.rules))
        game._roll(None if dice is None else check_dice(dice))
        return game

    @property
    def seat(self) -> int:
        """Who acts, 0 or 1; of a finished game, the winner."""
        return self.standing.seat

    @property
    def dice(self) -> tuple[int, ...]:
        """The dice to play now, larger first: (6, 5), (4,), a double of four moves (3, 3, 3, 3); () at the end."""
        first, second, number = self.standing.first, self.standing.second, self.standing.number
        return (max(first, second), min(first, second)) if second else (first,) * number

    @property
    def passed_on(self) -> bool:
        """Whether the dice are not of the player's own roll: the other could not play them (rules 6.1, 7.4)."""
        return not self.standing.own

    @property
    def to_follow(self) -> tuple[int, ...]:
        """The dice that the same player has still to play after these, ascending (rules 7.1, 7.4)."""
        return _dice_of(self.standing.later)

    @property
    def plays(self) -> list[Play]:
        """The legal plays of `dice`, never empty before the end, empty after it.

        Where nothing can be moved there is one without moves.
        """
        if self._plays is None:
            self._plays = (
                [] if self.finished else segment_plays(self.variant, self.position.board(), self.standing, new_plays())
            )
        return self._plays

    @property
    def first_turn(self) -> str | None:
        """What `legal_plays` takes: "starter" or "second" if the dice are the player's first own roll, else None."""
        standing = self.standing
        if self.finished or not standing.own or (standing.rolls_0, standing.rolls_1)[standing.seat] != 1:
            return None
        return "starter" if standing.seat == standing.starter else "second"

    @property
    def finished(self) -> bool:
        """Whether one side has borne off all its checkers."""
        return self.standing.number == 0

    @property
    def points(self) -> int:
        """What the winner won, cube aside (rules 8.1); 0 before the end."""
        return outcome(self.variant, self.position)[1] if self.finished else 0

    def sequel(self, index: int) -> Sequel:
        """What follows `plays[index]`, which is not made. Raises ValueError for an index that names no play."""
        play, coming = self._chosen(index)
        if coming is None:
            return Sequel(self.seat, False, (), (), (), True)
        rolls = coming.number == 0
        if self.passed_on:
            return Sequel(coming.seat, rolls, (), (), play.unused, False)
        # What earlier values of a chain have left, and this one.
        left = tuple(sorted(_dice_of(self.standing.passing) + play.unused))
        passed_on = left if not coming.own else ()
        kept = left if coming.own and not rolls else ()
        return Sequel(coming.seat, rolls, passed_on, kept, left if rolls else (), False)

    def play(self, index: int, dice: tuple[int, int] | None = None) -> None:
        """Make `plays[index]`; then it is somebody's turn with dice to play, or the game is finished.

        dice: what is rolled next, for a client who throws his own dice; by default the stream's. Raises ValueError for
        an index that names no play, impossible dice, or dice where no roll follows; then nothing is changed.
        """
        play, coming = self._chosen(index)
        if dice is not None:
            dice = check_dice(dice)
            if coming is None or coming.number:
                raise ValueError("after this play nobody rolls: dice must be None")
        self._plays = None
        if coming is None:
            self.position = play.after
            self.standing = begin(self.standing.starter)._replace(
                seat=self.seat, rolls_0=self.standing.rolls_0, rolls_1=self.standing.rolls_1
            )
            return
        self.position = play.after if coming.seat == self.seat else play.after.swapped()
        self.standing = coming
        if coming.number == 0:
            self._roll(dice)

    def find(self, text: str) -> int:
        """The index of the play that `text` means, as `parse_play` reads it. Raises ValueError as it does."""
        if self.finished:
            raise ValueError("the game is finished")
        return read_play(self.plays, self.position, text, "-".join(map(str, self.dice)))

    def random_index(self) -> int:
        """The index of a legal play, all equally likely: one draw of the game's stream."""
        self.counter += 1
        return below(self.key, self.counter - 1, len(self.plays))

    def view(self, seat: int) -> Position:
        """The position with `seat` in row 0."""
        return self.position if seat == self.seat else self.position.swapped()

    def pending(self, seat: int) -> NDArray[np.int8]:
        """What `seat` has to play, int8[7]: steps of the values 1…6, those to follow included, and 1 if he rolled them.

        All 0 for the player who does not act, and for both at the end.
        """
        steps = pending_steps(self.standing) if seat == self.seat else 0
        return np.array([*((steps >> (4 * value)) & 15 for value in range(1, 7)), steps & 1], np.int8)

    def reward(self, seat: int) -> float:
        """The points `seat` has won, negative if lost; 0 before the end."""
        return float(self.points if seat == self.seat else -self.points)

    def state(self) -> dict[str, Any]:
        """The whole game in plain types that JSON can hold; `from_state` goes on exactly from there."""
        return {
            "variant": self.variant.to_dict(),
            "key": int(self.key),
            "counter": int(self.counter),
            "position": self.position.array.tolist(),
            "standing": dict(self.standing._asdict()),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The game of a `state`. Raises ValueError if it is not one."""
        try:
            game = cls(
                variant=Variant(**state["variant"]),
                key=operator.index(state["key"]),
                counter=operator.index(state["counter"]),
                position=Position(state["position"]),
                standing=_read_standing(state["standing"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is no saved game: {error}") from None
        check_position(game.variant, game.position)
        off = (game.position.array[:, OFF] == game.variant.checkers).tolist()
        if off != [game.finished, False]:
            raise ValueError("this is no saved game: whether it is finished, position and standing do not agree")
        return game

    def _chosen(self, index: int) -> tuple[Play, Standing | None]:
        """Play number `index` and how the game stands after it, None at the end. Raises ValueError if there is none."""
        number = len(self.plays)
        if not isinstance(index, (int, np.integer)) or not 0 <= index < number:
            choice = f"this roll has {number} plays, 0 to {number - 1}" if number else "the game is finished"
            raise ValueError(f"action {index!r} names no play: {choice}")
        play = self.plays[index]
        if play.after.array[0, OFF] == self.variant.checkers:
            return play, None
        left_over = play.unused[0] if self.standing.second and len(play.unused) == 1 else 0
        left_head = int(self.position.array[0, HEAD] - play.after.array[0, HEAD])
        return play, after_play(self.standing, len(play.moves), left_over, left_head, self.variant.rules)

    def _roll(self, dice: tuple[int, int] | None) -> None:
        """Who acts rolls: `dice`, or the stream's next draw."""
        if dice is None:
            dice = roll(self.key, self.counter)
            self.counter += 1
        self.standing = take_dice(self.standing, self.position.board(), *dice, self.variant.rules, new_plays())


def _dice_of(steps: int) -> tuple[int, ...]:
    """Steps of each value, 4 bits a value as in `Standing`, as dice in ascending order."""
    return tuple(value for value in range(1, 7) for _ in range((steps >> (4 * value)) & 15))


def _read_standing(sheet: Mapping[str, Any]) -> Standing:
    """The `Standing` of a plain mapping. Raises ValueError for numbers that cannot be, KeyError and TypeError."""
    standing = Standing(**sheet)
    for name, value in standing._asdict().items():
        low, high = _RANGES.get(name, (False, True))
        if isinstance(value, bool) != (name not in _RANGES) or not low <= operator.index(value) <= high:
            raise ValueError(f"this is no saved game: {name} of standing cannot be {value!r}")
    number = standing.number
    dice = standing.first > 0 and (standing.second == 0 or number == 2) if number else not standing.first
    if not dice or any((steps >> shift) & 15 > 4 * (shift > 0) for steps in standing[7:9] for shift in range(0, 28, 4)):
        raise ValueError(f"this is no saved game: dice of standing cannot be {standing}")
    return standing
