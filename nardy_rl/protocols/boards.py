"""Positions and moves as other programs write them, both ways: FIBS boards (GNU Backgammon's sockets), OpenSpiel."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nardy_rl.rules.plays import Move, check_dice
from nardy_rl.rules.position import BAR, OFF, POINTS, Position, check_position
from nardy_rl.rules.variant import Variant, variant

_SHORT = variant("short")
_NAMES = {BAR: "bar", OFF: "off"}
_POINTS = {str(point): point for point in range(POINTS)} | {name: point for point, name in _NAMES.items()}

_FIELDS = 53
_AFTER_NAMES = _FIELDS - 3
_NUMBER = re.compile(r"-?[0-9]{1,6}")
_DIRECTION = [1, -1, 0, BAR]  # colour, direction, home and bar: player 1 moves from 25 to 0
_ANOTHER_SIDE = "only boards seen from player 1, who moves from 25 to 0, are read (…:1:-1:0:25:…)"


@dataclass(frozen=True)
class FibsBoard:
    """What a FIBS board line asks: a play if there are dice, a double or a roll if not, or how to answer a double."""

    position: Position
    """Row 0 is the player whose turn it is: he who plays, or he who has doubled."""
    dice: tuple[int, int] | None
    doubled: bool
    cube: int = 1
    """Its value before the double that is pending."""
    match_length: int = 0
    """0: a money game."""
    score: int = 0
    """Of who has doubled. It means nothing without a double: only then does the score of player 1 stand first."""


def check_short(rules: Variant, who: str) -> None:
    """Raise ValueError unless `rules` are those by which `who`, another program, plays backgammon."""
    if rules.rules != _SHORT.rules:
        raise ValueError(f"{who} plays variant short by its preset rules only, not {rules.name}")


def moves_text(moves: Iterable[Move]) -> str:
    """Moves in playing order, each from/to in the mover's numbering, without hits: `bar/22 6/4 4/off`."""
    return " ".join(f"{_NAMES.get(move.source, move.source)}/{_NAMES.get(move.target, move.target)}" for move in moves)


def parse_moves(text: str) -> list[Move]:
    """Moves of one die each as other programs write them, with `0` or `off`, `25` or `bar`, with or without `*`.

    Raises ValueError naming the move that cannot be read.
    """
    moves = []
    for word in text.lower().split():
        source, _, target = word.removesuffix("*").partition("/")
        if source not in _POINTS or target not in _POINTS or _POINTS[source] <= _POINTS[target]:
            raise ValueError(f"cannot read the move {word!r}; a move reads like 24/18, bar/20 or 6/off")
        moves.append(Move(_POINTS[source], _POINTS[target]))
    return moves


def position_after(position: Position, moves: Iterable[Move]) -> Position:
    """Where moves of row 0 lead in short nardy, each of which hits what is there; he stays row 0.

    Raises ValueError if a checker is moved that is not there.
    """
    own, other = position.array.tolist()
    for source, target, _ in moves:
        own[source] -= 1
        own[target] += 1
        if target != OFF and other[_SHORT.mirror(target)]:
            other[_SHORT.mirror(target)] -= 1
            other[BAR] += 1
    return Position([own, other])


def parse_fibs_board(line: str) -> FibsBoard:
    """What a line `board:…` of 53 fields asks. Raises ValueError naming the field that cannot be.

    Points are counted from player 1's side, his checkers are positive, and the bars are points 25 (his) and 0.
    """
    if not line.startswith("board:"):
        raise ValueError("a request begins with board:")
    if line.count(":") < _FIELDS - 1:
        raise ValueError(f"a board has {_FIELDS} fields, this one {line.count(':') + 1}")
    texts = line.rsplit(":", _AFTER_NAMES)[1:]  # from behind, because a name may hold colons
    if not all(map(_NUMBER.fullmatch, texts)):
        wrong = next(index for index, text in enumerate(texts) if not _NUMBER.fullmatch(text))
        raise ValueError(f"field {wrong + 3} of the board is no whole number")
    fields = [0, 0, 0, *map(int, texts)]
    turn, dice, doubled = fields[32], fields[33:35], fields[40]
    if fields[41:45] != _DIRECTION:
        raise ValueError(_ANOTHER_SIDE)
    if turn not in (1, -1):
        raise ValueError(f"field 32 of the board is 1 if it is the turn of player 1, -1 if of player 0, not {turn}")
    if doubled not in (0, 1) or (doubled and dice != [0, 0]):
        raise ValueError("field 40 of the board is 1 if a double is pending, before the roll, else 0")
    if fields[37] < 1:
        raise ValueError(f"field 37 of the board is the value of the cube, not {fields[37]}")
    position = _fibs_position(fields[6:32], fields[45], fields[46])
    return FibsBoard(
        position if turn == 1 else position.swapped(),
        None if dice == [0, 0] else check_dice((dice[0], dice[1])),
        doubled == 1,
        fields[37],
        fields[3],
        fields[4 if turn == 1 else 5],
    )


