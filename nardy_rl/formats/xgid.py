"""XGID, eXtreme Gammon's text for a position of short nardy and all that goes with it, both ways.

Ten fields with colons between: 26 characters for bars and points, cube, its owner, turn, dice, two scores, rules, match
length, greatest cube. A diagram has a player at the bottom, whose numbers count, and one at the top.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from nardy_rl.rules.position import BAR, OFF, POINTS, Position, check_position
from nardy_rl.rules.variant import variant

PREFIX = "XGID="
_CHECKERS = 15
_POINT = re.compile(r"[-A-Pa-p]{26}")
_NUMBER = re.compile(r"-?[0-9]{1,5}")
_DICE = re.compile(r"[1-6]{2}")
_NAMES = (
    "position", "cube", "owner of the cube", "turn", "dice", "score", "other score", "rules", "match length",
    "greatest cube",
)  # fmt: skip
_OFFERS = {"D": 1, "B": 2, "R": 3}
_GREATEST = 10


@dataclass(frozen=True, kw_only=True)
class Xgid:
    """What an XGID says, from the side of the player on roll: row 0 of the position, number 0 of pairs and owners.

    Who has doubled counts as on roll until he is answered. Raises ValueError for what no XGID can hold.
    """

    position: Position
    dice: tuple[int, int] | None = None
    """As thrown; None before the roll."""
    offers: int = 0
    """Doubles that wait for an answer: 1 a double, 2 a beaver of it, 3 a raccoon of that."""
    cube: int = 1
    owner: int | None = None
    """Of the cube: 0 the player on roll, 1 the other; None: it is centred."""
    scores: tuple[int, int] = (0, 0)
    """Points of the player on roll and of the other."""
    length: int = 0
    """Of the match, in points; 0: money."""
    crawford: bool = False
    jacoby: bool = False
    beavers: bool = False
    greatest_cube: int = 1 << _GREATEST
    at_bottom: bool = True
    """Whether the diagram has the player on roll at the bottom."""

    def __post_init__(self) -> None:
        _check_position(self.position)
        if self.dice is not None and not _DICE.fullmatch("".join(map(str, self.dice))):
            raise ValueError(f"no XGID: dice are two numbers from 1 to 6, not {self.dice}")
        if self.offers not in range(4) or (self.offers and self.dice):
            raise ValueError(f"no XGID: an offer is 0 to 3, before the roll, not {self.offers} with dice {self.dice}")
        for cube in (self.cube, self.greatest_cube):
            if cube < 1 or cube & (cube - 1):
                raise ValueError(f"no XGID: a cube is a power of two, not {cube}")
        if self.owner not in (None, 0, 1):
            raise ValueError(f"no XGID: the cube's owner is 0, 1 or None, not {self.owner}")
        if min(self.length, *self.scores) < 0:
            raise ValueError(f"no XGID: length {self.length} and scores {self.scores} are not below 0")
        if (self.crawford and not self.length) or (self.length and (self.jacoby or self.beavers)):
            raise ValueError("no XGID: the Crawford game is of a match, Jacoby and beavers are of money games")


def parse_xgid(text: str) -> Xgid:
    """What an XGID says, with or without its `XGID=`. Raises ValueError naming the field that is wrong."""
    fields = text.strip().removeprefix(PREFIX).split(":")
    if len(fields) != len(_NAMES):
        raise ValueError(f"an XGID has {len(_NAMES)} fields with colons between, {text!r} has {len(fields)}")
    points, *numbers = fields
    if not _POINT.fullmatch(points):
        raise _fault(text, 0, "26 of the characters A to P, a to p and -", points)
    action = numbers.pop(3)
    cube, owner, turn, score, other, rules, length, greatest = (
        _number(text, index, numbers[place], low, high)
        for place, (index, low, high) in enumerate(
            ((1, 0, 15), (2, -1, 1), (3, -1, 1), (5, 0, 99999), (6, 0, 99999), (7, 0, 3), (8, 0, 99999), (9, 0, 15))
        )
    )
    if turn == 0:
        raise _fault(text, 3, "1 (the player at the bottom) or -1", "0")
    if action not in ("00", *_OFFERS) and not _DICE.fullmatch(action):
        raise _fault(text, 4, "two dice, 00, D, B or R", action)
    if length and rules > 1:
        raise _fault(text, 7, "in a match 1 in the Crawford game, else 0", str(rules))
    scores = (score, other) if turn == 1 else (other, score)
    try:
        return Xgid(
            position=_position(points, turn),
            dice=(int(action[0]), int(action[1])) if _DICE.fullmatch(action) else None,
            offers=_OFFERS.get(action, 0),
            cube=1 << cube,
            owner=None if owner == 0 else int(owner != turn),
            scores=scores,
            length=length,
            crawford=bool(length and rules),
            jacoby=not length and rules % 2 == 1,
            beavers=not length and rules >= 2,
            greatest_cube=1 << greatest,
            at_bottom=turn == 1,
        )
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None


def format_xgid(xgid: Xgid) -> str:
    """The text, `XGID=` included."""
    turn = 1 if xgid.at_bottom else -1
    scores = xgid.scores if xgid.at_bottom else xgid.scores[::-1]
    action = "".join(map(str, xgid.dice)) if xgid.dice else ("00", *_OFFERS)[xgid.offers]
    rules = int(xgid.crawford) if xgid.length else xgid.jacoby + 2 * xgid.beavers
    owner = 0 if xgid.owner is None else (turn if xgid.owner == 0 else -turn)
    cube, greatest = (value.bit_length() - 1 for value in (xgid.cube, xgid.greatest_cube))
    fields = (_points(xgid), cube, owner, turn, action, *scores, rules, xgid.length, greatest)
    return PREFIX + ":".join(map(str, fields))


def _check_position(position: Position) -> None:
    try:
        check_position(variant("short"), position)
    except ValueError as error:
        raise ValueError(f"no XGID: {error}") from None


def _fault(text: str, index: int, wanted: str, got: str) -> ValueError:
    return ValueError(f"{text!r}: field {index + 1} of an XGID ({_NAMES[index]}) must be {wanted}, not {got!r}")


def _number(text: str, index: int, field: str, low: int, high: int) -> int:
    if not _NUMBER.fullmatch(field) or not low <= int(field) <= high:
        raise _fault(text, index, f"a whole number from {low} to {high}", field)
    return int(field)


def _position(points: str, turn: int) -> Position:
    """The position of 26 characters; row 0 is the player whose turn it is."""
    bottom, top = np.zeros(POINTS, np.int64), np.zeros(POINTS, np.int64)
    for index, sign in enumerate(points):
        if sign.isupper():
            bottom[index] = ord(sign) - ord("A") + 1
        elif sign.islower():
            top[BAR - index] = ord(sign) - ord("a") + 1
    for side in (bottom, top):
        # A player's own number 0 is the other's bar, and nobody's point of his own.
        if side[OFF]:
            raise ValueError("no XGID: a checker stands on the bar of the other side")
        if side.sum() > _CHECKERS:
            raise ValueError(f"no XGID: a side has {side.sum()} checkers, more than {_CHECKERS}")
        side[OFF] = _CHECKERS - side.sum()
    return Position(np.stack([bottom, top] if turn == 1 else [top, bottom]))


def _points(xgid: Xgid) -> str:
    bottom, top = xgid.position.array if xgid.at_bottom else xgid.position.array[::-1]
    signs = ["-"] * POINTS
    for point in range(1, POINTS):
        if bottom[point]:
            signs[point] = chr(ord("A") - 1 + bottom[point])
        if top[point]:
            signs[BAR - point] = chr(ord("a") - 1 + top[point])
    return "".join(signs)
