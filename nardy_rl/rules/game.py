"""One game between two seats: the lottery, whose turn it is, the dice, the plays, the result."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from nardy_rl.rules.dice import below, opening_roll, roll
from nardy_rl.rules.outcome import outcome
from nardy_rl.rules.plays import FIRST_TURNS, Play, check_dice, legal_plays
from nardy_rl.rules.position import OFF, Position, check_position
from nardy_rl.rules.variant import Variant


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
    """Row 0 is the player on roll; of a finished game, the winner."""
    seat: int
    """Who is on roll, 0 or 1; of a finished game, the winner."""
    dice: tuple[int, int] | None
    """The roll to play, larger die first; None when the game is finished."""
    first_turns: list[str | None]
    """For each seat what its next own turn is: "starter", "second", or None once it has had its first (rules 3.3)."""
    points: int = 0
    """What the winner won, cube aside; 0 until then."""
    _plays: list[Play] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def begin(cls, variant: Variant, key: int, counter: int = 0) -> Self:
        """A new game: the lottery decides who begins (rules 2.1, 3.2, 4.2)."""
        mine, other = opening_roll(key, counter)
        seat = 0 if mine > other else 1
        first_turns: list[str | None] = ["second", "second"]
        first_turns[seat] = "starter"
        game = cls(variant, key, counter + 1, Position.start(variant), seat, _larger_first(mine, other), first_turns)
        if variant.opening == "reroll":
            game._roll()
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
        if first_turn not in FIRST_TURNS:
            raise ValueError(f'first_turn is None, "starter" or "second", not {first_turn!r}')
        others = "second" if first_turn == "starter" else None
        game = cls(variant, key, counter, position, 0, None, [first_turn, others])
        if dice is None:
            game._roll()
        else:
            game.dice = _larger_first(*check_dice(dice))
        return game

    @property
    def finished(self) -> bool:
        """Whether one side has borne off all its checkers."""
        return self.dice is None

    @property
    def plays(self) -> list[Play]:
        """The legal plays of the player on roll, never empty before the end, empty after it."""
        if self._plays is None:
            self._plays = (
                [] if self.dice is None else legal_plays(self.variant, self.position, self.dice, self.first_turn)
            )
        return self._plays

    @property
    def first_turn(self) -> str | None:
        """The `first_turn` of the player on roll, as `legal_plays` takes it."""
        return self.first_turns[self.seat]

    def play(self, index: int) -> None:
        """Play `plays[index]`; then the other player is on roll, or the game is finished.

        Raises ValueError for an index that names no play.
        """
        number = len(self.plays)
        if not isinstance(index, (int, np.integer)) or not 0 <= index < number:
            choice = f"this roll has {number} plays, 0 to {number - 1}" if number else "the game is finished"
            raise ValueError(f"action {index!r} names no play: {choice}")
        after = self.plays[index].after
        self._plays = None
        self.first_turns[self.seat] = None
        if after.array[0, OFF] == self.variant.checkers:
            self.position, self.dice = after, None
            self.points = outcome(self.variant, after)[1]
        else:
            self.position, self.seat = after.swapped(), 1 - self.seat
            self._roll()

    def random_index(self) -> int:
        """The index of a legal play, all equally likely: one draw of the game's stream."""
        self.counter += 1
        return below(self.key, self.counter - 1, len(self.plays))

    def view(self, seat: int) -> Position:
        """The position with `seat` in row 0."""
        return self.position if seat == self.seat else self.position.swapped()

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
            "seat": self.seat,
            "dice": None if self.dice is None else list(self.dice),
            "first_turns": list(self.first_turns),
            "points": self.points,
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
                seat=state["seat"],
                dice=None if state["dice"] is None else check_dice(state["dice"]),
                first_turns=list(state["first_turns"]),
                points=operator.index(state["points"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is no saved game: {error}") from None
        check_position(game.variant, game.position)
        if game.seat not in (0, 1) or len(game.first_turns) != 2 or not set(game.first_turns) <= set(FIRST_TURNS):
            raise ValueError(f"this is no saved game: seat {game.seat!r}, first turns {game.first_turns!r}")
        return game

    def _roll(self) -> None:
        self.dice = _larger_first(*roll(self.key, self.counter))
        self.counter += 1


def _larger_first(first: int, second: int) -> tuple[int, int]:
    return max(first, second), min(first, second)
