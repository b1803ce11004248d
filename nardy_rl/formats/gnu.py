"""GNU Backgammon's position ID and match ID, both ways (its manual, technical notes; bit order checked against it)."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass

import numpy as np

from nardy_rl.rules.position import BAR, OFF, POINTS, Position

_CHECKERS = 15
_POSITION_BITS, _POSITION_LENGTH = 80, 14
_MATCH_BITS, _MATCH_LENGTH = 72, 12
_FIELDS = {  # of a match ID in their order, the first in the lowest bits: name and number of bits
    "cube": 4, "owner": 2, "on_roll": 1, "crawford": 1, "state": 3, "turn": 1, "doubled": 1, "resigned": 2,
    "first": 3, "second": 3, "length": 15, "score_0": 15, "score_1": 15, "no_jacoby": 1,
}  # fmt: skip
_CENTRED = 3
_BASE64 = re.compile(r"[A-Za-z0-9+/]+")
STATES = ("none", "playing", "over", "resigned", "dropped")


def position_id(position: Position) -> str:
    """The GNU position ID: 14 characters; row 0 is the player on roll, whose checkers are written last.

    Raises ValueError unless both sides have 15 checkers.
    """
    if (position.array.sum(axis=1) != _CHECKERS).any():
        raise ValueError(f"a GNU position ID needs {_CHECKERS} checkers a side")
    bits = "".join("1" * int(count) + "0" for row in position.array[::-1] for count in row[1:])
    return _encode(int(bits[::-1], 2), _POSITION_BITS, _POSITION_LENGTH)  # the first bit is the lowest


def from_position_id(text: str) -> Position:
    """The position, in short nardy, of a GNU position ID; row 0 is the player on roll.

    Raises ValueError naming the fault: length, characters, more than 15 checkers a side, both sides on one point.
    """
    bits = f"{_decode(text, 'position', _POSITION_LENGTH):0{_POSITION_BITS}b}"[::-1]
    runs = [len(run) for run in bits.split("0")]
    rows = np.zeros((2, POINTS), np.int64)
    for row, counts in zip(rows[::-1], (runs[:BAR], runs[BAR : 2 * BAR]), strict=True):
        row[1 : 1 + len(counts)] = counts
        if row.sum() > _CHECKERS:
            raise ValueError(f"{text!r} gives a side {row.sum()} checkers, more than {_CHECKERS}")
    rows[:, OFF] = _CHECKERS - rows.sum(axis=1)
    crossed = [point for point in range(1, BAR) if rows[0, point] and rows[1, 25 - point]]
    if crossed:
        raise ValueError(f"{text!r} puts both sides on point {crossed[0]} of the player on roll")
    position = Position(rows)
    if position_id(position) != text:
        raise ValueError(f"{text!r} is no GNU position ID: stray bits after the two sides")
    return position


@dataclass(frozen=True, kw_only=True)
class MatchState:
    """What a GNU match ID says: all about a game in a match but its position.

    Players are gnubg's 0 and 1, as its files number them. Raises ValueError for what no match ID can hold.
    """

    on_roll: int = 0
    """Whose roll it is, or was if he has doubled: the player in row 0 of the position."""
    turn: int = 0
    """Who has to decide: not who is on roll where a double or a resignation waits for its answer."""
    dice: tuple[int, int] | None = None
    """As thrown; None before the roll."""
    cube: int = 1
    owner: int | None = None
    """Of the cube; None: it is centred."""
    doubled: bool = False
    resigned: int = 0
    """The points, times the cube, for which somebody offers to resign; 0: nobody does."""
    state: str = "playing"
    """One of `STATES`."""
    length: int = 0
    """Of the match, in points; 0: a session for money."""
    scores: tuple[int, int] = (0, 0)
    """Of players 0 and 1."""
    crawford: bool = False
    jacoby: bool = False
    """Whether gammons count only once the cube is turned. IDs of old versions of gnubg are read as if it were so."""

    def __post_init__(self) -> None:
        faults = {
            f"players are 0 and 1, not {self.on_roll} and {self.turn}": {self.on_roll, self.turn} <= {0, 1},
            f"dice are two numbers from 1 to 6, not {self.dice}": self.dice is None or _are_dice(self.dice),
            f"the cube is a power of two up to 32768, not {self.cube}": _log(self.cube) < 16,
            f"the cube's owner is 0, 1 or None, not {self.owner}": self.owner in (None, 0, 1),
            f"a resignation is 0 to 3 points, not {self.resigned}": 0 <= self.resigned <= 3,
            f"a game is {', '.join(STATES)}, not {self.state!r}": self.state in STATES,
            f"a length and scores are 0 to 32767, not {self.length} and {self.scores}": all(
                0 <= points < 2**15 for points in (self.length, *self.scores)
            ),
            "money games have no Crawford game": not (self.crawford and self.length == 0),
        }
        for fault, holds in faults.items():
            if not holds:
                raise ValueError(f"no GNU match ID: {fault}")


def match_id(state: MatchState) -> str:
    """The GNU match ID: 12 characters."""
    first, second = state.dice or (0, 0)
    values = {
        "cube": _log(state.cube),
        "owner": _CENTRED if state.owner is None else state.owner,
        "on_roll": state.on_roll,
        "crawford": state.crawford,
        "state": STATES.index(state.state),
        "turn": state.turn,
        "doubled": state.doubled,
        "resigned": state.resigned,
        "first": first,
        "second": second,
        "length": state.length,
        "score_0": state.scores[0],
        "score_1": state.scores[1],
        "no_jacoby": not state.jacoby,
    }
    number, shift = 0, 0
    for name, bits in _FIELDS.items():
        number |= int(values[name]) << shift
        shift += bits
    return _encode(number, _MATCH_BITS, _MATCH_LENGTH)


def from_match_id(text: str) -> MatchState:
    """What a GNU match ID says. Raises ValueError naming what is wrong with it."""
    number, values = _decode(text, "match", _MATCH_LENGTH), {}
    for name, bits in _FIELDS.items():
        values[name], number = number & ((1 << bits) - 1), number >> bits
    if number:
        raise ValueError(f"{text!r} is no GNU match ID: stray bits at its end")
    dice = values["first"], values["second"]
    if values["state"] >= len(STATES) or values["owner"] == 2 or (0 in dice) != (dice == (0, 0)):
        raise ValueError(f"{text!r} is no GNU match ID: no such game, cube or dice")
    return MatchState(
        on_roll=values["on_roll"],
        turn=values["turn"],
        dice=dice if all(dice) else None,
        cube=1 << values["cube"],
        owner=None if values["owner"] == _CENTRED else values["owner"],
        doubled=bool(values["doubled"]),
        resigned=values["resigned"],
        state=STATES[values["state"]],
        length=values["length"],
        scores=(values["score_0"], values["score_1"]),
        crawford=bool(values["crawford"]),
        jacoby=not values["no_jacoby"],
    )


def _are_dice(dice: tuple[int, int]) -> bool:
    return len(dice) == 2 and all(1 <= die <= 6 for die in dice)


def _log(cube: int) -> int:
    """The power of two that a cube shows; 16, which does not fit, for a number that is none."""
    return cube.bit_length() - 1 if cube > 0 and cube & (cube - 1) == 0 else 16


def _encode(number: int, bits: int, length: int) -> str:
    return base64.b64encode(number.to_bytes(bits // 8, "little")).decode()[:length]


def _decode(text: str, kind: str, length: int) -> int:
    if len(text) != length:
        raise ValueError(f"a GNU {kind} ID has {length} characters, {text!r} has {len(text)}")
    if not _BASE64.fullmatch(text):
        raise ValueError(f"{text!r} is no GNU {kind} ID: not Base64")
    return int.from_bytes(base64.b64decode(text + "=" * (-length % 4)), "little")
