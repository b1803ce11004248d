"""A game that has been played, as data, and its replay by the rules: what every file of games is written from and read
into."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from nardy_rl.rules.game import Game
from nardy_rl.rules.outcome import outcome
from nardy_rl.rules.plays import Move
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import Variant

PLAYERS = ("A", "B")


class Part(Enum):
    """What dice a decision is about (see `rules.game`)."""

    ROLL = "rolls"
    """Two dice just thrown."""
    GOES_ON = "goes on"
    """The next value of the same player's chain of doubles."""
    FINISHES = "finishes"
    """What the other player could not play of his dice."""


class Decision(NamedTuple):
    """One segment of dice and what was played of it."""

    player: int  # 0: A, 1: B
    part: Part
    dice: tuple[int, ...]  # of a ROLL two, the larger first; else each die to play, as `Game.dice`
    moves: tuple[Move, ...]  # in playing order; none if nothing could be moved


@dataclass(frozen=True)
class PlayedGame:
    """A finished game between A and B; who decides first began."""

    decisions: tuple[Decision, ...]
    winner: int
    """0: A, 1: B."""
    points: int
    kind: str
    """The class of the result, as the variant names it."""

    @property
    def rolls(self) -> int:
        """How often dice were thrown."""
        return sum(decision.part is Part.ROLL for decision in self.decisions)


class Replay:
    """A game that is played again from what is written of it, decision by decision; faults are ValueErrors that say
    what the rules have instead."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._decisions: list[Decision] = []
        self._game: Game | None = None
        self._starter = 0
        self._index = 0  # of the play decided on last, which is made when it is known what was rolled next

    def add(self, player: int, part: Part, dice: tuple[int, ...], play: str) -> None:
        """One more decision: `play` as `Game.find` reads it, everything else as in `Decision`, dice in any order.

        Raises ValueError if it is not this player's turn, with these dice, or the play is not legal.
        """
        dice = tuple(sorted(dice, reverse=True))
        game = self._begun(player, part, dice) if self._game is None else self._moved_on(self._game, player, part, dice)
        self._index = game.find(play)
        self._decisions.append(Decision(player, part, dice, game.plays[self._index].moves))

    def end(self) -> PlayedGame:
        """The whole game. Raises ValueError if nobody has won it yet."""
        if self._game is None:
            raise ValueError("the game has no moves")
        if not self._game.sequel(self._index).finished:
            raise ValueError("the game ends before anybody has won it")
        after = self._game.plays[self._index].after
        kind, points = outcome(self._variant, after)
        return PlayedGame(tuple(self._decisions), self._player(self._game.seat), points, kind)

    def _begun(self, player: int, part: Part, dice: tuple[int, ...]) -> Game:
        variant = self._variant
        if part is not Part.ROLL:
            raise ValueError(f"{PLAYERS[player]} {part.value} dice before any are rolled")
        two = _two(dice)
        if variant.opening == "use_lottery" and two[0] == two[1]:
            raise ValueError(f"the first roll is that of the lottery, in which dice differ, not {_text(dice)}")
        self._starter = player
        self._game = Game.from_position(variant, Position.start(variant), 0, dice=two, first_turn="starter")
        return self._game

    def _moved_on(self, game: Game, player: int, part: Part, dice: tuple[int, ...]) -> Game:
        sequel = game.sequel(self._index)
        if sequel.finished:
            raise ValueError(f"{PLAYERS[self._player(game.seat)]} has already won")
        of_chain = sequel.seat == game.seat and not game.passed_on
        due = Part.ROLL if sequel.rolls else Part.GOES_ON if of_chain else Part.FINISHES
        if not sequel.rolls:
            game.play(self._index)
        if (self._player(sequel.seat), due) != (player, part) or (not sequel.rolls and dice != game.dice):
            turn = f"{PLAYERS[self._player(sequel.seat)]} {due.value}"
            turn = turn if sequel.rolls else f"{turn} {_text(game.dice)}"
            raise ValueError(f"{PLAYERS[player]} {part.value} {_text(dice)}, but by the rules {turn}")
        if sequel.rolls:
            game.play(self._index, _two(dice))
        return game

    def _player(self, seat: int) -> int:
        return seat if self._starter == 0 else 1 - seat


def _two(dice: tuple[int, ...]) -> tuple[int, int]:
    if len(dice) != 2:
        raise ValueError(f"a roll is two dice, not {_text(dice)}")
    return dice[0], dice[1]


def _text(dice: tuple[int, ...]) -> str:
    return "-".join(map(str, dice))