def fibs_board_text(position: Position, dice: tuple[int, int]) -> str:
    """The line that asks for a play of row 0, who is player 1."""
    own, other = position.array.tolist()
    points = [-other[BAR], *(own[point] - other[BAR - point] for point in range(1, BAR)), own[BAR]]
    cube = [1, 1, 1, 0]
    fields = [0, 0, 0, *points, 1, *dice, *dice, *cube, *_DIRECTION, own[OFF], other[OFF], 0, 0, 0, 0, 0, 0]
    return ":".join(["board", "me", "them", *map(str, fields)])


def _fibs_position(points: list[int], own_off: int, other_off: int) -> Position:
    """The position with player 1 in row 0. Raises ValueError if it cannot be."""
    own, other = ([max(sign * count, 0) for count in points] for sign in (1, -1))
    if own[0] or other[BAR]:
        raise ValueError("point 25 of the board is the bar of player 1, point 0 that of player 0, whose are negative")
    for player, side, off in ((1, own, own_off), (0, other, other_off)):
        if off < 0 or sum(side) + off != _SHORT.checkers:
            raise ValueError(f"player {player} has {sum(side)} checkers and {off} off, not {_SHORT.checkers} in all")
    position = Position([[own_off, *own[1:]], [other_off, *other[BAR - 1 :: -1]]])
    check_position(_SHORT, position)
    return position


@dataclass(frozen=True)
class OpenSpielTurn:
    """A decision in OpenSpiel's backgammon, in which a double is two decisions of two moves each."""

    position: Position
    """Row 0 is the player who acts."""
    dice: tuple[int, int]
    second_half: bool
    """It is the second half of a double."""


def parse_openspiel_turn(state: Any) -> OpenSpielTurn:
    """What a `pyspiel.BackgammonState` at a decision asks. Raises ValueError if it is another game or no decision."""
    game = state.get_game()
    if game.get_type().short_name != "backgammon" or game.get_parameters().get("hyper_backgammon"):
        raise ValueError(f"this bot plays OpenSpiel's backgammon, not {game}")
    if state.is_terminal() or state.is_chance_node():
        raise ValueError("nobody has to play in this state")
    # Dice and halves of a double are shown by the printed state alone.
    shown = re.search(r"Extra turn: ([01])\nDice: ([1-6])([1-6])\n", str(state))
    if shown is None:
        raise ValueError("this version of OpenSpiel does not print whose turn it is as its version 2.0 does")
    dice = int(shown[2]), int(shown[3])
    return OpenSpielTurn(openspiel_position(state, state.current_player()), dice, shown[1] == "1")


def openspiel_position(state: Any, player: int) -> Position:
    """Where the checkers of a `pyspiel.BackgammonState` stand, with `player`, 0 or 1, in row 0."""
    rows = np.zeros((2, POINTS), np.int64)
    for row, seat in zip(rows, (player, 1 - player), strict=True):
        # Both players' points are numbered from player 1's home; 100 is the bar; checkers off are not told.
        row[1:BAR] = [state.board(seat, index if seat else 23 - index) for index in range(24)]
        row[BAR] = state.board(seat, 100)
    rows[:, OFF] = _SHORT.checkers - rows.sum(axis=1)
    return Position(rows)
